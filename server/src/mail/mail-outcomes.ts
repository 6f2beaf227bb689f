import type { NotNull } from 'kysely';
import { anyOf, type Queryable, rowsOf } from '../kernel/statements.ts';
import { tables } from './tables.ts';

/** The outcome of a mail: accepted by a mail server, refused or given up, or unknown. */
export interface MailOutcome {
  readonly dedupeKey: string;
  /** Null for one that failed or is unconfirmed. */
  readonly sentAt: Date | null;
  /** Of one that is sent once: whether it may have been taken all the same. */
  readonly isUnconfirmed: boolean;
  /** Whether it was held back, since its recipient wants no mails of its kind any more. */
  readonly isSuppressed: boolean;
  /** Whether the mail server refused the address permanently, and not only the mail. */
  readonly isRecipientRefused: boolean;
  /** The last answer of the mail server; null without an error. */
  readonly failure: string | null;
}

/** The outcomes of those mails that have one by now. Stored for 30 days. */
export async function outcomesOfMails(pool: Queryable, dedupeKeys: readonly string[]): Promise<readonly MailOutcome[]> {
  if (dedupeKeys.length === 0) return [];
  return rowsOf(
    pool,
    tables
      .selectFrom('mails')
      .select(['dedupe_key as dedupeKey', 'sent_at as sentAt', 'is_unconfirmed as isUnconfirmed', 'is_suppressed as isSuppressed'])
      .select(['is_recipient_refused as isRecipientRefused', 'last_error as failure'])
      .where('dedupe_key', '=', anyOf(dedupeKeys))
      .where((eb) => eb.or([eb('sent_at', 'is not', null), eb('failed_at', 'is not', null)]))
      .$narrowType<{ dedupeKey: NotNull }>(),
  );
}
