import * as z from 'zod';
import { ERROR_CODES, type ErrorCode } from './errors.ts';

export const FieldError = z
  .object({
    loc: z.array(z.union([z.string(), z.int()])).meta({
      description: 'Where it is: `body`, `query`, `path` or `header`, then the way down to the field.',
      examples: [['body', 'name']],
    }),
    msg: z.string().meta({ description: 'What is wrong, for people.', examples: ['must have at least 1 character'] }),
    type: z.string().meta({ description: 'What is wrong, for programs.', examples: ['too_small'] }),
  })
  .meta({ id: 'FieldError', description: 'One fault found in the input.' });
export type FieldError = z.infer<typeof FieldError>;

export const BudgetDetail = z
  .object({
    limit_source: z
      .enum(['agent_run', 'key', 'plan_quota', 'balance', 'account', 'project', 'member', 'run', 'end_user', 'tag', 'model'])
      .meta({
        description:
          'Which of the request’s limits refused it: `agent_run` is the ceiling that the run was begun with, `run` a limit that the account sets for runs.',
      }),
    subject: z
      .string()
      .optional()
      .meta({
        description: 'What the limit applies to, for limits of `GET /v1/limits`: a tag, the id of a project.',
        examples: ['feature=search'],
      }),
    period: z
      .string()
      .optional()
      .meta({ description: 'Of such a limit: `hour`, `day`, `week`, `month` or `lifetime`.', examples: ['day'] }),
    cap_usd: z.string().meta({ description: 'The limit, USD.', examples: ['0.01'] }),
    spent_usd: z.string().meta({ description: 'Settled so far in the period, USD.', examples: ['0.0084'] }),
    held_usd: z.string().meta({ description: 'Held by requests that are still running, USD.', examples: ['0.0009'] }),
    required_usd: z.string().meta({ description: 'Worst-case cost of this request, USD.', examples: ['0.0021'] }),
    resets_at: z.iso
      .datetime()
      .nullable()
      .meta({ description: 'When the period ends; null for limits without one.', examples: ['2026-12-01T00:00:00.000Z'] }),
    quota: z
      .object({
        meter: z.string().meta({ description: 'The one of which least is left.', examples: ['images'] }),
        included: z.int().meta({ description: 'By the plan, until `resets_at`.', examples: [10] }),
        used: z.int().meta({ description: 'Of what is included.', examples: [9] }),
        held: z.int().meta({ description: 'By requests that are still running.', examples: [0] }),
        required: z.int().meta({ description: 'What this request may use.', examples: [2] }),
      })
      .optional()
      .meta({ description: 'Present where nothing may go beyond the quota of the plan: its numbers, in units of the meter.' }),
  })
  .meta({ id: 'BudgetDetail', description: 'The numbers behind a refusal over money.' });
export type BudgetDetail = z.infer<typeof BudgetDetail>;

const OpenAiError = z
  .object({
    message: z.string().meta({ description: 'The same sentence as `detail`.' }),
    type: z.string().meta({ description: 'OpenAI’s class of error.', examples: ['insufficient_quota'] }),
    code: z.string().nullable().meta({
      description:
        'The same code as `code`; on OpenAI’s operations OpenAI’s, where it has one, or that of the provider which refused the request.',
    }),
    param: z
      .string()
      .nullable()
      .meta({ description: 'The request field at fault, or null.', examples: ['messages'] }),
  })
  .meta({ id: 'OpenAiError', description: 'The error in OpenAI’s form, so that OpenAI SDKs raise their own typed errors.' });

const problemFields = {
  type: z
    .url()
    .meta({ description: 'The documentation page of this code.', examples: ['http://127.0.0.1:8787/docs/errors/budget_exceeded'] }),
  title: z.string().meta({ description: 'Short and constant for the code.', examples: ['A spending limit is reached'] }),
  status: z
    .int()
    .min(400)
    .max(599)
    .meta({ description: 'The HTTP status.', examples: [402] }),
  detail: z.string().meta({ description: 'One sentence that says what to do.' }),
  instance: z.string().meta({ description: 'The request id.', examples: ['req_019aa2f1c2d37b6e8c4d1f00aa55ee77'] }),
  code: z.enum(ERROR_CODES as [ErrorCode, ...ErrorCode[]]).meta({ description: 'Stable, for programs.' }),
  error: OpenAiError,
};

export const Problem = z
  .object({
    ...problemFields,
    errors: z
      .array(FieldError)
      .optional()
      .meta({ description: 'Every fault found in the input, where an operation of OpenAI’s answers 400 to it.' }),
    budget: BudgetDetail.optional().meta({ description: 'Present on refusals over money.' }),
  })
  .meta({ id: 'Problem', description: 'Problem details (RFC 9457) with OpenAI’s `error` member.' });
export type Problem = z.infer<typeof Problem>;

export const HTTPValidationError = z
  .object({ ...problemFields, errors: z.array(FieldError) })
  .meta({ id: 'HTTPValidationError', description: 'The problem document of a 422: every fault found in the input.' });
export type HTTPValidationError = z.infer<typeof HTTPValidationError>;
