import type * as contract from '@tallygate/contract';
import { expectTypeOf, test } from 'vitest';
import type { ReceiptPayload, ReceiptResponse, ReceiptUsage, VaasKeySet } from './receipt.ts';

test('the types are those of the API contract, field for field', () => {
  // Compared by the type checker: a difference fails the build and not this run.
  expectTypeOf<ReceiptUsage>().toEqualTypeOf<contract.ReceiptUsage>();
  expectTypeOf<ReceiptPayload>().toEqualTypeOf<contract.ReceiptPayload>();
  expectTypeOf<ReceiptResponse>().toEqualTypeOf<contract.ReceiptResponse>();
  expectTypeOf<VaasKeySet>().toEqualTypeOf<contract.VaasKeySet>();
});
