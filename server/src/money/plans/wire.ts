import {
  type CurrentPlanResponse,
  PLAN_FEATURES,
  type PlanCheckoutState,
  type PlanConfigResponse,
  type PlanDowngradeScheduleResponse,
  type PlanEntitlementMatrixResponse,
  type PlanInvoiceResponse,
  type PlanInvoiceSummary,
  type PlanPayment,
} from '@tallygate/contract';
import { monthEnd, monthStart, rfc3339 } from '../../kernel/clock.ts';
import { formatUsd } from '../../kernel/money.ts';
import type { CheckoutRow } from './checkouts.ts';
import type { MeterFigures, MonthFigures } from './figures.ts';
import { termsOfPlan, unitsToWire } from './offer.ts';
import type { DowngradeRow, SubscriptionRow } from './subscription-row.ts';
import type { Plan } from './tiers.ts';

export const timeOrNull = (at: Date | null): string | null => (at === null ? null : rfc3339(at));

export const entitlementsToWire = (plan: Plan) => {
  const { name: _, monthly_price_usd: __, ...entitlements } = termsOfPlan(plan);
  return entitlements;
};

export const planToWire = (plan: Plan): PlanConfigResponse => termsOfPlan(plan);

type Row = PlanEntitlementMatrixResponse['rows'][number];
type Value = Row['values'][number]['value'];

/** Every entitlement of a plan in the order in which plans are compared. */
function entitlementsOf(plan: Plan): { entitlement: string; kind: Row['kind']; value: Value }[] {
  const { monthly_price_usd, quota, overage, rate_limits } = planToWire(plan);
  const { features } = plan;
  return [
    { entitlement: 'monthly_price_usd', kind: 'price', value: monthly_price_usd },
    ...Object.entries(quota).map(([entitlement, value]) => ({ entitlement, kind: 'quota' as const, value })),
    { entitlement: 'overage', kind: 'overage', value: overage.policy },
    ...Object.entries(rate_limits).map(([entitlement, value]) => ({ entitlement, kind: 'rate_limit' as const, value })),
    ...PLAN_FEATURES.map((entitlement) => ({ entitlement, kind: 'feature' as const, value: features.has(entitlement) })),
  ];
}

export function matrixToWire(plans: readonly Plan[]): PlanEntitlementMatrixResponse {
  const columns = plans.map((plan) => ({ plan_id: plan.id, entitlements: entitlementsOf(plan) }));
  const rows = (columns[0]?.entitlements ?? []).map(({ entitlement, kind }, index) => ({
    entitlement,
    kind,
    values: columns.flatMap(({ plan_id, entitlements }) => {
      const value = entitlements[index]?.value;
      return value === undefined ? [] : [{ plan_id, value }];
    }),
  }));
  return { plans: plans.map(planToWire), rows };
}

/** What a move between two plans changes. */
export function changeToWire(from: Plan, to: Plan, effectiveAtMs: number) {
  const after = entitlementsOf(to);
  return {
    from: planToWire(from),
    to: planToWire(to),
    difference_usd: formatUsd(to.monthlyPrice - from.monthlyPrice),
    effective_at: rfc3339(effectiveAtMs),
    changes: entitlementsOf(from).flatMap(({ entitlement, value }, index) => {
      const next = after[index]?.value;
      return next === undefined || next === value ? [] : [{ entitlement, from: value, to: next }];
    }),
  };
}

export const downgradeToWire = (row: DowngradeRow, livemode: boolean): PlanDowngradeScheduleResponse => ({
  downgrade_id: row.downgrade_id,
  from_plan_id: planId(row.from_plan),
  to_plan_id: planId(row.to_plan),
  effective_at: rfc3339(row.effective_at),
  state: row.state,
  livemode,
});

/** A plan that was given may be named by a version. */
const planId = (ref: string): string => ref.replace(/@\d+$/, '');

type Status = CurrentPlanResponse['subscription']['status'];
const STATUSES: readonly Status[] = ['none', 'incomplete', 'trialing', 'active', 'past_due', 'unpaid', 'paused', 'canceled'];
export const statusToWire = ({ status }: SubscriptionRow): Status => STATUSES.find((known) => known === status) ?? 'none';

interface Current {
  readonly plan: Plan;
  readonly row: SubscriptionRow;
  readonly downgrade: DowngradeRow | undefined;
  readonly livemode: boolean;
}

export const currentToWire = ({ plan, row, downgrade, livemode }: Current): CurrentPlanResponse => ({
  plan: planToWire(plan),
  subscription: {
    status: statusToWire(row),
    period_start: timeOrNull(row.period_start),
    period_end: timeOrNull(row.period_end),
    cancels_at_period_end: row.cancels_at_period_end,
    grace_ends_at: timeOrNull(row.grace_ends_at),
  },
  change_version: row.change_version,
  scheduled_downgrade: downgrade ? downgradeToWire(downgrade, livemode) : null,
  livemode,
});

export const monthToWire = ({ month }: Pick<MonthFigures, 'month'>) => ({
  period: month,
  period_start: rfc3339(monthStart(month)),
  resets_at: rfc3339(monthEnd(month)),
});

export const meterToWire = ({ meter, included, used, beyond }: MeterFigures) => ({
  meter,
  included: unitsToWire(included),
  used: Number(used),
  remaining: included === null ? null : Number(included > used ? included - used : 0n),
  beyond: Number(beyond),
  utilization: included === null ? 0 : included === 0n ? 1 : Number((used * 10_000n) / included) / 10_000,
});

export const checkoutToWire = (row: CheckoutRow, livemode: boolean) => ({
  checkout_id: row.checkout_id,
  status: row.status,
  checkout_url: row.status === 'open' ? row.url : null,
  amount_usd: formatUsd(row.amount_nano),
  expires_at: row.status === 'open' ? timeOrNull(row.expires_at) : null,
  livemode,
});

export const checkoutStateToWire = (row: CheckoutRow, livemode: boolean): PlanCheckoutState => ({
  ...checkoutToWire(row, livemode),
  kind: row.kind,
  plan_id: row.plan_id,
});

export interface InvoiceRow {
  readonly invoice_id: string;
  readonly number: string | null;
  readonly kind: PlanInvoiceSummary['kind'];
  readonly status: PlanInvoiceSummary['status'];
  readonly period: string;
  readonly lines: PlanInvoiceResponse['lines'];
  readonly total_nano: string;
  readonly from_balance_nano: string;
  readonly due_nano: string;
  readonly carried_nano: string;
  readonly hosted_url: string | null;
  readonly issued_at: Date;
}

export const invoiceToWire = (row: InvoiceRow): Omit<PlanInvoiceSummary, 'livemode'> => ({
  invoice_id: row.invoice_id,
  number: row.number,
  kind: row.kind,
  status: row.status,
  period: row.period,
  total_usd: formatUsd(BigInt(row.total_nano)),
  from_balance_usd: formatUsd(BigInt(row.from_balance_nano)),
  due_usd: formatUsd(BigInt(row.due_nano)),
  carried_usd: formatUsd(BigInt(row.carried_nano)),
  issued_at: rfc3339(row.issued_at),
  hosted_url: row.hosted_url,
});

export interface PaymentRow {
  readonly payment_id: string;
  readonly provider_id: string;
  readonly account_id: string;
  readonly kind: PlanPayment['kind'];
  readonly status: PlanPayment['status'];
  readonly amount_nano: bigint;
  readonly refunded_nano: bigint;
  readonly disputed_nano: string;
  readonly created_at: Date;
}

export const paymentToWire = (row: PaymentRow, livemode: boolean): PlanPayment => ({
  payment_id: row.payment_id,
  kind: row.kind,
  status: row.status,
  amount_usd: formatUsd(row.amount_nano),
  refunded_usd: formatUsd(row.refunded_nano),
  disputed_usd: formatUsd(BigInt(row.disputed_nano)),
  created_at: rfc3339(row.created_at),
  livemode,
});
