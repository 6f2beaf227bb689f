import { initContract } from '@ts-rest/core';
import * as z from 'zod';
import { KeyBudgetSummaryResponse } from './budgets.ts';
import { headersA, refusals } from './conventions.ts';
import { ReceiptListItem } from './receipts.ts';
import { Run } from './runs.ts';

const c = initContract();

export const LiveFigures = z
  .object({
    budgets: KeyBudgetSummaryResponse.optional().meta({ description: 'What keys have spent, and what their running requests hold.' }),
    runs: z.array(Run).optional().meta({ description: 'Agent runs of both modes, those that began last first.' }),
    requests: z
      .array(ReceiptListItem)
      .optional()
      .meta({ description: 'Settled requests of both modes, the newest first; empty where the plan has no receipts.' }),
  })
  .meta({ id: 'LiveFigures', description: 'What an account spends at the moment. In a stream, what has not changed is left out.' });
export type LiveFigures = z.infer<typeof LiveFigures>;

export const live = c.router({
  get: {
    method: 'GET',
    path: '/v1/live',
    summary: 'What is spent and held now',
    description:
      'Budgets of all keys, the agent runs that began last, and the newest requests. With `stream=true` the same as server-sent events: all of it at first, then what has changed, at most once a second. A stream ends when its credential does, or when the gateway stops: begin it again.',
    headers: headersA,
    query: z.object({ stream: z.enum(['true', 'false']).optional().meta({ description: 'Answer as server-sent events.' }) }),
    responses: { 200: LiveFigures, ...refusals.read },
    metadata: {
      auth: 'bearer',
      scope: 'account:read',
      tag: 'Usage',
      operationId: 'getLiveFigures',
      sdk: 'live.get',
      events: LiveFigures,
      errors: { also: ['rate_limited'] },
    } as const,
  },
});
