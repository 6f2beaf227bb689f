import { ledgerBatchOf, receiptsOf } from '../ledger-batch.ts';
import type { LedgerPages } from '../page-thread.ts';

/** On the thread that asks. */
export const pagesWith = (sealKey: Buffer): LedgerPages => ({
  ledgerBatchOf: async (entries) => ledgerBatchOf(entries),
  receiptsOf: async (entries, written) => receiptsOf(entries, written, sealKey),
});

export const TEST_SEAL_KEY = Buffer.alloc(32, 7);

/** Sealed by nobody's key: for tests in which no log takes the receipts in. */
export const testPages = pagesWith(TEST_SEAL_KEY);
