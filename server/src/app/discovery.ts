import { readFileSync } from 'node:fs';
import { toVerifierKey } from '@tallygate/receipts';
import {
  createDocuments,
  type DiscoveryDocuments,
  type LogPortrait,
  loadMcp,
  type Offer,
  readGuides,
  readSurface,
} from '../discovery/index.ts';
import type { Clock } from '../kernel/clock.ts';
import type { LiveCatalog } from '../money/catalog/index.ts';
import type { Config } from './config.ts';
import { witnessPolicyOf } from './witness-policy.ts';

const ROOT = new URL('../../../', import.meta.url);
const OPENAPI = new URL('contract/openapi.json', ROOT);
const DOCS = new URL('docs/', ROOT);

interface DiscoveryDeps {
  readonly catalog: LiveCatalog;
  readonly config: Pick<Config, 'logWitnesses' | 'logWitnessQuorum' | 'dedicated'>;
  readonly securityContact: string;
  readonly publicUrl: () => string;
  readonly clock: Clock;
}

export interface Discovery {
  readonly documents: DiscoveryDocuments;
  /** What the MCP server offers. */
  readonly offer: () => Promise<Offer>;
}

/** The discovery documents. Loaded on first use, so that inference does not wait for them. */
export function openDiscovery({ catalog, config, securityContact, publicUrl, clock }: DiscoveryDeps): Discovery {
  const surface = once(() => readSurface(readFileSync(OPENAPI, 'utf8')));
  const guides = once(() => readGuides(DOCS));
  const documents = createDocuments({
    surface,
    guides,
    models: (epochMs) => catalog.models.flatMap((model) => (model.priceAt(epochMs) ? [model.wireAt(epochMs)] : [])),
    modelsEdition: () => `${catalog.revision}`,
    log: logPortrait(config),
    securityContact,
    publicUrl,
    dedicatedUrl: config.dedicated?.url,
    clock,
  });
  const offer = once(async () => {
    const { createResources, toolsOf } = await loadMcp();
    return { version: surface().version, tools: toolsOf(surface()), resources: createResources({ documents, guides }) };
  });
  return { documents, offer };
}

function logPortrait(config: DiscoveryDeps['config']): LogPortrait {
  const witnesses = config.logWitnesses.map(({ url, key }) => ({ name: key.name, verifierKey: toVerifierKey(key), url }));
  return { witnesses, policy: witnessPolicyOf(config) };
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
