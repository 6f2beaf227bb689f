import { initContract } from '@ts-rest/core';
import * as z from 'zod';
import { headersA, Livemode, PrintableName, refusals, Timestamp, Usd, Uuid } from './conventions.ts';

const c = initContract();

const Totals = {
  requests: z.int().meta({ examples: [42] }),
  input_tokens: z.int().meta({ examples: [12000] }),
  cached_input_tokens: z.int().meta({ examples: [2000] }),
  output_tokens: z.int().meta({ examples: [4000] }),
  input_characters: z.int().meta({ description: 'Characters that were spoken.', examples: [0] }),
  audio_seconds: z.int().meta({ description: 'Seconds of audio in.', examples: [0] }),
  video_seconds: z.int().meta({ description: 'Seconds of video made.', examples: [0] }),
  images: z.int().meta({ description: 'Images made.', examples: [0] }),
  cost_usd: Usd.meta({ description: 'At catalogue prices, USD.', examples: ['0.00405'] }),
  charged_usd: Usd.meta({ description: 'What the account paid beyond its plan’s quota, USD.', examples: ['0'] }),
};

const DIMENSIONS = ['project', 'member', 'key', 'model', 'provider', 'tag', 'end_user', 'run', 'outcome'] as const;
/** What usage is told apart by. */
export type UsageDimension = 'account' | (typeof DIMENSIONS)[number];

const isOneOrTwo = (given: readonly string[], names: readonly string[]): boolean =>
  given.length <= 2 && new Set(given).size === given.length && given.every((name) => names.includes(name));

/** One or two of them: `project,model`. */
const groupsOf = (names: readonly string[]) =>
  z
    .string()
    .refine((text) => isOneOrTwo(text.split(','), names), `must be one or two of ${names.join(', ')}, with a comma in between`)
    .optional()
    .meta({ description: `One or two of ${names.join()}, by a comma.`, examples: ['project,model'] });

export const UsageRow = z
  .object({
    day: z.iso.date().optional().meta({ description: 'With `per=day`: a day of `time_zone`.' }),
    hour: Timestamp.optional().meta({ description: 'With `per=hour`: when the hour begins.' }),
    project_id: Uuid.nullable().optional(),
    user_id: Uuid.nullable().optional(),
    key_id: Uuid.nullable().optional(),
    model: z
      .string()
      .optional()
      .meta({ examples: ['gpt-4o-mini'] }),
    provider: z
      .string()
      .optional()
      .meta({ examples: ['openai'] }),
    tag: z
      .string()
      .nullable()
      .optional()
      .meta({ examples: ['feature=search'] }),
    end_user: z.string().nullable().optional(),
    run_id: z.string().nullable().optional(),
    outcome: z
      .string()
      .optional()
      .meta({ examples: ['completed'] }),
    ...Totals,
  })
  .meta({
    id: 'UsageRow',
    description: 'Usage of one group. It has the fields that usage is grouped by, null for requests without one.',
    examples: [
      {
        day: '2026-11-21',
        requests: 42,
        input_tokens: 12000,
        cached_input_tokens: 2000,
        output_tokens: 4000,
        input_characters: 0,
        audio_seconds: 0,
        video_seconds: 0,
        images: 0,
        cost_usd: '0.00405',
        charged_usd: '0',
      },
    ],
  });
export type UsageRow = z.infer<typeof UsageRow>;

const UsagePeriod = z.enum(['hour', 'day']);

const reportOf = <Row extends z.ZodType>(row: Row) => ({
  from: z.iso.date().meta({ examples: ['2026-11-01'] }),
  to: z.iso.date().meta({ examples: ['2026-11-21'] }),
  time_zone: z.string().meta({ description: 'Of days and hours.', examples: ['Europe/Berlin'] }),
  livemode: z.boolean().meta({ examples: [true] }),
  group_by: z.array(z.string()).meta({ examples: [[]] }),
  per: UsagePeriod.nullable().meta({ examples: ['day'] }),
  items: z.array(row).meta({ description: 'At most 1,000 groups: those of the highest cost.' }),
  omitted_groups: z.int().meta({ description: 'How many groups more there are. Their usage is in `total`.', examples: [0] }),
  total: z.object(Totals),
});

export const UsageResponse = z
  .object(reportOf(UsageRow))
  .meta({ id: 'UsageResponse', description: 'Usage of the account between two days, both included.' });
export type UsageResponse = z.infer<typeof UsageResponse>;

export const AdminUsageRow = UsageRow.extend({ account_id: Uuid.optional() }).meta({
  id: 'AdminUsageRow',
  description: 'Usage of one group, of all accounts or of one.',
});

export const AdminUsageResponse = z
  .object(reportOf(AdminUsageRow))
  .meta({ id: 'AdminUsageResponse', description: 'Usage of all accounts, or of one, between two days, both included.' });
export type AdminUsageResponse = z.infer<typeof AdminUsageResponse>;

/** RFC 3339 has a year 0000, which the calendar of the database lacks. */
const Day = z.iso.date().refine((day) => !day.startsWith('0000'), 'must be in the year 0001 or later');

export const UsageQuery = z.object({
  from: Day.optional().meta({ description: 'First day, in the account’s time zone. Default: the first of the current month.' }),
  to: Day.optional().meta({ description: 'Last day. Default: today.' }),
  group_by: groupsOf(DIMENSIONS),
  per: UsagePeriod.optional().meta({ description: 'Default: `day` without `group_by`.' }),
  livemode: Livemode,
  model: PrintableName.max(200).optional(),
  key_id: Uuid.optional(),
  run_id: PrintableName.max(128).optional(),
});
export type UsageQuery = z.infer<typeof UsageQuery>;

export const AdminUsageQuery = UsageQuery.extend({
  group_by: groupsOf(['account', ...DIMENSIONS]),
  account_id: Uuid.optional().meta({ description: 'Of this account alone, in its time zone; otherwise days are UTC.' }),
});
export type AdminUsageQuery = z.infer<typeof AdminUsageQuery>;

export const usage = c.router({
  getUsage: {
    method: 'GET',
    path: '/v1/usage',
    summary: 'Usage and cost',
    description: 'Sums of settled requests.',
    headers: headersA,
    query: UsageQuery,
    responses: { 200: UsageResponse, ...refusals.read },
    metadata: { auth: 'bearer', scope: 'account:read', tag: 'Usage', operationId: 'getUsage', sdk: 'usage.get', tool: 'read' } as const,
  },
  getAdminUsage: {
    method: 'GET',
    path: '/v1/admin/usage',
    summary: 'Usage and cost of all accounts',
    description: 'For administrators: `GET /v1/usage` of all accounts, or of one.',
    headers: headersA,
    query: AdminUsageQuery,
    responses: { 200: AdminUsageResponse, ...refusals.read },
    metadata: {
      auth: 'bearer',
      scope: 'admin:read',
      role: 'admin',
      tag: 'Usage',
      operationId: 'getAdminUsage',
      sdk: 'usage.getOfAll',
    } as const,
  },
});
