import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from 'pg';
import * as z from 'zod';
import { MailDeferred, MailRefused, type MailSender } from '../../adapters/mail/port.ts';
import { tryLock, unlock } from '../../kernel/advisory-lock.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import { checkedRows } from '../../kernel/statements.ts';
import { inTransaction } from '../../kernel/transaction.ts';
import { recordBounce } from './bounces.ts';
import { createExpansion } from './expand.ts';
import { type Rendered, render, type Template } from './render.ts';
import type { ReturnPaths } from './return-paths.ts';
import type { Unsubscribing } from './unsubscribing.ts';

const AT_ONCE = 8;
/** A batch is the number of mails of about a second, within these bounds; then the next recipients are looked up again. */
const LEAST_BATCH = 8;
const MOST_BATCH = 200;
/** So long at a time recipients are looked up, while others wait for their mail. */
const EXPANDING_MS = 250;
const MAX_ATTEMPTS = 8;
const FIRST_RETRY_MS = 30_000;
const LAST_RETRY_MS = 3_600_000;
/** A mail server that is away is not asked once for each mail. */
const AWAY_MS = 15_000;
const MAX_ERROR_LENGTH = 500;

export interface EmailSenderDeps {
  readonly pool: Pool;
  readonly sender: MailSender;
  readonly unsubscribing: Unsubscribing;
  readonly clock: Clock;
  readonly log: Log;
  readonly publicUrl: () => string;
  /** The last line of every mail. */
  readonly postalAddress?: string | undefined;
  /** Mails that are begun in a second, at most. */
  readonly perSecond: number;
  /** Undefined where no address for bounces is configured: they go to the sender. */
  readonly returnPaths?: ReturnPaths | undefined;
}

const DueRow = z.object({
  recipient_id: z.string(),
  address: z.string(),
  name: z.string().nullable(),
  company: z.string().nullable(),
  attempts: z.number(),
  is_test: z.boolean(),
  reply_to: z.string().nullable(),
  subject: z.string(),
  text_body: z.string(),
  html_body: z.string().nullable(),
  variables: z.record(z.string(), z.string()),
  is_suppressed: z.boolean(),
});
type RecipientRow = z.infer<typeof DueRow>;

/**
 * Sends the mails that are due. One process at a time does so, under a lock that its death frees.
 *
 * SMTP cannot be asked whether it accepted a mail, so there is always a moment between sending and the answer in which this is unknown.
 * The row is set to `handing_over` right before the end of the mail's text is sent: a process that finds such an abandoned row knows that the mail
 * may have been accepted, marks it `unconfirmed` and does not send it again. So no address gets a mail twice.
 */
export function createEmailSender(deps: EmailSenderDeps) {
  const { pool, clock, log } = deps;
  return {
    /** Resolves once nothing is due any more. */
    async sendDue(signal?: AbortSignal): Promise<void> {
      const client = await pool.connect();
      let isBroken = true;
      try {
        if (await tryLock(client, 'emails:send')) {
          const { rowCount } = await pool.query("update email_recipients set state = 'unconfirmed', at = $1 where state = 'handing_over'", [
            new Date(clock.now()),
          ]);
          if (rowCount)
            log.warn({ mails: rowCount }, 'marketing mails were being handed over when their sender died; they are not sent again');
          await sendBatches(deps, signal);
          await unlock(client, 'emails:send');
        }
        isBroken = false;
      } finally {
        // A connection that still has the lock would keep it from everybody.
        client.release(isBroken);
      }
    },
  };
}

/** SQL: whether a mail is being sent, or is to be. */
export const EMAILS_DUE = "exists (select from emails where state in ('scheduled', 'preparing', 'sending') and due_at <= present)";

const FINISH = `update emails set state = 'sent', finished_at = $1 where state = 'sending'
  and not exists (select from email_recipients r where r.email_id = emails.email_id and r.state in ('queued', 'handing_over'))`;

async function sendBatches(deps: EmailSenderDeps, signal: AbortSignal | undefined): Promise<void> {
  const pace = createPace(deps.perSecond);
  const expansion = createExpansion(deps.pool, deps.clock);
  while (!signal?.aborted) {
    const isExpanding = await expansion.goOn(EXPANDING_MS);
    const rows = await dueRows(deps);
    await deps.pool.query(FINISH, [new Date(deps.clock.now())]);
    if (rows.length === 0 && !isExpanding) return;
    let isAway = false;
    const waiting = rows[Symbol.iterator]();
    const worker = async () => {
      for (const row of waiting) {
        if (signal?.aborted || isAway) return;
        await pace(signal);
        if ((await sendOne(deps, row)) === 'away') isAway = true;
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    if (isAway) return;
  }
}

/** Evenly: a burst is what mail servers defer. */
function createPace(perSecond: number) {
  let next = performance.now();
  return async (signal: AbortSignal | undefined): Promise<void> => {
    const now = performance.now();
    const own = Math.max(now, next);
    next = own + 1_000 / perSecond;
    if (own - now >= 1) await delay(own - now, undefined, { ref: true, ...(signal && { signal }) }).catch(() => {});
  };
}

/** Those who unsubscribed since they were queued are taken out first. */
async function dueRows({ pool, clock, perSecond }: EmailSenderDeps): Promise<RecipientRow[]> {
  for (;;) {
    const now = new Date(clock.now());
    const batch = Math.min(MOST_BATCH, Math.max(LEAST_BATCH, Math.ceil(perSecond)));
    const rows = await checkedRows(pool, DueRow, DUE, [now, batch]);
    const [suppressed, due] = [rows.filter((row) => row.is_suppressed), rows.filter((row) => !row.is_suppressed)];
    if (suppressed.length > 0)
      await pool.query(
        "update email_recipients set state = 'suppressed', at = $2 where recipient_id = any($1::uuid[]) and state = 'queued'",
        [suppressed.map(({ recipient_id }) => recipient_id), now],
      );
    if (due.length > 0 || rows.length === 0) return due;
  }
}

/** Tests first; then one of each mail, and another one of each: a mail to very many does not hold up the others. */
const DUE = `select r.recipient_id, r.address, r.name, r.company, r.attempts, e.is_test, e.reply_to, e.subject, e.text_body, e.html_body, e.variables,
    not e.is_test and s.address_hash is not null as is_suppressed
  from emails e
    cross join lateral (
      select q.*, row_number() over (order by q.due_at, q.recipient_id) as turn from email_recipients q
      where q.email_id = e.email_id and q.state = 'queued' and q.due_at <= $1 and q.address is not null
      order by q.due_at, q.recipient_id limit $2) r
    left join suppressed_addresses s on s.address_hash = r.address_hash
  where e.state = 'sending' order by e.is_test desc, r.turn, e.due_at, e.email_id limit $2`;

async function sendOne(deps: EmailSenderDeps, row: RecipientRow): Promise<'done' | 'away'> {
  const url = `${deps.publicUrl()}/unsubscribe?token=${await deps.unsubscribing.tokenOf(row.recipient_id)}`;
  const template: Template = { subject: row.subject, text: row.text_body, html: row.html_body, variables: row.variables };
  const letter = render(
    template,
    { email: row.address, name: row.name, company: row.company },
    { unsubscribeUrl: url, postalAddress: deps.postalAddress },
  );
  const returnPath = await deps.returnPaths?.of(row.recipient_id);
  const mail = {
    ...{ id: row.recipient_id, to: row.address, ...letter, unsubscribeUrl: url },
    ...(returnPath !== undefined && { returnPath }),
    ...(row.reply_to !== null && { replyTo: row.reply_to }),
  };
  let wasHandedOver: boolean | undefined;
  try {
    await deps.sender.send(mail, async () => {
      wasHandedOver = await handOver(deps, row, letter);
      if (!wasHandedOver) throw new Error('The recipient is not to get this mail any more');
    });
  } catch (failure) {
    // Withdrawn: the row is not changed; the next query for due mails sees why.
    return wasHandedOver === false ? 'done' : afterFailure(deps, row, { failure, wasHandedOver: wasHandedOver ?? false });
  }
  await mark(deps, row, 'sent');
  return 'done';
}

/** The last check before the mail's text is sent: recipients who unsubscribed, or whose mail was canceled, get nothing. */
async function handOver({ pool, clock }: EmailSenderDeps, { recipient_id, is_test }: RecipientRow, letter: Rendered): Promise<boolean> {
  const digest = createHash('sha256');
  for (const part of [letter.subject, letter.text, letter.html]) digest.update(part).update('\0');
  const { rowCount } = await pool.query(
    `update email_recipients r set state = 'handing_over', attempts = attempts + 1, digest = $2, at = $3
     where recipient_id = $1 and state = 'queued' and exists (select from emails e where e.email_id = r.email_id and e.state = 'sending')
       and ($4 or not exists (select from suppressed_addresses s where s.address_hash = r.address_hash))`,
    [recipient_id, digest.digest(), new Date(clock.now()), is_test],
  );
  return rowCount === 1;
}

async function afterFailure(
  deps: EmailSenderDeps,
  row: RecipientRow,
  { failure, wasHandedOver }: { readonly failure: unknown; readonly wasHandedOver: boolean },
): Promise<'done' | 'away'> {
  const error = failure instanceof Error ? failure : new Error(String(failure));
  if (failure instanceof MailRefused) {
    if (failure.of === 'recipient' && !row.is_test) await bounce(deps, row, error);
    else await mark(deps, row, 'rejected', error);
    return 'done';
  }
  if (failure instanceof MailDeferred) {
    const attempts = row.attempts + 1;
    if (attempts >= MAX_ATTEMPTS) await mark(deps, row, 'failed', error);
    else await postpone(deps, row, { attempts, delayMs: Math.min(FIRST_RETRY_MS * 2 ** row.attempts, LAST_RETRY_MS), error });
    return 'done';
  }
  if (wasHandedOver) {
    await mark(deps, row, 'unconfirmed', error);
    return 'done';
  }
  deps.log.warn({ err: error }, 'the mail server cannot be reached; marketing mails wait');
  await postpone(deps, row, { attempts: row.attempts, delayMs: AWAY_MS, error });
  return 'away';
}

async function mark(
  { pool, clock }: EmailSenderDeps,
  { recipient_id }: RecipientRow,
  state: 'sent' | 'rejected' | 'failed' | 'unconfirmed',
  error?: Error,
): Promise<void> {
  await pool.query(
    `update email_recipients set state = $2, last_error = $3, at = $4 where recipient_id = $1 and state in ('queued', 'handing_over', 'unconfirmed')`,
    [recipient_id, state, error?.message.slice(0, MAX_ERROR_LENGTH) ?? null, new Date(clock.now())],
  );
}

async function postpone(
  { pool, clock }: EmailSenderDeps,
  { recipient_id }: RecipientRow,
  { attempts, delayMs, error }: { readonly attempts: number; readonly delayMs: number; readonly error: Error },
): Promise<void> {
  await pool.query(
    `with mail as (select state from emails where email_id = (select email_id from email_recipients where recipient_id = $1) for share)
     update email_recipients set state = case when mail.state = 'canceled' then 'canceled' else 'queued' end,
       attempts = $2, due_at = $3, last_error = $4, at = $5
     from mail where recipient_id = $1 and email_recipients.state in ('queued', 'handing_over')`,
    [recipient_id, attempts, new Date(clock.now() + delayMs), error.message.slice(0, MAX_ERROR_LENGTH), new Date(clock.now())],
  );
}

async function bounce({ pool, clock }: EmailSenderDeps, { recipient_id, address }: RecipientRow, failure: Error): Promise<void> {
  const error = failure.message.slice(0, MAX_ERROR_LENGTH);
  await inTransaction(pool, async (client) => {
    await client.query('update email_recipients set attempts = attempts + 1 where recipient_id = $1', [recipient_id]);
    await recordBounce(client, { recipient_id, address, error, at: new Date(clock.now()) });
  });
}
