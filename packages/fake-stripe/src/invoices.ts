import type Stripe from 'stripe';
import type { CardDecline, Moment } from './cards.ts';
import { invalid, StripeFault } from './fault.ts';
import type { Form } from './form.ts';
import { itemLine, pendingItems } from './invoice-lines.ts';
import { pay } from './payments.ts';
import { type FakeInvoice, type FakeLine, type FakeSubscription, listOf } from './records.ts';
import type { World } from './world.ts';

interface InvoiceOrder {
  readonly customer: string;
  readonly subscription: FakeSubscription | undefined;
  readonly reason: Stripe.Invoice.BillingReason;
  readonly lines: readonly FakeLine[];
  readonly period: { start: number; end: number };
  /** Whether what waits for the next invoice goes onto this one. */
  readonly takesPending: boolean;
  readonly metadata?: Record<string, string>;
}

/** Makes an invoice out of lines, and of what waits for it. It is a draft. */
export function draftInvoice(world: World, order: InvoiceOrder): FakeInvoice {
  const waiting = order.takesPending ? pendingItems(world, order.customer, order.subscription?.id ?? null) : [];
  const invoice = newInvoice(world, order, [...waiting.map((item) => itemLine(world, item)), ...order.lines]);
  for (const item of waiting) item.invoice = invoice.id;
  world.put('invoice', invoice);
  if (order.subscription) order.subscription.latest_invoice = invoice.id;
  world.emit('invoice.created', invoice);
  return invoice;
}

/** Gives it its number and settles the customer's credit; what is not to be paid is paid at once. */
export function finalise(world: World, invoice: FakeInvoice): FakeInvoice {
  if (invoice.status !== 'draft')
    throw invalid('This invoice is already finalized, you can’t re-finalize it.', { code: 'invoice_not_editable' });
  const customer = world.find('customer', invoice.customer);
  invoice.starting_balance = customer.balance;
  // A negative total is stored as a credit; a stored credit lowers the amount due.
  const applied = Math.max(0, Math.min(invoice.total, -customer.balance));
  customer.balance += invoice.total < 0 ? invoice.total : applied;
  invoice.ending_balance = customer.balance;
  invoice.amount_due = Math.max(0, invoice.total) - applied;
  invoice.amount_remaining = invoice.amount_due;
  invoice.number = `${customer.invoice_prefix ?? 'FAKE'}-${String(customer.next_invoice_sequence ?? 1).padStart(4, '0')}`;
  customer.next_invoice_sequence = (customer.next_invoice_sequence ?? 1) + 1;
  invoice.status = 'open';
  invoice.effective_at = world.now();
  invoice.status_transitions.finalized_at = world.now();
  invoice.hosted_invoice_url = `${world.baseUrl}/invoice/${invoice.id}`;
  invoice.invoice_pdf = `${world.baseUrl}/invoice/${invoice.id}/pdf`;
  world.emit('invoice.finalized', invoice);
  if (invoice.amount_due === 0) markPaid(world, invoice);
  return invoice;
}

/** Charges the customer's card for an open invoice. @returns why not */
export function collect(world: World, invoice: FakeInvoice, moment: Moment, methodId?: string): CardDecline | undefined {
  if (invoice.status === 'paid') return undefined;
  const method = world.peek('payment_method', methodId ?? methodFor(world, invoice));
  invoice.attempted = true;
  invoice.attempt_count += 1;
  const { intent, decline } = pay(world, {
    amount: invoice.amount_remaining,
    customer: invoice.customer,
    method,
    moment,
    metadata: {},
    description: invoice.billing_reason === 'subscription_create' ? 'Subscription creation' : 'Subscription update',
    setupFutureUsage: null,
  });
  world.put('invoice_payment', {
    id: world.id('inpay'),
    object: 'invoice_payment',
    amount_paid: decline ? null : invoice.amount_remaining,
    amount_requested: invoice.amount_remaining,
    created: world.now(),
    currency: 'usd',
    invoice: invoice.id,
    is_default: true,
    livemode: false,
    payment: { type: 'payment_intent', payment_intent: intent.id },
    status: decline ? 'open' : 'paid',
    status_transitions: { canceled_at: null, paid_at: decline ? null : world.now() },
  });
  if (decline) {
    world.emit('invoice.payment_failed', invoice);
    return decline;
  }
  invoice.amount_paid += invoice.amount_remaining;
  invoice.amount_remaining = 0;
  markPaid(world, invoice);
  return undefined;
}

export function voidInvoice(world: World, invoice: FakeInvoice): FakeInvoice {
  if (invoice.status !== 'open' && invoice.status !== 'uncollectible') {
    throw invalid(`You can only void an open invoice; this one is ${invoice.status}.`, { code: 'status_transition_invalid' });
  }
  invoice.status = 'void';
  invoice.next_payment_attempt = null;
  invoice.status_transitions.voided_at = world.now();
  world.emit('invoice.voided', invoice);
  return invoice;
}

export function markUncollectible(world: World, invoice: FakeInvoice): FakeInvoice {
  if (invoice.status !== 'open') throw invalid(`This invoice is ${invoice.status}.`, { code: 'status_transition_invalid' });
  invoice.status = 'uncollectible';
  invoice.status_transitions.marked_uncollectible_at = world.now();
  world.emit('invoice.marked_uncollectible', invoice);
  return invoice;
}

export function createInvoice(world: World, form: Form): FakeInvoice {
  const customer = world.find('customer', form.required('customer'), 'customer');
  const subscription = form.text('subscription');
  form.flag('auto_advance');
  form.text('collection_method');
  const now = world.now();
  return draftInvoice(world, {
    customer: customer.id,
    subscription: subscription === undefined ? undefined : world.find('subscription', subscription, 'subscription'),
    reason: 'manual',
    lines: [],
    period: { start: now, end: now },
    takesPending: form.choice('pending_invoice_items_behavior', ['exclude', 'include']) !== 'exclude',
    metadata: form.metadata(),
  });
}

/** What the API's own `pay` answers with: a decline is an error. */
export function payInvoice(world: World, invoice: FakeInvoice, form: Form): FakeInvoice {
  const method = form.text('payment_method');
  const moment = form.flag('off_session') === false ? 'on_session' : 'off_session';
  if (invoice.status === 'paid') throw invalid('Invoice is already paid', { code: 'invoice_already_paid' });
  if (invoice.status !== 'open') throw invalid(`This invoice is ${invoice.status}.`, { code: 'invoice_not_open' });
  const decline = collect(world, invoice, moment, method);
  if (decline) throw new StripeFault(402, 'card_error', decline.message, { code: decline.code, ...decline.detail }, true);
  return invoice;
}

function markPaid(world: World, invoice: FakeInvoice): void {
  invoice.status = 'paid';
  invoice.attempted = true;
  invoice.next_payment_attempt = null;
  invoice.status_transitions.paid_at = world.now();
  world.emit('invoice.paid', invoice);
  world.emit('invoice.payment_succeeded', invoice);
}

function methodFor(world: World, invoice: FakeInvoice): string | null {
  const named = invoice.parent?.subscription_details?.subscription;
  const subscription = typeof named === 'string' ? world.peek('subscription', named) : undefined;
  return subscription?.default_payment_method ?? world.find('customer', invoice.customer).invoice_settings.default_payment_method;
}

/** What every invoice begins with. */
const AT_FIRST = {
  object: 'invoice',
  account_country: 'US',
  account_name: 'Fake',
  account_tax_ids: null,
  amount_overpaid: 0,
  amount_paid: 0,
  amount_shipping: 0,
  application: null,
  attempt_count: 0,
  attempted: false,
  automatically_finalizes_at: null,
  collection_method: 'charge_automatically',
  currency: 'usd',
  custom_fields: null,
  customer_account: null,
  customer_address: null,
  customer_phone: null,
  customer_shipping: null,
  customer_tax_exempt: 'none',
  default_payment_method: null,
  default_source: null,
  description: null,
  due_date: null,
  effective_at: null,
  ending_balance: null,
  footer: null,
  from_invoice: null,
  hosted_invoice_url: null,
  invoice_pdf: null,
  last_finalization_error: null,
  latest_revision: null,
  livemode: false,
  next_payment_attempt: null,
  number: null,
  on_behalf_of: null,
  post_payment_credit_notes_amount: 0,
  pre_payment_credit_notes_amount: 0,
  receipt_number: null,
  rendering: null,
  shipping_cost: null,
  shipping_details: null,
  statement_descriptor: null,
  status: 'draft',
  test_clock: null,
  webhooks_delivered_at: null,
} as const satisfies Partial<FakeInvoice>;

/** Also of previews, which are stored nowhere. */
export function newInvoice(world: World, order: InvoiceOrder, lines: FakeLine[]): FakeInvoice {
  const { customer: customerId, metadata = {}, period, reason, subscription } = order;
  const customer = world.find('customer', customerId);
  const id = world.id('in');
  for (const line of lines) line.invoice = id;
  const total = lines.reduce((sum, line) => sum + line.amount, 0);
  return {
    ...AT_FIRST,
    id,
    amount_due: Math.max(0, total),
    amount_remaining: Math.max(0, total),
    auto_advance: reason !== 'manual',
    automatic_tax: { disabled_reason: null, enabled: false, liability: null, provider: null, status: null },
    billing_reason: reason,
    created: world.now(),
    customer: customerId,
    customer_email: customer.email,
    customer_name: customer.name ?? null,
    customer_tax_ids: [],
    default_tax_rates: [],
    discounts: [],
    issuer: { type: 'self' },
    lines: listOf(`/v1/invoices/${id}/lines`, lines),
    metadata,
    parent: subscription
      ? {
          type: 'subscription_details',
          quote_details: null,
          subscription_details: { metadata: subscription.metadata, subscription: subscription.id },
        }
      : null,
    payment_settings: { default_mandate: null, payment_method_options: null, payment_method_types: null },
    period_end: period.end,
    period_start: period.start,
    starting_balance: customer.balance,
    status_transitions: { finalized_at: null, marked_uncollectible_at: null, paid_at: null, voided_at: null },
    ...{ subtotal: total, subtotal_excluding_tax: total, total, total_excluding_tax: total },
    total_discount_amounts: [],
    total_pretax_credit_amounts: [],
    total_taxes: [],
  };
}
