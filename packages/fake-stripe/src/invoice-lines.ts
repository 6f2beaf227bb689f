import type Stripe from 'stripe';
import { invalid } from './fault.ts';
import type { Form } from './form.ts';
import type { FakeInvoice, FakeInvoiceItem, FakeLine, FakePrice, FakeSubscription, FakeSubscriptionItem } from './records.ts';
import type { World } from './world.ts';

interface LineDetail {
  readonly amount: number;
  readonly description: string;
  readonly period: { start: number; end: number };
  readonly parent: Stripe.InvoiceLineItem.Parent;
  readonly price: FakePrice | undefined;
  readonly subscription: string | null;
  readonly metadata?: Record<string, string>;
}

/** A period of a subscription's item. */
export function periodLine(world: World, subscription: FakeSubscription, item: FakeSubscriptionItem): FakeLine {
  const quantity = item.quantity ?? 1;
  return newLine(world, {
    amount: (item.price.unit_amount ?? 0) * quantity,
    description: `${quantity} × ${productName(world, item.price)}`,
    period: { start: item.current_period_start, end: item.current_period_end },
    parent: ofItem(subscription, item, false),
    price: item.price,
    subscription: subscription.id,
  });
}

interface Change {
  readonly item: FakeSubscriptionItem;
  readonly price: FakePrice;
  readonly quantity: number;
}

/** What is given back for the old price and charged for the new one, from `at` to the period's end, to the second. */
export function prorationLines(world: World, subscription: FakeSubscription, { item, price, quantity }: Change, at: number): FakeLine[] {
  const { current_period_start: start, current_period_end: end } = item;
  if (at < start || at > end) {
    throw invalid('Cannot specify a proration date outside of the current period.', { param: 'proration_date' });
  }
  const line = (sign: 1 | -1, of: FakePrice, count: number) =>
    newLine(world, {
      amount: sign * Math.round(((of.unit_amount ?? 0) * count * (end - at)) / (end - start)),
      description: `${sign < 0 ? 'Unused' : 'Remaining'} time on ${productName(world, of)}`,
      period: { start: at, end },
      parent: ofItem(subscription, item, true),
      price: of,
      subscription: subscription.id,
    });
  return [line(-1, item.price, item.quantity ?? 1), line(1, price, quantity)];
}

export function itemLine(world: World, item: FakeInvoiceItem): FakeLine {
  return newLine(world, {
    amount: item.amount,
    description: item.description ?? '',
    period: item.period,
    parent: {
      type: 'invoice_item_details',
      invoice_item_details: {
        invoice_item: item.id,
        proration: item.proration,
        proration_details: { credited_items: null },
        subscription: subscriptionOf(item),
      },
      subscription_item_details: null,
    },
    price: undefined,
    subscription: subscriptionOf(item),
    metadata: item.metadata ?? {},
  });
}

export function createInvoiceItem(world: World, form: Form): FakeInvoiceItem {
  const customer = world.find('customer', form.required('customer'), 'customer');
  const subscription = form.text('subscription');
  if (subscription !== undefined) world.find('subscription', subscription, 'subscription');
  form.required('currency');
  const amount = Number(form.required('amount'));
  const period = form.part('period');
  const now = world.now();
  const named = form.text('invoice');
  const draft = named === undefined ? undefined : world.find('invoice', named, 'invoice');
  if (draft && draft.status !== 'draft')
    throw invalid('This invoice is no longer editable.', { code: 'invoice_not_editable', param: 'invoice' });
  const item = newItem(world, {
    amount,
    customer: customer.id,
    subscription: subscription ?? null,
    description: form.text('description') ?? null,
    metadata: form.metadata(),
    period: { start: period?.integer('start') ?? now, end: period?.integer('end') ?? now },
    proration: false,
  });
  if (draft) addToDraft(world, draft, item);
  return item;
}

function addToDraft(world: World, draft: FakeInvoice, item: FakeInvoiceItem): void {
  item.invoice = draft.id;
  draft.lines.data.push({ ...itemLine(world, item), invoice: draft.id });
  draft.subtotal += item.amount;
  draft.total += item.amount;
  draft.amount_due = Math.max(0, draft.total);
  draft.amount_remaining = draft.amount_due;
}

interface ItemDetail {
  readonly amount: number;
  readonly customer: string;
  readonly subscription: string | null;
  readonly description: string | null;
  readonly metadata: Record<string, string>;
  readonly period: { start: number; end: number };
  readonly proration: boolean;
}

/** A line that waits for the next invoice. */
export function newItem(world: World, detail: ItemDetail): FakeInvoiceItem {
  const { amount, customer, description, metadata, period, proration, subscription } = detail;
  const item: FakeInvoiceItem = {
    id: world.id('ii'),
    object: 'invoiceitem',
    amount,
    currency: 'usd',
    customer,
    customer_account: null,
    date: world.now(),
    description,
    discountable: !proration,
    discounts: [],
    invoice: null,
    livemode: false,
    metadata,
    parent: subscription === null ? null : { type: 'subscription_details', subscription_details: { subscription } },
    period,
    pricing: null,
    proration,
    quantity: 1,
    quantity_decimal: world.decimal('1'),
    tax_rates: [],
    test_clock: null,
  };
  world.put('invoiceitem', item);
  world.emit('invoiceitem.created', item);
  return item;
}

export function deleteInvoiceItem(world: World, id: string): Stripe.DeletedInvoiceItem {
  if (world.find('invoiceitem', id).invoice !== null) throw invalid('This invoice item is already attached to an invoice.');
  world.tables.invoiceitem.delete(id);
  return { id, object: 'invoiceitem', deleted: true };
}

/** Items of the subscription, or of no subscription, that are on no invoice yet. */
export const pendingItems = (world: World, customer: string, subscription: string | null): FakeInvoiceItem[] =>
  world
    .all('invoiceitem')
    .filter((item) => item.invoice === null && item.customer === customer && [null, subscription].includes(subscriptionOf(item)));

function subscriptionOf(item: FakeInvoiceItem): string | null {
  const named = item.parent?.subscription_details?.subscription ?? null;
  return typeof named === 'string' ? named : null;
}

const ofItem = (subscription: FakeSubscription, item: FakeSubscriptionItem, proration: boolean): Stripe.InvoiceLineItem.Parent => ({
  type: 'subscription_item_details',
  invoice_item_details: null,
  subscription_item_details: {
    invoice_item: null,
    proration,
    proration_details: { credited_items: null },
    subscription: subscription.id,
    subscription_item: item.id,
  },
});

function newLine(world: World, { amount, description, metadata = {}, parent, period, price, subscription }: LineDetail): FakeLine {
  return {
    id: world.id('il'),
    object: 'line_item',
    amount,
    currency: 'usd',
    description,
    discount_amounts: [],
    discountable: true,
    discounts: [],
    invoice: null,
    livemode: false,
    metadata,
    parent,
    period,
    pretax_credit_amounts: [],
    pricing: price
      ? {
          type: 'price_details',
          price_details: { price: price.id, product: price.product },
          unit_amount_decimal: price.unit_amount_decimal,
        }
      : null,
    quantity: 1,
    quantity_decimal: world.decimal('1'),
    subscription,
    subtotal: amount,
    taxes: [],
  };
}

const productName = (world: World, price: FakePrice): string => world.peek('product', price.product)?.name ?? price.product;
