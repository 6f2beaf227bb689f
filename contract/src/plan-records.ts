import * as z from 'zod';
import { Timestamp, trueOrFalse, Usd, Uuid } from './conventions.ts';

/** Plans are an operator's data, so their ids are open. */
export const PLAN_ID = /^[a-z][a-z0-9_-]{0,39}$/;
export const PlanId = z
  .string()
  .regex(PLAN_ID, 'must be the id of a plan: GET /v1/plans/config lists them')
  .meta({
    id: 'PlanId',
    description: 'A plan of `GET /v1/plans/config`, or `operator`.',
    examples: ['pro'],
  });
export type PlanId = z.infer<typeof PlanId>;
/** What a plan may include beside its quota. */
export const PLAN_FEATURES = ['receipts', 'agent_runs', 'batches', 'auto_topup', 'anchoring', 'invoicing', 'dedicated_capacity'] as const;
export type PlanFeature = (typeof PLAN_FEATURES)[number];
export const METERS = ['requests', 'tokens', 'images', 'audio_seconds', 'video_seconds'] as const;
export const PlanMeter = z.enum(METERS).meta({ description: 'What is counted.', examples: ['tokens'] });
const count = (description: string) =>
  z
    .int()
    .min(0)
    .meta({ description, examples: [1000] });

const limit = (description: string) => count(description).nullable();

const QUOTA = { requests: 50_000, tokens: 25_000_000, images: 500, audio_seconds: 36_000, video_seconds: 60 };
const Quota = z
  .object({
    requests: limit('Requests a month.'),
    tokens: limit('Tokens a month, in and out.'),
    images: limit('Images a month.'),
    audio_seconds: limit('Seconds of audio a month.'),
    video_seconds: limit('Seconds of video a month.'),
  })
  .meta({ id: 'PlanQuota', description: 'Included in a UTC calendar month; null: without limit.', examples: [QUOTA] });
const OVERAGE = { policy: 'balance', ceiling_usd: null };
const OveragePolicy = z.enum(['none', 'block', 'balance', 'invoice']).meta({
  description:
    'Beyond the quota: nothing goes (`block`), the prepaid balance pays, or an invoice at the month’s end. `none`: the quota is without limit.',
});
const Overage = z
  .object({
    policy: OveragePolicy,
    ceiling_usd: Usd.nullable().meta({ description: 'Of an invoice, a month.' }),
  })
  .meta({ id: 'PlanOverage', description: 'What happens beyond the quota.', examples: [OVERAGE] });
const RATES = { requests_per_minute: 1_000, tokens_per_minute: 4_000_000, concurrency: 100 };
const Rates = z
  .object({
    requests_per_minute: limit('Requests a minute.'),
    tokens_per_minute: limit('Tokens a minute.'),
    concurrency: limit('Requests at once.'),
  })
  .meta({ id: 'PlanRateLimits', description: 'Of all live keys and sessions together; null: without limit.', examples: [RATES] });
const Features = z.array(z.string()).meta({ description: 'What else is in it.', examples: [['receipts', 'batches']] });
const Version = z
  .int()
  .min(1)
  .meta({ description: 'A plan’s version never changes; a subscription keeps its own.', examples: [1] });
const Period = z.string().meta({ description: 'UTC calendar month, `YYYY-MM`.', examples: ['2026-11'] });
const ResetsAt = Timestamp.meta({ description: 'First instant of the next month.', examples: ['2026-12-01T00:00:00.000Z'] });

/** For examples of answers. */
export const PLAN_EXAMPLE = {
  plan_id: 'pro',
  version: 1,
  name: 'Pro',
  monthly_price_usd: '20',
  quota: QUOTA,
  overage: OVERAGE,
  rate_limits: RATES,
  features: ['receipts', 'batches'],
};
export const PlanConfigResponse = z
  .object({
    plan_id: PlanId,
    version: Version,
    name: z.string(),
    monthly_price_usd: Usd,
    quota: Quota,
    overage: Overage,
    rate_limits: Rates,
    features: Features,
  })
  .meta({ id: 'PlanConfigResponse', description: 'A plan.', examples: [PLAN_EXAMPLE] });
export type PlanConfigResponse = z.infer<typeof PlanConfigResponse>;

/** Of answers about plans and payments. */
export const PlanLivemode = z.boolean().meta({
  description: 'False: of the payment sandbox. It never changes what live keys may do, nor what they pay.',
  examples: [true],
});
const DOWNGRADE = {
  downgrade_id: '019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77',
  from_plan_id: 'scale',
  to_plan_id: 'pro',
  effective_at: '2026-12-21T08:00:00.000Z',
  state: 'scheduled',
  livemode: true,
};
export const PlanDowngradeScheduleResponse = z
  .object({
    downgrade_id: Uuid,
    from_plan_id: PlanId,
    to_plan_id: PlanId,
    effective_at: Timestamp.meta({ description: 'The end of the period that is paid for.' }),
    state: z.enum(['scheduled', 'applied', 'dropped', 'canceled']).meta({ description: '`dropped`: a newer change of plan came first.' }),
    livemode: PlanLivemode,
  })
  .meta({ id: 'PlanDowngradeScheduleResponse', description: 'A downgrade.', examples: [DOWNGRADE] });
export type PlanDowngradeScheduleResponse = z.infer<typeof PlanDowngradeScheduleResponse>;

const SubscriptionStatus = z.enum(['none', 'incomplete', 'trialing', 'active', 'past_due', 'unpaid', 'paused', 'canceled']).meta({
  description: '`past_due`: a renewal was declined and is tried again; the plan stays until `grace_ends_at`.',
});
const SUBSCRIPTION = {
  status: 'active',
  period_start: '2026-11-21T08:00:00.000Z',
  period_end: '2026-12-21T08:00:00.000Z',
  cancels_at_period_end: false,
  grace_ends_at: null,
};
export const CurrentPlanResponse = z
  .object({
    plan: PlanConfigResponse,
    subscription: z.object({
      status: SubscriptionStatus,
      period_start: Timestamp.nullable(),
      period_end: Timestamp.nullable(),
      cancels_at_period_end: z.boolean(),
      grace_ends_at: Timestamp.nullable(),
    }),
    change_version: z.int().meta({ description: 'Grows with every change of plan.' }),
    scheduled_downgrade: PlanDowngradeScheduleResponse.nullable(),
    livemode: PlanLivemode,
  })
  .meta({
    id: 'CurrentPlanResponse',
    description: 'The plan of the account.',
    examples: [{ plan: PLAN_EXAMPLE, subscription: SUBSCRIPTION, change_version: 1, scheduled_downgrade: null, livemode: true }],
  });
export type CurrentPlanResponse = z.infer<typeof CurrentPlanResponse>;

export const PlanEntitlementsResponse = z
  .object({
    plan_id: PlanId,
    version: Version,
    quota: Quota,
    overage: Overage,
    rate_limits: Rates,
    features: Features,
    livemode: PlanLivemode,
  })
  .meta({
    id: 'PlanEntitlementsResponse',
    description: 'What the active plan entitles to.',
    examples: [
      { plan_id: 'pro', version: 1, quota: QUOTA, overage: OVERAGE, rate_limits: RATES, features: ['receipts', 'batches'], livemode: true },
    ],
  });
export type PlanEntitlementsResponse = z.infer<typeof PlanEntitlementsResponse>;

export const PlanEntitlement = z.union([z.int(), z.boolean(), z.string()]).nullable().meta({ description: 'Null: without limit.' });
export const PlanEntitlementMatrixResponse = z
  .object({
    plans: z.array(PlanConfigResponse),
    rows: z.array(
      z.object({
        entitlement: z.string(),
        kind: z.enum(['price', 'quota', 'overage', 'rate_limit', 'feature']),
        values: z.array(z.object({ plan_id: PlanId, value: PlanEntitlement })),
      }),
    ),
  })
  .meta({
    id: 'PlanEntitlementMatrixResponse',
    description: 'Plans side by side.',
    examples: [
      { plans: [PLAN_EXAMPLE], rows: [{ entitlement: 'tokens', kind: 'quota', values: [{ plan_id: 'pro', value: 25_000_000 }] }] },
    ],
  });
export type PlanEntitlementMatrixResponse = z.infer<typeof PlanEntitlementMatrixResponse>;

/** Whose records are looked at. */
export const planQuery = {
  livemode: trueOrFalse()
    .optional()
    .meta({
      description:
        'False: those of the payment sandbox, where this gateway has no payment provider. Default: the mode of the API key that asks; live for sessions.',
      enum: ['true', 'false'],
    }),
};

const MONTH = { period: '2026-11', period_start: '2026-11-01T00:00:00.000Z', resets_at: '2026-12-01T00:00:00.000Z' };
const month = { period: Period, period_start: Timestamp, resets_at: ResetsAt };
const PlanMeterUsage = z
  .object({
    meter: PlanMeter,
    included: limit('By the plan; null: without limit.'),
    used: count('Of what is included.'),
    remaining: limit('Of what is included; null: without limit.'),
    beyond: count('Used beyond what is included, and charged or part of a charged request.'),
    utilization: z
      .number()
      .min(0)
      .meta({ description: 'Used ÷ included, rounded down to four places; 1 where nothing is included, 0 without limit.' }),
  })
  .meta({
    id: 'PlanMeterUsage',
    description: 'One meter of the quota.',
    examples: [{ meter: 'tokens', included: 25_000_000, used: 5_000_000, remaining: 20_000_000, beyond: 0, utilization: 0.2 }],
  });
const METER = { meter: 'tokens', included: 25_000_000, used: 5_000_000, remaining: 20_000_000, beyond: 0, utilization: 0.2 };
export const PlanUsageQuotaResponse = z
  .object({
    plan_id: PlanId,
    ...month,
    meters: z.array(PlanMeterUsage),
    cost_usd: Usd.meta({ description: 'At catalogue prices.' }),
    covered_usd: Usd.meta({ description: 'The part of it that the plan covered.' }),
    charged_usd: Usd.meta({ description: 'The part of it beyond the quota.' }),
    livemode: PlanLivemode,
  })
  .meta({
    id: 'PlanUsageQuotaResponse',
    description: 'This month’s usage against the quota.',
    examples: [{ plan_id: 'pro', ...MONTH, meters: [METER], cost_usd: '4.2', covered_usd: '4.2', charged_usd: '0', livemode: true }],
  });
export type PlanUsageQuotaResponse = z.infer<typeof PlanUsageQuotaResponse>;

export const PlanBillingSummaryResponse = z
  .object({
    plan_id: PlanId,
    version: Version,
    status: SubscriptionStatus,
    monthly_price_usd: Usd,
    ...month,
    balance_usd: Usd.meta({ description: 'Prepaid and not used; below zero where more was used than paid.' }),
    charged_usd: Usd.meta({ description: 'Charged beyond the quota this month.' }),
    uninvoiced_usd: Usd.meta({ description: 'Of plans that pay by invoice: used and not on an invoice yet.' }),
    owed_usd: Usd.meta({ description: 'Invoiced and not paid yet: usage that waits for the next renewal, and invoices that are open.' }),
    overage: Overage,
    disputed_usd: Usd.meta({
      description: 'Taken back by a bank for the time being: credits, or a plan, that are suspended until the dispute is closed.',
    }),
    grace_ends_at: Timestamp.nullable().meta({ description: 'A payment is late: until then the plan stays.' }),
    next_charge_at: Timestamp.nullable(),
    next_charge_usd: Usd.nullable().meta({
      description: 'What the next renewal charges: the price of the plan that follows, and usage that waits for it.',
    }),
    livemode: PlanLivemode,
  })
  .meta({
    id: 'PlanBillingSummaryResponse',
    description: 'Billing and overage.',
    examples: [
      {
        plan_id: 'pro',
        version: 1,
        status: 'active',
        monthly_price_usd: '20',
        ...MONTH,
        balance_usd: '12.5',
        charged_usd: '0.4',
        uninvoiced_usd: '0',
        owed_usd: '0',
        overage: OVERAGE,
        disputed_usd: '0',
        grace_ends_at: null,
        next_charge_at: '2026-12-21T08:00:00.000Z',
        next_charge_usd: '20',
        livemode: true,
      },
    ],
  });
export type PlanBillingSummaryResponse = z.infer<typeof PlanBillingSummaryResponse>;

export const PlanScheduledDowngradeApplyRequest = z
  .strictObject({
    limit: z
      .int()
      .min(1)
      .max(1_000)
      .default(100)
      .meta({ description: 'How many at most.', examples: [100] }),
  })
  .meta({ id: 'PlanScheduledDowngradeApplyRequest', description: 'How far to go.', examples: [{ limit: 100 }] });
export const PlanScheduledDowngradeApplyResponse = z
  .object({
    applied: count('Now in effect.'),
    dropped: count('Overtaken by a newer change of plan.'),
    waiting: count('Due, and not yet confirmed by the payment provider.'),
    items: z.array(z.object({ downgrade_id: Uuid, account_id: Uuid, outcome: z.enum(['applied', 'dropped', 'waiting']) })),
  })
  .meta({
    id: 'PlanScheduledDowngradeApplyResponse',
    description: 'What was done.',
    examples: [
      {
        applied: 1,
        dropped: 0,
        waiting: 0,
        items: [{ downgrade_id: DOWNGRADE.downgrade_id, account_id: '019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee78', outcome: 'applied' }],
      },
    ],
  });
export type PlanScheduledDowngradeApplyResponse = z.infer<typeof PlanScheduledDowngradeApplyResponse>;

export const PlanOverageEstimateResponse = z
  .object({
    ...month,
    as_of: Timestamp,
    policy: OveragePolicy,
    charged_usd: Usd.meta({ description: 'Charged so far this month.' }),
    projected_usd: Usd.meta({ description: 'Projection for the whole month, at the present rate of usage.' }),
    meters: z.array(PlanMeterUsage),
    lines: z
      .array(z.object({ model: z.string(), requests: z.int().meta({ description: 'Those that were charged.' }), charged_usd: Usd }))
      .meta({ description: 'They sum to `charged_usd`.' }),
    livemode: PlanLivemode,
  })
  .meta({
    id: 'PlanOverageEstimateResponse',
    description: 'Charges beyond the quota.',
    examples: [
      {
        ...MONTH,
        as_of: '2026-11-21T08:00:00.000Z',
        policy: 'balance',
        charged_usd: '0.4',
        projected_usd: '0.6',
        meters: [METER],
        lines: [{ model: 'gpt-5.4-nano', requests: 42, charged_usd: '0.4' }],
        livemode: true,
      },
    ],
  });
export type PlanOverageEstimateResponse = z.infer<typeof PlanOverageEstimateResponse>;
