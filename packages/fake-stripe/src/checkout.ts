import { declineOf, testCard } from './cards.ts';
import { attach, createCustomer, methodWith } from './customers.ts';
import { invalid, missing } from './fault.ts';
import { Form } from './form.ts';
import { collect, voidInvoice } from './invoices.ts';
import { pay } from './payments.ts';
import type { FakeSession } from './records.ts';
import { activate, subscribe } from './subscriptions.ts';
import type { SessionOrder, World } from './world.ts';

const DAY_SECONDS = 86_400;
const MIN_SECONDS = 30 * 60;

export function createSession(world: World, form: Form): FakeSession {
  const mode = form.choice('mode', ['payment', 'subscription', 'setup']);
  if (mode === undefined) throw missing('mode');
  if (mode === 'setup') throw invalid('This fake knows the modes payment and subscription.', { param: 'mode' });
  const customer = form.text('customer') ?? null;
  if (customer !== null) world.find('customer', customer, 'customer');
  const order = orderOf(world, form, mode);
  const total = order.lines.reduce((sum, line) => sum + line.amount * line.quantity, 0);
  const now = world.now();
  const expiresAt = form.integer('expires_at') ?? now + DAY_SECONDS;
  // Two seconds are for clocks that are not ours.
  if (expiresAt < now + MIN_SECONDS - 2 || expiresAt > now + DAY_SECONDS + 2) {
    throw invalid('The `expires_at` timestamp must be between 30 minutes and 24 hours from Checkout Session creation.', {
      param: 'expires_at',
    });
  }
  form.texts('payment_method_types');
  form.text('locale');
  const id = `cs_test_${world.id('').slice(1)}`;
  const session: FakeSession = {
    ...EMPTY,
    id,
    amount_subtotal: total,
    amount_total: total,
    cancel_url: form.text('cancel_url') ?? null,
    client_reference_id: form.text('client_reference_id') ?? null,
    created: now,
    currency: 'usd',
    customer,
    customer_email: form.text('customer_email') ?? null,
    expires_at: expiresAt,
    metadata: form.metadata(),
    mode,
    success_url: form.required('success_url'),
    url: `${world.baseUrl}/pay/${id}`,
  };
  world.sessionOrders.set(id, order);
  return world.put('checkout.session', session);
}

export function expireSession(world: World, id: string): FakeSession {
  const session = world.find('checkout.session', id);
  if (session.status !== 'open') {
    throw invalid(
      `Only Checkout Sessions with a status in ["open"] can be expired. This Checkout Session has a status of ${session.status}.`,
    );
  }
  session.status = 'expired';
  session.url = null;
  world.emit('checkout.session.expired', session);
  return session;
}

/**
 * What the page's button does.
 * @returns what the page says when the card is declined; undefined when it is paid
 */
export function paySession(world: World, id: string, card: string): string | undefined {
  const session = world.find('checkout.session', id);
  const order = world.sessionOrders.get(id);
  if (session.status !== 'open' || !order) throw invalid(`This Checkout Session is ${session.status}.`);
  const method = methodWith(world, testCard(card));
  session.customer ??= createCustomer(world, new Form({ ...(session.customer_email !== null && { email: session.customer_email }) })).id;
  const customer = session.customer;
  const declined = session.mode === 'payment' ? payOnce() : startSubscription();
  if (declined !== undefined) return declined;
  session.status = 'complete';
  session.payment_status = 'paid';
  session.url = null;
  world.emit('checkout.session.completed', session);
  return undefined;

  function payOnce(): string | undefined {
    const { intent, decline } = pay(world, {
      amount: session.amount_total ?? 0,
      customer,
      method,
      moment: 'on_session',
      metadata: order?.metadata ?? {},
      description: order?.description ?? null,
      setupFutureUsage: order?.saveCard ? 'off_session' : null,
    });
    if (!decline) session.payment_intent = intent.id;
    return decline?.message;
  }

  function startSubscription(): string | undefined {
    // A card that cannot pay makes no subscription: the page stays, for another card.
    const decline = declineOf(method, 'on_session');
    if (decline) {
      const { intent } = pay(world, { ...PAGE_PAYMENT, amount: session.amount_total ?? 0, customer, method });
      return intent.last_payment_error?.message ?? decline.message;
    }
    attach(world, method.id, customer);
    const items = (order?.lines ?? []).map(({ priceId, quantity }) => ({ price: world.find('price', priceId ?? ''), quantity }));
    const { subscription, invoice } = subscribe(world, { customer, items, metadata: order?.metadata ?? {}, method: method.id });
    if (collect(world, invoice, 'on_session', method.id)) voidInvoice(world, invoice);
    activate(world, subscription);
    session.subscription = subscription.id;
    session.invoice = invoice.id;
    return undefined;
  }
}

const PAGE_PAYMENT = { moment: 'on_session', metadata: {}, description: 'Subscription creation', setupFutureUsage: null } as const;

function orderOf(world: World, form: Form, mode: 'payment' | 'subscription'): SessionOrder {
  const lines = form.parts('line_items').map((line) => {
    const quantity = line.integer('quantity') ?? 1;
    const priceId = line.text('price');
    if (priceId !== undefined) {
      const price = world.find('price', priceId, 'line_items[0][price]');
      if (mode === 'subscription' && price.recurring === null)
        throw invalid('You must provide at least one recurring price in `subscription` mode.');
      const name = world.peek('product', price.product)?.name ?? price.product;
      return { priceId, name, amount: price.unit_amount ?? 0, quantity };
    }
    const data = line.part('price_data');
    if (!data || mode === 'subscription') throw missing('line_items[0][price]');
    data.required('currency');
    return {
      priceId: undefined,
      name: data.part('product_data')?.required('name') ?? '',
      amount: Number(data.required('unit_amount')),
      quantity,
    };
  });
  if (lines.length === 0) throw missing('line_items');
  const wrong = mode === 'payment' ? 'subscription_data' : 'payment_intent_data';
  if (form.has(wrong)) throw invalid(`You can not pass \`${wrong}\` in \`${mode}\` mode.`, { param: wrong });
  const data = form.part(mode === 'payment' ? 'payment_intent_data' : 'subscription_data');
  return {
    lines,
    metadata: data?.metadata() ?? {},
    description: data?.text('description') ?? null,
    saveCard: (mode === 'payment' ? data?.choice('setup_future_usage', ['off_session', 'on_session']) : undefined) === 'off_session',
  };
}

const EMPTY: FakeSession = {
  id: '',
  object: 'checkout.session',
  adaptive_pricing: null,
  after_expiration: null,
  allow_promotion_codes: null,
  allowed_payment_method_types: null,
  amount_subtotal: null,
  amount_total: null,
  automatic_tax: { enabled: false, liability: null, provider: null, status: null },
  billing_address_collection: null,
  cancel_url: null,
  client_reference_id: null,
  client_secret: null,
  collected_information: null,
  consent: null,
  consent_collection: null,
  created: 0,
  currency: null,
  currency_conversion: null,
  custom_fields: [],
  custom_text: { after_submit: null, shipping_address: null, submit: null, terms_of_service_acceptance: null },
  customer: null,
  customer_account: null,
  customer_creation: null,
  customer_details: null,
  customer_email: null,
  discounts: [],
  expires_at: 0,
  integration_identifier: null,
  invoice: null,
  invoice_creation: null,
  livemode: false,
  locale: null,
  managed_payments: null,
  metadata: {},
  mode: 'payment',
  origin_context: null,
  payment_intent: null,
  payment_link: null,
  payment_method_collection: 'always',
  payment_method_configuration_details: null,
  payment_method_options: null,
  payment_method_types: ['card'],
  payment_status: 'unpaid',
  permissions: null,
  recovered_from: null,
  saved_payment_method_options: null,
  setup_intent: null,
  shipping_address_collection: null,
  shipping_cost: null,
  shipping_options: [],
  status: 'open',
  submit_type: null,
  subscription: null,
  success_url: null,
  total_details: { amount_discount: 0, amount_shipping: 0, amount_tax: 0 },
  ui_mode: 'hosted_page',
  url: null,
  wallet_options: null,
};
