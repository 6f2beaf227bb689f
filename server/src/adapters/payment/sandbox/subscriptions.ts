import {
  type ChangeOutcome,
  type ChangePreview,
  type ChangeSubscription,
  centsToNanoUsd,
  PaymentFault,
  type PlanRef,
  type PreviewChange,
  type ScheduleChange,
  type Subscription as SubscriptionSnapshot,
} from '../port.ts';
import { declineOf, lineOf, lookupKeyOf, StripeInvoice, StripeSubscription, subscriptionOf } from '../stripe-objects.ts';
import {
  behaviourOf,
  dropSchedule,
  end,
  invoice,
  mustFind,
  type Price,
  prorationLines,
  type Subscription,
  save,
  type Turn,
  waitingItems,
} from './billing.ts';
import { newSandboxId, type SandboxBooks } from './store.ts';

export async function preview(turn: Turn, { plan, subscriptionId }: PreviewChange): Promise<ChangePreview> {
  const subscription = await running(turn.books, subscriptionId);
  const price = await priceOf(turn.books, plan);
  const { balance } = await mustFind(turn.books, 'customer', subscription.customer);
  const waiting = await waitingItems(turn.books, subscription);
  const lines = [...waiting, ...prorationLines(subscription, price, withinPeriod(subscription, turn.now))];
  const total = lines.reduce((sum, { amount }) => sum + amount, 0);
  return {
    dueNow: centsToNanoUsd(total < 0 ? total : total - Math.max(0, Math.min(total, -balance))),
    lines: StripeInvoice.shape.lines.parse({ data: lines }).data.map(lineOf),
    proratedAtMs: withinPeriod(subscription, turn.now) * 1000,
    nextChargeAtMs: subscription.items.data[0].current_period_end * 1000,
    nextAmount: centsToNanoUsd(price.unit_amount),
  };
}

export async function change(turn: Turn, { plan, proratedAtMs, subscriptionId }: ChangeSubscription): Promise<ChangeOutcome> {
  const { books, now } = turn;
  const subscription = await running(books, subscriptionId);
  const price = await priceOf(books, plan);
  const at = withinPeriod(subscription, proratedAtMs === undefined ? now : Math.floor(proratedAtMs / 1000));
  const behaviour = await behaviourOf(books, subscription.customer);
  const lines = prorationLines(subscription, price, at);
  const { balance } = await mustFind(books, 'customer', subscription.customer);
  const waiting = await waitingItems(books, subscription);
  const total = [...waiting, ...lines].reduce((sum, { amount }) => sum + amount, 0);
  if (behaviour !== 'pays' && total + Math.min(0, balance) > 0) {
    // Found out before anything is written: not paid, not changed.
    return { changed: false, decline: declineOf({ decline_code: DECLINE_CODES[behaviour] }, undefined) };
  }
  await dropSchedule(turn, subscription, 'released');
  subscription.cancel_at_period_end = false;
  subscription.items.data[0].price = price;
  await invoice(turn, subscription, { reason: 'subscription_update', lines, behaviour });
  await save(turn, subscription);
  return { changed: true, subscription: snapshot(subscription), invoiceId: subscription.latest_invoice ?? undefined };
}

const DECLINE_CODES = {
  declined: 'generic_decline',
  no_funds_later: 'insufficient_funds',
  authentication_later: 'authentication_required',
} as const;

export async function schedule(turn: Turn, { plan, subscriptionId }: ScheduleChange): Promise<SubscriptionSnapshot> {
  const subscription = await running(turn.books, subscriptionId);
  const price = await priceOf(turn.books, plan);
  const [item] = subscription.items.data;
  const id = subscription.schedule?.id ?? newSandboxId('sub_sched');
  const what = subscription.schedule ? 'updated' : 'created';
  subscription.cancel_at_period_end = false;
  subscription.schedule = {
    id,
    phases: [
      { start_date: item.current_period_start, items: [{ price: item.price }] },
      { start_date: item.current_period_end, items: [{ price }] },
    ],
  };
  await turn.books.emit(`subscription_schedule.${what}`, { id, customer: subscription.customer, subscription: subscription.id }, turn.now);
  await save(turn, subscription);
  return snapshot(subscription);
}

export async function release(turn: Turn, subscriptionId: string): Promise<SubscriptionSnapshot> {
  const subscription = await running(turn.books, subscriptionId);
  if (subscription.schedule === null) return snapshot(subscription);
  await dropSchedule(turn, subscription, 'released');
  await save(turn, subscription);
  return snapshot(subscription);
}

export async function cancel(turn: Turn, subscriptionId: string, at: 'now' | 'period_end'): Promise<SubscriptionSnapshot> {
  const subscription = await existing(turn.books, subscriptionId);
  if (subscription.status === 'canceled') return snapshot(subscription);
  if (at === 'now') await end(turn, subscription);
  else {
    await dropSchedule(turn, subscription, 'released');
    await save(turn, { ...subscription, cancel_at_period_end: true });
  }
  return snapshot(await existing(turn.books, subscriptionId));
}

export async function resume(turn: Turn, subscriptionId: string): Promise<SubscriptionSnapshot> {
  const subscription = await running(turn.books, subscriptionId);
  if (!subscription.cancel_at_period_end) return snapshot(subscription);
  subscription.cancel_at_period_end = false;
  await save(turn, subscription);
  return snapshot(subscription);
}

export const snapshot = (subscription: Subscription): SubscriptionSnapshot => subscriptionOf(StripeSubscription.parse(subscription));

export async function priceOf(books: SandboxBooks, plan: PlanRef): Promise<Price> {
  const price = await books.find('price', lookupKeyOf(plan));
  if (!price) throw new PaymentFault('not_found', `There is no price ${lookupKeyOf(plan)}`);
  return price;
}

async function existing(books: SandboxBooks, id: string): Promise<Subscription> {
  const found = await books.find('subscription', id);
  if (!found) throw new PaymentFault('not_found', `There is no subscription ${id}`);
  return found;
}

async function running(books: SandboxBooks, id: string): Promise<Subscription> {
  const found = await existing(books, id);
  if (found.status === 'canceled') throw new PaymentFault('invalid', `The subscription ${id} has ended`);
  return found;
}

/** Time may have passed since the preview, and with it the period. */
function withinPeriod({ items }: Subscription, at: number): number {
  const { current_period_end: finish, current_period_start: start } = items.data[0];
  if (at < start || at > finish) throw new PaymentFault('invalid', 'The change was reckoned for another period');
  return at;
}
