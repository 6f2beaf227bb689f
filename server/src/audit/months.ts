import type { Pool } from 'pg';
import * as z from 'zod';
import { type Month, monthEnd, monthOf, monthStart } from '../kernel/clock.ts';
import { checkedRow, checkedRows } from '../kernel/statements.ts';
import { inTransaction } from '../kernel/transaction.ts';

/**
 * Makes the partitions of this month and the next one. What is written for a month without one is not lost: it is where entries of no month are.
 * @param now epoch milliseconds
 */
export async function makeAuditMonths(pool: Pool, now: number): Promise<void> {
  const month = monthOf(now);
  for (const start of [monthStart(month), monthEnd(month)]) await pool.query('select make_audit_log_month($1)', [start]);
}

const Partition = z.object({ name: z.string() });
const Counted = z.object({ entries: z.number() });

/** Drops the months that are over before this one. @returns how many entries they had */
export async function dropAuditMonths(pool: Pool, first: Month): Promise<number> {
  const old = await checkedRows(
    pool,
    Partition,
    `select relname as name from pg_inherits join pg_class on pg_class.oid = inhrelid
      where inhparent = 'audit_log'::regclass and relname ~ '^audit_log_\\d{4}_\\d{2}$' and relname < $1 order by 1`,
    [`audit_log_${first.replace('-', '_')}`],
  );
  let total = 0;
  for (const { name } of old)
    total += await inTransaction(pool, async (client) => {
      // Who writes an entry waits behind this one: not for long, or the next run does it.
      await client.query(`set local lock_timeout = '1s'`);
      const counted = await checkedRow(client, Counted, `select count(*)::int as entries from ${name}`, []);
      await client.query(`drop table ${name}`);
      return counted?.entries ?? 0;
    });
  return total;
}
