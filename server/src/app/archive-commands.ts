import type { Pool } from 'pg';
import type { BlobStore } from '../adapters/blobs/port.ts';
import { archivedMonths, archiveMonth, MONTHLY_TABLES, oldestKept, restoreMonth } from '../archive/index.ts';
import { type Clock, type Month, rfc3339 } from '../kernel/clock.ts';
import { uninvoicedAccounts } from '../receipts/index.ts';

/** The present month and the one before it are never archived. */
const KEPT_MONTHS = 1;
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

interface Deps {
  readonly pool: Pool;
  readonly blobs: BlobStore;
  readonly clock: Clock;
  /** For tests: in place of the database's own clock. */
  readonly databaseClock?: Clock;
}

interface Answer {
  readonly isDone: boolean;
  readonly said: string;
}

/** Archives a month now. @returns whether all of it is archived, and what to say */
export async function archiveNow(deps: Deps, month: Month): Promise<Answer> {
  const last = await oldestKept(deps, KEPT_MONTHS);
  if (!MONTH.test(month) || month >= last)
    return {
      isDone: false,
      said: `${month} cannot be archived: only a month before ${last}, once the ledger has requests of seven later days.`,
    };
  const uninvoiced = await uninvoicedAccounts(deps.pool, month);
  if (uninvoiced.length > 0)
    return { isDone: false, said: `Receipts of ${month} are on no invoice yet, of ${uninvoiced.length} accounts. ${ISSUE_FIRST}` };
  const outcomes: string[] = [];
  let isDone = true;
  for (const table of MONTHLY_TABLES) {
    const outcome = await archiveMonth(deps, table, month);
    isDone &&= outcome === 'archived' || outcome === 'absent';
    outcomes.push(`${month}  ${table.name.padEnd(14)} ${SAID[outcome]}`);
  }
  return { isDone, said: outcomes.join('\n') };
}

const ISSUE_FIRST =
  'Invoices need the receipts of their month in the database. The gateway issues what is due by itself: let it run, then archive the month. What came after the invoice of its month is on the next one.';

/** Brings a month back into the database. @returns whether it was archived, and what to say */
export async function restoreNow(deps: Pick<Deps, 'pool' | 'blobs'>, month: Month): Promise<Answer> {
  if (!MONTH.test(month)) return { isDone: false, said: 'A month is written as in 2026-01.' };
  const said: string[] = [];
  for (const table of MONTHLY_TABLES) {
    const rows = await restoreMonth(deps, table, month);
    if (rows !== undefined) said.push(`${month}  ${table.name.padEnd(14)} ${rows} rows are in the database again`);
  }
  return said.length === 0 ? { isDone: false, said: `${month} is not archived.` } : { isDone: true, said: said.join('\n') };
}

const SAID = {
  archived: 'archived',
  absent: 'has no rows in the database',
  pending: 'not yet: a receipt is not in the log, or a refund or correction is not booked; the gateway has to run for that',
  changed: 'not yet: rows came meanwhile; run it again',
};
