import { initContract } from '@ts-rest/core';
import * as z from 'zod';
import { headersA, Livemode, page, pageQuery, problem, refusals, Timestamp, Usd, Uuid } from './conventions.ts';

const c = initContract();

const RunId = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/, 'must be 1 to 128 letters, digits and . _ : -');
export const RunPath = z.object({ run_id: RunId.meta({ description: 'The run’s id, as the caller chose it.' }) });

export const RunState = z.enum(['active', 'exhausted', 'closed']).meta({
  id: 'RunState',
  description:
    '`exhausted`: its ceiling is spent, its calls are made or its deadline has passed. `closed`: by somebody, or with its parent.',
});
export type RunState = z.infer<typeof RunState>;

export const Run = z
  .object({
    run_id: z.string().meta({ examples: ['trip-planner-42'] }),
    parent_run_id: z
      .string()
      .nullable()
      .meta({ description: 'The run that it draws on too.', examples: [null] }),
    livemode: z.boolean().meta({ examples: [true] }),
    state: RunState.meta({ examples: ['closed'] }),
    ceiling_usd: Usd.nullable().meta({ description: 'Hard ceiling; null if the run itself has none.', examples: ['0.5'] }),
    spent_usd: Usd.meta({ description: 'Settled in the run and in its child runs, at catalogue prices.', examples: ['0.0125'] }),
    requests: z.int().meta({ description: 'Settled requests of the run and its child runs.', examples: [12] }),
    max_calls: z
      .int()
      .nullable()
      .meta({ description: 'The most calls that the run and its child runs may make.', examples: [100] }),
    calls_remaining: z
      .int()
      .nullable()
      .meta({ description: 'Null where the run has no bound on its calls.', examples: [88] }),
    deadline: Timestamp.nullable().meta({ description: 'From then on it makes no calls, and running ones are stopped.' }),
    started_at: Timestamp,
    last_request_at: Timestamp.nullable().meta({ description: 'When its newest settled request began.' }),
    closed_at: Timestamp.nullable().meta({
      description: 'When it or its parent was closed; null if open.',
      examples: ['2026-11-21T08:20:00.000Z'],
    }),
  })
  .meta({ id: 'Run', description: 'One agent run: what it may do and what it has done. Figures are current to within a second or so.' });
export type Run = z.infer<typeof Run>;

export const RunList = page(Run).meta({ id: 'RunList', description: 'Runs of the account, the newest first.' });
export type RunList = z.infer<typeof RunList>;

export const RunStep = z
  .object({
    request_id: z.string().meta({ description: 'For `GET /v1/requests/{id}`.', examples: ['req_019aa2f1c2d37b6e8c4d1f00aa55ee77'] }),
    endpoint: z.string().meta({ examples: ['/v1/chat/completions'] }),
    model_requested: z.string().meta({ examples: ['gpt-4o-mini'] }),
    model_served: z.string().meta({ examples: ['gpt-4o-mini'] }),
    fallback: z.enum(['none', 'deployment', 'model']),
    outcome: z.enum(['completed', 'cancelled', 'abandoned', 'cut', 'failed', 'cached']),
    cost_usd: Usd.meta({ examples: ['0.00045'] }),
    refunded: z.boolean().meta({ description: 'Whether its cost was given back.', examples: [false] }),
    receipt_id: Uuid,
    started_at: Timestamp,
    completed_at: Timestamp,
  })
  .meta({ id: 'RunStep', description: 'One settled request of a run.' });
export type RunStep = z.infer<typeof RunStep>;

export const RunDetail = Run.extend({
  held_usd: Usd.meta({ description: 'Held by running requests of the run and its child runs.', examples: ['0'] }),
  steps: page(RunStep).meta({ description: 'The run’s own requests, the oldest first; those of a child run are in the child.' }),
  children: z.array(Run).meta({ description: 'Its child runs, the oldest first; at most 200.' }),
}).meta({ id: 'RunDetail', description: 'A run with its steps and its child runs.' });
export type RunDetail = z.infer<typeof RunDetail>;

export const RunQuery = z.object({
  livemode: Livemode,
  state: RunState.optional().meta({ description: 'Only runs in this state.' }),
  parent_run_id: RunId.optional().meta({ description: 'Only child runs of this run.' }),
  ...pageQuery,
});
export type RunQuery = z.infer<typeof RunQuery>;

export const runs = c.router({
  listRuns: {
    method: 'GET',
    path: '/v1/runs',
    summary: 'List agent runs',
    description: 'Runs of the account, in one mode, the newest first.',
    headers: headersA,
    query: RunQuery,
    responses: { 200: RunList, ...refusals.read },
    metadata: { auth: 'bearer', scope: 'account:read', tag: 'Runs', operationId: 'listRuns', sdk: 'runs.list', tool: 'read' } as const,
  },
  getRun: {
    method: 'GET',
    path: '/v1/runs/:run_id',
    summary: 'Get an agent run',
    description: 'The state of the run, what its steps cost, and its child runs. `limit` and `cursor` page through the steps.',
    headers: headersA,
    pathParams: RunPath,
    query: z.object({ livemode: Livemode, ...pageQuery }),
    responses: { 200: RunDetail, 404: problem, ...refusals.read },
    metadata: { auth: 'bearer', scope: 'account:read', tag: 'Runs', operationId: 'getRun', sdk: 'runs.get', tool: 'read' } as const,
  },
  closeRun: {
    method: 'POST',
    path: '/v1/runs/:run_id/close',
    summary: 'Close an agent run',
    description:
      'Stops the run and its child runs, within a second: no call begins, and running calls are stopped and charged for what was generated. Its figures have all answered requests. Closing again changes nothing. API keys close runs of their mode only.',
    headers: headersA,
    pathParams: RunPath,
    query: z.object({ livemode: Livemode }),
    body: c.noBody(),
    responses: { 200: Run, 404: problem, ...refusals.write },
    metadata: {
      auth: 'bearer',
      scope: 'inference',
      tag: 'Runs',
      operationId: 'closeRun',
      sdk: 'runs.close',
      tool: 'destroy',
      errors: { also: ['forbidden'] },
    } as const,
  },
});
