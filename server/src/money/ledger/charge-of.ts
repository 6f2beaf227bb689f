import type { Pool } from 'pg';

/**
 * What became of a request's money. `unsettled`: the ledger knows of no settlement, which may still be on its way there.
 * `not_charged`: it was settled as failed.
 */
export type ChargeState = 'charged' | 'not_charged' | 'unsettled';

/** Of an account's request; a refund of it makes no difference here. */
export async function chargeOf(pool: Pool, accountId: string, requestId: string): Promise<ChargeState> {
  const { rows } = await pool.query<{ outcome: string }>('select outcome from usage_records where account_id = $1 and request_id = $2', [
    accountId,
    requestId,
  ]);
  if (rows.length === 0) return 'unsettled';
  return rows.some(({ outcome }) => outcome !== 'failed') ? 'charged' : 'not_charged';
}
