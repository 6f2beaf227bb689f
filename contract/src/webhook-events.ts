import * as z from 'zod';
import { Timestamp, Usd, Uuid } from './conventions.ts';
import { LimitKind, LimitPeriod } from './limits.ts';

const livemode = z.boolean().meta({ description: 'Whether it is of live or of test mode.', examples: [true] });
const threshold = z
  .int()
  .min(1)
  .max(100)
  .meta({ description: 'The share of the cap that was reached, percent.', examples: [80] });
const spent = Usd.meta({ description: 'Settled in the period so far, USD.', examples: ['40.5'] });
const cap = Usd.meta({ description: 'The cap of the period, USD.', examples: ['50'] });
const required = Usd.meta({ description: 'What had to be held for the refused request, USD.', examples: ['0.25'] });
const resetsAt = Timestamp.nullable().meta({ description: 'When the period ends; null for a lifetime.' });
const month = z.string().meta({ description: 'Calendar month, UTC.', examples: ['2026-11'] });

const ofKey = {
  key_id: Uuid.meta({ description: 'The API key’s id.' }),
  name: z.string().meta({ description: 'The API key’s name.', examples: ['search'] }),
};
const ofBudget = { ...ofKey, period: month, spent_usd: spent, cap_usd: cap, resets_at: resetsAt };
const ofLimit = {
  kind: LimitKind,
  subject: z
    .string()
    .nullable()
    .meta({ description: 'Whose spending it is; null for the account’s.', examples: ['feature=search'] }),
  period: LimitPeriod,
  livemode,
  spent_usd: spent,
  cap_usd: cap,
  resets_at: resetsAt,
};
const ofDeployment = {
  provider: z.string().meta({ description: 'Name of the provider.', examples: ['openai'] }),
  deployment: z.string().meta({ description: 'As `GET /v1/admin/deployments` names it.', examples: ['openai#1'] }),
  model: z.string().meta({ description: 'The model that it is asked for.', examples: ['gpt-4o-mini'] }),
};

/** The types of events, and what the `data` of each has. */
export const WEBHOOK_EVENT_DATA = {
  'key.created': z.object({ ...ofKey, livemode }),
  'key.rotated': z.object({ ...ofKey, livemode }),
  'key.revoked': z.object({ ...ofKey, livemode }),
  'budget.threshold_reached': z.object({ ...ofBudget, threshold_percent: threshold }),
  'budget.cap_hit': z.object({ ...ofBudget, required_usd: required }),
  'limit.threshold_reached': z.object({ ...ofLimit, threshold_percent: threshold }),
  'limit.cap_hit': z.object({ ...ofLimit, required_usd: required }),
  'spend.threshold_reached': z.object({
    period: month,
    threshold_usd: Usd.meta({ description: 'The threshold of the account’s spend alerts, USD.', examples: ['100'] }),
    charged_usd: Usd.meta({ description: 'Charged beyond the plan’s quota in the month so far, USD.', examples: ['101.2'] }),
  }),
  'run.exhausted': z.object({
    run_id: z.string().meta({ description: 'As the requests name it.', examples: ['nightly-report'] }),
    livemode,
    reason: z.enum(['budget', 'calls', 'deadline']).meta({ description: 'Which bound of the run refused a request.' }),
  }),
  'provider.set_aside': z.object({
    ...ofDeployment,
    reason: z
      .enum(['rate_limited', 'retry_after', 'credentials', 'failures'])
      .meta({ description: 'Why other providers are asked first.', examples: ['failures'] }),
  }),
  'provider.restored': z.object({ ...ofDeployment, set_aside_at: Timestamp.meta({ description: 'Since when it was set aside.' }) }),
  'invoice.issued': z.object({
    invoice_id: Uuid,
    month,
    livemode,
    total_usd: Usd.meta({ description: 'What the receipts on it come to, USD.', examples: ['120.4'] }),
    due_usd: Usd.meta({ description: 'What is to be paid, USD.', examples: ['20.4'] }),
  }),
  'receipt.anchored': z.object({
    anchor_id: Uuid,
    chain_id: z.int().meta({ description: 'The chain’s id (EIP-155).', examples: [8453] }),
    transaction_hash: z.string().meta({ examples: [`0x${'1f'.repeat(32)}`] }),
    tree_size: z.int().meta({ description: 'Entries of the log in the state that is anchored.', examples: [120_000] }),
    receipt_count: z
      .int()
      .meta({ description: 'Receipts of the account in it that asked to be anchored, since the anchor before.', examples: [1] }),
    receipt_ids: z.array(Uuid).meta({ description: 'Their ids, at most 100.' }),
  }),
  'log.stopped': z.object({
    reason: z.string().meta({
      description: 'What is wrong with the log of receipts.',
      examples: ['The checkpoint in the database is not the one that was signed last'],
    }),
  }),
  'webhook.test': z.object({ webhook_id: Uuid.meta({ description: 'The endpoint that was asked to be tested.' }) }),
} as const;

export type WebhookEventType = keyof typeof WEBHOOK_EVENT_DATA;
export const WEBHOOK_EVENT_TYPES = Object.keys(WEBHOOK_EVENT_DATA) as [WebhookEventType, ...WebhookEventType[]];
export type WebhookEventData<Type extends WebhookEventType> = z.infer<(typeof WEBHOOK_EVENT_DATA)[Type]>;

export const WebhookEventName = z.enum(WEBHOOK_EVENT_TYPES).meta({ id: 'WebhookEventName', description: 'What an event tells of.' });

const eventOf = <Type extends WebhookEventType>(type: Type) =>
  z.object({
    type: z.literal(type),
    id: Uuid.meta({ description: 'Of the event, the same in every delivery of it; also the header `webhook-id`.' }),
    timestamp: Timestamp.meta({ description: 'When it happened.' }),
    account_id: Uuid.nullable().meta({ description: 'Whose it is; null for what concerns the whole gateway.' }),
    sequence: z.int().meta({ description: 'Its place in the order of all events of the gateway.', examples: [4211] }),
    data: WEBHOOK_EVENT_DATA[type],
  });

/** As Standard Webhooks asks: `type`, `timestamp`, `data`. */
export const WebhookEvent = z
  .discriminatedUnion('type', [
    eventOf('key.created'),
    eventOf('key.rotated'),
    eventOf('key.revoked'),
    eventOf('budget.threshold_reached'),
    eventOf('budget.cap_hit'),
    eventOf('limit.threshold_reached'),
    eventOf('limit.cap_hit'),
    eventOf('spend.threshold_reached'),
    eventOf('run.exhausted'),
    eventOf('provider.set_aside'),
    eventOf('provider.restored'),
    eventOf('invoice.issued'),
    eventOf('receipt.anchored'),
    eventOf('log.stopped'),
    eventOf('webhook.test'),
  ])
  .meta({ id: 'WebhookEvent', description: 'Something that happened, as webhooks deliver it.' });
export type WebhookEvent = z.infer<typeof WebhookEvent>;
