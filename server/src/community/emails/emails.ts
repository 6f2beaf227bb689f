import type {
  MarketingEmailAudience,
  MarketingEmailListResponse,
  MarketingEmailRecipient,
  MarketingEmailRecipientListResponse,
  MarketingEmailRecord,
  MarketingEmailSendRequest,
  MarketingEmailSendResponse,
} from '@tallygate/contract';
import { type InferResult, sql } from 'kysely';
import type { Pool, PoolClient } from 'pg';
import { actorOf, type Origin, recordAudit } from '../../audit/index.ts';
import type { Principal } from '../../http/index.ts';
import { type Clock, rfc3339 } from '../../kernel/clock.ts';
import { newId } from '../../kernel/ids.ts';
import { invalidInput } from '../../kernel/invalid-input.ts';
import { Keyset, mapPage, type PageQuery } from '../../kernel/page.ts';
import { Problem } from '../../kernel/problem.ts';
import { asJson, firstOf, ifGiven, rowsOf, run } from '../../kernel/statements.ts';
import { inTransaction } from '../../kernel/transaction.ts';
import { findPeople, type PersonRow } from '../people/index.ts';
import { audienceOf } from './expand.ts';
import { render, type Template, unknownVariables } from './render.ts';
import { tables } from './tables.ts';
import { wordsOf } from './templates.ts';

export interface EmailsDeps {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly publicUrl: () => string;
  /** The last line of every mail. */
  readonly postalAddress?: string | undefined;
  /** Where answers go, where a mail does not say it. */
  readonly replyTo?: string | undefined;
  /** The address of a user: tests of a mail go there. */
  readonly addressOf: (userId: string) => Promise<string | undefined>;
}

interface Caller {
  readonly principal: Principal;
  readonly origin: Origin;
}

/** Marketing mails: what is to be sent, and how far that is. */
export interface Emails {
  /** @throws Problem `validation_failed`; `not_found` and `conflict` of a stored template */
  send(caller: Caller, request: MarketingEmailSendRequest): Promise<MarketingEmailSendResponse>;
  list(query: PageQuery): Promise<MarketingEmailListResponse>;
  /** @throws Problem `not_found` */
  get(emailId: string): Promise<MarketingEmailRecord>;
  /** @throws Problem `not_found` */
  recipients(emailId: string, query: RecipientQuery): Promise<MarketingEmailRecipientListResponse>;
  /** @throws Problem `not_found`, `conflict` when no recipient is left in the queue */
  cancel(caller: Caller, emailId: string): Promise<MarketingEmailRecord>;
}

interface RecipientQuery extends PageQuery {
  readonly state?: MarketingEmailRecipient['state'] | undefined;
}

const EMAILS = new Keyset({ name: 'emails', columns: { 'e.created_at': 'time', 'e.email_id': 'uuid' }, direction: 'desc' });
const RECIPIENTS = new Keyset({ name: 'recipients', columns: { recipient_id: 'uuid' }, direction: 'asc' });

export function createEmails({ pool, clock, publicUrl, addressOf, postalAddress, replyTo }: EmailsDeps): Emails {
  const get = async (emailId: string): Promise<MarketingEmailRecord> => {
    const row = await firstOf(pool, READ.where('e.email_id', '=', emailId));
    if (!row) throw noSuchEmail();
    return toWire(row);
  };

  return {
    async send({ principal, origin }, request) {
      const template = await templateOf(pool, request);
      refuseUnknownVariables(template);
      refuseEmptySubject(template);
      const { first, recipients } = await survey(pool, request.to);
      const preview = first && {
        to: first.email,
        ...render(template, first, { unsubscribeUrl: `${publicUrl()}/unsubscribe?token=example`, postalAddress }),
      };
      if (request.mode === 'preview') return { email: null, recipients, preview: preview ?? null };

      const emailId = newId();
      const now = new Date(clock.now());
      const test = request.mode === 'test' ? await ownAddress(addressOf, principal) : undefined;
      await inTransaction(pool, async (client) => {
        await writeEmail(client, { principal, origin }, { emailId, request, template, test, recipients, replyTo, at: now });
        if (test !== undefined) await addTestRecipient(client, { emailId, test, first, at: now });
      });
      return { email: await get(emailId), recipients: test === undefined ? recipients : 1, preview: preview ?? null };
    },

    async list(query) {
      return mapPage(EMAILS.page(await rowsOf(pool, EMAILS.pageIn(READ, query)), query), toWire);
    },

    get,

    async recipients(emailId, { state, ...query }) {
      await get(emailId);
      const wanted = tables
        .selectFrom('email_recipients')
        .select(['recipient_id', 'person_id', 'address', 'state', 'attempts', 'last_error', 'at'])
        .select(sql<string | null>`encode(digest, 'hex')`.as('sha256'))
        .where('email_id', '=', emailId)
        .where((eb) => ifGiven(state, (of) => eb('state', '=', of)));
      const rows = await rowsOf(pool, RECIPIENTS.pageIn(wanted, query));
      return mapPage(RECIPIENTS.page(rows, query), ({ address, at, ...row }) => ({ ...row, to: address, at: rfc3339(at) }));
    },

    async cancel({ principal, origin }, emailId) {
      await get(emailId);
      await inTransaction(pool, (client) => cancelEmail(client, { principal, origin }, emailId, new Date(clock.now())));
      return get(emailId);
    },
  };
}

const noSuchEmail = (): Problem => new Problem('not_found', 'No such mail: GET /v1/marketing/emails lists those there are.');

interface NewEmail {
  readonly emailId: string;
  readonly request: MarketingEmailSendRequest;
  readonly template: Template;
  /** The only recipient of a test. */
  readonly test: string | undefined;
  readonly recipients: number;
  readonly replyTo: EmailsDeps['replyTo'];
  readonly at: Date;
}

async function writeEmail(
  client: PoolClient,
  { principal, origin }: Caller,
  { emailId, request, template, test, recipients, replyTo, at }: NewEmail,
): Promise<void> {
  const { kind, id } = actorOf(principal);
  await run(
    client,
    tables.insertInto('emails').values({
      ...{ email_id: emailId, account_id: principal.accountId, actor_kind: kind, actor_id: id, subject: template.subject },
      ...{ text_body: template.text, html_body: template.html, variables: asJson(template.variables) },
      ...{ audience: asJson(test === undefined ? request.to : { test }), is_test: test !== undefined, state: 'scheduled' },
      due_at: test === undefined && request.scheduled_at !== undefined ? new Date(request.scheduled_at) : at,
      ...{ created_at: at, template_id: request.template_id ?? null, reply_to: request.reply_to ?? replyTo ?? null },
    }),
  );
  await recordAudit(client, {
    accountId: principal.accountId,
    actor: { kind, id },
    action: test === undefined ? 'email.sent' : 'email.tested',
    target: { kind: 'email', id: emailId },
    changes: {
      subject: template.subject,
      template_id: request.template_id ?? null,
      reply_to: request.reply_to ?? null,
      to: request.to,
      recipients,
      scheduled_at: request.scheduled_at ?? null,
    },
    origin,
  });
}

async function cancelEmail(client: PoolClient, { principal, origin }: Caller, emailId: string, now: Date): Promise<void> {
  const { rowCount } = await client.query(
    "update emails set state = 'canceled', finished_at = $2 where email_id = $1 and state in ('scheduled', 'preparing', 'sending')",
    [emailId, now],
  );
  if (rowCount !== 1) throw new Problem('conflict', 'The mail was sent to all recipients: there is nothing to cancel.');
  await client.query("update email_recipients set state = 'canceled', at = $2 where email_id = $1 and state = 'queued'", [emailId, now]);
  await recordAudit(client, {
    accountId: principal.accountId,
    actor: actorOf(principal),
    action: 'email.canceled',
    target: { kind: 'email', id: emailId },
    origin,
  });
}

/** @throws Problem `not_found` and `conflict` of a stored template */
async function templateOf(pool: Pool, request: MarketingEmailSendRequest): Promise<Template> {
  const { template_id, subject = '', text = '', html = null, variables = {} } = request;
  return template_id === undefined ? { subject, text, html, variables } : wordsOf(pool, template_id, variables);
}

function refuseUnknownVariables(template: Template): void {
  const unknown = unknownVariables(template);
  if (unknown.length === 0) return;
  const msg = `must say what stands for {{${unknown[0]}}}, or the mail must not name it`;
  throw invalidInput([{ loc: ['body', 'variables'], msg, type: 'value_error' }]);
}

/** Of those of whom nothing but the address is known: a mail with no subject looks like spam, and few would see which one it was. */
function refuseEmptySubject(template: Template): void {
  const { subject } = render(template, { email: 'somebody@example.com', name: null, company: null }, { unsubscribeUrl: '' });
  if (subject !== '') return;
  const msg = 'must say something also to those whose name is not known, such as {{first_name|Hello}}';
  throw invalidInput([{ loc: ['body', 'subject'], msg, type: 'value_error' }]);
}

/** The first of an audience, and how many there are. */
async function survey(pool: Pool, audience: MarketingEmailAudience): Promise<{ first: PersonRow | undefined; recipients: number }> {
  if ('filter' in audience) {
    const { rows, total } = await findPeople(pool, audience.filter, { limit: 1, offset: 0 });
    return { first: rows[0], recipients: total };
  }
  const ids = new Set<string>();
  let first: PersonRow | undefined;
  for await (const people of audienceOf(pool, audience))
    for (const person of people) {
      first ??= person;
      ids.add(person.person_id);
    }
  const wanted = 'person_id' in audience ? 1 : new Set(audience.person_ids).size;
  if (ids.size === 0 || ('person_id' in audience && ids.size < wanted))
    throw invalidInput([{ loc: ['body', 'to'], msg: 'must name people there are', type: 'value_error' }]);
  return { first, recipients: ids.size };
}

async function ownAddress(addressOf: EmailsDeps['addressOf'], { userId }: Principal): Promise<string> {
  const address = await addressOf(userId);
  if (address === undefined) throw new Problem('invalid_credentials', 'The user of this credential no longer exists.');
  return address.toLowerCase();
}

/** It is filled in as the mail to the first of the audience would be, so that a test shows what they will read. */
async function addTestRecipient(
  client: PoolClient,
  { emailId, test, first, at }: { emailId: string; test: string; first: PersonRow | undefined; at: Date },
): Promise<void> {
  await client.query(
    `insert into email_recipients (recipient_id, email_id, address, address_hash, name, company, due_at, at)
     values ($1, $2, $3::text, address_hash($3), $4, $5, $6, $6)`,
    [newId(), emailId, test, first?.name ?? null, first?.company ?? null, at],
  );
}

const READ = tables
  .selectFrom('emails as e')
  .select(['e.email_id', 'e.subject', 'e.template_id', 'e.reply_to', 'e.audience', 'e.is_test', 'e.state'])
  .select(['e.due_at', 'e.created_at', 'e.started_at', 'e.finished_at'])
  .select(
    sql<Readonly<Record<string, number>> | null>`(select jsonb_object_agg(state, n) from (
      select state, count(*) as n from email_recipients r where r.email_id = e.email_id group by state) s)`.as('states'),
  );
type EmailRow = InferResult<typeof READ>[number];

function toWire({ email_id, subject, template_id, reply_to, audience, is_test, state, states, ...row }: EmailRow): MarketingEmailRecord {
  const of = (name: string): number => states?.[name] ?? 0;
  return {
    ...{ email_id, subject, template_id, reply_to, to: audience, is_test, state },
    progress: {
      recipients: Object.values(states ?? {}).reduce((sum, n) => sum + n, 0),
      queued: of('queued') + of('handing_over'),
      ...{ sent: of('sent'), unconfirmed: of('unconfirmed'), bounced: of('bounced'), rejected: of('rejected'), failed: of('failed') },
      ...{ suppressed: of('suppressed'), canceled: of('canceled') },
    },
    scheduled_at: rfc3339(row.due_at),
    created_at: rfc3339(row.created_at),
    started_at: row.started_at && rfc3339(row.started_at),
    finished_at: row.finished_at && rfc3339(row.finished_at),
  };
}
