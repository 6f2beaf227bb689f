import { expireSession } from './checkout.ts';
import { periodLine } from './invoice-lines.ts';
import { collect, draftInvoice, finalise, markUncollectible } from './invoices.ts';
import type { FakeInvoice, FakeSubscription } from './records.ts';
import { phaseAfter, pricesOf } from './schedules.ts';
import { newSubscriptionItem } from './subscription-record.ts';
import { activate, end, nextPeriodOf, RETRY_SECONDS } from './subscriptions.ts';
import type { World } from './world.ts';

/** How often a declined renewal is tried again. */
const MOST_ATTEMPTS = 4;

interface Due {
  readonly at: number;
  happen(): void;
}

/** Advances the clock to then (epoch seconds); due events happen in order, each at its own time. */
export function advanceTo(world: World, epochSeconds: number): void {
  for (let next = firstDue(world); next && next.at <= epochSeconds; next = firstDue(world)) {
    world.moveTo(next.at);
    next.happen();
  }
  world.moveTo(epochSeconds);
}

/** What fell due since the last look, by the clock alone. */
export const catchUp = (world: World): void => advanceTo(world, world.now());

function firstDue(world: World): Due | undefined {
  const dues: Due[] = [];
  for (const session of world.all('checkout.session')) {
    if (session.status === 'open') dues.push({ at: session.expires_at, happen: () => void expireSession(world, session.id) });
  }
  for (const subscription of world.all('subscription')) {
    const at = subscription.items.data[0]?.current_period_end;
    if (at !== undefined && RENEWING.has(subscription.status)) dues.push({ at, happen: () => renew(world, subscription) });
  }
  for (const invoice of world.all('invoice')) {
    const at = invoice.next_payment_attempt;
    if (invoice.status === 'open' && at !== null) dues.push({ at, happen: () => retry(world, invoice) });
  }
  return dues.sort((a, b) => a.at - b.at)[0];
}

const RENEWING: ReadonlySet<string> = new Set(['active', 'trialing', 'past_due', 'unpaid']);

function renew(world: World, subscription: FakeSubscription): void {
  const now = world.now();
  // The clock may have passed over the boundary: what counts is where it lies.
  const boundary = subscription.items.data[0]?.current_period_end ?? now;
  const phase = subscription.cancel_at_period_end ? 'ends' : phaseAfter(world, subscription, boundary);
  if (phase === 'ends') {
    end(world, subscription);
    return;
  }
  const before = { items: subscription.items, latest_invoice: subscription.latest_invoice };
  subscription.items.data = subscription.items.data.map((item, index) => {
    const renewed = nextPeriodOf(subscription, item);
    const other = phase && pricesOf(world, phase)[index];
    const period = { start: renewed.current_period_start, end: renewed.current_period_end };
    return other ? { ...newSubscriptionItem(world, subscription.id, other, period), id: item.id } : renewed;
  });
  const invoice = draftInvoice(world, {
    customer: subscription.customer,
    subscription,
    reason: 'subscription_cycle',
    lines: subscription.items.data.map((item) => periodLine(world, subscription, item)),
    period: { start: now, end: now },
    takesPending: true,
  });
  world.emit('customer.subscription.updated', subscription, before);
  // An unpaid subscription still creates invoices, which stay drafts until the subscription is paid.
  if (subscription.status !== 'unpaid') charge(world, subscription, finalise(world, invoice));
}

function charge(world: World, subscription: FakeSubscription, invoice: FakeInvoice): void {
  if (!collect(world, invoice, 'off_session')) {
    activate(world, subscription);
    return;
  }
  invoice.next_payment_attempt = invoice.attempt_count < MOST_ATTEMPTS ? world.now() + RETRY_SECONDS : null;
  world.emit('invoice.updated', invoice);
  if (invoice.next_payment_attempt !== null) setStatus(world, subscription, 'past_due');
  else if (world.dunningEnd === 'unpaid') setStatus(world, subscription, 'unpaid');
  else {
    markUncollectible(world, invoice);
    end(world, subscription);
  }
}

function retry(world: World, invoice: FakeInvoice): void {
  const named = invoice.parent?.subscription_details?.subscription;
  const subscription = typeof named === 'string' ? world.peek('subscription', named) : undefined;
  if (subscription) charge(world, subscription, invoice);
  else invoice.next_payment_attempt = null;
}

function setStatus(world: World, subscription: FakeSubscription, status: 'past_due' | 'unpaid'): void {
  if (subscription.status === status) return;
  const before = subscription.status;
  subscription.status = status;
  world.emit('customer.subscription.updated', subscription, { status: before });
}
