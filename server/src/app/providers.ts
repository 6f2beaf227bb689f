import { openAiCompatible } from '../adapters/upstream/openai-compatible.ts';
import type { UpstreamProvider } from '../adapters/upstream/port.ts';
import type { Catalog } from '../catalog/index.ts';
import type { Deployment } from '../inference/index.ts';
import { ConfigError, type ProviderConfig } from './config.ts';

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
    const { name, baseUrl, apiKey, headers, maxTokensField, countsLikeMaker, http2, weight } = config;
    const models = Object.entries(config.models ?? modelsOf(name, catalog));
    if (models.length === 0)
      faults.push(`The provider ${name} serves no model: list \`models\`, since the catalogue files none under its name`);
    const upstream = openAiCompatible({
      name,
      baseUrl,
      headers,
      ...(apiKey !== undefined && { apiKey }),
      ...(maxTokensField && { maxTokensField }),
      allowH2: http2,
    });
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

const modelsOf = (provider: string, catalog: Catalog): Record<string, string> =>
  Object.fromEntries(catalog.models.filter((model) => model.provider === provider).map(({ id }) => [id, id]));
