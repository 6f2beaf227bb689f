import type { Pool } from 'pg';
import { type Month, monthEnd, monthOf, monthStart } from '../../kernel/clock.ts';
import { requestIdAt } from '../../kernel/ids.ts';

const known = new WeakMap<Pool, Set<Month>>();

/**
 * Makes the monthly partitions of `usage_records` that records of requests go into whose ids were made at these times, epoch milliseconds, and
 * remembers which are there.
 */
export async function ensurePartitions(pool: Pool, times: readonly number[]): Promise<void> {
  const made = known.get(pool) ?? new Set<Month>();
  known.set(pool, made);
  for (const month of new Set(times.map(monthOf))) {
    if (made.has(month)) continue;
    await createPartition(pool, month);
    made.add(month);
  }
}

async function createPartition(pool: Pool, month: Month): Promise<void> {
  const name = `usage_records_${month.replace('-', '_')}`;
  const [from, to] = [monthStart(month), monthEnd(month)].map((at) => requestIdAt(at.getTime()));
  await pool
    .query(`create table if not exists ${name} partition of usage_records for values from ('${from}') to ('${to}')`)
    // Two writers at once: `if not exists` does not cover the race, the other one's table does.
    .catch((error: unknown) => {
      if (!(error instanceof Error && 'code' in error && (error.code === '42P07' || error.code === '23505'))) throw error;
    });
}
