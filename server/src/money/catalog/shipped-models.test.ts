import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { loadCatalog } from './catalog.ts';
import { costBound } from './cost.ts';
import { modelsOfShippedFile } from './entry.ts';
import { DEFAULT_MODELS } from './testing/default-models.ts';

const FOLDER = new URL('./shipped/', import.meta.url);
const PROVIDERS = [
  ...['anthropic', 'azure', 'bedrock', 'cohere', 'deepseek', 'fireworks', 'google', 'groq', 'jina', 'mistral'],
  ...['openai', 'openrouter', 'together', 'vertex', 'xai'],
];
const CAPABILITIES = new Set([
  ...['audio_input', 'dimensions', 'edits', 'json_schema', 'logprobs', 'parallel_tools', 'pdf', 'prompt_caching', 'reasoning'],
  ...['remix', 'srt', 'streaming', 'system_messages', 'timestamps', 'tools', 'translation', 'video_characters', 'video_edits'],
  ...['video_extensions', 'video_input', 'vision', 'voices', 'vtt', 'web_search'],
]);
const MOST_BYTES = 1_000_000;
const NOW = Date.parse('2026-11-22T12:00:00Z');

interface Entry {
  readonly id: string;
  readonly kind: string;
  readonly aliases?: readonly string[];
  readonly variants?: readonly string[];
  readonly context_window?: number | null;
  readonly max_output_tokens?: number | null;
  readonly capabilities?: readonly string[];
  readonly prices: readonly { readonly version: string; readonly effective_from: string }[];
}

const files = readdirSync(FOLDER)
  .sort()
  .map((name) => ({ name, text: readFileSync(new URL(name, FOLDER), 'utf8') }));
const entries: Entry[] = files.flatMap(({ text }) => JSON.parse(text).models);
const catalog = loadCatalog();

/** What a shipped entry has to be besides what its file's schema says. */
function faultsOf(models: readonly Entry[]): string[] {
  const owners = new Map<string, string>();
  return models.flatMap(({ id, kind, aliases = [], variants = [], capabilities, prices, ...limits }) => {
    const names = [id, ...aliases, ...variants];
    const taken = names.filter((name) => owners.has(name)).map((name) => `${id}: ${name} is a name of ${owners.get(name)}`);
    for (const name of names) owners.set(name, id);
    const isUnlimited = kind === 'chat' && !(limits.context_window && limits.max_output_tokens);
    const unknown = capabilities?.filter((one) => !CAPABILITIES.has(one)) ?? [];
    const versions = prices.map(({ version }) => version);
    return [
      ...taken,
      ...(isUnlimited ? [`${id}: a chat model needs a context window and a bound on its output`] : []),
      ...(capabilities === undefined ? [`${id}: no capabilities`] : unknown.map((one) => `${id}: nothing knows the capability ${one}`)),
      ...(new Set(versions).size < versions.length ? [`${id}: two prices with one version`] : []),
    ];
  });
}

const PRICE = {
  ...{ version: '2026-01-01', effective_from: '2026-01-01', source: 'page', day: '2026-01-01' },
  usd_per_million: { input_tokens: '1', output_tokens: '2' },
};
const ENTRY = {
  ...{ id: 'made-up', kind: 'chat', context_window: 1000, max_output_tokens: 100, capabilities: ['streaming'] },
  ...{ sources: [{ source: 'page' }], prices: [PRICE] },
};
const fileOf = (...models: object[]) => ({
  provider: 'openai',
  sources: { page: { url: 'https://example.com/', day: '2026-01-01' } },
  models,
});
const without = (object: object, field: string): object => Object.fromEntries(Object.entries(object).filter(([key]) => key !== field));
const withPrice = (price: object) => ({ ...ENTRY, prices: [price] });

describe('the shipped models', () => {
  test('are several hundred, of all fifteen providers', () => {
    expect(files.map(({ name }) => name)).toEqual(PROVIDERS.map((provider) => `${provider}.json`));
    expect(entries.length).toBeGreaterThan(400);
    for (const { name, text } of files) expect(JSON.parse(text).models.length, name).toBeGreaterThanOrEqual(name === 'jina.json' ? 1 : 8);
  });

  test('are small enough to be read at a start', () => {
    expect(files.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0)).toBeLessThan(MOST_BYTES);
  });

  test('have limits, known capabilities, one price a version, and names of their own', () => {
    expect(faultsOf(entries)).toEqual([]);
  });

  test('have a worst case that a cap can hold', () => {
    for (const { id, kind, contextWindow, maxOutputTokens, priceAt } of catalog.all) {
      const price = priceAt(NOW);
      if (!price || kind !== 'chat') continue;
      const { fixed, perOutputToken } = costBound(price, { inputTokens: contextWindow ?? Number.NaN });
      expect(fixed > 0n && perOutputToken * BigInt(maxOutputTokens ?? Number.NaN) > 0n, id).toBe(true);
    }
  });

  test('cost no more than a typing error would make them cost', () => {
    for (const { id, kind, priceAt } of catalog.all) {
      const unit = priceAt(NOW)?.unit ?? {};
      if (kind !== 'chat') continue;
      expect(unit.input_tokens, id).toBeLessThanOrEqual(200_000_000n);
      expect(unit.output_tokens, id).toBeLessThanOrEqual(700_000_000n);
      expect((unit.cached_input_tokens ?? 0n) <= (unit.input_tokens ?? 0n), id).toBe(true);
    }
  });
});

describe('an entry of the shipped list', () => {
  test.each<[string, object]>([
    ['without a source of its limits', without(ENTRY, 'sources')],
    ['whose price has no source', withPrice(without(PRICE, 'source'))],
    ['whose price has no day', withPrice(without(PRICE, 'day'))],
    ['whose price names a source that the file does not have', withPrice({ ...PRICE, source: 'hearsay' })],
    ['without a price', { ...ENTRY, prices: [] }],
    ['whose price is a number', withPrice({ ...PRICE, usd_per_million: { input_tokens: 1, output_tokens: 2 } })],
    ['whose price has seven decimals', withPrice({ ...PRICE, usd_per_million: { input_tokens: '0.1234567', output_tokens: '2' } })],
    ['without the price of a meter that it is charged by', withPrice({ ...PRICE, usd_per_million: { input_tokens: '1' } })],
    [
      'with a tier that lacks such a price',
      withPrice({ ...PRICE, tiers: [{ above_input_tokens: 10, usd_per_million: { input_tokens: '1' } }] }),
    ],
    ['with a field that nothing reads', { ...ENTRY, guessed: true }],
  ])('%s is refused', (_, entry) => {
    expect(() => modelsOfShippedFile(fileOf(ENTRY))).not.toThrow();
    expect(() => modelsOfShippedFile(fileOf(entry))).toThrow();
  });

  test.each<[string, object, string]>([
    ['an alias that is the name of another model', { id: 'other', aliases: ['made-up'] }, 'other: made-up is a name of made-up'],
    ['no context window', { context_window: null }, 'context window'],
    ['no bound on its output', { max_output_tokens: null }, 'context window'],
    ['a capability that nothing knows', { capabilities: ['telepathy'] }, 'telepathy'],
    ['two prices of one version', { prices: [PRICE, PRICE] }, 'two prices'],
  ])('with %s is refused', (_, more, fault) => {
    expect(faultsOf([{ ...ENTRY, id: 'made-up' }])).toEqual([]);
    const changed = { ...ENTRY, ...more };
    expect(faultsOf(changed.id === 'made-up' ? [changed] : [ENTRY, changed]).join()).toContain(fault);
  });
});

describe('a default model', () => {
  test.each(DEFAULT_MODELS)('$name is in the catalogue, with a price, its source and its day ($of)', ({ name, provider, kind }) => {
    const model = catalog.find(name);
    expect([model?.provider, model?.kind]).toEqual([provider, kind]);
    expect(model?.history.pricings[0]?.cited).toMatch(/\(\d{4}-\d{2}-\d{2}\)$/);
  });
});
