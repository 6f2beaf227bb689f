import type { Pool } from 'pg';
import { anyOf, rowsOf, run } from '../../kernel/statements.ts';
import { windowStartOf } from './lane-ids.ts';
import { tables } from './tables.ts';

const AT_ONCE = 5_000;
/** Of a month in which clocks are put back. */
const LONGEST_WINDOW_MS = 31 * 86_400_000 + 3_600_000;

/**
 * Deletes what was settled on lanes of limits whose windows had ended before a time: nothing is held on them any more. Requests of that time have to be
 * archived, so that nothing of them is refunded or corrected. All rows are looked at, some thousands at once, so that nobody waits.
 * @returns how many lanes those were
 */
export async function forgetWindows(pool: Pool, before: Date, signal?: AbortSignal): Promise<number> {
  const startedBefore = before.getTime() - LONGEST_WINDOW_MS;
  let [last, total] = ['', 0];
  for (let found = AT_ONCE; found === AT_ONCE && !signal?.aborted; ) {
    const next = tables.selectFrom('lane_spend').select('lane_id').where('lane_id', '>', last).orderBy('lane_id').limit(AT_ONCE);
    const ids = (await rowsOf(pool, next)).map(({ lane_id }) => lane_id);
    const ended = ids.filter((id) => (windowStartOf(id) ?? startedBefore) < startedBefore);
    if (ended.length > 0) total += await run(pool, tables.deleteFrom('lane_spend').where('lane_id', '=', anyOf(ended)));
    found = ids.length;
    last = ids.at(-1) ?? last;
  }
  return total;
}
