import type { Pool } from 'pg';
import * as z from 'zod';
import { type Month, monthEnd, monthOf, monthStart } from '../kernel/clock.ts';
import { checkedRows } from '../kernel/statements.ts';
import { inTransaction } from '../kernel/transaction.ts';
import { MONTHLY_TABLES, type MonthlyTable } from './monthly-tables.ts';

const known = new WeakMap<Pool, Set<string>>();

/**
 * Makes the partitions of a table for these months, and remembers which are there. What comes late, for a month that is
 * archived, has a partition too: it stays there.
 */
export async function ensurePartitions(pool: Pool, table: MonthlyTable, months: readonly Month[]): Promise<void> {
  for (const month of new Set(months)) await ensurePartition(pool, table, month);
}

/** Whether a row found no partition: its month was archived since that was made. It is made anew when it is asked for again. */
export function isWithoutPartition(pool: Pool, error: unknown): boolean {
  const isWithout = error instanceof Error && error.message.startsWith('no partition of relation');
  if (isWithout) forgetPartitions(pool);
  return isWithout;
}

/** After one was dropped. */
export const forgetPartitions = (pool: Pool): void => void known.delete(pool);

/** Makes the partitions of this month and the next one: ahead of time that takes no lock from anybody. @param now epoch milliseconds */
export async function makePartitionsAhead(pool: Pool, now: number): Promise<void> {
  const months = [monthOf(now), monthOf(monthEnd(monthOf(now)).getTime())];
  for (const table of MONTHLY_TABLES) for (const month of months) await ensurePartition(pool, table, month);
}

export const partitionOf = ({ name }: MonthlyTable, month: Month): string => `${name}_${month.replace('-', '_')}`;

/** The keys of a month: the first one, and the one after the last. */
export const keysOf = (table: MonthlyTable, month: Month): [from: string, to: string] => [
  table.keyAt(monthStart(month).getTime()),
  table.keyAt(monthEnd(month).getTime()),
];

const MonthRow = z.object({ month: z.custom<Month>((month) => typeof month === 'string' && /^\d{4}-\d{2}$/.test(month)) });

/** The months that a table has partitions of, the oldest first. */
export async function monthsOf(pool: Pool, { name }: MonthlyTable): Promise<Month[]> {
  const rows = await checkedRows(
    pool,
    MonthRow,
    `select replace(right(relname, 7), '_', '-') as month from pg_inherits join pg_class on pg_class.oid = inhrelid
      where inhparent = $1::regclass order by 1`,
    [name],
  );
  return rows.map(({ month }) => month);
}

export async function ensurePartition(pool: Pool, table: MonthlyTable, month: Month): Promise<void> {
  const partition = partitionOf(table, month);
  const made = known.get(pool) ?? new Set<string>();
  known.set(pool, made);
  if (made.has(partition)) return;
  const [from, to] = keysOf(table, month);
  await inTransaction(pool, async (client) => {
    // Two writers wait for each other.
    await client.query(`lock table ${table.name} in share update exclusive mode`);
    await client.query(`create table if not exists ${partition} partition of ${table.name} for values from ('${from}') to ('${to}')`);
  });
  made.add(partition);
}
