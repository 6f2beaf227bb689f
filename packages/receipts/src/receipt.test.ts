import * as contract from '@tallygate/contract';
import { expect, expectTypeOf, test } from 'vitest';
import { PRICE_METERS } from './prices.ts';
import type { ReceiptPayload, ReceiptResponse, ReceiptUsage, VaasKeySet } from './receipt.ts';

test('the meters that have a price are those of the contract', () => {
  expect([...PRICE_METERS].sort()).toEqual([...contract.PriceMeter.options].sort());
});

test('the types are those of the API contract, field for field', () => {
  // Compared by the type checker: a difference fails the build and not this run.
  expectTypeOf<ReceiptUsage>().toEqualTypeOf<contract.ReceiptUsage>();
  expectTypeOf<ReceiptPayload>().toEqualTypeOf<contract.ReceiptPayload>();
  expectTypeOf<ReceiptResponse>().toEqualTypeOf<contract.ReceiptResponse>();
  expectTypeOf<VaasKeySet>().toEqualTypeOf<contract.VaasKeySet>();
});
