import type { ModelPricing } from '@tallygate/sdk';
import { expect, test } from 'vitest';
import { priceOf, tierOf, tiersBeside, times } from './versions.ts';

const version = (name: string) => ({ version: name }) as ModelPricing;

test('the price of a batch is exact', () => {
  expect([times('0.000002', '0.5'), times('0.00000015', '0.5'), times('2.5', '1'), times('0', '0.5'), times('0.1', '0.25')]).toEqual([
    ...['0.000001', '0.000000075', '2.5', '0', '0.025'],
  ]);
});

test('prices of service tiers are told from versions of the standard price', () => {
  const versions = ['2026-07-24', '2026-07-24/flex', '2026-07-24/priority', '2026-01-01/flex'].map(version);
  expect(versions.map(tierOf)).toEqual([undefined, 'flex', 'priority', 'flex']);
  expect(tiersBeside(version('2026-07-24'), versions).map(tierOf)).toEqual(['flex', 'priority']);
});

test('tokens are priced by the million, searches and pictures each', () => {
  expect([priceOf('input_tokens', '0.000002'), priceOf('web_searches', '0.01'), priceOf('images', undefined)]).toEqual([
    '$2.00',
    '$0.01',
    '–',
  ]);
});
