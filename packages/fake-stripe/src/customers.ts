import type Stripe from 'stripe';
import { cardOf, declineOf, testCard } from './cards.ts';
import { StripeFault } from './fault.ts';
import type { Form } from './form.ts';
import type { FakeCustomer, FakePaymentMethod } from './records.ts';
import type { World } from './world.ts';

export function createCustomer(world: World, form: Form): FakeCustomer {
  const customer = {
    id: world.id('cus'),
    object: 'customer',
    address: null,
    balance: 0,
    created: world.now(),
    currency: null,
    default_source: null,
    delinquent: false,
    description: form.clearable('description') ?? null,
    email: form.clearable('email') ?? null,
    invoice_prefix: world.id('').slice(1, 9).toUpperCase(),
    invoice_settings: { custom_fields: null, default_payment_method: null, footer: null, rendering_options: null },
    livemode: false,
    metadata: form.metadata(),
    name: form.clearable('name') ?? null,
    next_invoice_sequence: 1,
    phone: null,
    preferred_locales: [],
    shipping: null,
    tax_exempt: 'none',
    test_clock: null,
  } satisfies Stripe.Customer;
  world.put('customer', customer);
  world.emit('customer.created', customer);
  const method = form.text('payment_method');
  if (method !== undefined) attach(world, method, customer.id);
  setDefaultMethod(world, customer, form);
  return customer;
}

export function updateCustomer(world: World, id: string, form: Form): FakeCustomer {
  const customer = world.find('customer', id);
  if (customer.deleted) throw new StripeFault(404, 'invalid_request_error', `No such customer: '${id}'`, { code: 'resource_missing' });
  const before = { email: customer.email, name: customer.name, metadata: customer.metadata };
  customer.email = pick(form.clearable('email'), customer.email);
  customer.name = pick(form.clearable('name'), customer.name ?? null);
  customer.description = pick(form.clearable('description'), customer.description);
  customer.metadata = form.metadata(customer.metadata);
  setDefaultMethod(world, customer, form);
  world.emit('customer.updated', customer, before);
  return customer;
}

export function deleteCustomer(world: World, id: string): Stripe.DeletedCustomer {
  const customer = world.find('customer', id);
  world.tables.customer.delete(id);
  world.emit('customer.deleted', customer);
  return { id, object: 'customer', deleted: true };
}

export function createPaymentMethod(world: World, form: Form): FakePaymentMethod {
  form.required('type');
  const card = form.part('card');
  const method = methodWith(world, testCard(card?.text('token') ?? card?.text('number') ?? ''));
  card?.integer('exp_month');
  card?.integer('exp_year');
  card?.text('cvc');
  return method;
}

/** Attaches a method, or a fresh one of Stripe's test methods (`pm_card_visa`), to a customer. */
export function attach(world: World, id: string, customerId: string): FakePaymentMethod {
  world.find('customer', customerId, 'customer');
  const method = world.peek('payment_method', id) ?? methodWith(world, testCard(id));
  if (method.customer !== null && method.customer !== customerId) {
    throw new StripeFault(400, 'invalid_request_error', 'The payment method you provided has already been attached to a customer.', {
      code: 'payment_method_unexpected_state',
    });
  }
  const decline = declineOf(method, 'attach');
  if (decline) throw new StripeFault(402, 'card_error', decline.message, { code: decline.code, ...decline.detail });
  method.customer = customerId;
  world.emit('payment_method.attached', method);
  return method;
}

export function detach(world: World, id: string): FakePaymentMethod {
  const method = world.find('payment_method', id);
  const customer = world.peek('customer', method.customer);
  if (customer?.invoice_settings.default_payment_method === id) customer.invoice_settings.default_payment_method = null;
  method.customer = null;
  world.emit('payment_method.detached', method);
  return method;
}

export function methodWith(world: World, number: string): FakePaymentMethod {
  const method = {
    id: world.id('pm'),
    object: 'payment_method',
    allow_redisplay: 'unspecified',
    billing_details: { address: null, email: null, name: null, phone: null, tax_id: null },
    card: cardOf(number),
    created: world.now(),
    customer: null,
    customer_account: null,
    livemode: false,
    metadata: {},
    type: 'card',
  } satisfies Stripe.PaymentMethod;
  return world.put('payment_method', method);
}

function setDefaultMethod(world: World, customer: FakeCustomer, form: Form): void {
  const method = form.part('invoice_settings')?.clearable('default_payment_method');
  if (method) world.find('payment_method', method, 'invoice_settings[default_payment_method]');
  customer.invoice_settings.default_payment_method = pick(method, customer.invoice_settings.default_payment_method);
}

/** What was sent, or what was there. */
export const pick = <T>(sent: T | undefined, before: T): T => (sent === undefined ? before : sent);
