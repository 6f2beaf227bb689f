import type { ReceiptResponse } from '@tallygate/contract';
import type { Pool } from 'pg';
import type { Archive } from '../archive/index.ts';
import { Problem } from '../kernel/problem.ts';
import { provingState } from './log/read-log.ts';
import { provenReceipts } from './receipt-row.ts';
import type { SigningKey } from './signing-keys.ts';
import { storedReceipt } from './stored-receipt.ts';

export interface ReadDeps {
  readonly pool: Pool;
  readonly archive: Archive;
  /** Signs what is read. */
  readonly key: SigningKey;
}

/** With its proof against the newest checkpoint. @throws Problem `not_found` */
export async function findReceipt({ pool, archive, key }: ReadDeps, receiptId: string): Promise<ReceiptResponse> {
  const row = await storedReceipt(pool, archive, receiptId);
  // Read after the receipt, so that it is a state that has it.
  const index = row?.log_index ?? null;
  const state = index === null ? undefined : await provingState(pool, Number(index));
  const [receipt] = await provenReceipts({ pool, key }, row ? [row] : [], state);
  if (!receipt) throw new Problem('not_found', 'There is no receipt with this id; a receipt appears a moment after its answer has ended.');
  return receipt;
}
