import { parseArgs } from 'node:util';
import { ModelDefinition, ModelId, PriceInput } from '@tallygate/contract';
import type { Pool } from 'pg';
import * as z from 'zod';
import { ADMIN } from '../kernel/admin-command.ts';
import { rfc3339 } from '../kernel/clock.ts';
import type { Log } from '../kernel/log.ts';
import { Problem } from '../kernel/problem.ts';
import {
  beginsWithAnother,
  CatalogAdministration,
  type CatalogModel,
  LiveCatalog,
  OPERATOR,
  OWN,
  type Price,
  type PriceLog,
  usdPerUnit,
} from '../money/catalog/index.ts';

/** A line that is not what the command takes; the message says why. */
export class WrongLine extends Error {}

/** @param prices makes entries of the log of them: asked for by those commands alone that set one */
type Run = (pool: Pool, log: Log, prices?: () => PriceLog) => Promise<string>;

const PRICE = {
  input: { type: 'string' },
  output: { type: 'string' },
  'cached-input': { type: 'string' },
  meter: { type: 'string', multiple: true },
  'batch-factor': { type: 'string' },
  from: { type: 'string' },
  source: { type: 'string' },
} as const;
const DEFINITION = {
  provider: { type: 'string' },
  'provider-model': { type: 'string' },
  kind: { type: 'string' },
  context: { type: 'string' },
  'max-output': { type: 'string' },
  retired: { type: 'string' },
} as const;

type Values<T> = { readonly [option in keyof T]?: T[option] extends { multiple: true } ? string[] : string };

const COMMANDS: Readonly<Record<string, (argv: string[]) => Run>> = {
  models: (argv) => {
    const [text] = lineOf(argv, {}, 1).positionals;
    return withCatalog((catalog) => Promise.resolve(listOf(catalog, text)));
  },
  price: (argv) => {
    const { positionals, values } = lineOf(argv, PRICE, 1);
    const name = ModelId.parse(positionals[0]);
    const price = priceOf(values);
    if (!price) throw new WrongLine('There is no price: name one, such as `--input 0.15 --output 0.60`, in USD per million; 0 is a price.');
    return withCatalog(async (catalog, administration) => {
      const { model } = await namingOptions(administration.price(name, price, OPERATOR));
      return priceText(catalog.find(model.id) ?? model);
    });
  },
  model: (argv) => {
    const { positionals, values } = lineOf(argv, { ...DEFINITION, ...PRICE }, 1);
    const id = ModelId.parse(positionals[0]);
    const definition = ModelDefinition.parse(definitionOf(values));
    const price = priceOf(values);
    return withCatalog(async (catalog, administration) => {
      const model = await namingOptions(administration.define(id, definition, OPERATOR, price));
      return `${priceText(catalog.find(id) ?? model)}${remarkOnProvider(model, catalog)}`;
    });
  },
  'model-remove': (argv) => {
    const id = ModelId.parse(lineOf(argv, {}, 1).positionals[0]);
    return withCatalog(async (catalog, administration) => {
      await administration.remove(id, OPERATOR);
      const model = catalog.all.find((one) => one.id === id);
      return model
        ? `The definition of ${id} is removed: it is as ${model.sources.join(', then ')} has it. Its prices stay.`
        : `${id} is removed from the catalogue. Its prices stay published.`;
    });
  },
};

/** An unknown name may be a typing error, or a model of the gateway's next start. */
function remarkOnProvider({ id, provider }: CatalogModel, { all }: LiveCatalog): string {
  if (provider === OWN || all.some((other) => other.id !== id && other.provider === provider)) return '';
  return `\nNothing else here is of a provider ${provider}: the model is served once PROVIDERS_FILE of the gateway has one of that name.`;
}

/**
 * What an operator does to the catalogue on the server itself.
 * @returns undefined where no such command is
 * @throws WrongLine
 */
export function catalogCommandOf([name = '', ...argv]: readonly string[]): Run | undefined {
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (!command) return undefined;
  try {
    return command([...argv]);
  } catch (error) {
    if (error instanceof z.ZodError)
      throw new WrongLine(error.issues.map(({ path, message }) => `${optionOf(path) ?? 'the model'}: ${message}`).join('\n'));
    throw error instanceof TypeError && 'code' in error ? new WrongLine(error.message) : error;
  }
}

/** The option that says what a field of the API does. */
const OPTION_OF: Readonly<Record<string, string>> = {
  input_tokens: '--input',
  output_tokens: '--output',
  cached_input_tokens: '--cached-input',
  batch_factor: '--batch-factor',
  effective_from: '--from',
  provider_model: '--provider-model',
  context_window: '--context',
  max_output_tokens: '--max-output',
};

/** For a unit without a separate option it is `--meter`. */
function optionOf(path: readonly PropertyKey[]): string | undefined {
  const name = path.at(-1);
  if (name === undefined) return undefined;
  const option = Object.hasOwn(OPTION_OF, name) ? OPTION_OF[String(name)] : undefined;
  return option ?? (path.length > 1 ? `--meter ${String(name)}` : `--${String(name)}`);
}

/** The error for an incomplete price, in terms of the command's options. */
const namingOptions = <T>(work: Promise<T>): Promise<T> =>
  work.catch((error: unknown) => {
    if (!(error instanceof Problem)) throw error;
    throw new WrongLine(error.message.replaceAll(/\b(?:cached_)?(?:in|out)put_tokens\b/g, (field) => OPTION_OF[field] ?? field));
  });

function lineOf<T extends NonNullable<Parameters<typeof parseArgs>[0]>['options']>(argv: string[], options: T, most: number) {
  const { values, positionals } = parseArgs({ args: argv, options: options ?? {}, allowPositionals: true });
  if (positionals.length > most) throw new WrongLine(`There is a word too many: ${positionals.slice(most).join(' ')}`);
  return { values: values as Values<T>, positionals };
}

const withCatalog =
  (work: (catalog: LiveCatalog, administration: CatalogAdministration) => Promise<string>): Run =>
  async (pool, log, prices) => {
    // The gateway's own settings need not be set here: which providers it has is not known.
    const catalog = await LiveCatalog.open({ pool, log, providers: new Set() });
    try {
      return await work(catalog, new CatalogAdministration({ pool, catalog, log: prices && lazily(prices) }));
    } finally {
      catalog.close();
    }
  };

/** Its keys are looked for when there is a price to declare. */
const lazily = (prices: () => PriceLog): PriceLog => ({
  within: async (client, declarations) => (declarations.length === 0 ? async () => {} : prices().within(client, declarations)),
});

function priceOf(values: Values<typeof PRICE>): PriceInput | undefined {
  const meters = (values.meter ?? []).map((pair): [string, string] => {
    const at = pair.indexOf('=');
    if (at <= 0) throw new WrongLine(`--meter ${pair}: expected a unit and its price, such as input_characters=15`);
    return [pair.slice(0, at), pair.slice(at + 1)];
  });
  const prices = Object.fromEntries([
    ...(values.input === undefined ? [] : [['input_tokens', values.input]]),
    ...(values.output === undefined ? [] : [['output_tokens', values.output]]),
    ...(values['cached-input'] === undefined ? [] : [['cached_input_tokens', values['cached-input']]]),
    ...meters,
  ]);
  if (Object.keys(prices).length === 0) {
    const lonely = (['from', 'batch-factor', 'source'] as const).find((option) => values[option] !== undefined);
    if (lonely) throw new WrongLine(`--${lonely} is of a price, and there is none: name it too, such as \`--input 0.15 --output 0.60\`.`);
    return undefined;
  }
  return PriceInput.parse({
    usd_per_million: prices,
    batch_factor: values['batch-factor'],
    effective_from: /^\d{4}-\d{2}-\d{2}$/.test(values.from ?? '') ? `${values.from}T00:00:00Z` : values.from,
    source: values.source,
  });
}

const definitionOf = (values: Values<typeof DEFINITION>) => ({
  provider: values.provider,
  provider_model: values['provider-model'],
  kind: values.kind,
  context_window: values.context === undefined ? undefined : Number(values.context),
  max_output_tokens: values['max-output'] === undefined ? undefined : Number(values['max-output']),
  retired: values.retired,
});

/** Without a text, the models with another source than the shipped list. */
function listOf({ all, found }: Pick<LiveCatalog, 'all' | 'found'>, text: string | undefined): string {
  const providers = new Set(found.map(({ provider }) => provider));
  const line = (model: CatalogModel) => priceText(model, hiddenBy(model, providers));
  if (text !== undefined) {
    const named = all.filter(({ id }) => id.includes(text));
    return named.length === 0 ? `No model has ${text} in its id.` : named.map(line).join('\n');
  }
  const own = all.filter(
    ({ sources, history }) => sources.some((source) => source !== 'shipped') || history.pricings.some(({ source }) => source !== 'shipped'),
  );
  const rest = `${all.length - own.length} models are as the shipped list has them: \`${ADMIN} models TEXT\` shows those with TEXT in their id.`;
  return [...own.map(line), rest].join('\n');
}

/** The provider whose model an id means that was found elsewhere first: while a gateway has that provider, the id is not this model's. */
const hiddenBy = ({ id, source, provider }: CatalogModel, providers: ReadonlySet<string>): string | undefined =>
  source === 'discovery' && beginsWithAnother(providers, provider, id) ? id.slice(0, id.indexOf('/')) : undefined;

/** Its id, where it is known from, and what it costs in USD per million. */
function priceText({ id, sources, history, priceAt }: CatalogModel, provider?: string): string {
  const price = priceAt(Date.now());
  const newest = history.at(Infinity);
  const next = newest && newest !== price ? `; from ${rfc3339(newest.effectiveFrom)}: ${termsText(newest)}` : '';
  const hidden = provider === undefined ? '' : `; hidden while the gateway has the provider ${provider}`;
  return `${id}\t${sources.join(', ')}${hidden}\t${price ? termsText(price) : 'no price'}${next}`;
}

const termsText = ({ unit, version }: Price): string =>
  `${Object.entries(unit)
    .map(([meter, pico]) => `${meter} ${usdPerUnit(pico * 1_000_000n)}`)
    .join(', ')} (version ${version})`;
