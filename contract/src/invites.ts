import { initContract } from '@ts-rest/core';
import * as z from 'zod';
import {
  headersA,
  idempotencyHeader,
  isPlainText,
  NOT_PLAIN,
  page,
  pageQuery,
  problem,
  refusals,
  Timestamp,
  Usd,
  UsdInput,
  Uuid,
} from './conventions.ts';
import { Email, UserName } from './identity.ts';
import { hasPlacesLike } from './mail-text.ts';
import { peopleAudience } from './people-filter.ts';
import { PlanId } from './plan-records.ts';

const c = initContract();

const line = (max: number) => z.string().trim().min(1).max(max).refine(isPlainText, NOT_PLAIN);

const namesOnlyName = (text: string) => hasPlacesLike(text, /^\{\{\s*name\s*\}\}$/);
const NOT_NAME = 'must have nothing between double braces but {{name}}';

const TrialPlan = PlanId.meta({ description: 'The plan of the trial.', examples: ['pro'] });
const TrialDays = z
  .int()
  .min(1)
  .max(366)
  .meta({ description: 'Days from the activation.', examples: [30] });

const InviteGrants = z
  .object({
    plan_id: TrialPlan.nullable(),
    trial_days: TrialDays.nullable(),
    credit_usd: Usd.meta({ description: 'Added to the prepaid balance, which pays beyond the quota of a plan from `pro` on.' }),
  })
  .meta({ id: 'InviteGrants', description: 'The benefits of an invitation.' });

export const BetaInviteActivateRequest = z
  .strictObject({
    code: z
      .string()
      .trim()
      .min(1)
      .max(100)
      .meta({ description: 'From the invitation.', examples: ['tgi_9Xb2…'] }),
    email: Email,
    name: UserName.optional(),
  })
  .meta({
    id: 'BetaInviteActivateRequest',
    description: 'The activation of an invitation. A mailed invitation can be activated only with the address it was mailed to.',
    examples: [{ code: 'tgi_9Xb2…', email: 'ada@example.com' }],
  });
export type BetaInviteActivateRequest = z.infer<typeof BetaInviteActivateRequest>;

export const BetaInviteActivationResponse = z
  .object({
    activation_id: Uuid,
    status: z.literal('activated'),
    email: Email,
    plan_id: TrialPlan.nullable().meta({
      description: 'The trial plan of the account, unless it has a paid plan or a better granted one.',
    }),
    plan_until: Timestamp.nullable(),
    credit_usd: Usd.meta({ description: 'The credit added to the balance.' }),
    activated_at: Timestamp,
  })
  .meta({
    id: 'BetaInviteActivationResponse',
    description: 'Access to the beta. The account has it a moment later; anyone who has no account gets a mail to claim one.',
    examples: [
      {
        ...{ activation_id: '019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77', status: 'activated', email: 'ada@example.com', plan_id: 'pro' },
        ...{ plan_until: '2026-12-21T08:00:00.000Z', credit_usd: '10', activated_at: '2026-11-21T08:00:00.000Z' },
      },
    ],
  });
export type BetaInviteActivationResponse = z.infer<typeof BetaInviteActivationResponse>;

const Recipient = z.strictObject({ email: Email, name: UserName.optional() });

export const MarketingInviteBatchRequest = z
  .strictObject({
    name: line(120).meta({ description: 'For the team.', examples: ['Spring beta'] }),
    recipients: z
      .array(Recipient)
      .min(1)
      .max(2_000)
      .optional()
      .meta({
        description: 'Each gets their own code by mail, once, even if the address is named several times.',
        examples: [[{ email: 'ada@example.com' }]],
      }),
    filter: z
      .strictObject(peopleAudience)
      .optional()
      .meta({
        description:
          'Instead of recipients: everybody of `GET /v1/marketing/people` who matches, as for e-mails. A job selects them right afterwards; `{}` is everybody.',
        examples: [{ event_slug: 'vibethon', consent: 'given' }],
      }),
    shared_uses: z
      .int()
      .min(1)
      .max(1_000_000)
      .optional()
      .meta({ description: 'Instead of recipients: one shared code, which this many people can activate.', examples: [100] }),
    plan_id: TrialPlan.optional(),
    trial_days: TrialDays.optional(),
    credit_usd: UsdInput.optional().meta({ description: 'At most 10000 for each activation.' }),
    expires_at: Timestamp.meta({ description: 'The end of the codes’ validity.' }),
    subject: line(150)
      .refine(namesOnlyName, NOT_NAME)
      .optional()
      .meta({ description: 'Of the mail.', examples: ['You are invited, {{name}}'] }),
    message: z
      .string()
      .trim()
      .min(1)
      .max(4_000)
      .refine((value) => isPlainText(value.replaceAll(/[\n\r\t]/g, '')), NOT_PLAIN)
      .refine(namesOnlyName, NOT_NAME)
      .optional()
      .meta({
        description: 'Of the mail: plain text, paragraphs separated by an empty line; `{{name}}` is the recipient’s name.',
        examples: ['Hello {{name}},\n\nthe beta is open to you.'],
      }),
  })
  .meta({
    id: 'MarketingInviteBatchRequest',
    description:
      'Invitations: by mail to `recipients`, or to all who match a `filter`, or one code with `shared_uses`. `plan_id` and `trial_days` come together. Without them and without `credit_usd` an activation creates an account and nothing else.',
    examples: [
      {
        ...{ name: 'Spring beta', recipients: [{ email: 'ada@example.com', name: 'Ada' }], plan_id: 'pro', trial_days: 30 },
        ...{ credit_usd: '10', expires_at: '2027-01-31T00:00:00.000Z' },
      },
    ],
  });
export type MarketingInviteBatchRequest = z.infer<typeof MarketingInviteBatchRequest>;

const count = (description: string, example: number) =>
  z
    .int()
    .min(0)
    .meta({ description, examples: [example] });
const InviteCounts = z
  .object({
    total: count('All invitations.', 3),
    pending: count('Not handed to the mail yet.', 1),
    queued: count('On their way.', 1),
    sent: count('Taken by a mail server.', 1),
    unconfirmed: count(
      'Sent to a mail server whose answer was lost with the connection or a crash: most likely delivered, and never sent twice.',
      0,
    ),
    failed: count('Refused by a mail server, or given up.', 0),
    suppressed: count('Not mailed, since the address wants no mail.', 0),
    activations: count('How many people have activated one.', 1),
  })
  .meta({ id: 'InviteCounts', description: 'Progress of a batch.' });

const BATCH = {
  ...{ batch_id: '019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77', name: 'Spring beta', status: 'sending' },
  grants: { plan_id: 'pro', trial_days: 30, credit_usd: '10' },
  counts: { total: 3, pending: 1, queued: 1, sent: 1, unconfirmed: 0, failed: 0, suppressed: 0, activations: 1 },
  ...{ shared_uses: null, filter: null, subject: null, message: null, expires_at: '2027-01-31T00:00:00.000Z' },
  ...{ created_by: '019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee78', created_at: '2026-11-21T08:00:00.000Z', revoked_at: null },
};

export const MarketingInviteBatchResponse = z
  .object({
    batch_id: Uuid,
    name: z.string().meta({ examples: ['Spring beta'] }),
    status: z
      .enum(['sending', 'sent', 'expired', 'revoked'])
      .meta({ description: '`sending` while people are selected, or mails are pending or being sent.' }),
    grants: InviteGrants,
    counts: InviteCounts,
    shared_uses: z
      .int()
      .nullable()
      .meta({ description: 'Maximum of activations of a shared code; null if each recipient has a code.', examples: [100] }),
    filter: z
      .record(z.string(), z.unknown().meta({ description: 'Any JSON.' }))
      .nullable()
      .meta({ description: 'The filter of its recipients; null if it names them, or has none.', examples: [{ event_slug: 'vibethon' }] }),
    code: z
      .string()
      .optional()
      .meta({ description: 'For a batch with `shared_uses`, only in the answer that creates it.', examples: ['tgi_9Xb2…'] }),
    subject: z
      .string()
      .nullable()
      .meta({ examples: ['You are invited'] }),
    message: z
      .string()
      .nullable()
      .meta({ examples: ['The beta is open to you.'] }),
    expires_at: Timestamp,
    created_by: Uuid,
    created_at: Timestamp,
    revoked_at: Timestamp.nullable(),
  })
  .meta({ id: 'MarketingInviteBatchResponse', description: 'A batch of invitations with its progress.', examples: [BATCH] });
export type MarketingInviteBatchResponse = z.infer<typeof MarketingInviteBatchResponse>;

export const MarketingInviteBatchListResponse = page(MarketingInviteBatchResponse).meta({
  id: 'MarketingInviteBatchListResponse',
  description: 'Batches of invitations, the newest first.',
});
export type MarketingInviteBatchListResponse = z.infer<typeof MarketingInviteBatchListResponse>;

export const MarketingInviteRecord = z
  .object({
    invite_id: Uuid,
    email: Email.nullable().meta({ description: 'Null for a shared code.' }),
    name: UserName.nullable(),
    status: z
      .enum(['pending', 'queued', 'sent', 'unconfirmed', 'failed', 'suppressed', 'shared', 'revoked'])
      .meta({ description: 'State of its mail; `shared` has none.' }),
    max_uses: z.int().meta({ examples: [1] }),
    uses: z.int().meta({ description: 'Number of activations.', examples: [0] }),
    failure: z
      .string()
      .nullable()
      .meta({ description: 'The answer of the mail server.', examples: ['550 No such user'] }),
    sent_at: Timestamp.nullable(),
    revoked_at: Timestamp.nullable(),
  })
  .meta({ id: 'MarketingInviteRecord', description: 'One invitation; its code is only in the mail.' });
export type MarketingInviteRecord = z.infer<typeof MarketingInviteRecord>;

export const MarketingInviteListResponse = page(MarketingInviteRecord).meta({
  id: 'MarketingInviteListResponse',
  description: 'The invitations of a batch, in the order in which they are mailed.',
});
export type MarketingInviteListResponse = z.infer<typeof MarketingInviteListResponse>;

const BatchPath = z.object({ batch_id: Uuid.meta({ description: 'The batch’s id.' }) });
const PageOnly = z.strictObject(pageQuery);
const tag = 'Invites';
const reads = { auth: 'bearer', scope: 'events:read', role: 'admin', tag } as const;
const writes = { auth: 'bearer', scope: 'events:write', role: 'admin', tag } as const;

export const invites = c.router({
  activate: {
    method: 'POST',
    path: '/v1/beta/invite/activate',
    summary: 'Activate an invitation',
    description:
      'Needs no credential. Gives the account of the address the benefits of the invitation, exactly once; an address without an account gets one, and a mail to claim it. Repeated with the same address it answers the same. Every code that does not work is refused alike; guessing is slowed down (429).',
    body: BetaInviteActivateRequest,
    responses: { 201: BetaInviteActivationResponse, ...refusals.openInput },
    metadata: {
      auth: 'none',
      tag,
      operationId: 'activateBetaInvite',
      sdk: 'invites.activate',
      errors: { also: ['invalid_invite'] },
    } as const,
  },
  createBatch: {
    method: 'POST',
    path: '/v1/events/admin/invite-batches',
    summary: 'Invite people',
    description: 'For administrators. The answer comes at once; a job sends the mails, and continues after any interruption.',
    headers: { ...headersA, ...idempotencyHeader },
    body: MarketingInviteBatchRequest,
    responses: { 201: MarketingInviteBatchResponse, 409: problem, ...refusals.write },
    metadata: { ...writes, operationId: 'createInviteBatch', sdk: 'invites.createBatch', errors: { never: ['conflict'] } } as const,
  },
  listBatches: {
    method: 'GET',
    path: '/v1/events/admin/invite-batches',
    summary: 'List batches of invitations',
    description: 'For administrators: every batch with its progress, the newest first.',
    headers: headersA,
    query: PageOnly,
    responses: { 200: MarketingInviteBatchListResponse, ...refusals.read },
    metadata: { ...reads, operationId: 'listInviteBatches', sdk: 'invites.listBatches' } as const,
  },
  getBatch: {
    method: 'GET',
    path: '/v1/events/admin/invite-batches/:batch_id',
    summary: 'Get the progress of a batch',
    description: 'For administrators: its benefits, and the counts of pending, sent and failed mails.',
    headers: headersA,
    pathParams: BatchPath,
    responses: { 200: MarketingInviteBatchResponse, 404: problem, ...refusals.read },
    metadata: { ...reads, operationId: 'getInviteBatch', sdk: 'invites.getBatch' } as const,
  },
  listInvites: {
    method: 'GET',
    path: '/v1/events/admin/invite-batches/:batch_id/invites',
    summary: 'List the invitations of a batch',
    description: 'For administrators: a row for each recipient, in the order in which they are mailed.',
    headers: headersA,
    pathParams: BatchPath,
    query: PageOnly,
    responses: { 200: MarketingInviteListResponse, 404: problem, ...refusals.read },
    metadata: { ...reads, operationId: 'listInvites', sdk: 'invites.list' } as const,
  },
  revokeBatch: {
    method: 'POST',
    path: '/v1/events/admin/invite-batches/:batch_id/revoke',
    summary: 'Revoke a batch',
    description: 'None of its codes can be activated any more, and mails that are pending are not sent. Activations stay. Idempotent.',
    headers: { ...headersA, ...idempotencyHeader },
    pathParams: BatchPath,
    body: c.noBody(),
    responses: { 200: MarketingInviteBatchResponse, 404: problem, 409: problem, ...refusals.read },
    metadata: { ...writes, operationId: 'revokeInviteBatch', sdk: 'invites.revokeBatch' } as const,
  },
  revokeInvite: {
    method: 'POST',
    path: '/v1/events/admin/invite-batches/:batch_id/invites/:invite_id/revoke',
    summary: 'Revoke one invitation',
    description: 'Its code cannot be activated any more. Activations stay. Idempotent.',
    headers: { ...headersA, ...idempotencyHeader },
    pathParams: BatchPath.extend({ invite_id: Uuid.meta({ description: 'The invitation’s id.' }) }),
    body: c.noBody(),
    responses: { 200: MarketingInviteRecord, 404: problem, 409: problem, ...refusals.read },
    metadata: { ...writes, operationId: 'revokeInvite', sdk: 'invites.revoke' } as const,
  },
});
