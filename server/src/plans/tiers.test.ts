import { expect, test } from 'vitest';
import { planOf } from './tiers.ts';

const TIERS = ['free', 'pro', 'scale', 'enterprise'];

test('there are four tiers, each under its id', () => {
  expect(TIERS.map((id) => planOf(id).id)).toEqual(TIERS);
});

test('a dearer tier includes no less of anything', () => {
  const quotas = TIERS.map((id) => planOf(id).quota);
  for (const [index, quota] of quotas.entries()) {
    for (const [meter, units] of Object.entries(quotas[index - 1] ?? {})) {
      expect(quota[meter as keyof typeof quota], meter).toBeGreaterThanOrEqual(units);
    }
  }
});

test('only the free tier ends with its quota, and an invoice has a ceiling', () => {
  expect(TIERS.map((id) => planOf(id).overage.kind)).toEqual(['block', 'balance', 'balance', 'invoice']);
  expect(planOf('enterprise').overage).toMatchObject({ ceiling: expect.any(BigInt) });
});

test.each(['', 'Free', 'gold', '__proto__', 'constructor'])('there is no plan %j', (id) => {
  expect(() => planOf(id)).toThrow(`There is no plan "${id}"`);
});
