import type { PaymentProvider, Subscription } from '../../adapters/payment/port.ts';
import { type Clock, rfc3339 } from '../../kernel/clock.ts';
import { newId } from '../../kernel/ids.ts';
import { firstOf } from '../../kernel/statements.ts';
import { queueMail } from '../../mail/index.ts';
import type { Unit } from './account-lock.ts';
import { isTakenBack } from './disputed-payments.ts';
import { type PlanBook, planRef } from './plan-book.ts';
import {
  type DowngradeRow,
  isGivenOver,
  type PlanTermsDeps,
  planWithoutPayment,
  type SubscriptionRow,
  scheduledDowngrade,
  subscriptionRow,
} from './subscription-row.ts';
import { tables } from './tables.ts';
import { mailAccount, recordBySystem, upsertAccountContact } from './tell.ts';

/** How long a plan stays while its renewal is declined and tried again. */
const GRACE_MS = 7 * 86_400_000;

export interface SyncSubscriptionDeps extends PlanTermsDeps {
  readonly provider: Pick<PaymentProvider, 'listSubscriptions' | 'readSubscription'>;
  readonly clock: Clock;
}

/**
 * Brings an account's plan to what its subscription is at the payment provider at this moment. It counts no steps, so it may run as often
 * and at whatever time one likes; what it finds decides.
 */
export async function syncSubscription(deps: SyncSubscriptionDeps, unit: Unit, accountId: string): Promise<SubscriptionRow> {
  const { provider, clock, book } = deps;
  const before = await subscriptionRow(unit, accountId, deps);
  if (before.customer_id === null) return before;
  const found = await countingSubscription({ provider, book }, before.customer_id);
  const subscription = found && (await provider.readSubscription(found.id));
  const plan = subscription && isRunning(subscription) ? subscription.plan : undefined;
  const graceEndsAt = subscription?.status === 'past_due' ? subscription.periodStartMs + GRACE_MS : null;
  const isPaid = (graceEndsAt === null || clock.now() < graceEndsAt) && subscription?.status !== 'unpaid';
  const isEntitled = plan !== undefined && isPaid && !(await isTakenBack(unit, accountId, subscription?.periodStartMs ?? 0));
  const hasChanged = (plan?.planId ?? null) !== before.plan_id || (plan?.version ?? null) !== before.plan_version;
  const counts = isEntitled && plan && !isGivenOver(before, subscription?.id ?? null);
  // An older server must not guess what was sold.
  const effective = counts ? planRef(book.of(`${plan.planId}@${plan.version}`)) : before.given_plan;

  await unit.query(
    `update subscriptions set subscription_id = $2, status = $3, plan_id = $4, plan_version = $5, period_start = $6, period_end = $7,
       cancels_at_period_end = $8, grace_ends_at = $9, change_version = change_version + $10 where account_id = $1`,
    [
      accountId,
      plan ? (subscription?.id ?? null) : null,
      subscription?.status ?? 'none',
      plan?.planId ?? null,
      plan?.version ?? null,
      plan && subscription ? rfc3339(subscription.periodStartMs) : null,
      plan && subscription ? rfc3339(subscription.periodEndMs) : null,
      plan !== undefined && (subscription?.cancelsAtPeriodEnd ?? false),
      graceEndsAt === null ? null : rfc3339(graceEndsAt),
      hasChanged ? 1 : 0,
    ],
  );
  if (effective !== before.plan_on_record) await putOnPlan(deps, unit, before, effective);
  if (graceEndsAt !== null && plan) await tellOfLatePayment(unit, accountId, { plan: book.of(plan.planId).name, graceEndsAt });
  const after = await subscriptionRow(unit, accountId, deps);
  await syncDowngrade(unit, {
    before,
    after,
    subscription: plan && subscription,
    withoutPayment: planWithoutPayment(after, deps),
    now: clock.now(),
  });
  return after;
}

/** Admission of every instance goes by it within a second: a trigger announces it, and their memory of the account's keys is dropped. */
export async function putOnPlan(
  { book, clock, planOfAccount }: Pick<SyncSubscriptionDeps, 'book' | 'clock' | 'planOfAccount'>,
  unit: Unit,
  { account_id: accountId, plan: from }: Pick<SubscriptionRow, 'account_id' | 'plan'>,
  onRecord: string | null,
): Promise<void> {
  const written = tables.updateTable('accounts').set({ plan: onRecord }).where('id', '=', accountId);
  const account = await firstOf(unit, written.returning('given_plan'));
  const to = planOfAccount({ plan: onRecord, givenPlan: account?.given_plan ?? null });
  if (to === from) return;
  await upsertAccountContact(unit, accountId, { planTier: book.of(to).id, at: new Date(clock.now()) });
  await recordBySystem(unit, accountId, {
    action: 'plan.changed',
    target: { kind: 'account', id: accountId },
    changes: { plan: { from, to } },
  });
  const data = { from: book.of(from).name, to: book.of(to).name };
  if (data.from === data.to) return;
  await mailAccount(unit, { accountId, about: `plan:${newId()}` }, (db, addressed) =>
    queueMail(db, { ...addressed, template: 'plan-changed', data }),
  );
}

/** Once a period: however often its renewal is tried. */
async function tellOfLatePayment(
  unit: Unit,
  accountId: string,
  { plan, graceEndsAt }: { plan: string; graceEndsAt: number },
): Promise<void> {
  const data = { plan, grace_ends_at: rfc3339(graceEndsAt) };
  await mailAccount(unit, { accountId, about: `late:${accountId}:${graceEndsAt}` }, (db, addressed) =>
    queueMail(db, { ...addressed, template: 'payment-late', data }),
  );
}

/** The one of a customer that their plan follows from. */
export const countingSubscription = async (
  { provider, book }: { readonly provider: Pick<PaymentProvider, 'listSubscriptions'>; readonly book: PlanBook },
  customerId: string,
): Promise<Subscription | undefined> => best(book, await provider.listSubscriptions(customerId));

const RUNNING = new Set<Subscription['status']>(['trialing', 'active', 'past_due', 'unpaid']);
export const isRunning = ({ status }: Subscription): boolean => RUNNING.has(status);

/** The one that counts, should there be several: one that runs before one that does not, the better plan, the newer one. */
function best(book: PlanBook, subscriptions: readonly Subscription[]): Subscription | undefined {
  const worth = (one: Subscription) =>
    [isRunning(one) ? 1 : 0, one.plan ? book.rankOf({ id: one.plan.planId }) : -1, one.createdAtMs] as const;
  return subscriptions.toSorted((a, b) => {
    const [x, y] = [worth(a), worth(b)];
    return y[0] - x[0] || y[1] - x[1] || y[2] - x[2];
  })[0];
}

interface Standing {
  readonly before: SubscriptionRow;
  readonly after: SubscriptionRow;
  readonly subscription: Subscription | undefined;
  /** Its plan once there is no subscription. */
  readonly withoutPayment: string;
  readonly now: number;
}

/** What is scheduled at the provider is what is scheduled here; what was scheduled before a newer change of plan is dropped there and here. */
async function syncDowngrade(unit: Unit, { before, after, subscription, withoutPayment, now }: Standing): Promise<void> {
  const scheduled = await scheduledDowngrade(unit, after.account_id);
  // Without a subscription, then and now, it is none of the provider's.
  if (before.subscription_id === null && after.subscription_id === null) return;
  const target = subscription?.scheduledPlan?.planId ?? (subscription?.cancelsAtPeriodEnd ? withoutPayment : undefined);
  const stands = scheduled?.to_plan === target && scheduled?.based_on === after.change_version;
  if (scheduled && stands && subscription) {
    await unit.query('update scheduled_downgrades set effective_at = $2 where downgrade_id = $1', [
      scheduled.downgrade_id,
      rfc3339(subscription.periodEndMs),
    ]);
    return;
  }
  if (scheduled) await end(unit, scheduled, endOf(scheduled, after, withoutPayment), now);
  if (target === undefined || !subscription) return;
  await insertDowngrade(unit, {
    accountId: after.account_id,
    from: after.plan_id ?? withoutPayment,
    to: target,
    effectiveAt: subscription.periodEndMs,
    basedOn: after.change_version,
    now,
  });
}

function endOf(scheduled: DowngradeRow, after: SubscriptionRow, withoutPayment: string): DowngradeRow['state'] {
  if (scheduled.based_on === after.change_version) return 'canceled';
  const isThere = (after.plan_id ?? withoutPayment) === scheduled.to_plan;
  return isThere && scheduled.based_on + 1 === after.change_version ? 'applied' : 'dropped';
}

export async function end(unit: Unit, { downgrade_id }: DowngradeRow, state: DowngradeRow['state'], now: number): Promise<void> {
  await unit.query('update scheduled_downgrades set state = $2, ended_at = $3 where downgrade_id = $1', [
    downgrade_id,
    state,
    rfc3339(now),
  ]);
}

interface NewDowngrade {
  readonly accountId: string;
  readonly from: string;
  readonly to: string;
  readonly effectiveAt: number;
  readonly basedOn: number;
  readonly now: number;
}

export async function insertDowngrade(unit: Unit, { accountId, from, to, effectiveAt, basedOn, now }: NewDowngrade): Promise<void> {
  await unit.query(
    `insert into scheduled_downgrades (downgrade_id, account_id, from_plan, to_plan, effective_at, based_on, state, created_at)
     values ($1, $2, $3, $4, $5, $6, 'scheduled', $7)`,
    [newId(), accountId, from, to, rfc3339(effectiveAt), basedOn, rfc3339(now)],
  );
}
