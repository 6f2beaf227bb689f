import { sql } from 'kysely';
import type { Pool, PoolClient } from 'pg';
import { ADMIN } from '../../kernel/admin-command.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import { prepared, rowsOf } from '../../kernel/statements.ts';
import { inTransaction } from '../../kernel/transaction.ts';
import { recordEvent } from '../../webhooks/index.ts';
import { tables } from '../tables.ts';

/** Why nothing may be signed or anchored any more until somebody has looked. */
export interface StopReason {
  readonly reason: string;
  /** The record that is put down when somebody resumes, so that the same does not stop the log again; null where it cannot be passed over. */
  readonly seen: string | null;
}

/** What is about to be signed is not what was signed before. */
export class LogStop extends Error {
  override readonly name = 'LogStop';
  /** As in {@link StopReason}. */
  readonly seen: string | null;

  constructor(message: string, seen: string | null = null) {
    super(message);
    this.seen = seen;
  }
}

/** What the operator reads at the terminal, and finds in the guide. */
export const HOW_TO_RESUME = `Nothing is signed or anchored until you have looked and run \`${ADMIN} log-resume\` (docs/guides/receipts.md, "When the log stops").`;

interface StopDeps {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly log: Log;
}

/** Stops the log for every process: requests and their receipts go on, the log does not take them in. The same reason is said aloud once. */
export async function stopLog({ pool, clock, log }: StopDeps, reasons: readonly StopReason[]): Promise<void> {
  if (reasons.length === 0) return;
  const given = sql`select reason, seen, ${new Date(clock.now())}::timestamptz
    from unnest(${reasons.map(({ reason }) => reason)}::text[], ${reasons.map(({ seen }) => seen)}::text[]) as given (reason, seen)`;
  const stops = tables
    .insertInto('receipt_log_stops')
    .columns(['reason', 'seen', 'stopped_at'])
    .expression(given)
    .onConflict((conflict) => conflict.column('reason').doNothing())
    .returning('reason');
  const rows = await inTransaction(pool, async (db) => {
    const fresh = await rowsOf(db, stops);
    for (const { reason } of fresh) await recordEvent(db, { accountId: null, type: 'log.stopped', data: { reason } });
    return fresh;
  });
  for (const { reason } of rows) log.fatal({ reason }, `the log of receipts is stopped. ${HOW_TO_RESUME}`);
}

/** Empty while the log goes on. */
export async function stopsOf(db: Pool | PoolClient): Promise<StopReason[]> {
  const stops = tables.selectFrom('receipt_log_stops').select(['reason', 'seen']).orderBy('stopped_at').orderBy('reason');
  return rowsOf(prepared(db, 'stops of log'), stops);
}
