import type Stripe from 'stripe';
import { type CardDecline, declineOf, type Moment, testCard } from './cards.ts';
import { attach, methodWith } from './customers.ts';
import { invalid, missing, StripeFault } from './fault.ts';
import type { Form } from './form.ts';
import type { FakeCharge, FakePaymentIntent, FakePaymentMethod } from './records.ts';
import type { World } from './world.ts';

interface PaymentOrder {
  readonly amount: number;
  readonly customer: string | null;
  readonly method: FakePaymentMethod | undefined;
  readonly moment: Moment;
  readonly metadata: Record<string, string>;
  readonly description: string | null;
  readonly setupFutureUsage: Stripe.PaymentIntent.SetupFutureUsage | null;
}

type Paid = { readonly intent: FakePaymentIntent; readonly decline: CardDecline | undefined };

export function createPaymentIntent(world: World, form: Form): FakePaymentIntent {
  const amount = form.integer('amount');
  if (amount === undefined) throw missing('amount');
  if (amount < 50) throw invalid('Amount must be at least $0.50 usd', { code: 'amount_too_small', param: 'amount' });
  form.required('currency');
  const customer = form.text('customer') ?? null;
  if (customer !== null) world.find('customer', customer, 'customer');
  const isOffSession = form.flag('off_session') ?? false;
  const isConfirmed = form.flag('confirm') ?? false;
  if (isOffSession && !isConfirmed) throw invalid('You cannot set `off_session` without `confirm`.', { param: 'off_session' });
  const methods = form.part('automatic_payment_methods');
  methods?.flag('enabled');
  methods?.text('allow_redirects');
  form.texts('payment_method_types');
  form.text('receipt_email');
  form.flag('error_on_requires_action');
  const name = form.text('payment_method');
  const method = name === undefined ? undefined : methodOf(world, name, customer);
  const order: PaymentOrder = {
    amount,
    customer,
    method,
    moment: isOffSession ? 'off_session' : 'on_session',
    metadata: form.metadata(),
    description: form.text('description') ?? null,
    setupFutureUsage: form.choice('setup_future_usage', ['off_session', 'on_session']) ?? null,
  };
  const intent = newIntent(world, order);
  return isConfirmed ? confirm(world, intent, order) : intent;
}

export function confirmPaymentIntent(world: World, id: string, form: Form): FakePaymentIntent {
  const intent = world.find('payment_intent', id);
  if (intent.status !== 'requires_payment_method' && intent.status !== 'requires_confirmation') {
    throw invalid(`You cannot confirm this PaymentIntent because it has a status of ${intent.status}.`, {
      code: 'payment_intent_unexpected_state',
    });
  }
  const name = form.text('payment_method') ?? intent.payment_method;
  const method = name === null ? undefined : methodOf(world, name, intent.customer);
  const moment = form.flag('off_session') ? 'off_session' : 'on_session';
  const { amount, customer, metadata, description, setup_future_usage: setupFutureUsage } = intent;
  return confirm(world, intent, { amount, customer, metadata, description, setupFutureUsage, method, moment });
}

export function cancelPaymentIntent(world: World, id: string): FakePaymentIntent {
  const intent = world.find('payment_intent', id);
  if (intent.status === 'succeeded' || intent.status === 'canceled') {
    throw invalid(`You cannot cancel this PaymentIntent because it has a status of ${intent.status}.`, {
      code: 'payment_intent_unexpected_state',
    });
  }
  intent.status = 'canceled';
  intent.canceled_at = world.now();
  world.emit('payment_intent.canceled', intent);
  return intent;
}

/** Makes a payment and tries it once; a decline is on record and is returned. */
export function pay(world: World, order: PaymentOrder): Paid {
  const intent = newIntent(world, order);
  return { intent, decline: attempt(world, intent, order) };
}

function confirm(world: World, intent: FakePaymentIntent, order: PaymentOrder): FakePaymentIntent {
  if (!order.method) {
    throw invalid(
      'You cannot confirm this PaymentIntent because it’s missing a payment method. Update the PaymentIntent with a payment method and then confirm it again.',
      { code: 'payment_intent_unexpected_state', payment_intent: intent },
    );
  }
  const declined = attempt(world, intent, order);
  if (!declined) return intent;
  throw new StripeFault(402, 'card_error', declined.message, { code: declined.code, ...declined.detail, payment_intent: intent }, true);
}

/** What every payment begins with. */
const INTENT_AT_FIRST = {
  object: 'payment_intent',
  allowed_payment_method_types: null,
  amount_capturable: 0,
  amount_received: 0,
  application: null,
  application_fee_amount: null,
  automatic_payment_methods: null,
  canceled_at: null,
  cancellation_reason: null,
  capture_method: 'automatic_async',
  confirmation_method: 'automatic',
  currency: 'usd',
  customer_account: null,
  excluded_payment_method_types: null,
  last_payment_error: null,
  latest_charge: null,
  livemode: false,
  managed_payments: null,
  next_action: null,
  on_behalf_of: null,
  payment_method_configuration_details: null,
  payment_method_options: null,
  payment_record: null,
  processing: null,
  receipt_email: null,
  review: null,
  shipping: null,
  source: null,
  statement_descriptor: null,
  statement_descriptor_suffix: null,
  transfer_data: null,
  transfer_group: null,
} as const satisfies Partial<FakePaymentIntent>;

function newIntent(world: World, order: PaymentOrder): FakePaymentIntent {
  const id = world.id('pi');
  const intent = {
    ...INTENT_AT_FIRST,
    id,
    amount: order.amount,
    client_secret: `${id}_secret_${world.id('').slice(1)}`,
    created: world.now(),
    customer: order.customer,
    description: order.description,
    metadata: order.metadata,
    payment_method: order.method?.id ?? null,
    payment_method_types: ['card'],
    setup_future_usage: order.setupFutureUsage,
    status: order.method ? 'requires_confirmation' : 'requires_payment_method',
  } satisfies Stripe.PaymentIntent;
  world.put('payment_intent', intent);
  world.emit('payment_intent.created', intent);
  return intent;
}

/** Charges the card. @returns why not */
function attempt(world: World, intent: FakePaymentIntent, { method, moment }: PaymentOrder): CardDecline | undefined {
  const declined: CardDecline | undefined = method
    ? declineOf(method, moment)
    : { code: 'resource_missing', message: 'This customer has no attached payment source or default payment method.', detail: {} };
  const charge = newCharge(world, intent, method, declined);
  intent.latest_charge = charge.id;
  if (declined) {
    intent.status = 'requires_payment_method';
    intent.payment_method = null;
    intent.last_payment_error = {
      type: 'card_error',
      code: declined.code,
      message: declined.message,
      charge: charge.id,
      ...declined.detail,
    };
    world.emit('charge.failed', charge);
    world.emit('payment_intent.payment_failed', intent);
    return declined;
  }
  intent.status = 'succeeded';
  intent.amount_received = intent.amount;
  intent.payment_method = method?.id ?? null;
  intent.last_payment_error = null;
  if (intent.setup_future_usage !== null && intent.customer !== null && method && method.customer === null) {
    attach(world, method.id, intent.customer);
  }
  world.emit('charge.succeeded', charge);
  world.emit('payment_intent.succeeded', intent);
  return undefined;
}

function methodOf(world: World, name: string, customer: string | null): FakePaymentMethod {
  const method = world.peek('payment_method', name);
  if (method && method.customer !== customer && method.customer !== null) {
    throw invalid(`The payment method ${name} does not belong to the customer.`, { param: 'payment_method' });
  }
  return method ?? methodWith(world, testCard(name));
}

/** What every charge begins with. */
const CHARGE_AT_FIRST = {
  object: 'charge',
  amount_refunded: 0,
  application: null,
  application_fee: null,
  application_fee_amount: null,
  balance_transaction: null,
  calculated_statement_descriptor: null,
  disputed: false,
  failure_balance_transaction: null,
  fraud_details: null,
  livemode: false,
  on_behalf_of: null,
  outcome: null,
  payment_method_details: null,
  receipt_email: null,
  receipt_number: null,
  refunded: false,
  review: null,
  shipping: null,
  source: null,
  source_transfer: null,
  statement_descriptor: null,
  statement_descriptor_suffix: null,
  transfer_data: null,
  transfer_group: null,
} as const satisfies Partial<FakeCharge>;

function newCharge(
  world: World,
  intent: FakePaymentIntent,
  method: FakePaymentMethod | undefined,
  declined: CardDecline | undefined,
): FakeCharge {
  const id = world.id('ch');
  const charge = {
    ...CHARGE_AT_FIRST,
    id,
    amount: intent.amount,
    amount_captured: declined ? 0 : intent.amount,
    billing_details: { address: null, email: null, name: null, phone: null, tax_id: null },
    captured: !declined,
    created: world.now(),
    currency: intent.currency,
    customer: intent.customer,
    description: intent.description,
    failure_code: declined?.code ?? null,
    failure_message: declined?.message ?? null,
    metadata: intent.metadata,
    paid: !declined,
    payment_intent: intent.id,
    payment_method: method?.id ?? null,
    receipt_url: `${world.baseUrl}/receipt/${id}`,
    status: declined ? 'failed' : 'succeeded',
  } satisfies Stripe.Charge;
  return world.put('charge', charge);
}
