import { type SqlBool, sql } from 'kysely';
import type { Pool, PoolClient } from 'pg';
import { MailDeferred, MailRefused, type MailSender } from '../adapters/mail/port.ts';
import type { Log } from '../kernel/log.ts';
import { firstOf, type RowOf } from '../kernel/statements.ts';
import type { Mail } from './entities.ts';
import { dress } from './letter.ts';
import { tables } from './tables.ts';
import { composeLetter, type Desk } from './templates.ts';

const FIRST_RETRY_SECONDS = 15;
const LAST_RETRY_SECONDS = 3_600;
/** What RFC 5321 asks of a sender before it gives up is 4 to 5 days; what these mails say is stale sooner. */
const GIVE_UP_SECONDS = 2 * 86_400;
const MAX_ERROR_LENGTH = 500;

const SENDER_DIED: Failure = { error: new Error('Its sender died while it was handing the mail over'), isOpen: true };

/** SQL: whether a mail waits to be sent. */
export const MAILS_DUE = 'exists (select from mails where sent_at is null and failed_at is null and due_at <= now())';

/** The mails that wait, and what sends them. */
export interface Outbox {
  /** Sends everything that is due and resolves to how many went out. Several processes may do so at once. */
  sendDue(signal?: AbortSignal): Promise<number>;
  /** Deletes what was sent, or given up, more than 30 days ago. */
  sweep(): Promise<void>;
}

interface OutboxDeps {
  readonly pool: Pool;
  readonly sender: MailSender;
  readonly desk: Desk;
  readonly log: Log;
  /** How long a mail stays after it was sent or given up, days. */
  readonly keptDays: number;
}

type MailRow = Pick<RowOf<typeof Mail>, 'id' | 'recipient' | 'template' | 'data' | 'attempts' | 'is_sent_once'> & {
  readonly is_too_old: boolean;
};

/** How an attempt failed. */
interface Failure {
  readonly error: Error;
  /** The mail server may have the mail. */
  readonly isOpen: boolean;
  /** Not sent: its recipient has unsubscribed from mails of this kind. */
  readonly isSuppressed?: boolean;
}

/**
 * A mail is locked for as long as it is being sent, and marked in the same transaction: a process that is killed in between
 * leaves the mail due, and the retry has the same Message-ID. For a mail with `isSentOnce`, a separate transaction commits
 * that it is being sent, before its end is on the wire: a process that finds this mark, and the row unlocked, does not send it again.
 */
export function createOutbox(deps: OutboxDeps): Outbox {
  const { pool, keptDays } = deps;
  return {
    async sendDue(signal) {
      const client = await pool.connect();
      let sent = 0;
      try {
        for (;;) {
          const outcome = signal?.aborted ? undefined : await sendNext(deps, client);
          if (outcome === undefined) break;
          if (outcome) sent++;
        }
        client.release();
      } catch (failure) {
        // The connection may be in the middle of a transaction: it is not for anybody else.
        client.release(true);
        throw failure;
      }
      return sent;
    },

    async sweep() {
      await pool.query(`delete from mails where coalesce(sent_at, failed_at) < now() - $1 * interval '1 day'`, [keptDays]);
    },
  };
}

const NEXT_DUE = tables
  .selectFrom('mails')
  .select(['id', 'recipient', 'template', 'data', 'attempts', 'is_sent_once'])
  .select(sql<boolean>`created_at < now() - ${GIVE_UP_SECONDS} * interval '1 second'`.as('is_too_old'))
  .where(sql<SqlBool>`sent_at is null and failed_at is null and due_at <= now()`)
  .orderBy('due_at')
  .orderBy('id')
  .limit(1)
  .forNoKeyUpdate()
  .skipLocked();

/** Sends the next mail that is due. @returns whether it was sent; undefined if none is due */
async function sendNext(deps: OutboxDeps, client: PoolClient): Promise<boolean | undefined> {
  await client.query('begin');
  const row = await firstOf(client, NEXT_DUE);
  if (!row) {
    await client.query('commit');
    return undefined;
  }
  const failure = (await wasHandedOver(client, row)) ? SENDER_DIED : await send(deps, row);
  if (failure === undefined)
    await client.query('update mails set sent_at = clock_timestamp(), attempts = attempts + 1 where id = $1', [row.id]);
  else if (failure.isSuppressed) await suppress(client, row, failure.error);
  else if (failure.isOpen) await leaveOpen(deps, client, row, failure.error);
  else await postpone(deps, client, row, failure.error);
  await client.query('commit');
  return failure === undefined;
}

async function wasHandedOver(client: PoolClient, { id, is_sent_once }: MailRow): Promise<boolean> {
  return is_sent_once && (await client.query('select from mail_handovers where mail_id = $1', [id])).rowCount === 1;
}

/** @returns the failure, if any */
async function send(
  { pool, sender, desk }: OutboxDeps,
  { id, recipient, template, data, is_sent_once }: MailRow,
): Promise<Failure | undefined> {
  let isHandedOver = false;
  let isSuppressed = false;
  try {
    const letter = composeLetter(template, data, desk);
    // The last check before the text is sent: marketing mail is not sent to people who have unsubscribed by now.
    const handOver = async () => {
      const { rowCount } = await pool.query(
        `insert into mail_handovers (mail_id) select $1
         where not $2 or not exists (select from suppressed_addresses where address_hash = address_hash(lower($3)))`,
        [id, letter.unsubscribeFooter !== undefined, recipient],
      );
      isHandedOver = rowCount === 1;
      isSuppressed = !isHandedOver;
      if (isSuppressed) throw new Error('The address gets no such mail any more');
    };
    const mail = {
      id,
      to: recipient,
      subject: letter.subject,
      ...dress(letter),
      ...(letter.replyTo !== undefined && { replyTo: letter.replyTo }),
      ...(letter.unsubscribeFooter !== undefined && { unsubscribeUrl: letter.unsubscribeFooter.unsubscribeUrl }),
    };
    await sender.send(mail, is_sent_once ? handOver : undefined);
    return undefined;
  } catch (failure) {
    const wasAnswered = failure instanceof MailRefused || failure instanceof MailDeferred;
    return { error: failure instanceof Error ? failure : new Error(String(failure)), isOpen: isHandedOver && !wasAnswered, isSuppressed };
  }
}

async function suppress(client: PoolClient, { id }: MailRow, error: Error): Promise<void> {
  await client.query('update mails set last_error = $2, failed_at = clock_timestamp(), is_suppressed = true where id = $1', [
    id,
    error.message,
  ]);
}

async function leaveOpen({ log }: OutboxDeps, client: PoolClient, { id, template }: MailRow, error: Error): Promise<void> {
  log.warn({ mail: id, template, err: error }, 'it was not heard whether a mail was taken; it is not sent again');
  await client.query(
    `update mails set attempts = attempts + 1, last_error = $2, failed_at = clock_timestamp(), is_unconfirmed = true where id = $1`,
    [id, error.message.slice(0, MAX_ERROR_LENGTH)],
  );
}

async function postpone({ log }: OutboxDeps, client: PoolClient, row: MailRow, failure: Error): Promise<void> {
  const isOver = failure instanceof MailRefused || row.is_too_old;
  const retrySeconds = Math.min(FIRST_RETRY_SECONDS * 2 ** row.attempts, LAST_RETRY_SECONDS);
  // Without the data: it names the recipient's affairs, and may carry a sealed token.
  const facts = { mail: row.id, template: row.template, attempt: row.attempts + 1, err: failure };
  if (isOver) log.error(facts, 'a mail could not be sent and is given up');
  else log.warn({ ...facts, retrySeconds }, 'a mail could not be sent and will be tried again');
  await client.query('delete from mail_handovers where mail_id = $1', [row.id]);
  await client.query(
    `update mails set attempts = attempts + 1, last_error = $2, failed_at = case when $3 then clock_timestamp() end,
            due_at = clock_timestamp() + $4 * interval '1 second', is_recipient_refused = $5 where id = $1`,
    [
      ...[row.id, failure.message.slice(0, MAX_ERROR_LENGTH), isOver, retrySeconds],
      failure instanceof MailRefused && failure.of === 'recipient',
    ],
  );
}
