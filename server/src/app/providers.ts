import { anthropic } from '../adapters/upstream/anthropic/anthropic.ts';
import { azureOpenAi } from '../adapters/upstream/azure-openai.ts';
import { google } from '../adapters/upstream/google/index.ts';
import { openAiCompatible } from '../adapters/upstream/openai-compatible.ts';
import type { UpstreamProvider } from '../adapters/upstream/port.ts';
import type { Catalog } from '../catalog/index.ts';
import type { Deployment } from '../inference/index.ts';
import { ConfigError } from './config-error.ts';
import type { ProviderConfig } from './provider-config.ts';

interface Providers {
  /** Deployments by the catalogue's model id. */
  readonly byModel: ReadonlyMap<string, readonly Deployment[]>;
  close(): Promise<void>;
}

/** @throws ConfigError when a provider serves nothing, or a model that the catalogue does not have, and so has no price */
export function openProviders(configs: readonly ProviderConfig[], catalog: Catalog): Providers {
  const byModel = new Map<string, Deployment[]>();
  const opened: UpstreamProvider[] = [];
  const faults: string[] = [];
  for (const [index, config] of configs.entries()) {
    const { name, countsLikeMaker, weight } = config;
    const models = Object.entries(config.models ?? modelsOf(name, catalog));
    if (models.length === 0)
      faults.push(`The provider ${name} serves no model: list \`models\`, since the catalogue files none under its name`);
    const upstream = upstreamOf(config);
    opened.push(upstream);
    for (const [model, upstreamModel] of models) {
      if (!catalog.find(model)) faults.push(`The provider ${name} serves ${model}, which is not in the catalogue and has no price`);
      const deployment = { name: `${name}#${index + 1}`, provider: name, upstream, upstreamModel, countsLikeMaker, weight };
      byModel.set(model, [...(byModel.get(model) ?? []), deployment]);
    }
  }
  if (faults.length > 0) throw new ConfigError(faults);
  return {
    byModel,
    close: async () => {
      await Promise.all(opened.map((upstream) => upstream.close()));
    },
  };
}

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
}: ProviderConfig): UpstreamProvider {
  const options = { name, baseUrl, apiKey, headers, allowH2: http2 };
  switch (kind) {
    case 'openai':
      return openAiCompatible({ ...options, maxTokensField, hasResponses });
    case 'azure_openai':
      return azureOpenAi({ ...options, maxTokensField, apiVersion, auth });
    case 'anthropic':
      return anthropic(options);
    case 'google':
      return google(options);
    default:
      return kind satisfies never;
  }
}

const modelsOf = (provider: string, catalog: Catalog): Record<string, string> =>
  Object.fromEntries([...catalog.models, ...catalog.beside].filter((model) => model.provider === provider).map(({ id }) => [id, id]));
