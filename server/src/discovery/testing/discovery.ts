import { readFileSync } from 'node:fs';
import { loadCatalog } from '../../money/catalog/index.ts';
import { createDocuments } from '../documents.ts';
import { readGuides } from '../guides.ts';
import { readSurface } from '../surface.ts';

export const PUBLIC_URL = 'https://gateway.example.com';
/** 2026-11-21, in the afternoon. */
export const NOW = Date.UTC(2026, 10, 21, 15, 4, 5);

export const surface = readSurface(readFileSync(new URL(import.meta.resolve('@tallygate/contract/openapi.json')), 'utf8'));
const guides = readGuides(new URL('../../../../docs/', import.meta.url));

/** The documents of a gateway, at a time. */
export function documentsAt(now = NOW, publicUrl = PUBLIC_URL) {
  const catalog = loadCatalog();
  return createDocuments({
    surface: () => surface,
    guides: () => guides,
    modelsEdition: () => '1',
    models: (epochMs) => catalog.models.map((model) => model.wireAt(epochMs)),
    log: { witnesses: [], policy: null },
    securityContact: 'mailto:security@example.com',
    publicUrl: () => publicUrl,
    clock: { now: () => now },
  });
}

/** The text of a document that there is. */
export function textOf(path: string, documents = documentsAt()): string {
  const document = documents.read(path);
  if (!document) throw new Error(`There is no ${path}`);
  return document.body;
}
