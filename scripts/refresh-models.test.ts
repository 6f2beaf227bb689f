import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { factorBetween, perMillion, shifted } from './refresh-models/decimal.ts';
import { readLitellm } from './refresh-models/litellm.ts';
import { merged, type Source } from './refresh-models/merge.ts';
import { readModelsDev } from './refresh-models/models-dev.ts';
import { refreshed, type ShippedFile } from './refresh-models/shipped-file.ts';

const CHAT_ROW = {
  litellm_provider: 'openai',
  mode: 'chat',
  max_input_tokens: 100_000,
  max_output_tokens: 8_000,
  input_cost_per_token: 1.25e-7,
  output_cost_per_token: 5e-7,
  cache_read_input_token_cost: 1.25e-8,
  input_cost_per_token_batches: 6.25e-8,
  output_cost_per_token_batches: 2.5e-7,
  supports_function_calling: true,
  supports_vision: true,
};

const NEWER: Source = { list: 'litellm', name: 'litellm 1.2.3', day: '2026-11-12', cited: { package: 'litellm', release: '1.2.3' } };
const OLDER: Source = {
  list: 'models.dev',
  name: 'models.dev 2026-09-28',
  day: '2026-09-28',
  cited: { url: 'https://models.dev/api.json' },
};
const TODAY = { today: '2026-11-22', sources: [NEWER, OLDER] };

const readRow = (row: object, key = 'gpt-made-up') => readLitellm({ [key]: row });
const entry = (more: object = {}) => ({
  tool_call: true,
  release_date: '2026-02-03',
  modalities: { input: ['text', 'image'], output: ['text'] },
  limit: { context: 128_000, output: 8_000 },
  cost: { input: 0.125, output: 0.5 },
  ...more,
});
const readEntry = (provider: string, name: string, more?: object) => readModelsDev({ [provider]: { models: { [name]: entry(more) } } });

const found = (rows: Record<string, object>, entries: Record<string, Record<string, object>> = {}, shipped: string[] = []) =>
  merged(
    [
      { source: NEWER, listings: readLitellm(rows).listings },
      {
        source: OLDER,
        listings: readModelsDev(Object.fromEntries(Object.entries(entries).map(([provider, models]) => [provider, { models }]))).listings,
      },
    ],
    new Set(shipped),
  );

const EMPTY: ShippedFile = { provider: 'openai', sources: {}, models: [] };

describe('decimals', () => {
  it.each([
    [1.25e-7, '0.125'],
    [0.0001, '100'],
    [3.083e-5, '30.83'],
    [0, '0'],
    [1e-12, '0.000001'],
    [0.000_03, '30'],
  ])('turns %s USD for one unit into exact USD for a million', (perUnit, expected) => {
    expect(perMillion(perUnit)).toBe(expected);
  });

  it('refuses a price that would have to be rounded', () => {
    expect(() => perMillion(3.000_000_000_000_000_4e-7)).toThrow('not exact');
    expect(() => shifted(0.123_456_7, 0)).toThrow('not exact');
  });

  it('gives a batch factor where the ratio is exact, and none where it is not', () => {
    expect(factorBetween('0.0625', '0.125')).toBe('0.5');
    expect(factorBetween('0.13', '0.25')).toBe('0.52');
    expect(factorBetween('1', '3')).toBeUndefined();
    expect(factorBetween('2', '1')).toBeUndefined();
  });
});

describe('the LiteLLM list', () => {
  it('reads prices, limits and capabilities of a chat model', () => {
    expect(readRow(CHAT_ROW).listings).toMatchObject([
      {
        provider: 'openai',
        name: 'gpt-made-up',
        contextWindow: 100_000,
        maxOutputTokens: 8_000,
        capabilities: ['streaming', 'system_messages', 'tools', 'vision'],
        terms: { usd_per_million: { input_tokens: '0.125', cached_input_tokens: '0.0125', output_tokens: '0.5' }, batch_factor: '0.5' },
      },
    ]);
  });

  it('reads a long-context tier with the audio price that holds in both', () => {
    const row = {
      ...CHAT_ROW,
      input_cost_per_audio_token: 1e-6,
      input_cost_per_token_above_200k_tokens: 2.5e-7,
      output_cost_per_token_above_200k_tokens: 7.5e-7,
    };
    expect(readRow(row).listings[0]?.terms.tiers).toEqual([
      { above_input_tokens: 200_000, usd_per_million: { input_tokens: '0.25', output_tokens: '0.75', audio_input_tokens: '1' } },
    ]);
  });

  it.each([
    ['audio tokens out', { output_cost_per_audio_token: 1e-6 }],
    ['a price for each request', { input_cost_per_request: 0.005 }],
    ['a price of reasoning that is not that of the output', { output_cost_per_reasoning_token: 9e-7 }],
    ['a mode that the gateway has no kind for', { mode: 'ocr' }],
    ['a price that is not exact', { input_cost_per_token: 3.000_000_000_000_000_4e-7 }],
  ])('leaves out a model with %s, and says why', (_, more) => {
    const { listings, skipped } = readRow({ ...CHAT_ROW, ...more });
    expect(listings).toEqual([]);
    expect(skipped).toEqual([{ key: 'gpt-made-up', reason: expect.any(String) }]);
  });

  it('charges a ranking by its searches, or by its tokens where the source has a price for them', () => {
    const row = { litellm_provider: 'cohere', mode: 'rerank', input_cost_per_query: 0.0025, input_cost_per_token: 0 };
    const termsOf = (more: object) => readRow({ ...row, ...more }, 'rerank-made-up').listings[0]?.terms.usd_per_million;
    expect(termsOf({})).toEqual({ search_units: '2500' });
    expect(termsOf({ input_cost_per_query: undefined, input_cost_per_token: 5e-8 })).toEqual({ input_tokens: '0.05' });
  });

  it('charges a transcription by its audio tokens where it has a price for them', () => {
    const row = {
      litellm_provider: 'openai',
      mode: 'audio_transcription',
      input_cost_per_second: 1e-4,
      input_cost_per_audio_token: 2.5e-6,
    };
    expect(readRow(row, 'gpt-4o-mini-transcribe').listings[0]?.terms.usd_per_million).toEqual({ audio_input_tokens: '2.5' });
    expect(readRow({ ...row, input_cost_per_audio_token: undefined }, 'whisper-1').listings[0]?.terms.usd_per_million).toEqual({
      audio_seconds: '100',
    });
  });

  it('serves a model that has Responses alone at Responses alone', () => {
    expect(readRow({ ...CHAT_ROW, mode: 'responses' }).listings[0]?.endpoints).toEqual(['/v1/responses', '/v1/batches']);
  });

  it('fails on a list of another shape', () => {
    expect(() => readLitellm([])).toThrow('Expected an object');
    expect(() => readRow({ ...CHAT_ROW, input_cost_per_token: 'free' })).toThrow('Expected a number');
  });
});

describe('the models.dev list', () => {
  it('reads prices as they are, in USD per million', () => {
    const { listings } = readEntry('openrouter', 'openai/gpt-made-up', {
      cost: { input: 0.15, output: 0.6, cache_read: 0.075, cache_write: 0 },
    });
    expect(listings[0]).toMatchObject({
      provider: 'openrouter',
      name: 'openai/gpt-made-up',
      released: '2026-02-03',
      terms: { usd_per_million: { input_tokens: '0.15', cached_input_tokens: '0.075', output_tokens: '0.6' } },
    });
  });

  it.each([
    ['deprecated', { status: 'deprecated' }],
    ['without a price', { cost: undefined }],
    ['with pictures out', { modalities: { input: ['text'], output: ['text', 'image'] } }],
  ])('leaves out a model %s', (_, more) => {
    expect(readEntry('openai', 'gpt-made-up', more).listings).toEqual([]);
  });
});

describe('merging', () => {
  it('takes the price of the newer source and notes that of the other', () => {
    const [model] = found({ 'gpt-made-up': CHAT_ROW }, { openai: { 'gpt-made-up': entry({ cost: { input: 0.2, output: 0.5 } }) } });
    expect(model).toMatchObject({
      contextWindow: 128_000,
      released: '2026-02-03',
      terms: { usd_per_million: { input_tokens: '0.125' } },
      priceSource: { name: 'litellm 1.2.3' },
      disagreements: ['models.dev input_tokens: 0.2'],
    });
  });

  it('makes dated names with the same price and limits variants, others models', () => {
    const models = found({
      'gpt-made-up': CHAT_ROW,
      'gpt-made-up-2026-02-03': CHAT_ROW,
      'gpt-made-up-2025-01-01': { ...CHAT_ROW, output_cost_per_token: 9e-7 },
    });
    expect(models.map(({ id, variants }) => [id, variants])).toEqual([
      ['gpt-made-up', ['gpt-made-up-2026-02-03']],
      ['gpt-made-up-2025-01-01', []],
    ]);
  });

  it("keeps a reseller's model apart from the maker's, with its own price", () => {
    const azure = { ...CHAT_ROW, litellm_provider: 'azure', output_cost_per_token: 9e-7 };
    const models = found({ 'gpt-made-up': CHAT_ROW, 'azure/gpt-made-up': azure });
    expect(models.map(({ id, aliases }) => [id, aliases])).toEqual([
      ['gpt-made-up', []],
      ['azure/gpt-made-up', []],
    ]);
  });

  it("gives a reseller's model its bare name where no other has it", () => {
    const row = { ...CHAT_ROW, litellm_provider: 'groq' };
    expect(found({ 'groq/llama-made-up': row })[0]).toMatchObject({ id: 'groq/llama-made-up', aliases: ['llama-made-up'] });
    const both = found({ 'groq/llama-made-up': row, 'together_ai/llama-made-up': { ...row, litellm_provider: 'together_ai' } });
    expect(both.map(({ aliases }) => aliases)).toEqual([[], []]);
  });

  it.each([
    ['limits', { max_output_tokens: undefined }],
    ['a price of its output', { output_cost_per_token: 0 }],
  ])('leaves out a chat model without %s', (_, more) => {
    expect(found({ 'gpt-made-up': { ...CHAT_ROW, ...more } })).toEqual([]);
  });

  it('retires models that ended long ago, notes a near end, removes unlisted ones', () => {
    const ending = (day: string) => found({ 'gpt-made-up': { ...CHAT_ROW, deprecation_date: day } })[0];
    expect(ending('2026-03-01')).toMatchObject({ retired: '2026-03-01' });
    expect(ending('2026-12-01')).toMatchObject({ note: 'litellm says that it ends on 2026-12-01.' });
    expect(ending('2026-12-01')?.retired).toBeUndefined();
    expect(ending('2024-01-01')).toBeUndefined();
  });
});

describe('the shipped file', () => {
  const first = refreshed(EMPTY, found({ 'gpt-made-up': CHAT_ROW }), TODAY);

  it('lists a new model with the source and the day of its price', () => {
    expect(first.changes).toEqual([{ id: 'gpt-made-up', what: 'added' }]);
    expect(first.file.sources).toEqual({ 'litellm 1.2.3': { package: 'litellm', release: '1.2.3', day: '2026-11-12' } });
    expect(first.file.models[0]?.prices).toEqual([
      {
        version: '2026-11-12',
        effective_from: '2026-11-12',
        source: 'litellm 1.2.3',
        key: 'gpt-made-up',
        day: '2026-11-12',
        usd_per_million: { input_tokens: '0.125', cached_input_tokens: '0.0125', output_tokens: '0.5' },
        batch_factor: '0.5',
      },
    ]);
  });

  it('stays as it is, to the byte, when the sources say the same', () => {
    const again = refreshed(first.file, found({ 'gpt-made-up': CHAT_ROW }), TODAY);
    expect(again.changes).toEqual([]);
    expect(JSON.stringify(again.file)).toBe(JSON.stringify(first.file));
  });

  it('leaves an entry alone of which a newer release says the same', () => {
    const newest: Source = { ...NEWER, name: 'litellm 1.3.0', day: '2026-12-01' };
    const models = merged([{ source: newest, listings: readLitellm({ 'gpt-made-up': CHAT_ROW }).listings }], new Set());
    expect(refreshed(first.file, models, { today: '2026-12-02', sources: [newest] })).toEqual({ file: first.file, changes: [] });
  });

  it('puts a changed price before the others as a version of today, and edits none', () => {
    const again = refreshed(first.file, found({ 'gpt-made-up': { ...CHAT_ROW, output_cost_per_token: 6e-7 } }), TODAY);
    const [now, ...before] = again.file.models[0]?.prices ?? [];
    expect(now).toMatchObject({ version: '2026-11-22', effective_from: '2026-11-22', usd_per_million: { output_tokens: '0.6' } });
    expect(before).toEqual(first.file.models[0]?.prices);
    expect(again.changes).toMatchObject([{ id: 'gpt-made-up', what: 'price' }]);
  });

  it('refuses a second price of one day', () => {
    const again = refreshed(first.file, found({ 'gpt-made-up': { ...CHAT_ROW, output_cost_per_token: 6e-7 } }), TODAY);
    expect(() => refreshed(again.file, found({ 'gpt-made-up': CHAT_ROW }), TODAY)).toThrow('has a price of 2026-11-22 already');
  });

  it('keeps a model that the sources no longer have, and reports it', () => {
    const again = refreshed(first.file, [], TODAY);
    expect(again.file).toEqual(first.file);
    expect(again.changes).toEqual([{ id: 'gpt-made-up', what: 'gone from the sources' }]);
  });

  it('adds variants alone to what was written by hand, and reports another price', () => {
    const written: ShippedFile = {
      provider: 'openai',
      sources: { docs: { url: 'https://example.com', day: '2026-01-01' } },
      models: [
        {
          id: 'gpt-made-up',
          advertised: true,
          context_window: 1,
          sources: [{ source: 'docs' }],
          prices: [
            { version: '1', effective_from: '2026-01-01', source: 'docs', day: '2026-01-01', usd_per_million: { input_tokens: '9' } },
          ],
        },
      ],
    };
    const { file, changes } = refreshed(
      written,
      found({ 'gpt-made-up': CHAT_ROW, 'gpt-made-up-2026-02-03': CHAT_ROW }, {}, ['gpt-made-up']),
      TODAY,
    );
    expect(file.models).toEqual([{ ...written.models[0], variants: ['gpt-made-up-2026-02-03'] }]);
    expect(changes.map(({ what }) => what)).toEqual(['other price at the source', 'described']);
  });

  it('sorts models by id for every order of the sources', () => {
    const rows = { 'gpt-made-up-b': CHAT_ROW, 'gpt-made-up-a': CHAT_ROW };
    const reversed = Object.fromEntries(Object.entries(rows).reverse());
    expect(refreshed(EMPTY, found(reversed), TODAY).file).toEqual(refreshed(EMPTY, found(rows), TODAY).file);
  });
});

describe('the script', () => {
  it('wants both lists, since an entry without what the other one says would lose it', () => {
    const copy = join(mkdtempSync(join(tmpdir(), 'lists-')), 'litellm.json');
    const folder = mkdtempSync(join(tmpdir(), 'shipped-'));
    writeFileSync(copy, JSON.stringify({ 'gpt-made-up': CHAT_ROW }));
    const script = join(import.meta.dirname, 'refresh-models.ts');
    const named = ['--litellm', copy, '--litellm-day', '2026-11-12', '--folder', folder];
    const { status, stderr } = spawnSync(process.execPath, ['--conditions=tallygate-source', script, ...named], { encoding: 'utf8' });
    expect(stderr).toContain('Name a copy of both lists');
    expect(status).toBe(1);
    expect(readdirSync(folder)).toEqual([]);
  });
});
