import Stripe from 'stripe';
import { centsToNanoUsd, PaymentFault, type PaymentProvider, type Subscription } from './port.ts';
import { orMissing } from './stripe-faults.ts';
import { declineOf, lineOf, StripeInvoice, StripeSubscription, subscriptionOf } from './stripe-objects.ts';
import type { StripePrices } from './stripe-prices.ts';

type SubscriptionMethods = Pick<
  PaymentProvider,
  | 'readSubscription'
  | 'listSubscriptions'
  | 'previewChange'
  | 'changeSubscription'
  | 'scheduleChange'
  | 'releaseSchedule'
  | 'cancelSubscription'
  | 'resumeSubscription'
>;

const SCHEDULED = ['schedule.phases.items.price'];
const MOST_LISTED = 100;

/**
 * Commands of several requests derive a key for each, and every request has the same parameters whenever the command is repeated: what
 * was done before a crash is answered again, and the rest is done.
 */
export function createStripeSubscriptions(stripe: Stripe, prices: StripePrices): SubscriptionMethods {
  const steps = stepsOf(stripe);
  return {
    ...readingMethods(stripe, prices, steps),
    ...changingMethods(stripe, prices, steps),
    ...endingMethods(stripe, steps),
  };
}

type Steps = ReturnType<typeof stepsOf>;

/** What several methods do. */
function stepsOf(stripe: Stripe) {
  const retrieve = async (id: string) => StripeSubscription.parse(await stripe.subscriptions.retrieve(id, { expand: SCHEDULED }));
  const present = async (id: string): Promise<Subscription> => subscriptionOf(await retrieve(id));

  /** The item that is put on another price. */
  const itemsFor = async (subscriptionId: string, price: string) => {
    const item = (await retrieve(subscriptionId)).items.data[0];
    if (!item) throw new PaymentFault('invalid', `The subscription ${subscriptionId} has no items`);
    return [{ id: item.id, price, quantity: 1 }];
  };

  const release = async ({ id, scheduleId }: Subscription, idempotencyKey: string): Promise<void> => {
    if (scheduleId !== undefined)
      await stripe.subscriptionSchedules.release(scheduleId, {}, { idempotencyKey: `${idempotencyKey}:release:${id}` });
  };

  const setCancellation = async ({ id, cancelsAtPeriodEnd }: Subscription, cancels: boolean, idempotencyKey: string): Promise<void> => {
    if (cancelsAtPeriodEnd === cancels) return;
    await stripe.subscriptions.update(id, { cancel_at_period_end: cancels }, { idempotencyKey: `${idempotencyKey}:cancels:${cancels}` });
  };

  return { retrieve, present, itemsFor, release, setCancellation };
}

function readingMethods(
  stripe: Stripe,
  prices: StripePrices,
  { retrieve, itemsFor }: Steps,
): Pick<SubscriptionMethods, 'readSubscription' | 'listSubscriptions' | 'previewChange'> {
  return {
    readSubscription: async (id) => {
      const found = await orMissing(stripe.subscriptions.retrieve(id, { expand: SCHEDULED }));
      return found && subscriptionOf(StripeSubscription.parse(found));
    },

    listSubscriptions: async (customer) => {
      const listed = await stripe.subscriptions.list({ customer, status: 'all', limit: MOST_LISTED, expand: ['data.schedule'] });
      return listed.data.map((one) => subscriptionOf(StripeSubscription.parse(one)));
    },

    previewChange: async ({ plan, subscriptionId }) => {
      const subscription = await retrieve(subscriptionId);
      const priceId = await prices.idOf(plan);
      const items = await itemsFor(subscriptionId, priceId);
      const now = StripeInvoice.parse(
        await stripe.invoices.createPreview({
          subscription: subscriptionId,
          subscription_details: { items, proration_behavior: 'always_invoice' },
        }),
      );
      const { unit_amount: monthly } = await stripe.prices.retrieve(priceId);
      const lines = now.lines.data.map(lineOf);
      return {
        // What is due leaves out a credit that the customer has, and is never negative.
        dueNow: centsToNanoUsd(now.total < 0 ? now.total : now.amount_due),
        lines,
        // By Stripe's clock and not by ours.
        proratedAtMs: lines.find(({ isProration }) => isProration)?.periodStartMs ?? now.created * 1000,
        nextChargeAtMs: subscriptionOf(subscription).periodEndMs,
        nextAmount: centsToNanoUsd(monthly ?? 0),
      };
    },
  };
}

function changingMethods(
  stripe: Stripe,
  prices: StripePrices,
  { retrieve, present, itemsFor, release, setCancellation }: Steps,
): Pick<SubscriptionMethods, 'changeSubscription' | 'scheduleChange'> {
  return {
    changeSubscription: async ({ idempotencyKey, plan, proratedAtMs, subscriptionId }) => {
      const items = await itemsFor(subscriptionId, await prices.idOf(plan));
      const change: Stripe.SubscriptionUpdateParams = {
        items,
        proration_behavior: 'always_invoice',
        // Not paid, not changed.
        payment_behavior: 'error_if_incomplete',
        ...(proratedAtMs !== undefined && { proration_date: Math.floor(proratedAtMs / 1000) }),
      };
      try {
        await stripe.subscriptions.update(subscriptionId, change, { idempotencyKey });
      } catch (thrown) {
        if (!(thrown instanceof Stripe.errors.StripeCardError)) throw thrown;
        return { changed: false, decline: declineOf(thrown, thrown.payment_intent?.id) };
      }
      // Only now: a change that was refused leaves what was scheduled as it was.
      const changed = await present(subscriptionId);
      await release(changed, idempotencyKey);
      await setCancellation(changed, false, idempotencyKey);
      const subscription = await present(subscriptionId);
      return { changed: true, subscription, invoiceId: subscription.latestInvoiceId };
    },

    scheduleChange: async ({ idempotencyKey, plan, subscriptionId }) => {
      const next = await prices.idOf(plan);
      const before = subscriptionOf(await retrieve(subscriptionId));
      await setCancellation(before, false, idempotencyKey);
      const schedule =
        before.scheduleId === undefined
          ? await stripe.subscriptionSchedules.create({ from_subscription: subscriptionId }, { idempotencyKey: `${idempotencyKey}:create` })
          : await stripe.subscriptionSchedules.retrieve(before.scheduleId);
      await stripe.subscriptionSchedules.update(schedule.id, continuedBy(schedule, next), { idempotencyKey: `${idempotencyKey}:update` });
      return present(subscriptionId);
    },
  };
}

/** The schedule with another price after the current period. */
function continuedBy({ id, phases: [current] }: Stripe.SubscriptionSchedule, next: string): Stripe.SubscriptionScheduleUpdateParams {
  if (!current) throw new PaymentFault('invalid', `The schedule ${id} has no phases`);
  const items = current.items.map(({ price, quantity = 1 }) => ({ price: typeof price === 'string' ? price : price.id, quantity }));
  return {
    end_behavior: 'release',
    phases: [
      { items, start_date: current.start_date, end_date: current.end_date },
      // One month of the new plan, and then it goes on by itself.
      { items: [{ price: next, quantity: 1 }], duration: { interval: 'month', interval_count: 1 }, proration_behavior: 'none' },
    ],
  };
}

function endingMethods(
  stripe: Stripe,
  { present, release, setCancellation }: Steps,
): Pick<SubscriptionMethods, 'releaseSchedule' | 'cancelSubscription' | 'resumeSubscription'> {
  return {
    releaseSchedule: async ({ idempotencyKey, subscriptionId }) => {
      await release(await present(subscriptionId), idempotencyKey);
      return present(subscriptionId);
    },

    cancelSubscription: async ({ at, idempotencyKey, subscriptionId }) => {
      const before = await present(subscriptionId);
      if (before.status === 'canceled') return before;
      if (at === 'now') await stripe.subscriptions.cancel(subscriptionId, {}, { idempotencyKey });
      else {
        await release(before, idempotencyKey);
        await setCancellation(before, true, idempotencyKey);
      }
      return present(subscriptionId);
    },

    resumeSubscription: async ({ idempotencyKey, subscriptionId }) => {
      await setCancellation(await present(subscriptionId), false, idempotencyKey);
      return present(subscriptionId);
    },
  };
}
