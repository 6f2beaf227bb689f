import Stripe from 'stripe';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type FakeStripe, startFakeStripe } from './index.ts';

let fake: FakeStripe;
let stripe: Stripe;
beforeEach(async () => {
  fake = await startFakeStripe({ clock: () => Date.UTC(2026, 0, 31, 12) });
  stripe = new Stripe('sk_test_fake', { ...fake.sdkOptions, maxNetworkRetries: 0 });
});
afterEach(() => fake.close());

const refusal = async (call: Promise<unknown>): Promise<Stripe.errors.StripeError> => {
  const thrown: unknown = await call.then(
    () => undefined,
    (failure: unknown) => failure,
  );
  if (!(thrown instanceof Stripe.errors.StripeError)) throw new Error(`Stripe did not refuse: ${thrown}`);
  return thrown;
};

async function plans() {
  const product = await stripe.products.create({ id: 'tallygate_pro', name: 'Pro' });
  const price = (unit_amount: number, lookup_key: string) =>
    stripe.prices.create({ product: product.id, currency: 'usd', unit_amount, lookup_key, recurring: { interval: 'month' } });
  return { pro: await price(2_000, 'pro_v1'), scale: await price(20_000, 'scale_v1') };
}

async function subscribed(price: Stripe.Price, card = '4242424242424242') {
  const customer = await stripe.customers.create({ email: 'ada@example.com' });
  const session = await stripe.checkout.sessions.create({
    mode: 'subscription',
    customer: customer.id,
    line_items: [{ price: price.id, quantity: 1 }],
    success_url: 'http://shop.example/ok?session={CHECKOUT_SESSION_ID}',
    subscription_data: { metadata: { account: 'a1' } },
  });
  fake.pay(session.id, card);
  const paid = await stripe.checkout.sessions.retrieve(session.id, { expand: ['subscription'] });
  if (paid.subscription === null || typeof paid.subscription === 'string') throw new Error('There is no subscription');
  return { customer, subscription: paid.subscription };
}

const itemOf = (subscription: Stripe.Subscription): Stripe.SubscriptionItem => {
  const item = subscription.items.data[0];
  if (!item) throw new Error('There is no item');
  return item;
};
const types = async () => (await stripe.events.list({ limit: 100 })).data.map(({ type }) => type);

describe('requests', () => {
  test('a key is asked for, a path and a parameter that are not there are refused, each with a request id', async () => {
    const stranger = new Stripe('sk_live_no', fake.sdkOptions);
    expect(await refusal(stranger.customers.create())).toMatchObject({ statusCode: 401, requestId: expect.stringMatching(/^req_/) });
    expect(await refusal(stripe.customers.retrieve('cus_none'))).toMatchObject({ statusCode: 404, code: 'resource_missing' });
    expect(await refusal(stripe.accounts.list())).toMatchObject({ statusCode: 404 });
    const misspelt = { name: 'Ada', emial: 'ada@example.com' };
    expect(await refusal(stripe.customers.create(misspelt))).toMatchObject({ code: 'parameter_unknown', param: 'emial' });
    expect((await stripe.customers.list()).data).toEqual([]);
  });

  test('an idempotency key replays the first answer, refuses other parameters, and says when the first request still runs', async () => {
    const options = { idempotencyKey: 'k1' };
    const first = await stripe.customers.create({ email: 'ada@example.com' }, options);
    const again = await stripe.customers.create({ email: 'ada@example.com' }, options);
    expect(again.id).toBe(first.id);
    expect(again.lastResponse.headers['idempotent-replayed']).toBe('true');
    expect(await refusal(stripe.customers.create({ email: 'eve@example.com' }, options))).toMatchObject({ type: 'StripeIdempotencyError' });
    fake.slowDown(50);
    const both = await Promise.allSettled([1, 2].map(() => stripe.customers.create({}, { idempotencyKey: 'k2' })));
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });

  test('an answer that is lost on its way has had its effect once, and the SDK fetches it by its key', async () => {
    const patient = new Stripe('sk_test_fake', { ...fake.sdkOptions, maxNetworkRetries: 2 });
    fake.failNext('lost_answer');
    const customer = await patient.customers.create({ email: 'ada@example.com' });
    expect((await stripe.customers.list()).data.map(({ id }) => id)).toEqual([customer.id]);
    expect(fake.requests.filter(({ method }) => method === 'POST')).toHaveLength(2);
  });

  test('lists come newest first in pages, can be searched, and ids are expanded on demand', async () => {
    for (let index = 0; index < 25; index++) await stripe.customers.create({ metadata: { n: String(index) } });
    const all = await stripe.customers.list({ limit: 10 }).autoPagingToArray({ limit: 100 });
    expect(all.map(({ metadata }) => metadata['n'])).toEqual(Array.from({ length: 25 }, (_, index) => String(24 - index)));
    const found = await stripe.customers.search({ query: 'metadata["n"]:"7"' });
    expect(found.data.map(({ id }) => id)).toEqual([all[17]?.id]);
    const { pro } = await plans();
    const { subscription } = await subscribed(pro);
    const expanded = await stripe.subscriptions.retrieve(subscription.id, { expand: ['latest_invoice.payments', 'customer'] });
    expect(expanded).toMatchObject({
      customer: { email: 'ada@example.com' },
      latest_invoice: { payments: { data: [{ status: 'paid' }] } },
    });
    expect(await refusal(stripe.subscriptions.retrieve(subscription.id, { expand: ['nothing'] }))).toMatchObject({ param: 'expand' });
  });

  test('a price is found by its lookup key, which one price has', async () => {
    const { pro } = await plans();
    expect((await stripe.prices.list({ lookup_keys: ['pro_v1'] })).data.map(({ id }) => id)).toEqual([pro.id]);
    const other = { product: 'tallygate_pro', currency: 'usd', unit_amount: 1, lookup_key: 'pro_v1' };
    expect(await refusal(stripe.prices.create(other))).toMatchObject({ code: 'resource_already_exists' });
    const moved = await stripe.prices.create({ ...other, transfer_lookup_key: true });
    expect((await stripe.prices.list({ lookup_keys: ['pro_v1'] })).data.map(({ id }) => id)).toEqual([moved.id]);
  });
});

describe('checkout', () => {
  const payment = {
    mode: 'payment',
    line_items: [{ price_data: { currency: 'usd', unit_amount: 2_500, product_data: { name: 'Balance' } }, quantity: 1 }],
    success_url: 'http://shop.example/ok?session={CHECKOUT_SESSION_ID}',
    cancel_url: 'http://shop.example/no',
    payment_intent_data: { metadata: { account: 'a1' }, setup_future_usage: 'off_session' },
  } satisfies Stripe.Checkout.SessionCreateParams;

  test('the hosted page takes the money with Pay, says why with Decline, and leads back', async () => {
    const customer = await stripe.customers.create();
    const session = await stripe.checkout.sessions.create({ ...payment, customer: customer.id });
    const url = session.url ?? '';
    expect(await (await fetch(url)).text()).toContain('$25.00');
    const press = (action: string) => fetch(url, { method: 'POST', body: new URLSearchParams({ action }), redirect: 'manual' });
    expect(await (await press('decline')).text()).toContain('Your card was declined.');
    const done = await press('pay');
    expect(done.headers.get('location')).toBe(`http://shop.example/ok?session=${session.id}`);
    const paid = await stripe.checkout.sessions.retrieve(session.id, { expand: ['payment_intent'] });
    expect(paid).toMatchObject({
      status: 'complete',
      payment_status: 'paid',
      payment_intent: { amount: 2_500, metadata: { account: 'a1' } },
    });
    expect((await stripe.paymentMethods.list({ customer: customer.id })).data).toHaveLength(1);
    expect(await types()).toEqual(
      expect.arrayContaining(['checkout.session.completed', 'payment_intent.payment_failed', 'charge.succeeded']),
    );
  });

  test('a session expires by time and by hand, and is then not paid', async () => {
    const [byTime, byHand] = [await stripe.checkout.sessions.create(payment), await stripe.checkout.sessions.create(payment)];
    await stripe.checkout.sessions.expire(byHand.id);
    fake.advance({ days: 1 });
    expect(await stripe.checkout.sessions.retrieve(byTime.id)).toMatchObject({ status: 'expired', url: null });
    expect(fake.pay(byHand.id)).toContain('expired');
    expect(await refusal(stripe.checkout.sessions.expire(byTime.id))).toMatchObject({ statusCode: 400 });
  });
});

describe('payments', () => {
  const charge = (payment_method: string, customer: string) =>
    stripe.paymentIntents.create({ amount: 1_000, currency: 'usd', customer, payment_method, confirm: true, off_session: true });

  test.each([
    ['4000002760003184', 'authentication_required', 'authentication_required'],
    ['4000000000099995', 'card_declined', 'insufficient_funds'],
    ['4000000000000341', 'card_declined', 'generic_decline'],
  ])('the card %s is kept and is declined without its owner: %s', async (number, code, declineCode) => {
    const customer = await stripe.customers.create();
    const method = await stripe.paymentMethods.create({ type: 'card', card: { number, exp_month: 1, exp_year: 2034 } });
    await stripe.paymentMethods.attach(method.id, { customer: customer.id });
    const declined = await refusal(charge(method.id, customer.id));
    expect(declined).toMatchObject({ type: 'StripeCardError', statusCode: 402, code, decline_code: declineCode });
    expect(declined.payment_intent).toMatchObject({ status: 'requires_payment_method', last_payment_error: { code } });
    expect(await stripe.paymentIntents.retrieve(declined.payment_intent?.id ?? '')).toMatchObject({ status: 'requires_payment_method' });
  });

  test('never more is returned than was paid, and a disputed payment not at all', async () => {
    const customer = await stripe.customers.create();
    const paid = await charge('pm_card_visa', customer.id);
    await stripe.refunds.create({ payment_intent: paid.id, amount: 400 });
    expect(await refusal(stripe.refunds.create({ payment_intent: paid.id, amount: 601 }))).toMatchObject({
      statusCode: 400,
      param: 'amount',
    });
    await stripe.refunds.create({ payment_intent: paid.id });
    expect(await refusal(stripe.refunds.create({ payment_intent: paid.id }))).toMatchObject({ code: 'charge_already_refunded' });
    const disputed = await charge('pm_card_visa', customer.id);
    const dispute = fake.openDispute(disputed.id);
    expect(await refusal(stripe.refunds.create({ payment_intent: disputed.id }))).toMatchObject({ code: 'charge_disputed' });
    fake.closeDispute(dispute, 'won');
    expect(await stripe.disputes.retrieve(dispute)).toMatchObject({ status: 'won', amount: 1_000 });
    expect(await stripe.refunds.create({ payment_intent: disputed.id })).toMatchObject({ status: 'succeeded' });
  });
});

describe('subscriptions', () => {
  test('a month ends on the day of its start, or on the month’s last day, and renews', async () => {
    const { subscription } = await subscribed((await plans()).pro);
    expect(new Date(itemOf(subscription).current_period_end * 1000).toISOString()).toBe('2026-02-28T12:00:00.000Z');
    fake.advance({ toMs: Date.UTC(2026, 2, 31, 12) });
    const later = await stripe.subscriptions.retrieve(subscription.id);
    expect(new Date(itemOf(later).current_period_end * 1000).toISOString()).toBe('2026-04-30T12:00:00.000Z');
    const invoices = await stripe.invoices.list({ subscription: subscription.id });
    expect(invoices.data.map(({ amount_paid, billing_reason, status }) => [amount_paid, billing_reason, status])).toEqual([
      [2_000, 'subscription_cycle', 'paid'],
      [2_000, 'subscription_cycle', 'paid'],
      [2_000, 'subscription_create', 'paid'],
    ]);
  });

  test('an upgrade charges the difference for the remaining time, as in the preview', async () => {
    const { pro, scale } = await plans();
    const { customer, subscription } = await subscribed(pro);
    fake.advance({ days: 14 });
    const items = [{ id: itemOf(subscription).id, price: scale.id }];
    const at = Math.floor(fake.now() / 1000);
    const details = { items, proration_behavior: 'always_invoice', proration_date: at } as const;
    const preview = await stripe.invoices.createPreview({
      customer: customer.id,
      subscription: subscription.id,
      subscription_details: details,
    });
    expect(preview.lines.data.map(({ amount }) => amount)).toEqual([-1_000, 10_000]);
    expect((await stripe.subscriptions.retrieve(subscription.id)).items.data[0]?.price.id).toBe(pro.id);
    const changed = await stripe.subscriptions.update(subscription.id, {
      ...details,
      payment_behavior: 'error_if_incomplete',
      expand: ['latest_invoice'],
    });
    expect(changed).toMatchObject({ status: 'active', latest_invoice: { amount_paid: 9_000, billing_reason: 'subscription_update' } });
  });

  test('an upgrade that the card does not pay changes nothing', async () => {
    const { pro, scale } = await plans();
    const { subscription } = await subscribed(pro, '4000000000099995');
    const items = [{ id: itemOf(subscription).id, price: scale.id }];
    const change = { items, proration_behavior: 'always_invoice', payment_behavior: 'error_if_incomplete' } as const;
    expect(await refusal(stripe.subscriptions.update(subscription.id, change))).toMatchObject({ statusCode: 402 });
    expect((await stripe.subscriptions.retrieve(subscription.id)).items.data[0]?.price.id).toBe(pro.id);
    expect((await stripe.invoices.list({ subscription: subscription.id })).data).toHaveLength(1);
  });

  test('a downgrade at once becomes a credit that the next invoice uses up', async () => {
    const { pro, scale } = await plans();
    const { customer, subscription } = await subscribed(scale);
    fake.advance({ days: 14 });
    const items = [{ id: itemOf(subscription).id, price: pro.id }];
    await stripe.subscriptions.update(subscription.id, { items, proration_behavior: 'always_invoice' });
    expect(await stripe.customers.retrieve(customer.id)).toMatchObject({ balance: -9_000 });
    fake.advance({ days: 14 });
    expect((await stripe.invoices.list({ subscription: subscription.id })).data[0]).toMatchObject({
      total: 2_000,
      amount_due: 0,
      status: 'paid',
    });
    expect(await stripe.customers.retrieve(customer.id)).toMatchObject({ balance: -7_000 });
  });

  test('a schedule takes effect though the clock passes over the boundary by itself', async () => {
    let now = Date.UTC(2026, 0, 31, 12);
    const jumpy = await startFakeStripe({ clock: () => now });
    await fake.close();
    fake = jumpy;
    stripe = new Stripe('sk_test_fake', { ...jumpy.sdkOptions, maxNetworkRetries: 0 });
    const { pro, scale } = await plans();
    const { subscription } = await subscribed(scale);
    const schedule = await stripe.subscriptionSchedules.create({ from_subscription: subscription.id });
    const [phase] = schedule.phases;
    await stripe.subscriptionSchedules.update(schedule.id, {
      end_behavior: 'release',
      phases: [
        { items: [{ price: scale.id, quantity: 1 }], start_date: phase?.start_date ?? 0, end_date: phase?.end_date ?? 0 },
        { items: [{ price: pro.id, quantity: 1 }], duration: { interval: 'month', interval_count: 1 }, proration_behavior: 'none' },
      ],
    });
    now += 33 * 86_400_000;
    expect(itemOf(await stripe.subscriptions.retrieve(subscription.id)).price.id).toBe(pro.id);
  });

  test('a schedule takes effect when the period ends, and not when it was released before', async () => {
    const { pro, scale } = await plans();
    const [kept, dropped] = [await subscribed(scale), await subscribed(scale)];
    for (const { subscription } of [kept, dropped]) {
      const schedule = await stripe.subscriptionSchedules.create({ from_subscription: subscription.id });
      const [phase] = schedule.phases;
      await stripe.subscriptionSchedules.update(schedule.id, {
        end_behavior: 'release',
        phases: [
          { items: [{ price: scale.id }], start_date: phase?.start_date ?? 0, end_date: phase?.end_date ?? 0 },
          { items: [{ price: pro.id }], duration: { interval: 'month' }, proration_behavior: 'none' },
        ],
      });
      expect(await refusal(stripe.subscriptions.update(subscription.id, { cancel_at_period_end: true }))).toMatchObject({
        statusCode: 400,
      });
      if (subscription === dropped.subscription) await stripe.subscriptionSchedules.release(schedule.id);
    }
    fake.advance({ days: 28 });
    const priceOf = async ({ subscription }: typeof kept) => (await stripe.subscriptions.retrieve(subscription.id)).items.data[0]?.price.id;
    expect([await priceOf(kept), await priceOf(dropped)]).toEqual([pro.id, scale.id]);
    expect((await stripe.invoices.list({ subscription: kept.subscription.id })).data[0]).toMatchObject({ amount_paid: 2_000 });
    fake.advance({ days: 31 });
    expect(await stripe.subscriptions.retrieve(kept.subscription.id)).toMatchObject({ schedule: null, status: 'active' });
  });

  test('it ends with the period, or now, or continues when the cancellation is undone', async () => {
    const { pro } = await plans();
    const [ending, resumed, ended] = [await subscribed(pro), await subscribed(pro), await subscribed(pro)];
    await stripe.subscriptions.update(ending.subscription.id, { cancel_at_period_end: true });
    await stripe.subscriptions.update(resumed.subscription.id, { cancel_at_period_end: true });
    await stripe.subscriptions.update(resumed.subscription.id, { cancel_at_period_end: false });
    expect(await stripe.subscriptions.cancel(ended.subscription.id)).toMatchObject({ status: 'canceled' });
    fake.advance({ days: 28 });
    const statuses = [ending, resumed].map(async ({ subscription }) => (await stripe.subscriptions.retrieve(subscription.id)).status);
    expect(await Promise.all(statuses)).toEqual(['canceled', 'active']);
  });

  test('a renewal that is declined is tried again every three days, and ends the subscription the fourth time', async () => {
    const { subscription } = await subscribed((await plans()).pro, '4000000000099995');
    const status = async () => (await stripe.subscriptions.retrieve(subscription.id)).status;
    fake.advance({ days: 28 });
    expect(await status()).toBe('past_due');
    fake.advance({ days: 8 });
    expect(await status()).toBe('past_due');
    fake.advance({ days: 1 });
    expect(await status()).toBe('canceled');
    expect((await types()).filter((type) => type === 'invoice.payment_failed')).toHaveLength(4);
  });

  test('a better card heals a subscription that is past due', async () => {
    const { customer, subscription } = await subscribed((await plans()).pro, '4000000000099995');
    fake.advance({ days: 28 });
    const method = await stripe.paymentMethods.attach('pm_card_visa', { customer: customer.id });
    await stripe.subscriptions.update(subscription.id, { default_payment_method: method.id });
    fake.advance({ days: 3 });
    expect((await stripe.subscriptions.retrieve(subscription.id)).status).toBe('active');
  });

  test('what waits is put on the next invoice once', async () => {
    const { customer, subscription } = await subscribed((await plans()).pro);
    await stripe.invoiceItems.create({
      customer: customer.id,
      subscription: subscription.id,
      amount: 345,
      currency: 'usd',
      description: 'Overage',
    });
    fake.advance({ days: 28 });
    fake.advance({ days: 31 });
    const [second, first] = (await stripe.invoices.list({ subscription: subscription.id })).data;
    expect([first?.total, second?.total]).toEqual([2_345, 2_000]);
    expect(first?.invoice_pdf && (await (await fetch(first.invoice_pdf)).text())).toMatch(/^%PDF-1\.4/);
  });
});
