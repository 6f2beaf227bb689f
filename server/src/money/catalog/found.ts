import { MAX_MODEL_TOKENS, ModelDefinition, ModelId } from '@tallygate/contract';
import type { Pool, PoolClient } from 'pg';
import * as z from 'zod';
import { firstOf } from '../../kernel/statements.ts';
import type { Catalog } from './catalog.ts';
import { kindOfName } from './kind-of-name.ts';
import { OWN } from './model.ts';
import { beginsWithAnother, type Resolved } from './names.ts';
import { changingCatalog, type Found } from './store.ts';
import { tables } from './tables.ts';

/** A model as a provider's `GET /v1/models` names it. */
export interface FoundModel {
  readonly name: string;
  /** Tokens, where it says so. */
  readonly contextWindow: number | null;
  readonly maxOutputTokens: number | null;
}

const MOST_MODELS = 5_000;
const Tokens = z.number().positive().nullish().catch(null);

/** OpenAI's list, with what vLLM, llama.cpp, Groq, OpenRouter and others add to it. */
const ModelsAnswer = z.object({
  data: z.array(
    z.object({
      id: z.string(),
      max_model_len: Tokens,
      context_window: Tokens,
      context_length: Tokens,
      max_completion_tokens: Tokens,
      meta: z.object({ n_ctx: Tokens, n_ctx_train: Tokens }).nullish().catch(null),
    }),
  ),
});

/** What a list of models comes to. */
export interface FoundModels {
  readonly models: readonly FoundModel[];
  /** Names that no model can have. */
  readonly leftOut: readonly string[];
  /** Models whose lengths cannot be: they are taken to be unknown. */
  readonly implausible: readonly string[];
}

/**
 * The models of an answer. Of one that is named several times, the smaller lengths hold: a bound that is too large is refused by the provider.
 * @throws on what is no list of models
 */
export function foundModels(answer: unknown): FoundModels {
  const models = new Map<string, FoundModel>();
  const leftOut = new Set<string>();
  const implausible = new Set<string>();
  for (const { id: name, meta, ...model } of ModelsAnswer.parse(answer).data) {
    if (!ModelId.safeParse(name).success) {
      leftOut.add(name.slice(0, 200));
      continue;
    }
    const context = model.max_model_len ?? model.context_window ?? model.context_length ?? meta?.n_ctx ?? meta?.n_ctx_train ?? null;
    const contextWindow = smaller(plausible(context), models.get(name)?.contextWindow);
    const output = smaller(plausible(model.max_completion_tokens), models.get(name)?.maxOutputTokens);
    const fits = output === null || contextWindow === null || output <= contextWindow;
    const tooLarge = [context, model.max_completion_tokens].some((length) => (length ?? 0) > MAX_MODEL_TOKENS);
    if (tooLarge || !fits) implausible.add(name);
    if (models.has(name) || models.size < MOST_MODELS) models.set(name, { name, contextWindow, maxOutputTokens: fits ? output : null });
  }
  return { models: [...models.values()], leftOut: [...leftOut], implausible: [...implausible] };
}

const plausible = (length: number | null | undefined): number | null =>
  Number.isInteger(length) && Number(length) <= MAX_MODEL_TOKENS ? Number(length) : null;

const smaller = (one: number | null, other: number | null = null): number | null =>
  one === null || other === null ? (one ?? other) : Math.min(one, other);

/**
 * What a provider means by a name that it has told us: a model of its own, or one that nobody has filed under a provider. A model that is filed under
 * another one is not served by it unless its configuration says so: a name alone would send that model's requests there, at that model's price.
 */
export function meantAt(catalog: Pick<Catalog, 'known'>, provider: string, name: string): Resolved | undefined {
  const isIts = ({ model }: Resolved) => model.provider === provider || model.provider === OWN;
  const own = catalog.known(`${provider}/${name}`);
  if (own && own.variant === null && isIts(own)) return own;
  const named = catalog.known(name);
  return named && isIts(named) ? named : undefined;
}

/**
 * What a name means that the configuration lists for a provider. `ollama/llama3` listed for another provider than a configured `ollama` is a model
 * of its own unless somebody has filed `llama3`: what `ollama` lists today must not decide what the other one serves.
 */
export function listedAt(catalog: Known, provider: string, name: string): Resolved | undefined {
  const meant = catalog.resolve(name);
  return meant?.model.source === 'discovery' && beginsWithAnother(catalog.providers, provider, name) ? undefined : meant;
}

/**
 * The id under which a name is filed that the catalogue does not know. No id takes a name that means another model already, or that means a model
 * at another provider.
 */
const newIdOf = (catalog: Pick<Catalog, 'find' | 'providers'>, provider: string, name: string): string =>
  catalog.find(name) || beginsWithAnother(catalog.providers, provider, name) ? `${provider}/${name}` : name;

type Known = Pick<Catalog, 'resolve' | 'providers'>;

/**
 * Writes down what a provider serves. Names that the catalogue does not know become models without a price; those that are no longer found stay in it,
 * unserved.
 */
export async function writeFound(
  pool: Pool,
  catalog: Pick<Catalog, 'known' | 'find' | 'providers'>,
  { provider, baseUrl, models }: Omit<Found, 'names'> & { readonly models: readonly FoundModel[] },
): Promise<void> {
  const names = models.map(({ name }) => name).sort();
  await changingCatalog({ pool }, async (client) => {
    const ofProvider = tables.selectFrom('catalog_discoveries').where('provider', '=', provider).where('base_url', '=', baseUrl);
    const known = await firstOf(client, ofProvider.select('names'));
    if (JSON.stringify(known?.names) !== JSON.stringify(names))
      await client.query(
        `insert into catalog_discoveries (provider, base_url, names, found_at) values ($1, $2, $3, now())
         on conflict (provider, base_url) do update set names = excluded.names, found_at = excluded.found_at`,
        [provider, baseUrl, names],
      );
    await writeUnknown(client, catalog, provider, models);
  });
}

/** Makes models without a price of names that are listed for a provider and that the catalogue does not know. */
export const writeListed = (
  pool: Pool,
  catalog: Pick<Catalog, 'known' | 'find' | 'providers'>,
  provider: string,
  names: readonly string[],
): Promise<void> =>
  changingCatalog({ pool }, (client) =>
    writeUnknown(
      client,
      catalog,
      provider,
      names.map((name) => ({ name, contextWindow: null, maxOutputTokens: null })),
    ),
  );

async function writeUnknown(
  client: PoolClient,
  catalog: Pick<Catalog, 'known' | 'find' | 'providers'>,
  provider: string,
  models: readonly FoundModel[],
): Promise<void> {
  const unknown = models
    .filter(({ name }) => !meantAt(catalog, provider, name))
    .map((model) => ({ id: newIdOf(catalog, provider, model.name), definition: definitionOf(model, provider) }))
    .filter(({ id }) => ModelId.safeParse(id).success);
  if (unknown.length === 0) return;
  await client.query(
    `insert into catalog_models (id, source, definition)
     select id, 'discovery', definition from json_to_recordset($1) as r(id text, definition jsonb) on conflict do nothing`,
    [JSON.stringify(unknown)],
  );
}

const definitionOf = ({ name, contextWindow, maxOutputTokens }: FoundModel, provider: string): ModelDefinition =>
  ModelDefinition.parse({
    ...{ provider, provider_model: name, kind: kindOfName(name) },
    ...{ context_window: contextWindow, max_output_tokens: maxOutputTokens },
  });
