import type { Pool } from 'pg';

/** What became of a mail: it was taken by a mail server, or it was refused or given up. */
export interface MailOutcome {
  readonly dedupeKey: string;
  /** Null for one that failed. */
  readonly sentAt: Date | null;
  /** What the mail server said last; null when nothing went wrong. */
  readonly failure: string | null;
}

/** The outcomes of those mails that have one by now. Kept for 30 days. */
export async function outcomesOfMails(pool: Pick<Pool, 'query'>, dedupeKeys: readonly string[]): Promise<readonly MailOutcome[]> {
  if (dedupeKeys.length === 0) return [];
  const { rows } = await pool.query<MailOutcome>(
    `select dedupe_key as "dedupeKey", sent_at as "sentAt", last_error as failure from mails
      where dedupe_key = any($1) and (sent_at is not null or failed_at is not null)`,
    [dedupeKeys],
  );
  return rows;
}
