import type { Pool } from 'pg';
import { rowsOf } from '../../kernel/statements.ts';
import { tables } from './tables.ts';

/**
 * What became of a request's money. `unsettled`: the ledger knows of no settlement, which may still be on its way there.
 * `not_charged`: it was settled as failed.
 */
export type ChargeState = 'charged' | 'not_charged' | 'unsettled';

/** Of an account's request; a refund of it makes no difference here. */
export async function chargeOf(pool: Pool, accountId: string, requestId: string): Promise<ChargeState> {
  const settled = tables
    .selectFrom('usage_records')
    .select('outcome')
    .where('account_id', '=', accountId)
    .where('request_id', '=', requestId);
  const rows = await rowsOf(pool, settled);
  if (rows.length === 0) return 'unsettled';
  return rows.some(({ outcome }) => outcome !== 'failed') ? 'charged' : 'not_charged';
}
