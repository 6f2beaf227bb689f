import type { Pool } from 'pg';

/**
 * Which of these requests the ledger has a settlement of. For whoever takes a hold anew after a restart: what was settled is in the
 * ledger by then, since the journal is drained before anything is held.
 */
export async function settledAmong(pool: Pool, requestIds: readonly string[]): Promise<ReadonlySet<string>> {
  const { rows } = await pool.query<{ request_id: string }>(
    `select distinct request_id from postings where kind = 'usage' and request_id = any($1)`,
    [requestIds],
  );
  return new Set(rows.map(({ request_id }) => request_id));
}
