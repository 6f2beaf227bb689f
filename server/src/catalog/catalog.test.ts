import { Model } from '@tallygate/contract';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { loadCatalog, usdPerUnit } from './catalog.ts';
import data from './models.json' with { type: 'json' };
import { metersWithoutPrice } from './needed-meters.ts';

const catalog = loadCatalog();
const NOW = Date.parse('2026-11-21T10:00:00Z');

/** A catalogue of one embedding model, whose prices are given as USD per million tokens from a day on. */
function catalogOf(...prices: { from: string; input: string; tiers?: { above: number; input?: string }[] }[]) {
  const entry = {
    ...data.models.find(({ id }) => id === 'text-embedding-3-small'),
    prices: prices.map(({ from, input, tiers = [] }) => ({
      version: from,
      effective_from: from,
      usd_per_million: { input_tokens: input },
      tiers: tiers.map((tier) => ({ above_input_tokens: tier.above, usd_per_million: tier.input ? { input_tokens: tier.input } : {} })),
      batch_factor: '0.5',
    })),
  };
  return { models: [entry] };
}
const loaded = (...prices: Parameters<typeof catalogOf>) => {
  const [model] = loadCatalog(catalogOf(...prices)).models;
  if (!model) throw new Error('no model');
  return model;
};

describe('the catalogue', () => {
  test('has the 23 models, each under its id and under no other name', () => {
    expect(catalog.models).toHaveLength(23);
    for (const model of catalog.models) expect(catalog.find(model.id)).toBe(model);
    expect(catalog.find('gpt-5')).toBeUndefined();
    expect(catalog.find('__proto__')).toBeUndefined();
  });

  test.each(catalog.models.map((model) => [model.id, model] as const))(
    '%s has a price in force for each meter that its kind needs',
    (_, model) => {
      const price = model.priceAt(NOW);
      if (!price) throw new Error('no price');
      for (const unit of [price.unit, ...price.tiers.map((tier) => tier.unit)]) {
        expect(metersWithoutPrice(model.kind, unit)).toEqual([]);
        for (const pico of Object.values(unit)) expect(pico).toBeGreaterThan(0n);
      }
    },
  );

  test.each(catalog.models.map((model) => [model.id, model] as const))('%s is a Model of the contract on the wire', (_, model) => {
    expect(Model.parse(model.wireAt(NOW))).toEqual(model.wireAt(NOW));
  });

  test.each(data.models.map((entry) => [entry.id, entry] as const))(
    '%s is charged what the file says, to the last decimal',
    (id, entry) => {
      const [price] = entry.prices;
      const wire = catalog.find(id)?.wireAt(NOW).pricing;
      const perMillion = (usd: string | undefined) => Number(usd) * 1e6;
      for (const [meter, usd] of Object.entries(price?.usd_per_million ?? {})) {
        const stated = wire?.prices[meter as keyof typeof wire.prices];
        expect(perMillion(stated), meter).toBeCloseTo(Number(usd), 9);
      }
    },
  );
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
        const wire = model.wireAt(NOW).pricing.prices.input_tokens ?? '';
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

  test('is in force from its UTC day on, until the next one', () => {
    const model = loaded({ from: '2026-05-01', input: '2' }, { from: '2026-03-01', input: '1' }, { from: '2026-08-01', input: '3' });
    const at = (time: string) => model.priceAt(Date.parse(time))?.version;
    expect(at('2026-02-28T23:59:59.999Z')).toBeUndefined();
    expect(at('2026-03-01T00:00:00.000Z')).toBe('2026-03-01');
    expect(at('2026-04-30T23:59:59.999Z')).toBe('2026-03-01');
    expect(at('2026-05-01T00:00:00.000Z')).toBe('2026-05-01');
    expect(at('2030-01-01T00:00:00.000Z')).toBe('2026-08-01');
  });

  test('is published for good: each version with its first day, the newest first, as receipts of its time need it', () => {
    const model = loaded({ from: '2026-01-01', input: '1' }, { from: '2026-12-01', input: '3' }, { from: '2026-06-01', input: '2' });
    expect(model.pricings.map(({ version, effective_from, prices }) => [version, effective_from, prices.input_tokens])).toEqual([
      ['2026-12-01', '2026-12-01', '0.000003'],
      ['2026-06-01', '2026-06-01', '0.000002'],
      ['2026-01-01', '2026-01-01', '0.000001'],
    ]);
  });

  test('that is announced but not in force yet is not the one shown', () => {
    const model = loaded({ from: '2026-03-01', input: '1' }, { from: '2027-01-01', input: '9' });
    expect(model.wireAt(NOW).pricing).toMatchObject({ version: '2026-03-01', prices: { input_tokens: '0.000001' } });
    expect(model.wireAt(Date.parse('2027-01-01')).pricing.version).toBe('2027-01-01');
    expect(model.wireAt(0).pricing.version).toBe('2026-03-01');
  });
});

describe('does not load', () => {
  const price = { from: '2026-01-01', input: '1' };
  const [entry] = catalogOf(price).models;

  test.each([
    ['a price of more decimals than it could charge', catalogOf({ ...price, input: '0.0000001' })],
    ['a negative price', catalogOf({ ...price, input: '-1' })],
    ['no price at all', catalogOf()],
    ['two prices from one day on', catalogOf(price, price)],
    ['a tier that has no price for what the model is charged by', catalogOf({ ...price, tiers: [{ above: 10 }] })],
    ['a model twice', { models: [entry, entry] }],
    ['a model without a price for what its kind is charged by', { models: [{ ...entry, kind: 'chat' }] }],
    ['a kind that nobody knows', { models: [{ ...entry, kind: 'smell' }] }],
  ])('%s', (_, file) => {
    expect(() => loadCatalog(file)).toThrow();
  });
});
