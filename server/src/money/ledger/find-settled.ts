import { sql } from 'kysely';
import type { Pool, PoolClient } from 'pg';
import { isOfArchivedMonth, USAGE_RECORDS } from '../../archive/index.ts';
import { firstOf, ifGiven, type Queryable } from '../../kernel/statements.ts';
import { tables } from './tables.ts';
import type { PricedRow, UsageRecordRow } from './usage-row.ts';

/** A settled request with the usage and the money that count today. */
export type StandingRow = PricedRow & { readonly refunded: boolean };

/** The view of them. */
const STANDING = tables.selectFrom(sql<StandingRow>`standing_usage`.as('u'));

/** Of a settled request's account; null, for administrators, of any. */
export type Owner = string | null;

/** @param attempt which of the request's settlements; null for the newest that was charged */
export async function findStanding(
  pool: Queryable,
  owner: Owner,
  requestId: string,
  attempt: number | null,
): Promise<StandingRow | undefined> {
  return firstOf(
    pool,
    STANDING.selectAll()
      .where('request_id', '=', requestId)
      .where((eb) => ifGiven(owner ?? undefined, (accountId) => eb('account_id', '=', accountId)))
      .where((eb) => ifGiven(attempt ?? undefined, (wanted) => eb('attempt', '=', wanted)))
      .orderBy(sql`outcome = 'failed'`)
      .orderBy('attempt', 'desc')
      .limit(1),
  );
}

/** As it was settled; of several settlements the newest that was charged. */
export async function findSettled(pool: Queryable, requestId: string, attempt: number | null): Promise<PricedRow | undefined> {
  const row = await firstOf(
    pool,
    tables
      .selectFrom('usage_records')
      .selectAll()
      .where('request_id', '=', requestId)
      .where((eb) => ifGiven(attempt ?? undefined, (wanted) => eb('attempt', '=', wanted)))
      .orderBy(sql`outcome = 'failed'`)
      .orderBy('attempt', 'desc')
      .limit(1),
  );
  if (!row) return undefined;
  const set = tables.selectFrom('price_sets').select('unit_prices').where('id', '=', row.price_set_id);
  const unit_prices = row.unit_prices ?? (await firstOf(pool, set))?.unit_prices;
  if (!unit_prices) throw new Error(`The prices of ${requestId} are not there`);
  return { ...row, unit_prices };
}

/** Why the ledger has no such settled request at hand. */
export const whyMissing = async (pool: Pool, requestId: string): Promise<'archived' | 'unknown'> =>
  (await isOfArchivedMonth(pool, USAGE_RECORDS, requestId)) ? 'archived' : 'unknown';

/** Until the transaction ends nobody else decides on this request's money: refunds and corrections of one wait for each other. */
export async function lockSettled(client: PoolClient, { request_id, attempt }: Pick<UsageRecordRow, 'request_id' | 'attempt'>) {
  await client.query('select from usage_records where request_id = $1 and attempt = $2 for update', [request_id, attempt]);
}
