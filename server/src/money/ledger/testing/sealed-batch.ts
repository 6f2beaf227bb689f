import type { JournalEntry } from '../../../adapters/lanes/port.ts';
import { type LedgerBatch, ledgerBatchOf } from '../ledger-batch.ts';

export const TEST_SEAL_KEY = Buffer.alloc(32, 7);

/** Sealed by nobody's key: for tests in which no log takes the receipts in. */
export const sealedBatchOf = (entries: readonly JournalEntry[]): LedgerBatch => ledgerBatchOf(entries, TEST_SEAL_KEY);
