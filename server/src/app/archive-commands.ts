import type { Pool } from 'pg';
import type { BlobStore } from '../adapters/blobs/port.ts';
import { archivedMonths, archiveMonth, MONTHLY_TABLES } from '../archive/index.ts';
import { type Clock, type Month, monthOf, rfc3339 } from '../kernel/clock.ts';

const MONTH = /^\d{4}-(0[1-9]|1[0-2])$/;

/** What the archive has: a line for each month of each table. */
export async function listArchives(pool: Pool): Promise<string> {
  const months = await archivedMonths(pool);
  if (months.length === 0) return 'Nothing is archived.';
  const lines = months.map(
    ({ table, month, rows, pieces, archivedAt }) =>
      `${month}  ${table.padEnd(14)} ${rows} rows in ${pieces} pieces, archived ${rfc3339(archivedAt)}`,
  );
  return lines.join('\n');
}

/** Archives a month now. @returns whether all of it is archived, and what to say */
export async function archiveNow(
  deps: { readonly pool: Pool; readonly blobs: BlobStore; readonly clock: Clock },
  month: Month,
): Promise<{ readonly isDone: boolean; readonly said: string }> {
  const now = new Date(deps.clock.now());
  const last = monthOf(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1, 1));
  if (!MONTH.test(month) || month >= last) return { isDone: false, said: `A month before ${last} can be archived, such as 2026-01.` };
  const outcomes: string[] = [];
  let isDone = true;
  for (const table of MONTHLY_TABLES) {
    const outcome = await archiveMonth(deps, table, month);
    isDone &&= outcome === 'archived' || outcome === 'absent';
    outcomes.push(`${month}  ${table.name.padEnd(14)} ${SAID[outcome]}`);
  }
  return { isDone, said: outcomes.join('\n') };
}

const SAID = {
  archived: 'archived',
  absent: 'has no rows in the database',
  pending: 'not yet: a receipt is not in the log, or a refund or correction is not booked; the gateway has to run for that',
  changed: 'not yet: rows came meanwhile; run it again',
};
