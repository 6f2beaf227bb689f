import { initContract } from '@ts-rest/core';
import * as z from 'zod';
import { headersA, idempotencyHeader, page, pageQuery, problem, refusals, Timestamp, Uuid } from './conventions.ts';
import { Email } from './identity.ts';
import { mailText } from './mail-text.ts';
import { peopleAudience } from './people-filter.ts';

const c = initContract();

export const RECIPIENT_STATES = [
  ...(['queued', 'handing_over', 'sent', 'unconfirmed'] as const),
  ...(['bounced', 'rejected', 'failed', 'suppressed', 'canceled'] as const),
] as const;

const EMAIL_ID = '019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77';
const EMAIL_EXAMPLE = {
  email_id: EMAIL_ID,
  subject: '{{first_name|Hello}}, the beta is open',
  to: { filter: { event_slug: 'vibethon' } },
  template_id: null,
  reply_to: 'team@example.com',
  is_test: false,
  state: 'sending',
  progress: { recipients: 3, queued: 0, sent: 2, unconfirmed: 0, bounced: 0, rejected: 0, failed: 0, suppressed: 1, canceled: 0 },
  scheduled_at: '2026-11-21T08:00:00.000Z',
  created_at: '2026-11-21T08:00:00.000Z',
  started_at: '2026-11-21T08:00:01.000Z',
  finished_at: null,
};
const PREVIEW_EXAMPLE = {
  to: 'ada@example.com',
  subject: 'Ada, the beta is open',
  text: 'Hi Ada,\n\ncome in: https://example.com/beta\n',
  html: '<p>Hi Ada, <a href="https://example.com/beta">come in</a>.</p>',
};
const RECIPIENT_EXAMPLE = {
  recipient_id: EMAIL_ID,
  person_id: EMAIL_ID,
  to: 'ada@example.com',
  state: 'sent',
  attempts: 1,
  sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  last_error: null,
  at: '2026-11-21T08:00:02.000Z',
};

const count = (description: string, example: number) => z.int().meta({ description, examples: [example] });

const Audience = z
  .union([
    z.strictObject({ person_id: Uuid }),
    z.strictObject({ person_ids: z.array(Uuid).min(1).max(5_000) }),
    z.strictObject({ filter: z.strictObject(peopleAudience) }),
  ])
  .meta({
    id: 'MarketingEmailAudience',
    description: 'One person, some, or all that match a filter when the sending begins; `{ "filter": {} }` is everybody.',
    examples: [{ filter: { event_slug: 'vibethon' } }],
  });
export type MarketingEmailAudience = z.infer<typeof Audience>;

const fromTemplate = ({
  template_id,
  subject,
  text,
  html,
}: {
  template_id?: unknown;
  subject?: unknown;
  text?: unknown;
  html?: unknown;
}) => (template_id === undefined ? subject !== undefined && text !== undefined : [subject, text, html].every((part) => part === undefined));

export const MarketingEmailSendRequest = z
  .strictObject({
    to: Audience,
    template_id: Uuid.optional().meta({
      description: 'A stored template, copied at this moment; instead of `subject`, `text` and `html`.',
    }),
    subject: mailText.subject.optional(),
    text: mailText.text.optional(),
    html: mailText.html.optional(),
    variables: mailText.variables.optional(),
    reply_to: Email.optional().meta({
      description: 'The address for replies. Left out: to `MAIL_REPLY_TO` of the gateway, or else to the sender.',
      examples: ['team@example.com'],
    }),
    mode: z.enum(['send', 'preview', 'test']).default('send').meta({
      description:
        '`preview` sends nothing and shows the mail to the first recipient; `test` sends that mail to the caller’s address only.',
    }),
    scheduled_at: z.iso
      .datetime()
      .optional()
      .meta({ description: 'Not before this time, RFC 3339, UTC. Left out: at once.', examples: ['2026-12-01T08:00:00Z'] }),
  })
  .refine(fromTemplate, { error: 'must come with a text, or both be left out where template_id is given', path: ['subject'] })
  .meta({
    id: 'MarketingEmailSendRequest',
    description: 'A mail, with its own text or that of a template, and its recipients.',
    examples: [
      {
        to: { filter: { event_slug: 'vibethon' } },
        subject: '{{first_name|Hello}}, the beta is open',
        text: 'Hi {{first_name|there}},\n\ncome in: {{link}}\n',
        variables: { link: 'https://example.com/beta' },
      },
    ],
  });
export type MarketingEmailSendRequest = z.infer<typeof MarketingEmailSendRequest>;

export const MarketingEmailRecord = z
  .object({
    email_id: Uuid,
    subject: z.string().meta({ description: 'With its variables.', examples: ['{{first_name|Hello}}, the beta is open'] }),
    to: z.record(z.string(), z.unknown().meta({ description: 'Any JSON.' })).meta({ examples: [{ filter: { event_slug: 'vibethon' } }] }),
    template_id: Uuid.nullable().meta({ description: 'Its template; null if it has its own text.' }),
    reply_to: z
      .string()
      .nullable()
      .meta({ description: 'The address for replies; null: to the sender.', examples: ['team@example.com'] }),
    is_test: z.boolean(),
    state: z
      .enum(['scheduled', 'preparing', 'sending', 'sent', 'canceled'])
      .meta({ description: '`preparing`: its recipients are being selected. `sent`: no recipient is left in the queue.' }),
    progress: z
      .object({
        recipients: count('All of them; final once the state is `sending`.', 3),
        queued: count('Waiting, also for another attempt.', 0),
        sent: count('Taken by the mail server.', 2),
        unconfirmed: count(
          'Sent to the mail server, whose answer was lost with the connection or a crash: most likely delivered, and never sent twice.',
          0,
        ),
        bounced: count('The mail server refused the address permanently; it gets no further mail.', 0),
        rejected: count('The mail server refused this mail permanently.', 0),
        failed: count('Given up after the last attempt.', 0),
        suppressed: count('Unsubscribed or bounced: got nothing.', 1),
        canceled: count('Still waiting when it was canceled.', 0),
      })
      .meta({ description: 'Counts of the recipients by state.' }),
    scheduled_at: Timestamp,
    created_at: Timestamp,
    started_at: z.iso
      .datetime()
      .nullable()
      .meta({ examples: ['2026-11-21T08:00:01.000Z'] }),
    finished_at: z.iso
      .datetime()
      .nullable()
      .meta({ examples: ['2026-11-21T08:05:00.000Z'] }),
  })
  .meta({ id: 'MarketingEmailRecord', description: 'A marketing mail with its progress.', examples: [EMAIL_EXAMPLE] });
export type MarketingEmailRecord = z.infer<typeof MarketingEmailRecord>;

export const MarketingEmailSendResponse = z
  .object({
    email: MarketingEmailRecord.nullable().meta({ description: 'Null in a preview.' }),
    recipients: count('How many the audience has now, those who get no mail included.', 3),
    preview: z
      .object({
        to: z.string().meta({ examples: ['ada@example.com'] }),
        subject: z.string().meta({ examples: ['Ada, the beta is open'] }),
        text: z.string().meta({ examples: ['Hi Ada,\n\ncome in: https://example.com/beta\n'] }),
        html: z.string().meta({ examples: ['<p>Hi Ada, <a href="https://example.com/beta">come in</a>.</p>'] }),
      })
      .nullable()
      .meta({ description: 'The mail to the first recipient; null if nobody matches.' }),
  })
  .meta({
    id: 'MarketingEmailSendResponse',
    description: 'The mail that is sent, or would be.',
    examples: [{ email: EMAIL_EXAMPLE, recipients: 3, preview: PREVIEW_EXAMPLE }],
  });
export type MarketingEmailSendResponse = z.infer<typeof MarketingEmailSendResponse>;

export const MarketingEmailListResponse = page(MarketingEmailRecord).meta({
  id: 'MarketingEmailListResponse',
  description: 'Marketing mails, newest first.',
  examples: [{ data: [EMAIL_EXAMPLE], has_more: false, next_cursor: null }],
});
export type MarketingEmailListResponse = z.infer<typeof MarketingEmailListResponse>;

export const MarketingEmailRecipient = z
  .object({
    recipient_id: Uuid.meta({ description: 'The Message-ID of the mail begins with it.' }),
    person_id: Uuid.nullable(),
    to: z
      .string()
      .nullable()
      .meta({ description: 'Null once the person was erased.', examples: ['ada@example.com'] }),
    state: z.enum(RECIPIENT_STATES),
    attempts: count('How often it was tried.', 1),
    sha256: z
      .string()
      .nullable()
      .meta({ description: 'Of subject, text and HTML as sent, each ended by a null byte.', examples: ['9f86d081…'] }),
    last_error: z
      .string()
      .nullable()
      .meta({ examples: ['550 no such user'] }),
    at: Timestamp.meta({ description: 'The time of this state.' }),
  })
  .meta({ id: 'MarketingEmailRecipient', description: 'One recipient of a mail, with the outcome.' });
export type MarketingEmailRecipient = z.infer<typeof MarketingEmailRecipient>;

export const MarketingEmailRecipientListResponse = page(MarketingEmailRecipient).meta({
  id: 'MarketingEmailRecipientListResponse',
  description: 'The recipients of a mail.',
  examples: [{ data: [RECIPIENT_EXAMPLE], has_more: false, next_cursor: null }],
});
export type MarketingEmailRecipientListResponse = z.infer<typeof MarketingEmailRecipientListResponse>;

const EmailPath = z.object({ email_id: Uuid.meta({ description: 'The mail’s id.' }) });
const reading = { auth: 'bearer', scope: 'marketing:read', role: 'marketing', tag: 'Marketing e-mails' } as const;
const writing = { ...reading, scope: 'marketing:write' } as const;

export const emails = c.router({
  send: {
    method: 'POST',
    path: '/v1/marketing/emails/send',
    summary: 'Send a mail to people',
    description:
      'With its own text, or with that of a stored template (`template_id`; a 409 once it is archived). The mail goes out in the background. A person who unsubscribed, or whose address was refused before, gets nothing, also when that happens after this request. Every mail says how to unsubscribe, in one click.',
    headers: { ...headersA, ...idempotencyHeader },
    body: MarketingEmailSendRequest,
    responses: { 200: MarketingEmailSendResponse, 404: problem, 409: problem, ...refusals.write },
    metadata: { ...writing, operationId: 'sendMarketingEmail', sdk: 'emails.send' } as const,
  },
  list: {
    method: 'GET',
    path: '/v1/marketing/emails',
    summary: 'List marketing mails',
    description: 'Newest first, each with its progress.',
    headers: headersA,
    query: z.strictObject(pageQuery),
    responses: { 200: MarketingEmailListResponse, ...refusals.read },
    metadata: { ...reading, operationId: 'listMarketingEmails', sdk: 'emails.list' } as const,
  },
  get: {
    method: 'GET',
    path: '/v1/marketing/emails/:email_id',
    summary: 'Get the progress of a mail',
    description: 'One mail with its progress.',
    headers: headersA,
    pathParams: EmailPath,
    responses: { 200: MarketingEmailRecord, 404: problem, ...refusals.read },
    metadata: { ...reading, operationId: 'getMarketingEmail', sdk: 'emails.get' } as const,
  },
  recipients: {
    method: 'GET',
    path: '/v1/marketing/emails/:email_id/recipients',
    summary: 'List the recipients of a mail',
    description: 'Every recipient, with the outcome.',
    headers: headersA,
    pathParams: EmailPath,
    query: z.strictObject({
      state: z
        .enum(RECIPIENT_STATES)
        .optional()
        .meta({ description: 'Only these.', examples: ['bounced'] }),
      ...pageQuery,
    }),
    responses: { 200: MarketingEmailRecipientListResponse, 404: problem, ...refusals.read },
    metadata: { ...reading, operationId: 'listMarketingEmailRecipients', sdk: 'emails.recipients' } as const,
  },
  cancel: {
    method: 'POST',
    path: '/v1/marketing/emails/:email_id/cancel',
    summary: 'Cancel a mail',
    description: 'Recipients in the queue do not get it. Sent mails cannot be recalled.',
    headers: { ...headersA, ...idempotencyHeader },
    pathParams: EmailPath,
    body: c.noBody(),
    responses: { 200: MarketingEmailRecord, 404: problem, 409: problem, ...refusals.write },
    metadata: { ...writing, operationId: 'cancelMarketingEmail', sdk: 'emails.cancel' } as const,
  },
});
