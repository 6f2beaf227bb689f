import { contract } from '@tallygate/contract';
import { type FakeStripe, startFakeStripe } from '@tallygate/fake-stripe';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { PaymentProvider } from '../../adapters/payment/port.ts';
import { createStripePayments } from '../../adapters/payment/stripe.ts';
import { silentLog } from '../../kernel/log.ts';
import { createPlans, type Plans, planRoutes } from '../../plans/index.ts';
import { INTERNAL_SECRET, type Instance, newKey, openTestDatabase, send, signUp, startInstance } from './account-api-under-test.ts';
import { testCredentials } from './credential-matrix.ts';
import { endpointsOf } from './endpoint.ts';

let db: Awaited<ReturnType<typeof openTestDatabase>>;
let api: Instance;
let stripe: FakeStripe;
let provider: PaymentProvider;
let plans: Plans;

beforeAll(async () => {
  db = await openTestDatabase();
  stripe = await startFakeStripe();
  provider = createStripePayments({ secretKey: 'sk_test_x', webhookSecret: 'whsec_test', apiUrl: stripe.url });
  const clock = { now: () => stripe.now() };
  plans = createPlans({
    ...{ pool: db.database.pool, provider, clock, log: silentLog() },
    lanes: { refreshCredit: async () => {} },
    write: async () => {},
    publicUrl: () => 'https://gateway.example',
  });
  await plans.provision();
  api = await startInstance(db.database, db.url, { endpoints: endpointsOf(contract.plans, planRoutes(plans, clock)) });
});
afterAll(async () => {
  await api?.close();
  await provider?.close();
  await stripe?.close();
  await db?.close();
});

testCredentials(() => ({ api, database: db.database }), contract.plans);

type Auth = Record<string, string>;
const get = async (auth: Auth, path: string) => (await send(api, `/v1/plans/${path}`, { headers: auth })).body;
const post = (auth: Auth, path: string, json: object = {}) => send(api, `/v1/plans/${path}`, { headers: auth, json });

/** Pays the hosted page of a checkout with a good card, and takes what Stripe tells. */
async function pay(checkoutUrl: string): Promise<void> {
  stripe.pay(new URL(checkoutUrl).pathname.split('/').at(-1) ?? '');
  await plans.events.catchUp(0);
}

describe('a new account', () => {
  test('is on the free plan, with nothing used, paid or owed', async () => {
    const { auth } = await signUp(api);
    expect(await get(auth, 'current')).toMatchObject({
      plan: { plan_id: 'free', version: 1 },
      subscription: { status: 'none' },
      scheduled_downgrade: null,
    });
    expect(await get(auth, 'entitlements')).toMatchObject({ plan_id: 'free', overage: { policy: 'block' } });
    expect((await get(auth, 'usage')).meters[0]).toEqual({
      meter: 'requests',
      included: 1000,
      used: 0,
      remaining: 1000,
      beyond: 0,
      utilization: 0,
    });
    expect(await get(auth, 'billing-summary')).toMatchObject({
      balance_usd: '0',
      charged_usd: '0',
      uninvoiced_usd: '0',
      next_charge_at: null,
    });
    expect(await get(auth, 'overage-estimate')).toMatchObject({ charged_usd: '0', projected_usd: '0', lines: [] });
    for (const list of ['invoices', 'payments']) expect(await get(auth, list)).toEqual({ items: [], total: 0, limit: 50, offset: 0 });
  });

  test('may compare the plans, whose matrix has a value for each', async () => {
    const config = await get({}, 'config');
    expect(config.map((plan: { plan_id: string }) => plan.plan_id)).toEqual(['free', 'pro', 'scale', 'enterprise']);
    const { auth } = await signUp(api);
    const { rows } = await get(auth, 'entitlements/matrix');
    expect(rows.map((row: { entitlement: string }) => row.entitlement)).toContain('video_seconds');
    expect(rows.every((row: { values: unknown[] }) => row.values.length === 4)).toBe(true);
  });
});

describe('a plan', () => {
  test('is previewed, paid on the hosted page, changed at once, and previews change nothing', async () => {
    const { auth } = await signUp(api);
    const preview = await post(auth, 'upgrade-preview', { plan_id: 'pro' });
    expect(preview.body).toMatchObject({ difference_usd: '20', due_now_usd: '20', requires_checkout: true });
    const opened = await post(auth, 'checkout', { plan_id: 'pro' });
    expect(opened.body).toMatchObject({ status: 'open', plan_id: 'pro', amount_usd: '20' });
    await pay(opened.body.checkout_url);
    expect(await get(auth, `checkouts/${opened.body.checkout_id}`)).toMatchObject({
      status: 'completed',
      kind: 'plan',
      checkout_url: null,
    });
    expect(await get(auth, 'current')).toMatchObject({ plan: { plan_id: 'pro' }, subscription: { status: 'active' } });

    const up = (await post(auth, 'upgrade-preview', { plan_id: 'scale' })).body;
    expect(up.requires_checkout).toBe(false);
    const down = (await post(auth, 'downgrade-preview', { plan_id: 'free' })).body;
    expect(down).toMatchObject({ difference_usd: '-20', warnings: [] });
    expect((await get(auth, 'current')).change_version).toBe(1);
    const upgraded = await post(auth, 'checkout', { plan_id: 'scale', prorated_at: up.effective_at });
    expect(upgraded.body).toMatchObject({ status: 'completed', amount_usd: up.due_now_usd });
    await plans.events.catchUp(0);
    const { items, total } = await get(auth, 'invoices');
    expect(total).toBe(2);
    expect(items.map((one: { total_usd: string }) => one.total_usd).sort()).toEqual(['20', up.due_now_usd].sort());
    expect((await get(auth, 'payments')).total).toBe(2);

    const html = await fetch(`${api.baseUrl}/v1/plans/invoices/${items[0].invoice_id}/html`, { headers: auth });
    expect([html.status, html.headers.get('content-type')?.split(';')[0]]).toEqual([200, 'text/html']);
    expect(await html.text()).toContain(items[0].number);
    const stranger = await signUp(api);
    expect((await send(api, `/v1/plans/invoices/${items[0].invoice_id}`, { headers: stranger.auth })).status).toBe(404);
    expect((await send(api, `/v1/plans/checkouts/${opened.body.checkout_id}`, { headers: stranger.auth })).status).toBe(404);
  });

  test('goes down at the end of the period when the internal call comes, once, and is kept when that is cancelled', async () => {
    const { auth } = await signUp(api);
    await pay((await post(auth, 'checkout', { plan_id: 'scale' })).body.checkout_url);
    expect((await post(auth, 'downgrade-schedule', { plan_id: 'enterprise' })).status).toBe(409);
    expect((await post(auth, 'downgrade-schedule', { plan_id: 'pro' })).body).toMatchObject({ to_plan_id: 'pro', state: 'scheduled' });
    expect(await get(auth, 'entitlements')).toMatchObject({ plan_id: 'scale' });
    const kept = await send(api, '/v1/plans/downgrade-schedule', { method: 'DELETE', headers: auth });
    expect(kept.body.scheduled_downgrade).toBeNull();
    await post(auth, 'downgrade-schedule', { plan_id: 'pro' });
    const apply = () => post({ 'x-internal-secret': INTERNAL_SECRET }, 'internal/apply-scheduled-downgrades');
    expect((await apply()).body).toMatchObject({ applied: 0, items: [] });
    stripe.advance({ days: 32 });
    expect((await apply()).body).toMatchObject({ applied: 1, dropped: 0, waiting: 0 });
    expect((await apply()).body).toMatchObject({ applied: 0, items: [] });
    expect(await get(auth, 'entitlements')).toMatchObject({ plan_id: 'pro' });
    expect((await post(auth, 'cancel')).body.subscription.cancels_at_period_end).toBe(true);
    expect((await post(auth, 'resume')).body).toMatchObject({ subscription: { cancels_at_period_end: false }, scheduled_downgrade: null });
    expect((await post(auth, 'resume')).status).toBe(409);
  });

  test('that costs nothing cannot be bought, nor a higher one be previewed as lower', async () => {
    const { auth } = await signUp(api);
    expect((await post(auth, 'checkout', { plan_id: 'free' })).status).toBe(422);
    expect((await post(auth, 'downgrade-preview', { plan_id: 'pro' })).status).toBe(409);
    expect((await post(auth, 'upgrade-preview', { plan_id: 'free' })).status).toBe(422);
    expect((await post(auth, 'cancel')).status).toBe(409);
  });
});

describe('a balance', () => {
  test.each(['0.99', '10000.01', '5.001', '-5'])('is not topped up with $%s', async (amount_usd) => {
    const { auth } = await signUp(api);
    expect((await post(auth, 'balance-checkout', { amount_usd })).status).toBe(422);
  });

  test('is paid in, and returned by an administrator with a reason, which stands in the audit log of the account', async () => {
    const { auth } = await signUp(api);
    const admin = await signUp(api, 'admin');
    await pay((await post(auth, 'balance-checkout', { amount_usd: '25' })).body.checkout_url);
    expect(await get(auth, 'billing-summary')).toMatchObject({ balance_usd: '25' });
    const [payment] = (await get(auth, 'payments')).items;
    expect(payment).toMatchObject({ kind: 'balance', status: 'succeeded', amount_usd: '25' });
    const path = `payments/${payment.payment_id}/refund`;
    expect((await post(auth, path, { amount_usd: '5', reason: 'mine' })).status).toBe(403);
    expect((await post(admin.auth, path, { amount_usd: '5' })).status).toBe(422);
    expect((await post(admin.auth, path, { amount_usd: '5', reason: 'Goodwill' })).body).toMatchObject({ refunded_usd: '5' });
    expect((await post(admin.auth, path, { amount_usd: '21', reason: 'Too much' })).status).toBe(409);
    expect(await get(auth, 'billing-summary')).toMatchObject({ balance_usd: '20' });
    const log = (await send(api, '/v1/audit-log', { headers: auth })).body;
    expect(log.items.find((entry: { action: string }) => entry.action === 'payment.refunded').changes).toMatchObject({
      reason: 'Goodwill',
      amount_usd: '5',
    });
  });

  test('keeps its settings of top-ups and alerts, each change in the audit log', async () => {
    const { auth } = await signUp(api);
    const put = (path: string, json: object) => send(api, `/v1/plans/${path}`, { method: 'PUT', headers: auth, json });
    expect(await get(auth, 'auto-topup')).toMatchObject({ enabled: false, status: 'off' });
    expect((await put('auto-topup', { enabled: true, threshold_usd: '5', amount_usd: '25' })).body).toMatchObject({ status: 'ready' });
    expect((await put('spend-alerts', { thresholds_usd: ['50', '10', '10'] })).body.thresholds_usd).toEqual(['10', '50']);
    const actions = (await send(api, '/v1/audit-log', { headers: auth })).body.items.map((entry: { action: string }) => entry.action);
    expect(actions).toEqual(expect.arrayContaining(['auto_topup.changed', 'spend_alerts.changed']));
  });

  test('has a portal, and the checkout of one wish is made once', async () => {
    const { auth } = await signUp(api);
    expect((await post(auth, 'portal')).body.url).toContain(stripe.url);
    const wish = () =>
      send(api, '/v1/plans/balance-checkout', { headers: { ...auth, 'idempotency-key': 'once' }, json: { amount_usd: '25' } });
    expect((await wish()).body.checkout_id).toBe((await wish()).body.checkout_id);
  });

  test('is left alone by a key that may only read', async () => {
    const { auth } = await signUp(api);
    const reader = await newKey(api, auth, { scopes: ['account:read'] });
    expect((await post(reader.auth, 'balance-checkout', { amount_usd: '25' })).body.code).toBe('scope_required');
    const payer = await newKey(api, auth, { scopes: ['billing:write'] });
    expect((await post(payer.auth, 'balance-checkout', { amount_usd: '25' })).status).toBe(200);
  });
});
