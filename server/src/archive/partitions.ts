import type { Pool } from 'pg';
import { type Month, monthEnd, monthOf, monthStart } from '../kernel/clock.ts';
import { MONTHLY_TABLES, type MonthlyTable } from './monthly-tables.ts';

const known = new WeakMap<Pool, Set<string>>();

/** Makes the monthly partitions of a table that rows with these keys go into, and remembers which are there. */
export async function ensurePartitions(pool: Pool, table: MonthlyTable, keys: readonly string[]): Promise<void> {
  for (const month of new Set(keys.map((key) => monthOf(table.timeOf(key))))) await ensurePartition(pool, table, month);
}

/** Makes the partitions of this month and the next one: ahead of time that takes no lock from anybody. @param now epoch milliseconds */
export async function makePartitionsAhead(pool: Pool, now: number): Promise<void> {
  const months = [monthOf(now), monthOf(monthEnd(monthOf(now)).getTime())];
  for (const table of MONTHLY_TABLES) for (const month of months) await ensurePartition(pool, table, month);
}

const partitionOf = ({ name }: MonthlyTable, month: Month): string => `${name}_${month.replace('-', '_')}`;

async function ensurePartition(pool: Pool, table: MonthlyTable, month: Month): Promise<void> {
  const partition = partitionOf(table, month);
  const made = known.get(pool) ?? new Set<string>();
  known.set(pool, made);
  if (made.has(partition)) return;
  const [from, to] = [monthStart(month), monthEnd(month)].map((at) => table.keyAt(at.getTime()));
  await pool
    .query(`create table if not exists ${partition} partition of ${table.name} for values from ('${from}') to ('${to}')`)
    // Two writers at once: `if not exists` does not cover the race, the other one's table does.
    .catch((error: unknown) => {
      if (!(error instanceof Error && 'code' in error && (error.code === '42P07' || error.code === '23505'))) throw error;
    });
  made.add(partition);
}
