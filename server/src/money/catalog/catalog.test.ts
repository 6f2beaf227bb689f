import { Model } from '@tallygate/contract';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { loadCatalog } from './catalog.ts';
import { type ListedModel, modelsOfFile, modelsOfShippedFile } from './entry.ts';
import { metersWithoutPrice } from './needed-meters.ts';
import { usdPerUnit } from './price.ts';
import { modelNotFound } from './refusals.ts';
import { shippedList } from './shipped.ts';

const catalog = loadCatalog();
const NOW = Date.parse('2026-11-21T10:00:00Z');

interface TestPrice {
  from: string;
  input: string;
  tiers?: { above: number; input?: string }[];
}

/** A file of the shipped list with one embedding model, whose prices are given as USD per million tokens from a day on. */
const fileOf = (
  prices: TestPrice[],
  entry: object = {},
  sources: object = { page: { url: 'https://example.com/', day: '2026-07-24' } },
) => ({
  provider: 'maker',
  sources,
  models: [
    {
      id: 'embedder',
      kind: 'embedding',
      sources: [{ source: 'page' }],
      prices: prices.map(({ from, input, tiers = [] }) => ({
        ...{ version: from, effective_from: from, source: 'page', day: '2026-07-24' },
        usd_per_million: { input_tokens: input },
        tiers: tiers.map((tier) => ({ above_input_tokens: tier.above, usd_per_million: tier.input ? { input_tokens: tier.input } : {} })),
      })),
      ...entry,
    },
  ],
});
const loaded = (...prices: TestPrice[]) => {
  const model = loadCatalog(modelsOfShippedFile(fileOf(prices))).find('embedder');
  if (!model) throw new Error('no model');
  return model;
};

describe('the shipped list', () => {
  test('advertises the 23 models of the interface, each under its id', () => {
    expect(catalog.models).toHaveLength(23);
    for (const model of catalog.models) expect(catalog.find(model.id)).toBe(model);
    expect(catalog.find('gpt-0')).toBeUndefined();
    expect(catalog.find('__proto__')).toBeUndefined();
  });

  test('has for each model a price of each meter that its kind needs, and none of zero but of moderation', () => {
    for (const { id, kind, priceAt } of catalog.all) {
      const price = priceAt(NOW);
      if (!price) throw new Error(`${id} has no price`);
      for (const unit of [price.unit, ...price.tiers.map((tier) => tier.unit)]) {
        expect(metersWithoutPrice(kind, unit), id).toEqual([]);
        for (const pico of Object.values(unit)) expect(pico > 0n, id).toBe(true);
      }
    }
  });

  test('has only chat models that serve responses too', () => {
    for (const model of catalog.all.filter(({ kind }) => kind === 'chat')) {
      expect([...model.endpoints], model.id).toContain('/v1/responses');
      expect(model.wireAt(NOW).endpoints, model.id).toContain('/v1/responses');
    }
  });

  test('says of each price where it is from, and of which day', () => {
    for (const { id, history } of catalog.all)
      for (const { source, cited } of history.pricings) {
        expect(source, id).toBe('shipped');
        expect(cited, id).toMatch(/\S+.* \(\d{4}-\d{2}-\d{2}\)$/);
      }
  });

  test('gives every id, alias and variant to one model', () => {
    const owners = new Map<string, string[]>();
    for (const { id, aliases, variants } of catalog.all)
      for (const name of [id, ...aliases, ...variants]) owners.set(name, [...(owners.get(name) ?? []), id]);
    expect([...owners].filter(([, ids]) => ids.length > 1)).toEqual([]);
    expect([...owners.keys()].filter((name) => name.includes('*'))).toEqual([]);
  });

  test('names as stand-ins only other models of the same kind', () => {
    for (const { id, kind, ladder } of catalog.all)
      for (const rung of ladder) expect([rung === id, catalog.find(rung)?.kind], `${rung} for ${id}`).toEqual([false, kind]);
  });

  test('puts models on the wire that are Models of the contract', () => {
    for (const model of catalog.all) expect(Model.parse(model.wireAt(NOW))).toEqual(model.wireAt(NOW));
  });

  test('has the same digest as long as nothing is changed', () => {
    expect(shippedList().digest).toBe(shippedList().digest);
  });
});

describe('a price', () => {
  test('in the file is pico-USD per unit exactly, and the same decimal on the wire', () => {
    const decimals = fc.tuple(fc.nat({ max: 999_999 }), fc.nat({ max: 999_999 }), fc.nat({ max: 6 }));
    fc.assert(
      fc.property(decimals, ([whole, micro, digits]) => {
        const fraction = micro.toString().padStart(6, '0').slice(0, digits);
        const text = fraction === '' ? `${whole}` : `${whole}.${fraction}`;
        const pico = BigInt(whole) * 1_000_000n + BigInt(fraction.padEnd(6, '0'));
        const model = loaded({ from: '2026-01-01', input: text });
        expect(model.priceAt(NOW)?.unit).toEqual({ input_tokens: pico });
        const wire = model.wireAt(NOW).pricing?.prices.input_tokens ?? '';
        const [wholeUsd = '', fractionUsd = ''] = wire.split('.');
        expect(BigInt(wholeUsd) * 10n ** 12n + BigInt(fractionUsd.padEnd(12, '0'))).toBe(pico);
        expect(wire).not.toMatch(/\.$|\.\d*0$/);
      }),
    );
  });

  test.each([
    [0n, '0'],
    [1n, '0.000000000001'],
    [150_000n, '0.00000015'],
    [10n ** 12n, '1'],
    [1_500_000_000_000n, '1.5'],
  ])('of %d pico-USD is written %s', (pico, text) => {
    expect(usdPerUnit(pico)).toBe(text);
  });

  test('is in force from its moment on until the next one, and the first one before that, too', () => {
    const model = loaded({ from: '2026-05-01', input: '2' }, { from: '2026-03-01', input: '1' }, { from: '2026-08-01', input: '3' });
    const at = (time: string) => model.priceAt(Date.parse(time))?.version;
    expect(at('2026-02-28T23:59:59.999Z')).toBe('2026-03-01');
    expect(at('2026-03-01T00:00:00.000Z')).toBe('2026-03-01');
    expect(at('2026-04-30T23:59:59.999Z')).toBe('2026-03-01');
    expect(at('2026-05-01T00:00:00.000Z')).toBe('2026-05-01');
    expect(at('2030-01-01T00:00:00.000Z')).toBe('2026-08-01');
  });

  test('is published with each of its versions, the newest first, as receipts of their time need it', () => {
    const model = loaded({ from: '2026-01-01', input: '1' }, { from: '2026-12-01', input: '3' }, { from: '2026-06-01', input: '2' });
    expect(model.history.pricings.map(({ version, effective_from, prices }) => [version, effective_from, prices.input_tokens])).toEqual([
      ['2026-12-01', '2026-12-01T00:00:00.000Z', '0.000003'],
      ['2026-06-01', '2026-06-01T00:00:00.000Z', '0.000002'],
      ['2026-01-01', '2026-01-01T00:00:00.000Z', '0.000001'],
    ]);
  });

  test('that is announced but not in force yet is not the one shown', () => {
    const model = loaded({ from: '2026-03-01', input: '1' }, { from: '2027-01-01', input: '9' });
    expect(model.wireAt(NOW).pricing).toMatchObject({ version: '2026-03-01', prices: { input_tokens: '0.000001' } });
    expect(model.wireAt(Date.parse('2027-01-01')).pricing?.version).toBe('2027-01-01');
  });
});

describe('a shipped entry is refused', () => {
  const price = { from: '2026-01-01', input: '1' };
  const [entry] = fileOf([price]).models;
  const withoutIn = (field: string) => fileOf([], { prices: [{ ...entry?.prices[0], [field]: undefined }] });

  test.each([
    ['with a price of more decimals than it could charge', fileOf([{ ...price, input: '0.0000001' }])],
    ['with a negative price', fileOf([{ ...price, input: '-1' }])],
    ['without any price', fileOf([])],
    ['with a price without a source', withoutIn('source')],
    ['with a price without the day of its source', withoutIn('day')],
    ['with a source that the file does not name', fileOf([price], {}, { other: { url: 'https://example.com/', day: '2026-07-24' } })],
    ['with a source that is nowhere', fileOf([price], {}, { page: { day: '2026-07-24' } })],
    ['without a source of its limits', fileOf([price], { sources: [] })],
    ['with a tier that has no price for what the model is charged by', fileOf([{ ...price, tiers: [{ above: 10 }] }])],
    ['without a price for what its kind is charged by', fileOf([price], { kind: 'chat' })],
    ['with a kind that nobody knows', fileOf([price], { kind: 'smell' })],
    ['with a field that nobody knows', fileOf([price], { contxt_window: 5 })],
  ])('%s', (_, file) => {
    expect(() => modelsOfShippedFile(file)).toThrow();
  });
});

test.each([
  ['claude-sonnet-4-5', '2026-11-30', 'claude-sonnet-5-5'],
  ['claude-sonnet-4-5-20250929', '2026-11-30', 'claude-sonnet-5-5'],
  ['claude-opus-4-1', '2026-08-05', 'claude-opus-4-8'],
  ['claude-opus-4-1-20250805', '2026-08-05', 'claude-opus-4-8'],
  ['claude-opus-4-0', '2026-06-15', 'claude-opus-4-8'],
  ['claude-opus-4-20250514', '2026-06-15', 'claude-opus-4-8'],
  ['claude-sonnet-4-0', '2026-06-15', 'claude-sonnet-4-6'],
  ['claude-sonnet-4-20250514', '2026-06-15', 'claude-sonnet-4-6'],
  ['claude-3-haiku-20240307', '2026-04-20', 'claude-haiku-4-5'],
  ['claude-2.1', '2025-07-21', 'claude-opus-4-8'],
])('%s is known as retired from %s on, with %s in its place', (name, day, successor) => {
  const model = catalog.find(name);
  expect([model?.retiredFrom, model?.ladder[0]]).toEqual([Date.parse(day), successor]);
  expect(catalog.find(successor)?.retiredFrom).toBeNull();
});

describe('a name that is none', () => {
  const providers = new Set(['openai', 'ollama']);
  const refused = (name: string) => modelNotFound(name, { all: catalog.all, providers }).message;
  const meant = (name: string) => /Did you mean (.*?)\?/.exec(refused(name))?.[1]?.split(' or ') ?? [];
  const typed = (name: string) => /`npm run admin -- (.*?)`/.exec(refused(name))?.[1];

  test.each([
    ['gpt-4o-mni', 'gpt-4o-mini'],
    ['gpt-4o-min', 'gpt-4o-mini'],
    ['gpt-4o-mini-2031-01-01', 'gpt-4o-mini'],
    ['GPT-4O', 'gpt-4o'],
    ['OpenAI/gpt-4o', 'gpt-4o'],
    ['nosuch/gpt-4o', 'gpt-4o'],
    ['openai/openai/gpt-4o', 'gpt-4o'],
  ])('%s is answered with %s, and with no host that is not configured', (name, id) => {
    expect(meant(name)[0]).toBe(id);
    expect(meant(name).filter((one) => one.includes('/'))).toEqual([]);
  });

  test.each([
    ['claude-opus-9', 'claude-opus-9 --provider anthropic'],
    ['gpt-4o-mni', 'gpt-4o-mni --provider openai'],
    ['ft:gpt-4o:me::1', 'ft:gpt-4o:me::1 --provider openai'],
    ['ollama/zebra:1b', 'zebra:1b --provider ollama'],
    ['zebra:1b', 'zebra:1b --provider ollama'],
  ])('%s can be added by a command that names its provider and no price', (name, words) => {
    expect(typed(name)).toBe(`model ${words} --input USD --output USD`);
  });

  test.each([
    ['gpt-7o-mini-tts', '--provider openai --kind tts --meter input_characters=USD'],
    ['gpt-9-transcribe', '--provider openai --kind stt --meter audio_seconds=USD'],
  ])('%s is answered with the kind that its name says, and its meters', (name, words) => {
    expect(typed(name)).toBe(`model ${name} ${words}`);
  });

  test('has no command where the model is there under another name, or no model can have it', () => {
    expect(['OpenAI/gpt-4o', 'openai/openai/gpt-4o', 'my org/Model'].map(typed)).toEqual([undefined, undefined, undefined]);
    expect(refused('my org/Model')).toContain('No model can have that name');
  });
});

describe('names', () => {
  const definition = (more: object = {}): ListedModel[] =>
    modelsOfFile({ models: [{ id: 'llama3', provider: 'ollama', variants: ['llama3.1:8b', 'llama3*'], aliases: ['llama'], ...more }] });
  const named = loadCatalog([...shippedList().models(), ...definition()]);

  test.each([
    ['llama3', { variant: null, provider: null }],
    ['llama', { variant: null, provider: null }],
    ['llama3.1:8b', { variant: 'llama3.1:8b', provider: null }],
    ['llama3-anything', { variant: 'llama3-anything', provider: null }],
    ['ollama/llama3', { variant: null, provider: null }],
    ['ollama/llama3:70b', { variant: 'llama3:70b', provider: null }],
    ['elsewhere/llama3', { variant: null, provider: 'elsewhere' }],
  ])('%s is llama3', (name, asked) => {
    expect(named.resolve(name)).toEqual({ model: named.find('llama3'), ...asked });
  });

  test('with the prefix of their maker are the maker’s models', () => {
    expect(named.find('openai/gpt-4o-mini')).toBe(named.find('gpt-4o-mini'));
    expect(named.find('openai/llama2')).toBeUndefined();
    expect(named.find('/gpt-4o-mini')).toBeUndefined();
  });

  test('stay those of the model that has them by its id', () => {
    const greedy = loadCatalog([...definition(), ...modelsOfFile({ models: [{ id: 'other', aliases: ['llama3'], variants: ['l*'] }] })]);
    expect(greedy.find('llama3')?.id).toBe('llama3');
    expect(greedy.find('llama3-x')?.id).toBe('llama3');
    expect(greedy.find('lama')?.id).toBe('other');
  });

  test('match a glob in no more time than its length takes', () => {
    const many = loadCatalog(modelsOfFile({ models: [{ id: 'm', variants: [`${'a*'.repeat(90)}b`] }] }));
    const before = process.threadCpuUsage();
    expect(many.find('a'.repeat(199))).toBeUndefined();
    // What tries all ways takes years.
    expect(process.threadCpuUsage(before).user / 1_000).toBeLessThan(5_000);
  });
});

test('MODELS_FILE takes no lengths that cannot be', () => {
  const file = (lengths: object) => () => modelsOfFile({ models: [{ id: 'm', ...lengths }] });
  expect(file({ context_window: Number.MAX_SAFE_INTEGER })).toThrow('must be at most 100000000 tokens');
  expect(file({ context_window: 1_000, max_output_tokens: 2_000 })).toThrow('must not be more than `context_window`');
  expect(file({ context_window: 1_000, max_output_tokens: 1_000 })()).toHaveLength(1);
});
