import type { Pool } from 'pg';
import { type Clock, rfc3339 } from '../../kernel/clock.ts';
import { Problem } from '../../kernel/problem.ts';
import type { Exclusively, Unit } from './account-lock.ts';
import { isTakenBack } from './disputed-payments.ts';
import { planRef } from './plan-book.ts';
import { isGivenOver, type PlanTermsDeps, type SubscriptionRow, subscriptionRow } from './subscription-row.ts';
import { putOnPlan } from './sync-subscription.ts';
import type { Trail } from './tell.ts';

interface GivenPlansDeps extends PlanTermsDeps {
  readonly pool: Pool;
  readonly exclusively: Exclusively;
  readonly clock: Clock;
}

/** Of an account without a subscription, the plan it is on. */
export async function givePlanTo(
  deps: PlanTermsDeps & { readonly clock: Clock },
  unit: Unit,
  row: Pick<SubscriptionRow, 'account_id' | 'plan'>,
  given: string | null,
  onRecord = given,
): Promise<void> {
  await unit.query('update accounts set given_plan = $2 where id = $1', [row.account_id, given]);
  await unit.query('update subscriptions set change_version = change_version + 1 where account_id = $1', [row.account_id]);
  await putOnPlan(deps, unit, row, onRecord);
}

/** Plans that an operator gives, without a payment. */
export function createGivenPlans(deps: GivenPlansDeps) {
  const { exclusively, book, clock } = deps;

  /** What is paid for, as far as it is on record here. */
  const paidRef = async (unit: Unit, row: SubscriptionRow): Promise<string | undefined> => {
    if (row.subscription_id === null || row.plan_id === null || isGivenOver(row, row.subscription_id)) return undefined;
    const isLate = row.grace_ends_at !== null && row.grace_ends_at.getTime() <= clock.now();
    if (isLate || !PAID.has(row.status) || (await isTakenBack(unit, row.account_id, row.period_start?.getTime() ?? 0))) return undefined;
    return planRef(book.of(`${row.plan_id}@${row.plan_version}`));
  };

  return {
    /** What an account is on, and how it came about. */
    read: (accountId: string): Promise<SubscriptionRow> => subscriptionRow(deps.pool, accountId, deps),

    /**
     * Gives a plan, or takes back what was given (null). It stands before the subscription that runs at that moment; said again it changes
     * nothing.
     * @returns the plan from before, and the one from now on
     * @throws Problem `not_found`
     */
    give: (accountId: string, plan: string | null, trail: Trail): Promise<{ readonly before: string; readonly after: string }> =>
      exclusively(accountId, async (unit) => {
        await requireAccount(unit, accountId);
        const before = await subscriptionRow(unit, accountId, deps);
        const givenOver = plan === null ? null : before.subscription_id;
        const trials = await unit.query('update plan_trials set ended_at = $2 where account_id = $1 and ended_at is null', [
          ...[accountId, rfc3339(clock.now())],
        ]);
        if (trials.rowCount === 0 && before.given_plan === plan && before.given_over === givenOver)
          return { before: before.plan, after: before.plan };
        await unit.query('update subscriptions set given_over = $2 where account_id = $1', [accountId, givenOver]);
        const onRecord = (await paidRef(unit, { ...before, given_over: givenOver })) ?? plan;
        const after = { ...before, given_plan: plan, plan: deps.planOfAccount({ plan: onRecord, givenPlan: plan }) };
        const changes = { given_plan: { from: before.given_plan, to: after.given_plan }, plan: { from: before.plan, to: after.plan } };
        await trail(unit, { action: 'plan.given', target: { kind: 'account', id: accountId }, changes });
        await givePlanTo(deps, unit, before, plan, onRecord);
        return { before: before.plan, after: after.plan };
      }),
  };
}

const PAID = new Set(['trialing', 'active', 'past_due']);

async function requireAccount(unit: Unit, accountId: string): Promise<void> {
  const { rowCount } = await unit.query('select from accounts where id = $1', [accountId]);
  if (rowCount === 0) throw new Problem('not_found', 'There is no such account: GET /v1/admin/accounts lists them.');
}
