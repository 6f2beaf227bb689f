import { initContract } from '@ts-rest/core';
import * as z from 'zod';
import {
  AlertThresholds,
  AlertThresholdsInput,
  ExternalId,
  ExternalIdOrNull,
  headersA,
  idempotencyHeader,
  isPlainText,
  Livemode,
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

const c = initContract();

export const LIMIT_KINDS = ['account', 'project', 'member', 'key', 'run', 'end_user', 'tag', 'model'] as const;
export const LimitKind = z.enum(LIMIT_KINDS).meta({
  id: 'LimitKind',
  description:
    'Whose spending is counted: the account’s, that of a project, of a member (the person whose key or session it is) or of an API key; by request, that of an agent run with its child runs, of an end user, of a tag or of a model.',
});
export type LimitKind = z.infer<typeof LimitKind>;

export const LIMIT_PERIODS = ['hour', 'day', 'week', 'month', 'lifetime'] as const;
export const LimitPeriod = z.enum(LIMIT_PERIODS).meta({
  id: 'LimitPeriod',
  description: 'In the time zone of the account; a week begins on Monday. `lifetime`: all of the time.',
});
export type LimitPeriod = z.infer<typeof LimitPeriod>;

const Subject = z
  .string()
  .min(1)
  .max(256)
  .refine(isPlainText, NOT_PLAIN)
  .nullable()
  .meta({
    description:
      'What it limits: the id of the project, member (user) or API key, the agent run or the end user as requests name it, the tag as `name=value`, or the id of the model. Null: each of the kind that has no limit of its own for the period; of the kind `account` it is always null.',
    examples: ['feature=search'],
  });
const rate = (description: string, example: number) =>
  z
    .int()
    .min(1)
    .max(2_000_000_000)
    .nullable()
    .meta({ description, examples: [example] });
const figures = {
  cap_usd: Usd.nullable().meta({ description: 'Spending cap of the period, USD; null for none.', examples: ['50'] }),
  requests_per_minute: rate('Requests in a minute; null for no such limit.', 60),
  tokens_per_minute: rate('Tokens in a minute, in and out; null for no such limit.', 100_000),
};

export const SpendingLimit = z
  .object({
    limit_id: Uuid,
    kind: LimitKind,
    subject: Subject,
    period: LimitPeriod,
    external_id: ExternalIdOrNull,
    ...figures,
    alert_thresholds: AlertThresholds.meta({
      description:
        'Percent of the cap at which webhooks are told, once a period each. For the lifetime of an agent run: of its ceiling (`X-Agent-Max-Budget`) where that is lower or there is no cap.',
      examples: [[50, 80, 100]],
    }),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: 'SpendingLimit', description: 'A limit on what is spent, and how fast.' });
export type SpendingLimit = z.infer<typeof SpendingLimit>;

export const SpendingLimitList = page(SpendingLimit).meta({ id: 'SpendingLimitList', description: 'Limits, the newest first.' });
export type SpendingLimitList = z.infer<typeof SpendingLimitList>;

export const SetLimitRequest = z
  .strictObject({
    kind: LimitKind,
    subject: Subject.default(null),
    period: LimitPeriod,
    external_id: ExternalId.optional(),
    cap_usd: UsdInput.nullable().default(null).meta({ description: 'The most that may be spent in the period, USD.' }),
    requests_per_minute: figures.requests_per_minute.default(null),
    tokens_per_minute: figures.tokens_per_minute.default(null),
    alert_thresholds: AlertThresholdsInput.default([50, 80, 100]).meta({
      uniqueItems: true,
      description: 'Whole percents of the cap in ascending order, at most ten, at which webhooks are told; empty for none.',
      examples: [[50, 80, 100]],
    }),
  })
  .refine(({ kind, subject }) => kind !== 'account' || subject === null, {
    path: ['subject'],
    message: 'must be null where kind is account',
  })
  .refine((limit) => limit.cap_usd !== null || limit.requests_per_minute !== null || limit.tokens_per_minute !== null || warns(limit), {
    path: ['cap_usd'],
    message: 'must be given where there is no limit on requests or tokens per minute',
  })
  .meta({
    id: 'SetLimitRequest',
    description: 'A limit as it is to be. Kind, subject and period name it.',
    examples: [{ kind: 'tag', subject: 'feature=search', period: 'day', cap_usd: '50' }],
  });
export type SetLimitRequest = z.infer<typeof SetLimitRequest>;

/** Runs have a ceiling of their own, which is not a limit of the account: thresholds alone say how much of it is spent. */
function warns({
  kind,
  period,
  alert_thresholds,
}: {
  readonly kind: LimitKind;
  readonly period: LimitPeriod;
  readonly alert_thresholds: number[];
}) {
  return kind === 'run' && period === 'lifetime' && alert_thresholds.length > 0;
}

export const LimitStatus = z
  .object({
    limit: SpendingLimit,
    subject: z
      .string()
      .nullable()
      .meta({ description: 'Whose spending this is.', examples: ['feature=search'] }),
    livemode: z.boolean().meta({ examples: [true] }),
    spent_usd: Usd.meta({ description: 'Settled in the period that runs now, USD.', examples: ['12.5'] }),
    held_usd: Usd.meta({ description: 'Held by running requests, USD.', examples: ['0'] }),
    remaining_usd: Usd.nullable().meta({ description: 'Null without a cap.', examples: ['37.5'] }),
    period_start: Timestamp.nullable().meta({ description: 'Null for a lifetime.', examples: ['2026-11-25T00:00:00.000Z'] }),
    resets_at: Timestamp.nullable().meta({
      description: 'When the period ends; null for a lifetime.',
      examples: ['2026-11-26T00:00:00.000Z'],
    }),
  })
  .meta({ id: 'LimitStatus', description: 'A limit with what is spent under it.' });
export type LimitStatus = z.infer<typeof LimitStatus>;

export const TimeZone = z
  .strictObject({
    time_zone: z
      .string()
      .max(64)
      .refine(isTimeZone, 'must be the name of a time zone such as Europe/Berlin')
      .meta({ description: 'IANA name.', examples: ['Europe/Berlin'] }),
  })
  .meta({ id: 'TimeZone', description: 'The time zone by which the periods of limits are counted.' });
export type TimeZone = z.infer<typeof TimeZone>;

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    // Offsets such as +05:00 are no zones: they do not follow the clocks of any place.
    return /^[A-Za-z]/.test(name);
  } catch {
    return false;
  }
}

const LimitPath = z.object({ limit_id: Uuid.meta({ description: 'The limit’s id.' }) });
/** An API key never widens what it may spend. */
const bySession = { auth: 'bearer', session: true, manage: 'limits:write', accountRole: 'admin', tag: 'Limits' } as const;
const read = { auth: 'bearer', scope: 'account:read', tag: 'Limits' } as const;

export const limits = c.router({
  list: {
    method: 'GET',
    path: '/v1/limits',
    summary: 'List limits',
    description: 'Limits of the account, the newest first.',
    headers: headersA,
    query: z.object({
      kind: LimitKind.optional().meta({ description: 'Only limits of this kind.' }),
      subject: z.string().max(256).optional().meta({ description: 'Only limits of this subject.' }),
      external_id: ExternalId.optional().meta({ description: 'Only the limit with this id of yours.' }),
      ...pageQuery,
    }),
    responses: { 200: SpendingLimitList, ...refusals.read },
    metadata: { ...read, operationId: 'listLimits', sdk: 'limits.list' } as const,
  },
  set: {
    method: 'PUT',
    path: '/v1/limits',
    summary: 'Set a limit',
    description:
      'Puts it in place of the limit of the same kind, subject and period, whose `external_id` stays where none is given; an `external_id` of another limit is 409. It binds every request that begins from now on, on every gateway within a second. What was spent in the period before counts; requests that are running now do not.',
    headers: { ...headersA, ...idempotencyHeader },
    body: SetLimitRequest,
    responses: { 200: SpendingLimit, 404: problem, 409: problem, ...refusals.write },
    metadata: { ...bySession, operationId: 'setLimit', sdk: 'limits.set' } as const,
  },
  timeZone: {
    method: 'GET',
    path: '/v1/limits/time-zone',
    summary: 'Time zone of limits',
    description: 'The time zone by which the periods of limits are counted; `UTC` until another is set.',
    headers: headersA,
    responses: { 200: TimeZone, ...refusals.read },
    metadata: { ...read, operationId: 'getLimitTimeZone', sdk: 'limits.timeZone' } as const,
  },
  setTimeZone: {
    method: 'PUT',
    path: '/v1/limits/time-zone',
    summary: 'Set the time zone of limits',
    description: 'The periods that run now begin and end by it from now on; what was spent in them counts.',
    headers: { ...headersA, ...idempotencyHeader },
    body: TimeZone,
    responses: { 200: TimeZone, 409: problem, ...refusals.write },
    metadata: { ...bySession, operationId: 'setLimitTimeZone', sdk: 'limits.setTimeZone' } as const,
  },
  get: {
    method: 'GET',
    path: '/v1/limits/:limit_id',
    summary: 'Get a limit and what is spent under it',
    description: 'For a limit of each of a kind, `subject` says whose spending is meant.',
    headers: headersA,
    pathParams: LimitPath,
    query: z.object({
      subject: z.string().min(1).max(256).optional().meta({ description: 'Whose spending, for a limit of each of a kind.' }),
      livemode: Livemode,
    }),
    responses: { 200: LimitStatus, 404: problem, ...refusals.read },
    metadata: { ...read, operationId: 'getLimit', sdk: 'limits.get' } as const,
  },
  delete: {
    method: 'DELETE',
    path: '/v1/limits/:limit_id',
    summary: 'Delete a limit',
    description: 'Requests that begin from now on are not bound by it, on every gateway within a second.',
    headers: { ...headersA, ...idempotencyHeader },
    pathParams: LimitPath,
    responses: { 204: c.noBody(), 404: problem, 409: problem, ...refusals.read },
    metadata: { ...bySession, operationId: 'deleteLimit', sdk: 'limits.delete' } as const,
  },
});
