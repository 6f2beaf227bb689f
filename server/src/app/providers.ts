import { anthropic } from '../adapters/upstream/anthropic/anthropic.ts';
import { azureOpenAi } from '../adapters/upstream/azure-openai.ts';
import { bedrock } from '../adapters/upstream/bedrock/bedrock.ts';
import { cohere } from '../adapters/upstream/cohere/index.ts';
import { google } from '../adapters/upstream/google/index.ts';
import { openAiCompatible } from '../adapters/upstream/openai-compatible.ts';
import type { UpstreamProvider } from '../adapters/upstream/port.ts';
import { vertex } from '../adapters/upstream/vertex/vertex.ts';
import type { Deployment, DeploymentMap } from '../inference/calls/index.ts';
import { type Catalog, type CatalogModel, type Found, listedAt, matchesGlob, meantAt, type Resolved } from '../money/catalog/index.ts';
import { ConfigError } from './config-error.ts';
import type { ProviderConfig, ProviderKind } from './provider-config.ts';
import { ProviderAllowance, withinLimits } from './provider-limits.ts';
import { quirksAt } from './provider-presets.ts';

/** A provider as it is configured, with its connections. */
export interface OpenProvider {
  readonly config: ProviderConfig;
  readonly upstream: UpstreamProvider;
  /** Of all its deployments: unique among the providers. */
  readonly name: string;
  /** What is left of its limits; absent where it has none. */
  readonly allowance?: ProviderAllowance;
}

export const openProviders = (configs: readonly ProviderConfig[]): OpenProvider[] =>
  configs.map((config, index) => {
    const opened = { config, upstream: upstreamOf(config), name: `${config.name}#${index + 1}` };
    if (!config.limits) return opened;
    const allowance = new ProviderAllowance(config.limits);
    return { ...opened, upstream: withinLimits(opened.upstream, allowance), allowance };
  });

function upstreamOf({
  name,
  kind,
  baseUrl,
  apiKey,
  headers,
  maxTokensField,
  hasResponses,
  apiVersion,
  auth,
  http2,
  quirks = quirksAt({ name, baseUrl }),
  region = '',
  profile,
  vertex: place = { project: undefined, location: 'global', keyFile: undefined },
}: ProviderConfig): UpstreamProvider {
  const options = { name, baseUrl, apiKey, headers, allowH2: http2 };
  switch (kind) {
    case 'openai':
      return openAiCompatible({ ...options, maxTokensField, hasResponses, quirks });
    case 'azure_openai':
      return azureOpenAi({ ...options, maxTokensField, apiVersion, auth });
    case 'anthropic':
      return anthropic(options);
    case 'google':
      return google(options);
    case 'cohere':
      return cohere(options);
    case 'bedrock':
      return bedrock({ ...options, region, profile });
    case 'vertex':
      return vertex({ ...options, ...place });
    default:
      return kind satisfies never;
  }
}

/** Names of models that are listed for a provider, with its own names for them; without patterns. */
export const listedNames = ({ models = {} }: ProviderConfig): [name: string, upstreamModel: string][] =>
  Object.entries(models).filter(([name]) => !name.includes('*'));

/** Whether a provider is asked what it serves: where that is configured, or there is no other way to know. */
export const isDiscovered = ({ kind, models, discover, name }: ProviderConfig, { all }: Pick<Catalog, 'all'>): boolean =>
  discover ??
  (kind === 'openai' && models === undefined && !all.some((model) => model.provider === name && model.sources.includes('shipped')));

/** @throws ConfigError where a provider serves nothing and cannot be asked what it serves */
export function refuseIdle(configs: readonly ProviderConfig[], catalog: Pick<Catalog, 'all'>): void {
  const idle = configs.filter(
    (config) =>
      config.models === undefined && !isDiscovered(config, catalog) && !catalog.all.some(({ provider }) => provider === config.name),
  );
  if (idle.length > 0)
    throw new ConfigError(
      idle.map(({ name }) => `The provider ${name} serves no model: list \`models\`, since the catalogue files none under its name`),
    );
}

/**
 * Which models the providers serve, by the catalogue of a moment: those that are listed for them; without a list, those that the catalogue files
 * under their name; and those that they list, unless a list with a `*` leaves them out.
 */
export function deploymentsOf(providers: readonly OpenProvider[], catalog: Catalog, found: readonly Found[]): DeploymentMap {
  const byModel = new Map<string, Deployment[]>();
  const byVariant = new Map<string, Deployment[]>();
  const served = new Set<string>();
  for (const provider of providers) {
    const { config, upstream, name, allowance } = provider;
    const { countsLikeMaker, onCancel, weight, isReserved = false } = config;
    const base = { name, provider: config.name, upstream, countsLikeMaker, onCancel, weight, isReserved, ...(allowance && { allowance }) };
    const add = (map: Map<string, Deployment[]>, key: string, deployment: Deployment) => {
      const there = map.get(key) ?? [];
      // What is listed first holds: a deployment has one name for a model.
      if (!there.some((one) => one.name === name)) map.set(key, [...there, deployment]);
    };
    const serve = ({ model, variant }: Pick<Resolved, 'model' | 'variant'>, upstreamModel: string, takesVariants: boolean) => {
      served.add(model.id);
      if (variant === null) add(byModel, model.id, { ...base, upstreamModel, takesVariants });
      else add(byVariant, variant, { ...base, upstreamModel });
    };
    for (const [listed, upstreamModel] of listedNames(config)) {
      const isRenamed = upstreamModel !== listed;
      for (const meant of meaningsOf(catalog, config, listed))
        serve(meant, isRenamed || listed !== meant.model.id ? upstreamModel : meant.model.providerModel, !isRenamed);
    }
    const globs = globsOf(config);
    for (const model of catalog.all) {
      const isOwn = model.provider === config.name && model.source !== 'discovery';
      const isListed =
        globs.length > 0 ? isListedBy(globs, model.id) && model.source !== 'discovery' : config.models === undefined && isOwn;
      if (isListed) serve({ model, variant: null }, model.providerModel, true);
    }
    if (config.models !== undefined && globs.length === 0) continue;
    for (const said of namesFoundAt(config, found)) {
      const meant = isWanted(config, said) ? meantAt(catalog, config.name, said) : undefined;
      if (meant) serve(meant, said, false);
    }
  }
  return { byModel, byVariant, served };
}

const globsOf = ({ models = {} }: ProviderConfig): string[] => Object.keys(models).filter((listed) => listed.includes('*'));
const isListedBy = (globs: readonly string[], model: string): boolean => globs.some((glob) => matchesGlob(glob, model));

/** Whether a name that a provider lists may be served: any, or those of a list with a `*`. */
export function isWanted(config: ProviderConfig, name: string): boolean {
  const globs = globsOf(config);
  return globs.length === 0 || isListedBy(globs, name);
}

/** The known model that a list with a `*` has the provider serve under that very name. */
export function listedByForm(config: ProviderConfig, catalog: Pick<Catalog, 'known'>, name: string): CatalogModel | undefined {
  const known = catalog.known(name);
  const isListed = known?.variant === null && known.model.source !== 'discovery' && isListedBy(globsOf(config), known.model.id);
  return isListed ? known.model : undefined;
}

const namesFoundAt = ({ name, baseUrl }: ProviderConfig, found: readonly Found[]): readonly string[] =>
  found.find((one) => one.provider === name && one.baseUrl === baseUrl)?.names ?? [];

/** Whose models the catalogue has at prices of their own, whatever the operator calls the provider. */
const RESELLERS: Readonly<Partial<Record<ProviderKind, string>>> = { azure_openai: 'azure', bedrock: 'bedrock', vertex: 'vertex' };

/** A listed name, and the same model as this very provider sells it, where the catalogue has that by itself. */
function meaningsOf(catalog: Catalog, { name, kind }: ProviderConfig, listed: string): Resolved[] {
  const reseller = RESELLERS[kind] ?? name;
  return [listedAt(catalog, name, listed), catalog.known(`${reseller}/${listed}`)].filter((meant) => meant !== undefined);
}
