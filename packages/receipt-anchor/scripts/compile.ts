import { mkdirSync, writeFileSync } from 'node:fs';
import { artefactText } from './artefact-text.ts';

const GENERATED = new URL('../src/generated/', import.meta.url);

mkdirSync(GENERATED, { recursive: true });
writeFileSync(new URL('receipt-anchor.ts', GENERATED), artefactText());
