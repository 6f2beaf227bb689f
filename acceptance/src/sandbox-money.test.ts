import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Account } from './account.ts';
import { Gateway } from './gateway.ts';

const DOCUMENT = fileURLToPath(new URL('../../contract/openapi.json', import.meta.url));
const EVENT = {
  title: 'Workshop',
  starts_at: '2099-03-05T18:00:00Z',
  ends_at: '2099-03-05T22:00:00Z',
  time_zone: 'UTC',
  price_usd: '49.5',
};

type Auth = Record<string, string>;
// biome-ignore lint/suspicious/noExplicitAny: What it says is compared with what is expected.
type Answer = { readonly status: number; readonly body: any };

let gateway: Gateway;
let admin: Auth;

beforeAll(async () => {
  gateway = await Gateway.start({ process: 'shared' });
  await logIn();
  for (const slug of ['tried-out', 'left-open', 'walked']) {
    const { body } = await call('/v1/events/admin', admin, { ...EVENT, slug });
    await call(`/v1/events/admin/${body.event_id}/publish`, admin, {});
  }
});
afterAll(() => gateway?.remove());

async function logIn() {
  const { admin_email: email, admin_password: password } = gateway.bootstrap;
  admin = { authorization: `Bearer ${(await call('/v1/users/login', {}, { email, password })).body.session.token}` };
}

async function call(path: string, headers: Auth, json?: object, method = json ? 'POST' : 'GET'): Promise<Answer> {
  const answer = await fetch(`${gateway.url}${path}`, {
    ...{ method, headers: { ...headers, ...(json && { 'content-type': 'application/json' }) } },
    ...(json && { body: JSON.stringify(json) }),
  });
  const text = await answer.text();
  return { status: answer.status, body: text === '' ? undefined : JSON.parse(text) };
}

/** A page under the address that the gateway has now. */
const press = async (page: string) => {
  const body = new URLSearchParams({ action: 'pay', card: 'good' });
  const answer = await fetch(`${gateway.url}${new URL(page).pathname}`, { method: 'POST', body, redirect: 'manual' });
  expect(answer.status).toBe(303);
};

/** A member with a place that waits for payment. */
async function registered(slug: string) {
  const account = await Account.signUp(gateway);
  const { email } = (await call('/v1/users/me', account.session)).body;
  expect((await call(`/v1/events/${slug}/register`, {}, { email })).body.status).toBe('awaiting_payment');
  return { email: String(email), account, checkout: () => call(`/v1/events/${slug}/checkout`, account.session, {}) };
}
const standing = async (email: string) => {
  const { body } = await call('/v1/events/admin/registrations', admin);
  const { status, payment_status } = body.find((one: { email: string }) => one.email === email);
  return [status, payment_status];
};

test('a place that the sandbox paid for is due again once the gateway serves live, where nothing pays for it', async () => {
  const [ada, bob] = [await registered('tried-out'), await registered('left-open')];
  await press((await ada.checkout()).body.checkout_url);
  await expect.poll(() => standing(ada.email)).toEqual(['confirmed', 'paid']);
  const left = (await bob.checkout()).body;

  // Nobody calls the provider: that there is one makes the gateway live.
  gateway.configure({ OPENAI_API_KEY: 'sk-real' });
  await gateway.stop();
  await gateway.start();
  expect(await standing(ada.email)).toEqual(['awaiting_payment', 'due']);
  for (const one of [ada, bob]) expect(await one.checkout()).toMatchObject({ status: 409, body: { code: 'conflict' } });

  // The page from the time before is there, and buys nothing.
  await press(left.checkout_url);
  const payments = () => call('/v1/plans/payments?livemode=false', bob.account.session);
  await expect.poll(async () => (await payments()).body.data).toMatchObject([{ kind: 'purchase', amount_usd: '49.5' }]);
  expect(await standing(bob.email)).toEqual(['awaiting_payment', 'due']);

  const { body } = await call('/v1/events/admin/registrations', admin);
  const { registration_id } = body.find((one: { email: string }) => one.email === ada.email);
  await call(`/v1/events/admin/registrations/${registration_id}`, admin, { status: 'confirmed' }, 'PATCH');
  expect(await standing(ada.email)).toEqual(['confirmed', 'waived']);
});

/** What asks the payment provider, as somebody would call it who wants to have something for the sandbox's money. */
const WAYS: Readonly<Record<string, (member: Awaited<ReturnType<typeof registered>>) => Promise<Answer>>> = {
  'POST /v1/plans/checkout': ({ account }) => call('/v1/plans/checkout', account.session, { plan_id: 'enterprise' }),
  'POST /v1/plans/balance-checkout': ({ account }) =>
    call('/v1/plans/balance-checkout', account.session, { amount_usd: '500', save_card: true }),
  'POST /v1/plans/upgrade-preview': ({ account }) => call('/v1/plans/upgrade-preview', account.session, { plan_id: 'enterprise' }),
  'POST /v1/plans/downgrade-schedule': ({ account }) => call('/v1/plans/downgrade-schedule', account.session, { plan_id: 'pro' }),
  'DELETE /v1/plans/downgrade-schedule': ({ account }) => call('/v1/plans/downgrade-schedule', account.session, undefined, 'DELETE'),
  'POST /v1/plans/cancel': ({ account }) => call('/v1/plans/cancel', account.session, {}),
  'POST /v1/plans/resume': ({ account }) => call('/v1/plans/resume', account.session, {}),
  'POST /v1/plans/portal': ({ account }) => call('/v1/plans/portal', account.session, {}),
  'POST /v1/plans/internal/apply-scheduled-downgrades': () =>
    call('/v1/plans/internal/apply-scheduled-downgrades', { 'x-internal-secret': gateway.bootstrap.internal_secret }, {}),
  'POST /v1/plans/payments/{payment_id}/refund': async ({ account }) => {
    const { body } = await call('/v1/plans/payments?livemode=false', account.session);
    return call(`/v1/plans/payments/${body.data[0].payment_id}/refund`, admin, { reason: 'Wants it in live money' });
  },
  'POST /v1/plans/webhooks/stripe': () =>
    call('/v1/plans/webhooks/stripe', { 'stripe-signature': 't=1,v1=00' }, { id: 'evt_1', type: 'checkout.session.completed' }),
  'POST /v1/events/vibethon/checkout': ({ account }) => call('/v1/events/vibethon/checkout', account.session, {}),
  'POST /v1/events/{slug}/checkout': ({ checkout }) => checkout(),
  'POST /v1/events/admin/registrations/{registration_id}/refund': async ({ email }) => {
    const { body } = await call('/v1/events/admin/registrations', admin);
    const { registration_id } = body.find((one: { email: string }) => one.email === email);
    return call(`/v1/events/admin/registrations/${registration_id}/refund`, admin, { reason: 'Wants it in live money' });
  },
};

test('no operation that asks the payment provider gives a live plan, balance or place for sandbox money', async () => {
  const document = JSON.parse(readFileSync(DOCUMENT, 'utf8'));
  const asking = Object.entries<Record<string, { responses?: Record<string, unknown> }>>(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { responses }]) => JSON.stringify(responses?.['503'] ?? {}).includes('payments_unavailable'))
      .map(([method]) => `${method.toUpperCase()} ${path}`),
  );
  expect(asking.toSorted()).toEqual(Object.keys(WAYS).toSorted());

  const eve = await registered('walked');
  const live = async () => ({
    plan: (await call('/v1/plans/current', eve.account.session)).body.plan,
    summary: (await call('/v1/plans/billing-summary', eve.account.session)).body,
    payments: (await call('/v1/plans/payments', eve.account.session)).body.data,
    invoices: (await call('/v1/plans/invoices', eve.account.session)).body.data,
    topup: (await call('/v1/plans/auto-topup', eve.account.session)).body.enabled,
    place: await standing(eve.email),
  });
  const before = await live();
  const sold = [];
  for (const [way, go] of Object.entries(WAYS)) {
    const { status, body } = await go(eve);
    expect.soft([way, status]).not.toEqual([way, 500]);
    if (!body?.checkout_url) continue;
    sold.push(way);
    await press(body.checkout_url);
    const read = `/v1/plans/checkouts/${body.checkout_id}`;
    await expect.poll(async () => (await call(read, eve.account.session)).body.status).toBe('completed');
  }
  expect(sold).toEqual(['POST /v1/plans/checkout', 'POST /v1/plans/balance-checkout']);
  expect(await live()).toEqual(before);
});
