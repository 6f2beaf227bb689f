import * as z from 'zod';
import { Timestamp, Usd } from './conventions.ts';
import { PLAN_EXAMPLE, PlanConfigResponse, PlanEntitlement, PlanId, PlanLivemode, PlanMeter } from './plan-records.ts';

const Change = z.object({
  entitlement: z.string(),
  from: PlanEntitlement,
  to: PlanEntitlement,
});
const change = {
  from: PlanConfigResponse,
  to: PlanConfigResponse,
  difference_usd: Usd.meta({ description: 'New monthly price less the old one.' }),
  effective_at: Timestamp.meta({ description: 'When it would take effect.' }),
  changes: z.array(Change).meta({ description: 'Everything that differs.' }),
  livemode: PlanLivemode,
};
const CHANGE = {
  from: { ...PLAN_EXAMPLE, plan_id: 'free', name: 'Free', monthly_price_usd: '0' },
  to: PLAN_EXAMPLE,
  difference_usd: '20',
  effective_at: '2026-11-21T08:00:00.000Z',
  changes: [{ entitlement: 'tokens', from: 1_000_000, to: 25_000_000 }],
  livemode: true,
};
export const PlanUpgradePreviewRequest = z
  .strictObject({ plan_id: PlanId })
  .meta({ id: 'PlanUpgradePreviewRequest', description: 'The plan to move to.', examples: [{ plan_id: 'pro' }] });
export const PlanUpgradePreviewResponse = z
  .object({
    ...change,
    due_now_usd: Usd.meta({ description: 'Charged at once; prorated where a plan is paid for already.' }),
    next_charge_at: Timestamp.nullable(),
    requires_checkout: z.boolean().meta({ description: 'Whether a hosted page has to be visited.' }),
  })
  .meta({
    id: 'PlanUpgradePreviewResponse',
    description: 'What an upgrade would change.',
    examples: [{ ...CHANGE, due_now_usd: '20', next_charge_at: '2026-12-21T08:00:00.000Z', requires_checkout: true }],
  });
export type PlanUpgradePreviewResponse = z.infer<typeof PlanUpgradePreviewResponse>;

export const PlanDowngradePreviewRequest = z
  .strictObject({ plan_id: PlanId })
  .meta({ id: 'PlanDowngradePreviewRequest', description: 'The plan to move to.', examples: [{ plan_id: 'free' }] });
export const PlanDowngradePreviewResponse = z
  .object({
    ...change,
    warnings: z
      .array(z.object({ meter: PlanMeter, used: z.int(), included: z.int() }))
      .meta({ description: 'Where this month’s usage is above what the new plan includes.' }),
  })
  .meta({
    id: 'PlanDowngradePreviewResponse',
    description: 'What a downgrade would change.',
    examples: [{ ...CHANGE, difference_usd: '-20', warnings: [{ meter: 'tokens', used: 5_000_000, included: 1_000_000 }] }],
  });
export type PlanDowngradePreviewResponse = z.infer<typeof PlanDowngradePreviewResponse>;

export const PlanDowngradeScheduleRequest = z
  .strictObject({ plan_id: PlanId })
  .meta({ id: 'PlanDowngradeScheduleRequest', description: 'The cheaper plan.', examples: [{ plan_id: 'free' }] });
