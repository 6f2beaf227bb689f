import type { Pool, PoolClient } from 'pg';
import { isOfArchivedMonth, USAGE_RECORDS } from '../../archive/index.ts';
import type { UsageRecordRow } from './usage-row.ts';

/** A settled request with the usage and the money that count today. */
export interface StandingRow extends UsageRecordRow {
  readonly refunded: boolean;
}

/** Of a settled request's account; null, for administrators, of any. */
export type Owner = string | null;

/** @param attempt which of the request's settlements; null for the newest that was charged */
export async function findStanding(
  pool: Pick<Pool, 'query'>,
  owner: Owner,
  requestId: string,
  attempt: number | null,
): Promise<StandingRow | undefined> {
  const { rows } = await pool.query<StandingRow>(
    `select * from standing_usage where request_id = $1 and ($2::uuid is null or account_id = $2) and ($3::int is null or attempt = $3)
     order by outcome = 'failed', attempt desc limit 1`,
    [requestId, owner, attempt],
  );
  return rows[0];
}

/** Why the ledger has no such settled request at hand. */
export const whyMissing = async (pool: Pool, requestId: string): Promise<'archived' | 'unknown'> =>
  (await isOfArchivedMonth(pool, USAGE_RECORDS, requestId)) ? 'archived' : 'unknown';

/** Until the transaction ends nobody else decides on this request's money: refunds and corrections of one wait for each other. */
export async function lockSettled(client: PoolClient, { request_id, attempt }: Pick<UsageRecordRow, 'request_id' | 'attempt'>) {
  await client.query('select from usage_records where request_id = $1 and attempt = $2 for update', [request_id, attempt]);
}
