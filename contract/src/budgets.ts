import { initContract } from '@ts-rest/core';
import * as z from 'zod';
import {
  AlertThreshold,
  AlertThresholds,
  AlertThresholdsInput,
  headersA,
  idempotencyHeader,
  page,
  pageQuery,
  problem,
  refusals,
  Timestamp,
  Usd,
  UsdInput,
  Uuid,
} from './conventions.ts';
import { KeyPath } from './keys.ts';

const c = initContract();

const Period = z
  .string()
  .regex(/^\d{4}-\d{2}$/)
  .meta({ description: 'UTC calendar month, `YYYY-MM`.', examples: ['2026-11'] });
const PeriodStart = Timestamp.meta({ description: 'First instant of the period.', examples: ['2026-11-01T00:00:00.000Z'] });
const ResetsAt = Timestamp.meta({ description: 'First instant of the next period.', examples: ['2026-12-01T00:00:00.000Z'] });

const Thresholds = AlertThresholds.meta({
  description:
    'Percent of the cap at which an alert is recorded and mailed, once a period each. With 100 among them, refused requests send alerts too.',
  examples: [[50, 80, 100]],
});

export const KeyBudgetUpdateRequest = z
  .strictObject({
    monthly_cap_usd: UsdInput.nullable().meta({
      description: 'The new hard cap of a UTC calendar month; `"0"` lets nothing through that costs anything; null clears the cap.',
      examples: ['25'],
    }),
    alert_thresholds: AlertThresholdsInput.optional().meta({
      uniqueItems: true,
      description: 'Whole percents in ascending order, at most ten; empty for no alerts. Left out: they stay as they are.',
      examples: [[50, 80, 100]],
    }),
  })
  .meta({
    id: 'KeyBudgetUpdateRequest',
    description: 'The budget that a key is to have.',
    examples: [{ monthly_cap_usd: '25', alert_thresholds: [50, 80, 100] }],
  });
export type KeyBudgetUpdateRequest = z.infer<typeof KeyBudgetUpdateRequest>;

const STATUS_EXAMPLE = {
  key_id: '019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77',
  period: '2026-11',
  period_start: '2026-11-01T00:00:00.000Z',
  resets_at: '2026-12-01T00:00:00.000Z',
  monthly_cap_usd: '25',
  spent_usd: '20.5',
  held_usd: '0.04',
  remaining_usd: '4.46',
  utilization: 0.82,
  status: 'warning',
  alert_thresholds: [50, 80, 100],
};

export const KeyBudgetStatusResponse = z
  .object({
    key_id: Uuid,
    period: Period,
    period_start: PeriodStart,
    resets_at: ResetsAt,
    monthly_cap_usd: Usd.nullable(),
    spent_usd: Usd.meta({ description: 'Settled in the period, USD.' }),
    held_usd: Usd.meta({ description: 'Held by requests that are running now, at their worst case, USD.' }),
    remaining_usd: Usd.nullable().meta({ description: 'What the next request may cost at most: cap − spent − held, never negative.' }),
    utilization: z
      .number()
      .min(0)
      .nullable()
      .meta({ description: 'Spent ÷ cap, rounded down to four places; 1 for a cap of zero, null without a cap.', examples: [0.82] }),
    status: z.enum(['uncapped', 'ok', 'warning', 'exceeded']).meta({
      description:
        '`warning`: a threshold below 100 % is reached. `exceeded`: the cap is spent, or a request did not fit under it while at least 90 % of it was spent.',
      examples: ['warning'],
    }),
    alert_thresholds: Thresholds,
  })
  .meta({ id: 'KeyBudgetStatusResponse', description: 'The budget of a key in the current month.', examples: [STATUS_EXAMPLE] });
export type KeyBudgetStatusResponse = z.infer<typeof KeyBudgetStatusResponse>;

export const KeyBudgetSummaryItem = KeyBudgetStatusResponse.extend({
  name: z.string().meta({ description: 'The key’s name.', examples: ['production'] }),
  livemode: z.boolean().meta({ examples: [true] }),
  revoked: z.boolean().meta({ examples: [false] }),
}).meta({
  id: 'KeyBudgetSummaryItem',
  description: 'The budget of one key, and which key it is.',
  examples: [{ ...STATUS_EXAMPLE, name: 'production', livemode: true, revoked: false }],
});
export type KeyBudgetSummaryItem = z.infer<typeof KeyBudgetSummaryItem>;

export const KeyBudgetSummaryResponse = z
  .object({
    period: Period,
    period_start: PeriodStart,
    resets_at: ResetsAt,
    spent_usd: Usd.meta({ description: 'Settled in the period by all live keys, USD.', examples: ['20.5'] }),
    held_usd: Usd.meta({ description: 'Held by running requests of all live keys, USD.', examples: ['0.04'] }),
    items: z.array(KeyBudgetSummaryItem),
    total: z
      .int()
      .min(0)
      .meta({ description: 'How many keys there are.', examples: [1] }),
  })
  .meta({ id: 'KeyBudgetSummaryResponse', description: 'The budgets of all keys of the account in the current month, newest key first.' });
export type KeyBudgetSummaryResponse = z.infer<typeof KeyBudgetSummaryResponse>;

export const KeyBudgetChange = z
  .object({
    change_id: Uuid,
    changed_at: Timestamp,
    actor: z.object({
      kind: z.enum(['user', 'key', 'management_key']).meta({ description: 'Who did it.' }),
      id: z
        .string()
        .regex(/^…[0-9a-f]{4}$/)
        .meta({ description: 'The last four characters of the id.', examples: ['…ee77'] }),
    }),
    previous_cap_usd: Usd.nullable(),
    new_cap_usd: Usd.nullable(),
    previous_alert_thresholds: Thresholds,
    new_alert_thresholds: Thresholds,
  })
  .meta({
    id: 'KeyBudgetChange',
    description: 'One change of a budget.',
    examples: [
      {
        change_id: '019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77',
        changed_at: '2026-11-21T08:00:00.000Z',
        actor: { kind: 'user', id: '…ee77' },
        previous_cap_usd: null,
        new_cap_usd: '25',
        previous_alert_thresholds: [50, 80, 100],
        new_alert_thresholds: [50, 80, 100],
      },
    ],
  });
export type KeyBudgetChange = z.infer<typeof KeyBudgetChange>;

export const KeyBudgetHistoryResponse = page(KeyBudgetChange).meta({
  id: 'KeyBudgetHistoryResponse',
  description: 'Who changed a key’s budget, from what to what. Newest first.',
});
export type KeyBudgetHistoryResponse = z.infer<typeof KeyBudgetHistoryResponse>;

export const KeyBudgetAlert = z
  .object({
    alert_id: Uuid,
    period: Period,
    threshold_percent: AlertThreshold.nullable().meta({
      description: 'Null: none was reached, a request was refused below 90 % of the cap.',
    }),
    kind: z.enum(['warning', 'exceeded']).meta({ description: '`exceeded` at 100 %, else `warning`.', examples: ['warning'] }),
    cause: z.enum(['spend', 'cap_change', 'refusal']).meta({
      description:
        'A settled request reached the threshold; a changed budget put it below what was spent; a request did not fit under the cap, which counts as 100 % while at least 90 % is spent.',
    }),
    spent_usd: Usd.meta({ description: 'Settled in the period when the alert was recorded, USD.', examples: ['20.5'] }),
    cap_usd: Usd.meta({ description: 'The cap at that moment, USD.', examples: ['25'] }),
    required_usd: Usd.nullable().meta({
      description: 'What had to be held for the refused request, USD; null for other causes.',
      examples: [null],
    }),
    created_at: Timestamp,
    resets_at: ResetsAt,
  })
  .meta({ id: 'KeyBudgetAlert', description: 'A threshold that was reached, or a request that was refused.' });
export type KeyBudgetAlert = z.infer<typeof KeyBudgetAlert>;

export const KeyBudgetAlertHistoryResponse = page(KeyBudgetAlert).meta({
  id: 'KeyBudgetAlertHistoryResponse',
  description: 'The alerts of a key, each threshold at most once a period, and so a refusal below 90 % of the cap. Newest first.',
});
export type KeyBudgetAlertHistoryResponse = z.infer<typeof KeyBudgetAlertHistoryResponse>;

const readsKey = { auth: 'bearer', scope: 'account:read', tag: 'Budgets' } as const;

export const budgets = c.router({
  summary: {
    method: 'GET',
    path: '/v1/keys/budget-summary',
    summary: 'Budgets of all keys',
    description: 'What every key has spent this month, and what is left. Revoked keys are included.',
    headers: headersA,
    responses: { 200: KeyBudgetSummaryResponse, ...refusals.read },
    metadata: { ...readsKey, operationId: 'getBudgetSummary', sdk: 'budgets.summary', tool: 'read' } as const,
  },
  get: {
    method: 'GET',
    path: '/v1/keys/:key_id/budget',
    summary: 'Budget of a key',
    description: 'What the key has spent this month (UTC), what running requests hold, and what is left.',
    headers: headersA,
    pathParams: KeyPath,
    responses: { 200: KeyBudgetStatusResponse, 404: problem, ...refusals.read },
    metadata: { ...readsKey, operationId: 'getKeyBudget', sdk: 'budgets.get', tool: 'read' } as const,
  },
  update: {
    method: 'PATCH',
    path: '/v1/keys/:key_id/budget',
    summary: 'Set, change or clear the budget of a key',
    description:
      'In effect for new requests at once, on other instances within a second; the cap may be below what is spent. Running requests keep what they hold.',
    headers: { ...headersA, ...idempotencyHeader },
    pathParams: KeyPath,
    body: KeyBudgetUpdateRequest,
    responses: { 200: KeyBudgetStatusResponse, 404: problem, 409: problem, ...refusals.write },
    metadata: {
      auth: 'bearer',
      scope: 'keys:write',
      tag: 'Budgets',
      operationId: 'updateKeyBudget',
      sdk: 'budgets.set',
      tool: 'destroy',
    } as const,
  },
  history: {
    method: 'GET',
    path: '/v1/keys/:key_id/budget/history',
    summary: 'Changes of a key’s budget',
    description: 'Who changed the cap or the thresholds, and the values before and after.',
    headers: headersA,
    pathParams: KeyPath,
    query: z.object(pageQuery),
    responses: { 200: KeyBudgetHistoryResponse, 404: problem, ...refusals.read },
    metadata: { ...readsKey, operationId: 'listKeyBudgetChanges', sdk: 'budgets.history', tool: 'read' } as const,
  },
  alerts: {
    method: 'GET',
    path: '/v1/keys/:key_id/budget/alerts',
    summary: 'Alerts of a key’s budget',
    description: 'The thresholds that were reached, and the refusals.',
    headers: headersA,
    pathParams: KeyPath,
    query: z.object(pageQuery),
    responses: { 200: KeyBudgetAlertHistoryResponse, 404: problem, ...refusals.read },
    metadata: { ...readsKey, operationId: 'listKeyBudgetAlerts', sdk: 'budgets.alerts', tool: 'read' } as const,
  },
});
