import type { Model } from '@tallygate/contract';
import { type Clock, dayOf } from '../kernel/clock.ts';
import { agentCard, agentDocument, resourceMetadata } from './agent-document.ts';
import type { Guide } from './guides.ts';
import { ROBOTS_TEXT } from './robots-text.ts';
import { securityText } from './security-text.ts';
import type { SelfPortrait } from './self-portrait.ts';
import type { Surface } from './surface.ts';
import { agentsGuide, llmsFullText, llmsText } from './texts-for-models.ts';
import { yamlText } from './yaml-text.ts';

/** A document as it is served. */
export interface DiscoveryDocument {
  readonly contentType: string;
  readonly body: string;
}

interface DocumentsDeps {
  readonly surface: () => Surface;
  readonly guides: () => readonly Guide[];
  /** With the prices of a time. */
  readonly models: (epochMs: number) => readonly Model[];
  /** Another one after every change of the models. */
  readonly modelsEdition: () => string;
  readonly log: SelfPortrait['log'];
  readonly securityContact: string;
  readonly publicUrl: () => string;
  readonly dedicatedUrl?: SelfPortrait['dedicatedUrl'];
  readonly clock: Clock;
}

export interface DiscoveryDocuments {
  /** Those that are always there; the guides are beside them, under `/docs/`. */
  readonly paths: readonly string[];
  has(path: string): boolean;
  /** The document at a path; undefined where there is none. Its content changes with the models, and at midnight UTC. */
  read(path: string): DiscoveryDocument | undefined;
  /** A name for all that a document can depend on: as long as it is the same, so is every document. */
  edition(): string;
}

const JSON_TYPE = 'application/json; charset=utf-8';
const MARKDOWN = 'text/markdown; charset=utf-8';
const PLAIN = 'text/plain; charset=utf-8';

const json = (value: unknown): string => JSON.stringify(value, null, 2);

const DOCUMENTS: Readonly<Record<string, readonly [contentType: string, draw: (portrait: SelfPortrait) => string]>> = {
  '/.well-known/agent.json': [JSON_TYPE, (portrait) => json(agentDocument(portrait))],
  '/.well-known/agent-card.json': [JSON_TYPE, (portrait) => json(agentCard(portrait))],
  '/.well-known/oauth-protected-resource': [JSON_TYPE, (portrait) => json(resourceMetadata(portrait))],
  '/.well-known/oauth-protected-resource/mcp': [JSON_TYPE, (portrait) => json(resourceMetadata(portrait, '/mcp'))],
  '/.well-known/security.txt': [PLAIN, ({ securityContact: contact, publicUrl, now }) => securityText({ contact, publicUrl, now })],
  '/robots.txt': [PLAIN, () => ROBOTS_TEXT],
  '/agents.md': [MARKDOWN, agentsGuide],
  '/llms.txt': [PLAIN, llmsText],
  '/llms-full.txt': [PLAIN, llmsFullText],
  '/openapi.json': [JSON_TYPE, ({ surface, publicUrl }) => surface.openApi(publicUrl)],
  '/openapi.yaml': ['application/yaml; charset=utf-8', ({ surface, publicUrl }) => yamlText(JSON.parse(surface.openApi(publicUrl)))],
};

const GUIDE = /^\/docs\/([a-z]+\/[a-z0-9-]+)\.md$/;

/** Everything the gateway says about itself: drawn when it is first asked for, from the contract, the catalogue and the guides. */
export function createDocuments({
  surface,
  guides,
  models,
  modelsEdition,
  log,
  securityContact,
  publicUrl,
  dedicatedUrl,
  clock,
}: DocumentsDeps): DiscoveryDocuments {
  const guideAt = (path: string) => {
    const page = GUIDE.exec(path)?.[1];
    return page === undefined ? undefined : guides().find((guide) => guide.path === page);
  };
  return {
    paths: Object.keys(DOCUMENTS),
    has: (path) => Object.hasOwn(DOCUMENTS, path) || guideAt(path) !== undefined,
    read: (path) => {
      const guide = guideAt(path);
      if (guide) return { contentType: MARKDOWN, body: guide.text };
      const [contentType, draw] = DOCUMENTS[path] ?? [];
      if (!Object.hasOwn(DOCUMENTS, path) || contentType === undefined || draw === undefined) return undefined;
      const now = clock.now();
      const about = { log, securityContact, publicUrl: publicUrl(), dedicatedUrl, now };
      const portrait = { surface: surface(), guides: guides(), models: models(now), ...about };
      return { contentType, body: draw(portrait) };
    },
    edition: () => `${publicUrl()} ${dayOf(clock.now())} ${modelsEdition()}`,
  };
}
