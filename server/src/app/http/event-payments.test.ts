import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { PaymentEvent } from '../../adapters/payment/port.ts';
import { newKey, send, signUp } from './testing/account-api.ts';
import { type EventApi, startEventApi } from './testing/event-api.ts';

let world: EventApi;
let api: EventApi['api'];
let admin: EventApi['admin'];
let aheadMs = 0;

beforeAll(async () => {
  world = await startEventApi((stripe) => ({ now: () => stripe.now() + aheadMs }));
  ({ api, admin } = world);
});
afterAll(() => world?.close());

let serial = 0;
type Auth = Record<string, string>;

async function paidEvent(over: object = {}): Promise<{ slug: string; event_id: string }> {
  const times = { starts_at: '2099-03-05T18:00:00Z', ends_at: '2099-03-05T22:00:00Z', time_zone: 'UTC' };
  const json = { slug: `paid-${++serial}`, title: 'Workshop', price_usd: '49.50', ...times, ...over };
  const { body } = await send(api, '/v1/events/admin', { headers: admin, json });
  await send(api, `/v1/events/admin/${body.event_id}/publish`, { method: 'POST', headers: admin });
  return body;
}
const register = (slug: string, email: string) => send(api, `/v1/events/${slug}/register`, { json: { email } });
const status = async (slug: string, email: string) =>
  (
    await send(api, `/v1/events/${slug}/registration-status?email=${email}`, {
      headers: { 'x-forwarded-for': `203.0.113.${++serial % 250}` },
    })
  ).body;
const checkout = (slug: string, auth: Auth, json: object = {}) => send(api, `/v1/events/${slug}/checkout`, { headers: auth, json });
const pay = (checkoutUrl: string) => world.stripe.pay(new URL(checkoutUrl).pathname.split('/').at(-1) ?? '');
const happened = async (): Promise<PaymentEvent[]> => {
  const all: PaymentEvent[] = [];
  for await (const event of world.provider.listEvents(0)) all.push(event);
  return all;
};
const takeEvents = () => world.plans.events.catchUp(0);
const subjects = async (email: string) =>
  (await world.mailbox.to(email)).map(({ subject }) => subject).filter((subject) => subject.includes('Workshop'));
const billing = async (): Promise<Record<string, string>> => {
  const { rows } = await world.pool.query<{ account: string; sum: string }>(
    "select account, sum(amount_nano)::text as sum from ledger_entries where account in ('sales_revenue', 'refunds', 'payment_clearing') group by 1",
  );
  return Object.fromEntries(rows.map(({ account, sum }) => [account, sum]));
};

/** A member with a place that waits for payment. */
async function registered(slug: string) {
  const member = await signUp(api);
  await register(slug, member.email);
  return member;
}

describe('a place that costs something', () => {
  test('is held, paid on the hosted page, confirmed once by webhook, and refunded', async () => {
    const { slug } = await paidEvent({ capacity: 1 });
    const ada = await registered(slug);
    const bob = await registered(slug);
    expect(await status(slug, ada.email)).toMatchObject({ status: 'awaiting_payment', payment_status: 'due', pay_by: expect.any(String) });
    expect(await status(slug, bob.email)).toMatchObject({ status: 'waitlisted', waitlist_position: 1 });

    const opened = await checkout(slug, ada.auth, { success_url: 'https://app.example/done' });
    expect(opened).toMatchObject({ status: 200, body: { status: 'open', event_slug: slug, amount_usd: '49.5' } });
    expect((await checkout(slug, ada.auth)).body).toEqual(opened.body);
    pay(opened.body.checkout_url);
    expect((await checkout(slug, ada.auth)).body).toMatchObject({ status: 'completed', checkout_url: null });
    expect(await status(slug, ada.email)).toMatchObject({ status: 'awaiting_payment' });

    await takeEvents();
    // A repeated delivery, in any order, changes nothing.
    for (const event of (await happened()).toReversed()) await world.plans.events.apply(event);
    expect(await status(slug, ada.email)).toMatchObject({ status: 'confirmed', payment_status: 'paid', pay_by: null });
    expect(await subjects(ada.email)).toEqual(['A place is held for you: Workshop', 'You have a place: Workshop']);
    expect(await billing()).toEqual({ payment_clearing: '-49500000000', sales_revenue: '49500000000' });
    expect((await send(api, '/v1/plans/billing-summary', { headers: ada.auth })).body.balance_usd).toBe('0');
    const paid = (await send(api, '/v1/plans/payments', { headers: ada.auth })).body.data;
    expect(paid).toMatchObject([{ kind: 'purchase', amount_usd: '49.5', refunded_usd: '0' }]);
    expect((await send(api, `/v1/plans/checkouts/${opened.body.checkout_id}`, { headers: ada.auth })).body).toMatchObject({
      kind: 'purchase',
      status: 'completed',
    });

    const { registration_id, registrant } = await listedOf(slug, ada.email);
    expect(registrant.payment_id).toBe(paid[0].payment_id);
    const cancel = await send(api, `/v1/events/admin/registrations/${registration_id}`, {
      method: 'PATCH',
      headers: admin,
      json: { status: 'canceled' },
    });
    expect(cancel).toMatchObject({ status: 409, body: { code: 'conflict' } });
    const refund = (headers: Auth) =>
      send(api, `/v1/events/admin/registrations/${registration_id}/refund`, { headers, json: { reason: 'Cannot come' } });
    expect((await refund(ada.auth)).body.code).toBe('forbidden');
    expect((await refund(admin)).body).toMatchObject({ status: 'canceled', payment_status: 'refunded' });
    expect((await refund(admin)).body.code).toBe('conflict');
    await takeEvents();
    expect(await billing()).toEqual({ payment_clearing: '0', sales_revenue: '49500000000', refunds: '-49500000000' });
    expect((await world.mailbox.to(ada.email)).at(-1)?.text).toContain('is refunded');
    expect(await status(slug, bob.email)).toMatchObject({ status: 'awaiting_payment', payment_status: 'due' });
    expect((await world.plans.reconcile()).differences).toEqual([]);
  });

  test('is paid by its owner, a colleague or an administrator; to anybody else the address is not registered', async () => {
    const { slug } = await paidEvent();
    const ada = await registered(slug);
    const stranger = await signUp(api);
    const forAda = (auth: Auth) => checkout(slug, { ...auth, 'x-event-email': ada.email.toUpperCase() });
    const refused = await forAda(stranger.auth);
    const nobody = await checkout(slug, { ...stranger.auth, 'x-event-email': 'nobody@example.com' });
    expect([refused.status, { ...refused.body, instance: '' }]).toEqual([404, { ...nobody.body, instance: '' }]);
    expect((await forAda(admin)).body.status).toBe('open');
    // The other user's page is ended, so that nobody pays twice.
    const own = await forAda(ada.auth);
    expect(own.body.status).toBe('open');
    const narrow = await newKey(api, ada.auth, { scopes: ['account:read', 'account:write'] });
    expect((await forAda(narrow.auth)).body.code).toBe('scope_required');
    expect((await checkout(slug, { ...ada.auth, 'x-event-email': 'ada' })).status).toBe(422);
  });

  test('goes to the waitlist when it is not paid in time, and cannot be paid any more', async () => {
    const { slug } = await paidEvent({ capacity: 1 });
    const ada = await registered(slug);
    const bob = await registered(slug);
    const { checkout_url } = (await checkout(slug, ada.auth)).body;
    await world.events.releaseUnpaid();
    expect(await status(slug, ada.email)).toMatchObject({ status: 'awaiting_payment' });
    aheadMs = 25 * 3_600_000;
    try {
      await world.events.releaseUnpaid();
      await world.events.releaseUnpaid();
      expect([await status(slug, ada.email), await status(slug, bob.email)]).toMatchObject([
        { status: 'canceled' },
        { status: 'awaiting_payment' },
      ]);
    } finally {
      aheadMs = 0;
    }
    expect(pay(checkout_url)).toContain('expired');
    expect((await checkout(slug, ada.auth)).body).toMatchObject({ code: 'conflict' });
    expect(await subjects(bob.email)).toEqual(['You are on the waitlist: Workshop', 'A place is held for you: Workshop']);
  });

  test('that was paid at the last moment is not taken away', async () => {
    const { slug } = await paidEvent({ capacity: 1 });
    const ada = await registered(slug);
    pay((await checkout(slug, ada.auth)).body.checkout_url);
    aheadMs = 25 * 3_600_000;
    try {
      await world.events.releaseUnpaid();
    } finally {
      aheadMs = 0;
    }
    await takeEvents();
    expect(await status(slug, ada.email)).toMatchObject({ status: 'confirmed', payment_status: 'paid' });
  });

  const admits = async (slug: string, email: string, json: object) => {
    const { registration_id } = await listedOf(slug, email);
    return send(api, `/v1/events/admin/registrations/${registration_id}`, { method: 'PATCH', headers: admin, json });
  };
  const returnsOf = async (email: string) =>
    (await world.mailbox.to(email)).filter(({ subject }) => subject.startsWith('Your payment goes back'));

  test.each([
    ['is canceled', async (slug: string, email: string) => admits(slug, email, { status: 'canceled' }), 'canceled'],
    ['is given for free', async (slug: string, email: string) => admits(slug, email, { status: 'confirmed' }), 'confirmed'],
    ['is at an event that is archived', async (slug: string) => step(slug, 'archive'), 'canceled'],
    ['is at an event that is taken back', async (slug: string) => step(slug, 'unpublish'), 'awaiting_payment'],
  ])(
    'that %s cannot be paid any more; what was paid just before goes back by itself, once, and changes nothing',
    async (_what, take, left) => {
      const { slug } = await paidEvent();
      const [ada, bob] = [await registered(slug), await registered(slug)];
      const [late, early] = [await checkout(slug, ada.auth), await checkout(slug, bob.auth)];
      // Bob has paid, and no webhook has reached the gateway.
      pay(early.body.checkout_url);
      for (const { email } of [ada, bob]) expect((await take(slug, email)).status).toBeLessThan(410);
      expect(pay(late.body.checkout_url)).toContain('expired');
      await takeEvents();
      for (const event of await happened()) await world.plans.events.apply(event);
      await Promise.all([world.plans.refunds.goOn(), world.plans.refunds.goOn()]);
      await takeEvents();
      const { status: state, registrant } = await listedOf(slug, bob.email);
      expect([state, registrant.payment_id]).toEqual([left, null]);
      expect((await send(api, '/v1/plans/payments', { headers: bob.auth })).body.data).toMatchObject([
        { kind: 'purchase', amount_usd: '49.5', refunded_usd: '49.5' },
      ]);
      expect(await returnsOf(bob.email)).toHaveLength(1);
      expect(await returnsOf(ada.email)).toHaveLength(0);
      const trail = "select actor_kind, changes from audit_log where account_id = $1 and action = 'payment.refunded'";
      expect((await world.pool.query(trail, [bob.accountId])).rows).toMatchObject([
        { actor_kind: 'system', changes: { amount_usd: '49.5' } },
      ]);
      expect((await world.plans.reconcile()).differences).toEqual([]);
    },
  );

  test('that was canceled while the provider could not be asked is not forgotten: its page is ended later', async () => {
    const { slug } = await paidEvent();
    const ada = await registered(slug);
    const { checkout_url } = (await checkout(slug, ada.auth)).body;
    const sessions = "update checkouts set status = 'open', url = 'x' where session_id = $1";
    expect((await admits(slug, ada.email, { status: 'canceled' })).body.status).toBe('canceled');
    // As though the first attempt had not been noted.
    await world.pool.query(sessions, [new URL(checkout_url).pathname.split('/').at(-1)]);
    await world.events.releaseUnpaid();
    const { rows } = await world.pool.query("select 1 from checkouts where status = 'open' and account_id = $1", [ada.accountId]);
    expect(rows).toEqual([]);
  });

  test('after a refund and a new registration has a new payment, and the ledger has both', async () => {
    const { slug } = await paidEvent();
    const ada = await registered(slug);
    pay((await checkout(slug, ada.auth)).body.checkout_url);
    await takeEvents();
    const before = await listedOf(slug, ada.email);
    await send(api, `/v1/events/admin/registrations/${before.registration_id}/refund`, { headers: admin, json: { reason: 'x' } });
    aheadMs = 3_600_000;
    try {
      await register(slug, ada.email);
    } finally {
      aheadMs = 0;
    }
    const again = await listedOf(slug, ada.email);
    expect(again).toMatchObject({
      status: 'awaiting_payment',
      payment_status: 'due',
      registrant: { payment_id: before.registrant.payment_id },
    });
    expect(Date.parse(again.registered_at)).toBeGreaterThan(Date.parse(before.registered_at));
    pay((await checkout(slug, ada.auth)).body.checkout_url);
    await takeEvents();
    for (const event of (await happened()).toReversed()) await world.plans.events.apply(event);
    const after = await listedOf(slug, ada.email);
    expect(after).toMatchObject({ status: 'confirmed', payment_status: 'paid' });
    expect(after.registrant.payment_id).not.toBe(before.registrant.payment_id);
  });

  test('at an unpublished event stays held, with a day to pay once it is public again', async () => {
    const { slug } = await paidEvent({ capacity: 1 });
    const ada = await registered(slug);
    await step(slug, 'unpublish');
    aheadMs = 25 * 3_600_000;
    try {
      await world.events.releaseUnpaid();
      await step(slug, 'publish');
      await world.events.releaseUnpaid();
      const { status: state, pay_by } = await status(slug, ada.email);
      expect(state).toBe('awaiting_payment');
      expect(Date.parse(pay_by)).toBeGreaterThan(world.stripe.now() + aheadMs + 23 * 3_600_000);
    } finally {
      aheadMs = 0;
    }
  });

  test('is given for free by an administrator who confirms it', async () => {
    const { slug } = await paidEvent();
    const ada = await registered(slug);
    const { registration_id } = await listedOf(slug, ada.email);
    const path = `/v1/events/admin/registrations/${registration_id}`;
    expect((await send(api, path, { method: 'PATCH', headers: admin, json: { status: 'confirmed' } })).body).toMatchObject({
      status: 'confirmed',
      payment_status: 'waived',
    });
    expect((await checkout(slug, ada.auth)).body).toMatchObject({ status: 'not_required', checkout_id: null });
    expect((await send(api, `${path}/refund`, { headers: admin, json: { reason: 'x' } })).body.code).toBe('conflict');
  });
});

test('a place that is free needs no payment, at the Vibethon neither', async () => {
  const ada = await registered('vibethon');
  expect((await checkout('vibethon', ada.auth)).body).toMatchObject({ status: 'not_required', amount_usd: '0', checkout_url: null });
});

async function step(slug: string, name: 'archive' | 'publish' | 'unpublish') {
  if (name !== 'archive') return send(api, `/v1/marketing/events/${slug}/${name}`, { method: 'POST', headers: admin });
  const { body } = await send(api, '/v1/events/admin', { headers: admin });
  const { event_id } = body.find((one: { slug: string }) => one.slug === slug);
  return send(api, `/v1/events/admin/${event_id}/archive`, { method: 'POST', headers: admin });
}

async function listedOf(slug: string, email: string) {
  const { body } = await send(api, '/v1/events/admin/registrations', { headers: admin });
  return body.find((one: { event_slug: string; email: string }) => one.event_slug === slug && one.email === email);
}
