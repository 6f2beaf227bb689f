import { ModelId, type PriceMeter, type PriceTerms } from '@tallygate/contract';
import { ADMIN } from '../../kernel/admin-command.ts';
import { Problem } from '../../kernel/problem.ts';
import type { Catalog } from './catalog.ts';
import { kindOfName } from './kind-of-name.ts';
import type { CatalogModel } from './model.ts';
import { bareName, nearestNames, type Resolved } from './names.ts';

const SHOWN = 100;

/** Says which names there are like it, and what makes it one. */
export function modelNotFound(name: string, catalog: Known, param = 'model'): Problem {
  const shown = name.slice(0, SHOWN);
  const nearest = nearestNames(name, catalog.all, catalog.providers);
  const meant = nearest.length === 0 ? '' : ` Did you mean ${nearest.join(' or ')}?`;
  const way = wayToAdd(shown, catalog, nearest);
  return new Problem(
    'model_not_found',
    `There is no model "${shown}" in the catalogue.${meant} GET /v1/models?all=true lists all models.${way}`,
    { param },
  );
}

type Known = Pick<Catalog, 'all' | 'providers'>;

function wayToAdd(name: string, catalog: Known, nearest: readonly string[]): string {
  if (nearest[0] !== undefined && bareName(nearest[0]) === bareName(name)) return '';
  if (!ModelId.safeParse(name).success) return ' No model can have that name: it has spaces, *, ?, # or characters that cannot be seen.';
  const prefix = name.slice(0, Math.max(0, name.indexOf('/')));
  const isAtProvider = catalog.providers.has(prefix);
  const provider = isAtProvider ? prefix : (makerMeant(name, catalog, nearest) ?? onlyOwn(catalog) ?? 'NAME');
  const id = isAtProvider ? name.slice(prefix.length + 1) : name;
  const kind = kindOfName(id);
  const command = `model ${quoted(id)} --provider ${provider}${kindOption({ kind })} ${PRICE_OPTIONS[kind]}`;
  return ` To add it, with its price per million in place of each USD: \`${ADMIN} ${command}\` on the gateway’s machine, or \`tallygate models set\` as an administrator.`;
}

/** The provider of the model that is called most alike, or of the maker's models whose names begin with the same word: `claude`, `gpt`. */
function makerMeant(name: string, { all }: Pick<Catalog, 'all'>, [nearest]: readonly string[]): string | undefined {
  const [family] = /^[a-z]+(?![a-z])/.exec(bareName(name).replace(/^ft:/, '')) ?? [];
  const maker =
    all.find(({ id }) => id === nearest) ?? all.find(({ id }) => family !== undefined && new RegExp(`^${family}[^a-z/]`).test(id));
  return maker?.provider;
}

/** The one configured provider that the shipped list does not know. */
function onlyOwn({ all, providers }: Known): string | undefined {
  const known = new Set(all.filter(({ sources }) => sources.includes('shipped')).map(({ provider }) => provider));
  const own = [...providers].filter((provider) => !known.has(provider));
  return own.length === 1 ? own[0] : undefined;
}

/** Says the one command that makes it a model that can be served. */
export const modelWithoutPrice = (model: Pick<CatalogModel, 'id' | 'kind'>, param = 'model'): Problem =>
  new Problem(
    'unpriced_feature',
    `The model ${model.id} has no price, so no cap could hold it. To give it one, per million in place of each USD (0 is a price): \`${priceCommand(model)}\` on the gateway’s machine, or \`tallygate models price\` as an administrator.`,
    { param },
  );

/** Says the command that gives the model a price of what the request lets its provider bill. */
export const meterWithoutPrice = (
  model: Pick<CatalogModel, 'id'>,
  { meter, param }: { readonly meter: PriceMeter; readonly param: string },
): Problem =>
  new Problem(
    'unpriced_feature',
    `The model ${model.id} has no price of ${meter.replaceAll('_', ' ')}, so no cap could hold \`${param}\`: leave it out, or give the model a price with it, \`--meter ${meter}=USD\` per million beside its others, by \`${ADMIN} price ${quoted(model.id)}\` on the gateway’s machine or \`tallygate models price\` as an administrator.`,
    { param },
  );

/** Says under which name the model is priced, and what makes the name that was meant a model with a price of its own. */
export function notItsId(name: string, { model, variant, provider }: Resolved, terms: PriceTerms): Problem {
  const options = Object.entries(terms.usd_per_million).map(([meter, usd]) => `${OPTION_OF[meter] ?? `--meter ${meter}=`}${usd}`);
  const command = (words: string) => `\`${ADMIN} ${[words, ...options].join(' ')}\``;
  const isOther = variant !== null || provider !== null;
  const others = `Its price is that of all its names and providers. To change that: ${command(`price ${quoted(model.id)}`)}.`;
  const own = ` To make ${name} a model with its own price: ${command(`model ${quoted(name)} --provider ${provider ?? model.provider}${kindOption(model)}`)}.`;
  const detail = `${name} is a name of the model ${model.id}. ${others}${isOther ? own : ''}`;
  return new Problem('validation_failed', detail, {
    param: 'model',
    errors: [{ loc: ['path', 'model'], msg: `is not the id of a model, but a name of ${model.id}`, type: 'invalid' }],
  });
}

const kindOption = ({ kind }: Pick<CatalogModel, 'kind'>): string => (kind === 'chat' ? '' : ` --kind ${kind}`);

const OPTION_OF: Readonly<Record<string, string>> = {
  input_tokens: '--input ',
  output_tokens: '--output ',
  cached_input_tokens: '--cached-input ',
};

/** With `USD` for a price: a figure that is pasted unseen would be charged. */
const PRICE_OPTIONS: Readonly<Record<CatalogModel['kind'], string>> = {
  chat: '--input USD --output USD',
  completion: '--input USD --output USD',
  embedding: '--input USD',
  image: '--input USD --meter image_input_tokens=USD --meter image_output_tokens=USD',
  realtime: '--input USD --output USD --meter audio_input_tokens=USD --meter audio_output_tokens=USD',
  rerank: '--meter search_units=USD',
  moderation: '--input USD',
  tts: '--meter input_characters=USD',
  stt: '--meter audio_seconds=USD',
  video: '--meter video_seconds=USD',
};

export const priceCommand = ({ id, kind }: Pick<CatalogModel, 'id' | 'kind'>): string =>
  `${ADMIN} price ${quoted(id)} ${PRICE_OPTIONS[kind]}`;

/** As a shell takes it for one word. */
const quoted = (name: string): string => (/^[\w./:@-]+$/.test(name) ? name : `'${name.replaceAll("'", "'\\''")}'`);
