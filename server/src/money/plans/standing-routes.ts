import type { contract } from '@tallygate/contract';
import type { Handlers } from '../../http/index.ts';
import { type Clock, rfc3339 } from '../../kernel/clock.ts';
import { formatUsd } from '../../kernel/money.ts';
import { moneyFigures, projection } from './figures.ts';
import type { PlanModes, PlanViews } from './plan-views.ts';
import { entitlementsToWire, matrixToWire, meterToWire, monthToWire, planToWire, statusToWire, timeOrNull } from './wire.ts';

/** What an account has, has used and is to pay. */
export const standingRoutes = (
  { paying: { book } }: PlanModes,
  { modeOf, standing, current, month }: PlanViews,
  clock: Clock,
): Pick<
  Handlers<typeof contract.plans>,
  'config' | 'current' | 'entitlements' | 'matrix' | 'usage' | 'billingSummary' | 'overageEstimate'
> => ({
  config: async () => ({ status: 200, body: book.offered.map(planToWire) }),
  current: async ({ principal }) => ({ status: 200, body: await current(modeOf(principal), principal) }),
  entitlements: async ({ principal }) => {
    const plans = modeOf(principal);
    const { plan } = await standing(plans, principal.accountId);
    return { status: 200, body: { ...entitlementsToWire(plan), livemode: plans.livemode } };
  },
  matrix: async () => ({ status: 200, body: matrixToWire(book.offered) }),
  usage: async ({ principal }) => {
    const plans = modeOf(principal);
    const { plan, figures } = await month(plans, principal);
    const { cost, charged, meters } = figures;
    return {
      status: 200,
      body: {
        plan_id: plan.id,
        ...monthToWire(figures),
        meters: meters.map(meterToWire),
        cost_usd: formatUsd(cost),
        covered_usd: formatUsd(cost - charged),
        charged_usd: formatUsd(charged),
        livemode: plans.livemode,
      },
    };
  },
  billingSummary: async ({ principal }) => {
    const plans = modeOf(principal);
    const { plan, row, downgrade, figures } = await month(plans, principal);
    const { balance, uninvoiced, disputed, owed, waiting } = await moneyFigures(plans.pool, principal.accountId);
    const { overage } = entitlementsToWire(plan);
    const renews = row.subscription_id !== null && !row.cancels_at_period_end;
    return {
      status: 200,
      body: {
        plan_id: plan.id,
        version: plan.version,
        status: statusToWire(row),
        monthly_price_usd: formatUsd(plan.monthlyPrice),
        ...monthToWire(figures),
        balance_usd: formatUsd(balance),
        charged_usd: formatUsd(figures.charged),
        uninvoiced_usd: formatUsd(uninvoiced),
        owed_usd: formatUsd(owed),
        overage,
        disputed_usd: formatUsd(disputed),
        grace_ends_at: timeOrNull(row.grace_ends_at),
        next_charge_at: renews ? timeOrNull(row.period_end) : null,
        next_charge_usd: renews
          ? formatUsd(book.of(downgrade?.to_plan ?? `${row.plan_id}@${row.plan_version}`).monthlyPrice + waiting)
          : null,
        livemode: plans.livemode,
      },
    };
  },
  overageEstimate: async ({ principal }) => {
    const plans = modeOf(principal);
    const { plan, figures } = await month(plans, principal);
    const { charged, meters, byModel } = figures;
    return {
      status: 200,
      body: {
        ...monthToWire(figures),
        as_of: rfc3339(clock.now()),
        policy: plan.overage.kind,
        charged_usd: formatUsd(charged),
        projected_usd: formatUsd(projection(figures, clock.now())),
        meters: meters.map(meterToWire),
        lines: byModel.map((line) => ({ model: line.model, requests: Number(line.requests), charged_usd: formatUsd(line.charged) })),
        livemode: plans.livemode,
      },
    };
  },
});
