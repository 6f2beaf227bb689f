import type { contract } from '@tallygate/contract';
import type { Handlers } from '../../http/index.ts';
import { type Clock, monthEnd, monthOf, rfc3339 } from '../../kernel/clock.ts';
import { newId } from '../../kernel/ids.ts';
import { formatUsd } from '../../kernel/money.ts';
import { Problem } from '../../kernel/problem.ts';
import { knownPlan } from './account-routes.ts';
import { requireForSale } from './checkouts.ts';
import type { PlanViews } from './plan-views.ts';
import { asking, type Plans } from './plans.ts';
import { planWithoutPayment } from './subscription-row.ts';
import { trailOf } from './tell.ts';
import { changeToWire, downgradeToWire } from './wire.ts';

/** From one plan to another: what it would cost, and when it happens. */
export const changeRoutes = (
  paying: Plans,
  { standing, current, month }: PlanViews,
  clock: Clock,
): Pick<
  Handlers<typeof contract.plans>,
  'upgradePreview' | 'downgradePreview' | 'scheduleDowngrade' | 'cancelDowngrade' | 'applyDowngrades' | 'cancel' | 'resume'
> => {
  const { book, downgrades, previews, livemode } = paying;
  return {
    upgradePreview: async ({ principal, body }) => {
      const [{ plan: from, row }, to] = [await standing(paying, principal.accountId), book.of(knownPlan(book, body.plan_id))];
      requireForSale(book, to, from);
      if (book.rankOf(to) <= book.rankOf(from)) throw notDearer(to.name, from.name);
      if (row.subscription_id === null) {
        const preview = { due_now_usd: formatUsd(to.monthlyPrice), next_charge_at: null, requires_checkout: true };
        return { status: 200, body: { ...changeToWire(from, to, clock.now()), ...preview, livemode } };
      }
      const { subscription_id } = row;
      const { dueNow, nextChargeAtMs, proratedAtMs } = await asking(previews.make({ ...row, subscription_id }, to));
      const preview = { due_now_usd: formatUsd(dueNow), next_charge_at: rfc3339(nextChargeAtMs), requires_checkout: false };
      return { status: 200, body: { ...changeToWire(from, to, proratedAtMs), ...preview, livemode } };
    },
    downgradePreview: async ({ principal, body }) => {
      const { plan: from, row, figures } = await month(paying, principal);
      const to = book.of(knownPlan(book, body.plan_id));
      if (book.rankOf(to) >= book.rankOf(from))
        throw new Problem('conflict', `${to.name} is no lower plan than ${from.name}: preview an upgrade instead.`);
      const effectiveAt = row.period_end?.getTime() ?? monthEnd(monthOf(clock.now())).getTime();
      const warnings = figures.meters
        .map(({ meter, used }) => ({ meter, used, included: to.quota[meter] }))
        .flatMap(({ meter, used, included }) =>
          included === null || used <= included ? [] : [{ meter, used: Number(used), included: Number(included) }],
        );
      return { status: 200, body: { ...changeToWire(from, to, effectiveAt), warnings, livemode } };
    },
    scheduleDowngrade: async ({ principal, body, ...call }) => {
      const target = book.of(knownPlan(book, body.plan_id));
      const scheduling = downgrades.schedule(principal.accountId, target, newId(), trailOf(principal, call));
      return { status: 200, body: downgradeToWire(await asking(scheduling), livemode) };
    },
    cancelDowngrade: async ({ principal, ...call }) => {
      await asking(downgrades.cancel(principal.accountId, newId(), trailOf(principal, call)));
      return { status: 200, body: await current(paying, principal) };
    },
    applyDowngrades: async ({ body }) => {
      const items = (await asking(downgrades.apply(body.limit))).map(({ downgradeId, accountId, outcome }) => ({
        downgrade_id: downgradeId,
        account_id: accountId,
        outcome,
      }));
      const count = (outcome: string) => items.filter((item) => item.outcome === outcome).length;
      return { status: 200, body: { applied: count('applied'), dropped: count('dropped'), waiting: count('waiting'), items } };
    },
    cancel: async ({ principal, ...call }) => {
      const { row } = await standing(paying, principal.accountId);
      if (row.subscription_id === null) throw new Problem('conflict', 'There is no paid plan to cancel.');
      if (!row.cancels_at_period_end)
        await asking(downgrades.schedule(principal.accountId, book.of(planWithoutPayment(row, paying)), newId(), trailOf(principal, call)));
      return { status: 200, body: await current(paying, principal) };
    },
    resume: async ({ principal, ...call }) => {
      const { row } = await standing(paying, principal.accountId);
      if (!row.cancels_at_period_end) throw new Problem('conflict', 'The plan is not cancelled: there is nothing to take back.');
      await asking(downgrades.cancel(principal.accountId, newId(), trailOf(principal, call)));
      return { status: 200, body: await current(paying, principal) };
    },
  };
};

const notDearer = (to: string, from: string): Problem =>
  new Problem(
    'conflict',
    to === from ? `The account has ${from} already.` : `The account has ${from}: for a cheaper plan preview a downgrade.`,
  );
