import type { Pool } from 'pg';
import { monthOf } from '../kernel/clock.ts';
import { idAt } from '../kernel/ids.ts';
import { anyOf, rowsOf, run } from '../kernel/statements.ts';
import { inTransaction } from '../kernel/transaction.ts';
import { dropAuditMonths } from './months.ts';
import { tables } from './tables.ts';

/** A transaction of a fraction of a second. */
const AT_ONCE = 5_000;

/**
 * Deletes the entries from before a time: whole months with their partitions, and what is of no month, or of that of the time, some thousands in
 * each transaction, so that nobody waits for it. After an abort the next run continues. The table refuses every other deletion.
 * @returns how many those were
 */
export async function forgetEntries(pool: Pool, before: Date, signal?: AbortSignal): Promise<number> {
  let total = signal?.aborted ? 0 : await dropAuditMonths(pool, monthOf(before.getTime()));
  for (let found = AT_ONCE; found === AT_ONCE && !signal?.aborted; total += found) found = await forgetSome(pool, before);
  return total;
}

const forgetSome = (pool: Pool, before: Date): Promise<number> =>
  inTransaction(pool, async (client) => {
    await client.query("set local tallygate.audit_retention = 'on'");
    const oldest = tables.selectFrom('audit_log').select('id').where('id', '<', idAt(before.getTime())).orderBy('id').limit(AT_ONCE);
    const ids = (await rowsOf(client, oldest)).map(({ id }) => id);
    return run(client, tables.deleteFrom('audit_log').where('id', '=', anyOf(ids)));
  });
