import { periodEnd } from './calendar.ts';
import { pick } from './customers.ts';
import { invalid, missing, StripeFault } from './fault.ts';
import type { Form } from './form.ts';
import { itemLine, newItem, pendingItems, periodLine, prorationLines } from './invoice-lines.ts';
import { collect, draftInvoice, finalise, newInvoice } from './invoices.ts';
import type { FakeInvoice, FakeLine, FakePrice, FakeSubscription, FakeSubscriptionItem } from './records.ts';
import { newSubscription, newSubscriptionItem } from './subscription-record.ts';
import type { World } from './world.ts';

interface SubscriptionOrder {
  readonly customer: string;
  readonly items: readonly { readonly price: FakePrice; readonly quantity: number }[];
  readonly metadata: Record<string, string>;
  readonly method: string | null;
}

/** Makes a subscription and its first invoice, which is not paid yet: the subscription is incomplete. */
export function subscribe(world: World, order: SubscriptionOrder): { subscription: FakeSubscription; invoice: FakeInvoice } {
  const first = order.items[0];
  if (!first) throw missing('items');
  const start = world.now();
  const period = { start, end: periodEnd(start, start, first.price) };
  const subscription = world.put('subscription', newSubscription(world, { ...order, period }));
  world.emit('customer.subscription.created', subscription);
  const invoice = draftInvoice(world, {
    customer: order.customer,
    subscription,
    reason: 'subscription_create',
    lines: subscription.items.data.map((item) => periodLine(world, subscription, item)),
    period: { start, end: start },
    takesPending: true,
  });
  return { subscription, invoice: finalise(world, invoice) };
}

export function createSubscription(world: World, form: Form): FakeSubscription {
  const customer = world.find('customer', form.required('customer'), 'customer');
  const behaviour = form.text('payment_behavior');
  const { subscription, invoice } = subscribe(world, {
    customer: customer.id,
    items: form.parts('items').map((item) => ({
      price: world.find('price', item.required('price'), 'items[0][price]'),
      quantity: item.integer('quantity') ?? 1,
    })),
    metadata: form.metadata(),
    method: form.text('default_payment_method') ?? null,
  });
  form.flag('off_session');
  const decline = behaviour === 'default_incomplete' ? undefined : collect(world, invoice, 'off_session');
  if (decline && behaviour === 'error_if_incomplete') {
    throw new StripeFault(402, 'card_error', decline.message, { code: decline.code, ...decline.detail });
  }
  if (invoice.status === 'paid') activate(world, subscription);
  return subscription;
}

export function activate(world: World, subscription: FakeSubscription): void {
  if (subscription.status === 'active') return;
  const before = subscription.status;
  subscription.status = 'active';
  world.emit('customer.subscription.updated', subscription, { status: before });
}

const CANCELLATION = ['cancel_at_period_end', 'cancel_at'] as const;

export function updateSubscription(world: World, id: string, form: Form): FakeSubscription {
  const subscription = world.find('subscription', id);
  if (subscription.status === 'canceled') {
    throw invalid('A canceled subscription can only update its cancellation_details and metadata.', { code: 'resource_missing' });
  }
  if (subscription.schedule !== null && CANCELLATION.some((name) => form.has(name))) {
    throw invalid(
      `The subscription is managed by the subscription schedule \`${subscription.schedule}\`, and updating any cancelation behavior directly is not allowed. Please update the schedule instead.`,
    );
  }
  const cancels = form.flag('cancel_at_period_end');
  const previous = { cancel_at_period_end: subscription.cancel_at_period_end, metadata: subscription.metadata };
  if (cancels !== undefined) setCancellation(world, subscription, cancels);
  subscription.metadata = form.metadata(subscription.metadata);
  subscription.default_payment_method = pick(form.clearable('default_payment_method'), subscription.default_payment_method);
  form.text('billing_cycle_anchor');
  form.flag('off_session');
  const behaviour = form.text('payment_behavior') ?? 'allow_incomplete';
  const change = changesIn(world, subscription, form);
  if (change.items.length > 0) {
    const lines = applyChanges(world, subscription, change);
    if (change.proration === 'always_invoice') invoiceNow(world, subscription, lines, behaviour);
    else for (const line of lines) keepForLater(world, subscription, line);
  }
  world.emit('customer.subscription.updated', subscription, previous);
  return subscription;
}

export function cancelSubscription(world: World, id: string, form: Form): FakeSubscription {
  const subscription = world.find('subscription', id);
  form.flag('invoice_now');
  form.flag('prorate');
  form.part('cancellation_details')?.text('comment');
  if (subscription.status === 'canceled') throw invalid(`No such subscription: '${id}'`, { code: 'resource_missing', param: 'id' });
  end(world, subscription);
  return subscription;
}

/** Permanently, with its schedule. */
export function end(world: World, subscription: FakeSubscription): void {
  const now = world.now();
  const schedule = world.peek('subscription_schedule', subscription.schedule);
  if (schedule) {
    schedule.status = 'canceled';
    schedule.canceled_at = now;
    schedule.current_phase = null;
    subscription.schedule = null;
    world.emit('subscription_schedule.canceled', schedule);
  }
  subscription.status = 'canceled';
  subscription.canceled_at ??= now;
  subscription.ended_at = now;
  for (const invoice of world.all('invoice')) {
    if (invoice.status === 'open' && invoice.next_payment_attempt !== null && isOf(invoice, subscription))
      invoice.next_payment_attempt = null;
  }
  world.emit('customer.subscription.deleted', subscription);
}

/** An invoice as `update` would make it, or the next renewal's; nothing is stored. */
export function previewInvoice(world: World, form: Form): FakeInvoice {
  const subscription = world.find('subscription', form.required('subscription'), 'subscription');
  form.text('customer');
  const details = form.part('subscription_details');
  const change = details && changesIn(world, subscription, details);
  const undo = world.checkpoint();
  const lines = change && change.items.length > 0 ? applyChanges(world, world.find('subscription', subscription.id), change) : [];
  const changed = world.find('subscription', subscription.id);
  const isNow = change?.proration === 'always_invoice' && change.items.length > 0;
  const renewal = changed.items.data.map((item) => periodLine(world, changed, nextPeriodOf(changed, item)));
  const waiting = pendingItems(world, changed.customer, changed.id);
  const waitingLines = waiting.map((item) => itemLine(world, item));
  const period = { start: world.now(), end: changed.items.data[0]?.current_period_end ?? world.now() };
  const order = {
    customer: changed.customer,
    subscription: changed,
    reason: isNow ? 'subscription_update' : 'upcoming',
    lines: [],
    period,
    takesPending: false,
  };
  const invoice = newInvoice(world, order, [...waitingLines, ...lines, ...(isNow ? [] : renewal)]);
  const credit = Math.max(0, Math.min(invoice.total, -world.find('customer', changed.customer).balance));
  undo();
  return { ...invoice, id: `upcoming_${invoice.id}`, amount_due: Math.max(0, invoice.total) - credit };
}

interface Changes {
  readonly items: readonly { readonly item: FakeSubscriptionItem; readonly price: FakePrice; readonly quantity: number }[];
  readonly proration: string;
  readonly at: number;
}

function changesIn(world: World, subscription: FakeSubscription, form: Form): Changes {
  const items = form.parts('items').map((part) => {
    const named = part.text('id');
    const item = subscription.items.data.find(({ id }) => named === undefined || id === named);
    // Without an item's id Stripe adds an item: there is one plan at a time here, so a second one is always a mistake.
    if (!item || named === undefined) throw invalid('This fake changes items by their id only.', { param: 'items' });
    const price = part.text('price');
    return {
      item,
      price: price === undefined ? item.price : world.find('price', price, 'items[0][price]'),
      quantity: part.integer('quantity') ?? item.quantity ?? 1,
    };
  });
  const proration = form.choice('proration_behavior', ['always_invoice', 'create_prorations', 'none']) ?? 'create_prorations';
  return { items, proration, at: form.integer('proration_date') ?? world.now() };
}

/** Puts the items on their new prices. @returns what is to be charged and given back for it */
function applyChanges(world: World, subscription: FakeSubscription, { items, proration, at }: Changes): FakeLine[] {
  return items.flatMap(({ item, price, quantity }) => {
    const lines = proration === 'none' ? [] : prorationLines(world, subscription, { item, price, quantity }, at);
    const stored = subscription.items.data.findIndex(({ id }) => id === item.id);
    subscription.items.data[stored] = { ...newSubscriptionItem(world, subscription.id, { price, quantity }, periodOf(item)), id: item.id };
    return lines;
  });
}

function invoiceNow(world: World, subscription: FakeSubscription, lines: readonly FakeLine[], behaviour: string): void {
  const now = world.now();
  const invoice = finalise(
    world,
    draftInvoice(world, {
      customer: subscription.customer,
      subscription,
      reason: 'subscription_update',
      lines,
      period: { start: now, end: now },
      takesPending: true,
    }),
  );
  const decline = collect(world, invoice, 'off_session');
  if (!decline) return;
  // Thrown without effects: the caller's work is undone, the change and this invoice with it.
  if (behaviour === 'error_if_incomplete') {
    throw new StripeFault(402, 'card_error', decline.message, { code: decline.code, ...decline.detail });
  }
  invoice.next_payment_attempt = now + RETRY_SECONDS;
  subscription.status = 'past_due';
}

/** Three days; Stripe's own retries are as rare. */
export const RETRY_SECONDS = 3 * 86_400;

const keepForLater = (world: World, subscription: FakeSubscription, line: FakeLine) =>
  newItem(world, {
    amount: line.amount,
    customer: subscription.customer,
    subscription: subscription.id,
    description: line.description,
    metadata: {},
    period: line.period,
    proration: true,
  });

export function setCancellation(world: World, subscription: FakeSubscription, cancels: boolean): void {
  subscription.cancel_at_period_end = cancels;
  subscription.cancel_at = cancels ? (subscription.items.data[0]?.current_period_end ?? null) : null;
  subscription.canceled_at = cancels ? world.now() : null;
}

const isOf = (invoice: FakeInvoice, subscription: FakeSubscription): boolean =>
  invoice.parent?.subscription_details?.subscription === subscription.id;

const periodOf = (item: FakeSubscriptionItem) => ({ start: item.current_period_start, end: item.current_period_end });

export function nextPeriodOf(subscription: FakeSubscription, item: FakeSubscriptionItem): FakeSubscriptionItem {
  const start = item.current_period_end;
  return { ...item, current_period_start: start, current_period_end: periodEnd(start, subscription.billing_cycle_anchor, item.price) };
}
