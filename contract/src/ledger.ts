import { initContract } from '@ts-rest/core';
import * as z from 'zod';
import { headersA, idempotencyHeader, PrintableName, problem, refusals, Timestamp, Usd, Uuid } from './conventions.ts';
import { CorrectionRequest, CorrectionResponse, PublicReason, RequestCorrection, RequestName } from './corrections.ts';
import { getLatency } from './latency.ts';
import { ReceiptUsage } from './receipt-usage.ts';

const c = initContract();

export const RequestAttempt = z
  .object({
    deployment: z.string().meta({ examples: ['openai-eu'] }),
    provider: z.string().meta({ examples: ['openai'] }),
    model: z.string().meta({ examples: ['gpt-4o-mini'] }),
    outcome: z.enum(['answered', 'rejected', 'rate_limited', 'failed', 'timeout']),
    status: z
      .int()
      .nullable()
      .meta({ description: 'The provider’s HTTP status, null when none came.', examples: [200] }),
    started_ms: z.number().meta({ description: 'Milliseconds after the request arrived.', examples: [1.2] }),
    duration_ms: z.number().meta({ description: 'Until the answer’s first byte, or until the failure, milliseconds.', examples: [310.5] }),
    usage_decreased: z
      .literal(true)
      .optional()
      .meta({ description: 'The provider reported less usage than before in the same stream. The largest of its counts was charged.' }),
  })
  .meta({ id: 'RequestAttempt', description: 'One call to a provider.' });
export type RequestAttempt = z.infer<typeof RequestAttempt>;

export const SkippedDeployment = z
  .object({
    model: z.string().meta({ examples: ['gpt-4.1'] }),
    deployment: z
      .string()
      .nullable()
      .meta({ description: 'Null where it is the model that could not serve.', examples: ['openai-eu'] }),
    provider: z
      .string()
      .nullable()
      .meta({ examples: ['openai'] }),
    reason: z.enum(['cooling_down', 'probing', 'incapable', 'not_deployed', 'too_dear']).meta({
      description:
        '`cooling_down`: it failed or was at its rate limit lately. `probing`: another request was finding out whether it is back. `incapable`: the model cannot do what the request asks. `not_deployed`: no provider is configured for it. `too_dear`: it costs more than `provider.max_price`.',
    }),
  })
  .meta({ id: 'SkippedDeployment', description: 'A deployment or a model that was left aside, and why.' });
export type SkippedDeployment = z.infer<typeof SkippedDeployment>;

export const RequestRefund = z
  .object({
    receipt_id: Uuid.meta({ description: 'The refund’s own receipt.' }),
    reason: z.string().meta({ examples: ['The video could not be made.'] }),
    cost_usd: Usd.meta({
      description: 'What was given back, at catalogue prices: all of it, what the quota had covered too.',
      examples: ['0.8'],
    }),
    refunded_at: Timestamp,
  })
  .meta({ id: 'RequestRefund', description: 'That a request’s cost was given back. It then counts nowhere as usage.' });
export type RequestRefund = z.infer<typeof RequestRefund>;

export const RequestTrace = z
  .object({
    kind: z.enum(['usage', 'batch_line', 'media_job']).meta({
      description: 'An answered request, a line of a batch, or a media job.',
      examples: ['usage'],
    }),
    request_id: z.string().meta({ examples: ['req_019aa2f1c2d37b6e8c4d1f00aa55ee77'] }),
    client_request_id: z
      .string()
      .nullable()
      .meta({ description: 'The `X-Request-Id` that the caller sent.', examples: [null] }),
    receipt_id: Uuid,
    key_id: Uuid.nullable(),
    run_id: z
      .string()
      .nullable()
      .meta({ examples: ['nightly-42'] }),
    project_id: Uuid.nullable().meta({ description: 'The project of its API key.', examples: [null] }),
    end_user: z
      .string()
      .nullable()
      .meta({ description: 'As the request named them.', examples: [null] }),
    tags: z
      .array(z.string())
      .nullable()
      .meta({ description: 'Of `X-Tags`.', examples: [['feature=search']] }),
    livemode: z.boolean().meta({ examples: [true] }),
    endpoint: z.string().meta({ examples: ['/v1/chat/completions'] }),
    stream: z.boolean(),
    model_requested: z.string().meta({ examples: ['gpt-4o-mini'] }),
    model_served: z.string().meta({ examples: ['gpt-4o-mini'] }),
    provider: z.string().meta({ examples: ['openai'] }),
    fallback: z.enum(['none', 'deployment', 'model']),
    outcome: z.enum(['completed', 'cancelled', 'abandoned', 'cut', 'failed', 'cached']).meta({
      description:
        '`cancelled`: the client hung up, or the agent run ended. `abandoned`: the gateway stopped, or gave up waiting, while the provider was at work. `cut`: the provider broke off, or failed and said what it had used. `failed`: no answer. `cached`: an answer that was kept, at no cost.',
      examples: ['completed'],
    }),
    attempts: z.array(RequestAttempt),
    skipped: z.array(SkippedDeployment).meta({ description: 'What could have served and was not asked.' }),
    usage: ReceiptUsage,
    estimated: z.boolean(),
    price_version: z.string().meta({ examples: ['2026-07-24'] }),
    price_factor: z.string().meta({ description: 'On all prices: "1", or that of batches.', examples: ['1'] }),
    held_usd: Usd.meta({ description: 'Worst case that was held before the provider was called, USD.', examples: ['0.0001605'] }),
    cost_usd: Usd.meta({ examples: ['0.00000855'] }),
    charged_usd: Usd.meta({ examples: ['0'] }),
    waived_usd: Usd.meta({
      description:
        'What the provider billed beyond `held_usd`, and what no longer fitted a cap when the request was settled late. It is not charged, and in neither `cost_usd` nor `charged_usd`.',
      examples: ['0'],
    }),
    correction: RequestCorrection.nullable().meta({ description: 'Null unless it was corrected: then this is what counts.' }),
    refund: RequestRefund.nullable().meta({ description: 'Null unless its cost was given back.' }),
    started_at: Timestamp,
    first_byte_at: Timestamp.nullable(),
    completed_at: Timestamp,
    overhead_ms: z.number().meta({ examples: [0.8] }),
  })
  .meta({ id: 'RequestTrace', description: 'What happened to one request: attempts, times, money. No prompt, no answer.' });
export type RequestTrace = z.infer<typeof RequestTrace>;

export const RefundRequest = z
  .strictObject({
    request_id: RequestName,
    reason: PublicReason.meta({
      description: 'Stands in the refund’s receipt, which is public to anyone who knows its id.',
      examples: ['The video could not be made.'],
    }),
  })
  .meta({ id: 'RefundRequest', description: 'Which request’s cost is given back, and why.' });
export type RefundRequest = z.infer<typeof RefundRequest>;

export const RefundResponse = z
  .object({
    refund_id: Uuid,
    receipt_id: Uuid.meta({ description: 'The refund’s own receipt. It can be read a moment later.' }),
    refund_of: Uuid.meta({ description: 'The receipt of what was refunded.' }),
    account_id: Uuid,
    request_id: z.string().meta({ examples: ['req_019aa2f1c2d37b6e8c4d1f00aa55ee77'] }),
    reason: z.string().meta({ examples: ['The video could not be made.'] }),
    cost_usd: Usd.meta({ description: 'All that the request cost at catalogue prices: every cap counts it no longer.', examples: ['0.8'] }),
    charged_usd: Usd.meta({ description: 'The part that the account had paid, back where it came from.', examples: ['0.8'] }),
    refunded_at: Timestamp,
  })
  .meta({ id: 'RefundResponse', description: 'A refund as it was decided.' });
export type RefundResponse = z.infer<typeof RefundResponse>;

export const ledger = c.router({
  getLatency,
  getRequest: {
    method: 'GET',
    path: '/v1/requests/:request_id',
    summary: 'Trace of one request',
    description: 'Attempts, timings, cost and receipt of one request of the account. It can be read a moment after the answer ends.',
    headers: headersA,
    pathParams: z.object({ request_id: PrintableName.max(128).meta({ description: 'The `X-Request-Id` of an answer.' }) }),
    responses: { 200: RequestTrace, 404: problem, ...refusals.read },
    metadata: {
      auth: 'bearer',
      scope: 'account:read',
      tag: 'Usage',
      operationId: 'getRequest',
      sdk: 'requests.get',
      tool: 'read',
    } as const,
  },
  refundRequest: {
    method: 'POST',
    path: '/v1/admin/refunds',
    summary: 'Give back what a request cost',
    description:
      'For administrators: all of it, of any account’s request, once. What the balance or invoice had paid returns there, what the quota had covered to the quota, and no cap counts it any longer, in the month in which it was spent. Asked again, the answer is the refund that was made.',
    headers: { ...headersA, ...idempotencyHeader },
    body: RefundRequest,
    responses: { 200: RefundResponse, 201: RefundResponse, 404: problem, 409: problem, ...refusals.write },
    metadata: {
      auth: 'bearer',
      scope: 'admin:write',
      role: 'admin',
      tag: 'Usage',
      operationId: 'refundRequest',
      sdk: 'requests.refund',
    } as const,
  },
  correctRequest: {
    method: 'POST',
    path: '/v1/admin/corrections',
    summary: 'Correct what a request used and cost',
    description:
      'For administrators: says what a request of any account really used. Its cost is calculated again at the prices that it was settled at, and the difference is charged or refunded: on the balance or invoice and the plan’s quota that had paid, in their shares, and on every cap, in the month in which it was spent. A receipt of kind `correction` takes the place of the first one. A request is corrected once; asked again with the same usage, the answer is the correction that was made.',
    headers: { ...headersA, ...idempotencyHeader },
    body: CorrectionRequest,
    responses: { 200: CorrectionResponse, 201: CorrectionResponse, 404: problem, 409: problem, ...refusals.write },
    metadata: {
      auth: 'bearer',
      scope: 'admin:write',
      role: 'admin',
      tag: 'Usage',
      operationId: 'correctRequest',
      sdk: 'requests.correct',
    } as const,
  },
});
