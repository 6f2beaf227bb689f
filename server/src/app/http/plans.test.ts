import { contract } from '@tallygate/contract';
import { type FakeStripe, startFakeStripe } from '@tallygate/fake-stripe';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { PaymentProvider } from '../../adapters/payment/port.ts';
import { createStripePayments } from '../../adapters/payment/stripe.ts';
import { silentLog } from '../../kernel/log.ts';
import { type Plans, planRoutes } from '../../money/plans/index.ts';
import { sellingPlans } from '../../money/plans/testing/book.ts';
import { testCredentials } from './credential-matrix.ts';
import { endpointsOf } from './endpoint.ts';
import { INTERNAL_SECRET, type Instance, newKey, openTestDatabase, send, signUp, startInstance } from './testing/account-api.ts';

let db: Awaited<ReturnType<typeof openTestDatabase>>;
let api: Instance;
let stripe: FakeStripe;
let provider: PaymentProvider;
let plans: Plans;

beforeAll(async () => {
  db = await openTestDatabase();
  stripe = await startFakeStripe();
  provider = createStripePayments({ secretKey: 'sk_live_fake', webhookSecret: 'whsec_test', apiUrl: stripe.url, maxRetries: 0 });
  const clock = { now: () => stripe.now() };
  plans = sellingPlans({
    ...{ pool: db.database.pool, provider, clock, log: silentLog() },
    publicUrl: () => 'https://gateway.example',
  });
  await plans.provision();
  api = await startInstance(db.database, db.url, {
    endpoints: endpointsOf(contract.plans, planRoutes({ live: plans, paying: plans }, clock)),
  });
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

/** Pays the hosted page of a checkout with a valid card, and delivers Stripe's webhooks. */
async function pay(checkoutUrl: string): Promise<void> {
  stripe.pay(new URL(checkoutUrl).pathname.split('/').at(-1) ?? '');
  await plans.events.catchUp(0);
}

describe('a new account', () => {
  test('is on the free plan, with nothing used, paid or due', async () => {
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
    for (const list of ['invoices', 'payments']) expect(await get(auth, list)).toEqual({ data: [], has_more: false, next_cursor: null });
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
    const { data } = await get(auth, 'invoices');
    expect(data).toHaveLength(2);
    expect(data.map((one: { total_usd: string }) => one.total_usd).sort()).toEqual(['20', up.due_now_usd].sort());
    expect((await get(auth, 'payments')).data).toHaveLength(2);

    const html = await fetch(`${api.baseUrl}/v1/plans/invoices/${data[0].invoice_id}/html`, { headers: auth });
    expect([html.status, html.headers.get('content-type')?.split(';')[0]]).toEqual([200, 'text/html']);
    expect(await html.text()).toContain(data[0].number);
    const stranger = await signUp(api);
    expect((await send(api, `/v1/plans/invoices/${data[0].invoice_id}`, { headers: stranger.auth })).status).toBe(404);
    expect((await send(api, `/v1/plans/checkouts/${opened.body.checkout_id}`, { headers: stranger.auth })).status).toBe(404);
  });

  test('is downgraded once at the end of the period, and stays when that is cancelled', async () => {
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

  test('costs the amount of its preview: only a recent preview time is accepted', async () => {
    const { auth } = await signUp(api);
    await pay((await post(auth, 'checkout', { plan_id: 'pro' })).body.checkout_url);
    const { subscription } = await get(auth, 'current');
    stripe.advance({ days: 3 });
    const buy = (prorated_at: string, plan_id = 'scale') => post(auth, 'checkout', { plan_id, prorated_at });
    const chosen = [
      subscription.period_end,
      subscription.period_start,
      '1970-01-01T00:00:00Z',
      '2099-01-01T00:00:00Z',
      '0001-01-01T00:00:00Z',
    ];
    for (const moment of chosen)
      expect((await buy(moment)).body).toMatchObject({ status: 422, errors: [{ loc: ['body', 'prorated_at'] }] });
    const { effective_at } = (await post(auth, 'upgrade-preview', { plan_id: 'scale' })).body;
    expect((await buy(effective_at, 'enterprise')).status).toBe(422);
    stripe.advance({ seconds: 601 });
    expect((await buy(effective_at)).status).toBe(422);
    expect((await get(auth, 'current')).plan.plan_id).toBe('pro');
    const again = (await post(auth, 'upgrade-preview', { plan_id: 'scale' })).body;
    stripe.advance({ seconds: 300 });
    expect((await buy(again.effective_at)).body).toMatchObject({ status: 'completed', amount_usd: again.due_now_usd });
  });

  test('is neither upgraded nor previewed while a payment is late', async () => {
    const { auth } = await signUp(api);
    const session = new URL((await post(auth, 'checkout', { plan_id: 'pro' })).body.checkout_url).pathname.split('/').at(-1) ?? '';
    stripe.pay(session, '4000000000099995');
    stripe.advance({ days: 32 });
    await plans.events.catchUp(0);
    const late = { status: 409, detail: expect.stringContaining('late') };
    expect((await post(auth, 'upgrade-preview', { plan_id: 'scale' })).body).toMatchObject(late);
    expect((await post(auth, 'checkout', { plan_id: 'scale' })).body).toMatchObject(late);
  });

  test('costs at the next charge what was scheduled for then', async () => {
    const { auth } = await signUp(api);
    await pay((await post(auth, 'checkout', { plan_id: 'scale' })).body.checkout_url);
    expect(await get(auth, 'billing-summary')).toMatchObject({ next_charge_usd: '500' });
    await post(auth, 'downgrade-schedule', { plan_id: 'pro' });
    expect(await get(auth, 'billing-summary')).toMatchObject({ next_charge_usd: '20' });
    await post(auth, 'cancel');
    expect(await get(auth, 'billing-summary')).toMatchObject({ next_charge_usd: null });
  });

  test('that was bought is answered again to a repeat whose first answer was lost, and is paid once', async () => {
    const { auth } = await signUp(api);
    await pay((await post(auth, 'checkout', { plan_id: 'pro' })).body.checkout_url);
    const buy = () => send(api, '/v1/plans/checkout', { headers: { ...auth, 'idempotency-key': 'up' }, json: { plan_id: 'scale' } });
    stripe.loseAnswersTo('POST /v1/subscriptions/');
    expect((await buy()).status).toBe(503);
    stripe.loseAnswersTo(undefined);
    await plans.events.catchUp(0);
    expect((await buy()).body).toMatchObject({ status: 'completed', plan_id: 'scale' });
    expect((await buy()).body).toMatchObject({ status: 'completed', plan_id: 'scale' });
    expect((await get(auth, 'payments')).data).toHaveLength(2);
    expect((await post(auth, 'checkout', { plan_id: 'scale' })).body.detail).toBe(
      'The account has Scale already: there is nothing to buy.',
    );
    expect((await post(auth, 'upgrade-preview', { plan_id: 'scale' })).body.detail).toBe('The account has Scale already.');
  });

  test('that costs nothing cannot be bought, nor a higher one be previewed as lower', async () => {
    const { auth } = await signUp(api);
    expect((await post(auth, 'checkout', { plan_id: 'free' })).body).toMatchObject({
      status: 409,
      detail: expect.stringContaining('not for sale'),
    });
    expect((await post(auth, 'downgrade-preview', { plan_id: 'pro' })).status).toBe(409);
    expect((await post(auth, 'upgrade-preview', { plan_id: 'free' })).status).toBe(409);
    expect((await post(auth, 'cancel')).status).toBe(409);
  });
});

test.each(['checkout', 'upgrade-preview', 'downgrade-preview', 'downgrade-schedule'])(
  '%s refuses an unknown plan with those that there are',
  async (path) => {
    const { auth } = await signUp(api);
    const { status, body } = await post(auth, path, { plan_id: 'gold' });
    expect([status, body.detail]).toEqual([422, '`plan_id` is no plan: there are free, pro, scale, enterprise, operator.']);
  },
);

describe('a balance', () => {
  test.each(['0.99', '10000.01', '5.001', '-5'])('is not topped up with $%s', async (amount_usd) => {
    const { auth } = await signUp(api);
    expect((await post(auth, 'balance-checkout', { amount_usd })).status).toBe(422);
  });

  test('is paid in, and refunded by an administrator with a reason in the audit log', async () => {
    const { auth } = await signUp(api);
    const admin = await signUp(api, 'admin');
    await pay((await post(auth, 'balance-checkout', { amount_usd: '25' })).body.checkout_url);
    expect(await get(auth, 'billing-summary')).toMatchObject({ balance_usd: '25' });
    const [payment] = (await get(auth, 'payments')).data;
    expect(payment).toMatchObject({ kind: 'balance', status: 'succeeded', amount_usd: '25' });
    const path = `payments/${payment.payment_id}/refund`;
    expect((await post(auth, path, { amount_usd: '5', reason: 'mine' })).status).toBe(403);
    expect((await post(admin.auth, path, { amount_usd: '5' })).status).toBe(422);
    expect((await post(admin.auth, path, { amount_usd: '5', reason: 'Goodwill' })).body).toMatchObject({ refunded_usd: '5' });
    expect((await post(admin.auth, path, { amount_usd: '21', reason: 'Too much' })).status).toBe(409);
    expect(await get(auth, 'billing-summary')).toMatchObject({ balance_usd: '20' });
    const log = (await send(api, '/v1/audit-log', { headers: auth })).body;
    expect(log.data.find((entry: { action: string }) => entry.action === 'payment.refunded').changes).toMatchObject({
      reason: 'Goodwill',
      amount_usd: '5',
    });
  });

  const paidIn = async (amount_usd: string) => {
    const { auth } = await signUp(api);
    await pay((await post(auth, 'balance-checkout', { amount_usd })).body.checkout_url);
    const { payment_id } = (await get(auth, 'payments')).data[0];
    const admin = await signUp(api, 'admin');
    const refund = (json: object, key?: string) =>
      send(api, `/v1/plans/payments/${payment_id}/refund`, {
        headers: { ...admin.auth, ...(key !== undefined && { 'idempotency-key': key }) },
        json,
      });
    const log = async () => {
      const { data } = (await send(api, '/v1/audit-log', { headers: auth })).body;
      return data
        .filter(({ action }: { action: string }) => action === 'payment.refunded')
        .map(({ changes }: { changes: object }) => changes);
    };
    return { auth, refund, log, balance: async () => (await get(auth, 'billing-summary')).balance_usd };
  };

  test.each([
    ['under its key, when it is asked for again', 'k1', 0],
    ['without a key, when it is asked for again', undefined, 0],
    ['under its key, long after the provider has forgotten that', 'k2', 2],
  ])('is returned once though the provider’s answer was lost: %s', async (_how, key, days) => {
    const { refund, log, balance } = await paidIn('25');
    const wish = { amount_usd: '5', reason: 'Goodwill' };
    stripe.loseAnswersTo('POST /v1/refunds');
    expect((await refund(wish, key)).status).toBe(503);
    expect((await refund({ ...wish, reason: 'Another' }, key && 'other')).status).toBe(409);
    stripe.loseAnswersTo(undefined);
    stripe.advance({ days });
    expect((await refund(wish, key)).body).toMatchObject({ refunded_usd: '5' });
    await plans.refunds.goOn();
    await plans.events.catchUp(0);
    expect([await balance(), await log()]).toEqual(['20', [{ amount_usd: '5', reason: 'Goodwill' }]]);
    expect((await refund(wish, 'a new one')).body).toMatchObject({ refunded_usd: '10' });
  });

  test('is returned though the process died before or after it asked the provider, with its entry in the audit log', async () => {
    const { refund, log, balance } = await paidIn('25');
    for (const request of ['POST /v1/refunds', 'GET /v1/payment_intents/']) {
      stripe.loseAnswersTo(request);
      expect((await refund({ amount_usd: '5', reason: request }, request)).status).toBe(503);
      stripe.loseAnswersTo(undefined);
      stripe.advance({ seconds: 31 });
      await plans.refunds.goOn();
      expect((await refund({ amount_usd: '5', reason: request }, request)).status).toBe(200);
    }
    expect([await balance(), (await log()).length]).toEqual(['15', 2]);
  });

  test('is not returned without a reason in plain text, and nothing moves', async () => {
    const { refund, balance } = await paidIn('25');
    for (const reason of ['\u0000', 'a\u0000b', 'half \ud800', '', '   '])
      expect((await refund({ amount_usd: '5', reason })).body).toMatchObject({ status: 422, errors: [{ loc: ['body', 'reason'] }] });
    await plans.events.catchUp(0);
    expect(await balance()).toBe('25');
  });

  test.each(['http://shop.example/\u0000', 'http://shop.example/?\ud800'])(
    'is not paid with a way back that is no plain text: %j',
    async (url) => {
      const { auth } = await signUp(api);
      const tries = [
        post(auth, 'checkout', { plan_id: 'pro', success_url: url }),
        post(auth, 'checkout', { plan_id: 'pro', cancel_url: url }),
        post(auth, 'balance-checkout', { amount_usd: '5', success_url: url }),
        post(auth, 'portal', { return_url: url }),
      ];
      for (const tried of tries) expect((await tried).status).toBe(422);
    },
  );

  test('keeps its settings of top-ups and alerts, each change in the audit log', async () => {
    const { auth } = await signUp(api);
    const put = (path: string, json: object) => send(api, `/v1/plans/${path}`, { method: 'PUT', headers: auth, json });
    expect(await get(auth, 'auto-topup')).toMatchObject({ enabled: false, status: 'off' });
    const settings = { enabled: true, threshold_usd: '5', amount_usd: '25' };
    expect((await put('auto-topup', settings)).body).toMatchObject({ status: 403, code: 'plan_required' });
    await pay((await post(auth, 'checkout', { plan_id: 'pro' })).body.checkout_url);
    expect((await put('auto-topup', settings)).body).toMatchObject({ status: 'ready', daily_maximum_usd: '125' });
    expect((await put('auto-topup', { ...settings, daily_maximum_usd: '24' })).status).toBe(422);
    expect((await put('auto-topup', { ...settings, threshold_usd: '25.01' })).body).toMatchObject({
      status: 422,
      errors: [{ loc: ['body', 'amount_usd'] }],
    });
    expect((await put('spend-alerts', { thresholds_usd: ['50', '10', '10'] })).body.thresholds_usd).toEqual(['10', '50']);
    expect((await put('spend-alerts', { thresholds_usd: ['0.00'] })).status).toBe(422);
    const actions = (await send(api, '/v1/audit-log', { headers: auth })).body.data.map((entry: { action: string }) => entry.action);
    expect(actions).toEqual(expect.arrayContaining(['auto_topup.changed', 'spend_alerts.changed']));
  });

  test('has a portal, and the same checkout request is created once', async () => {
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

  test('cannot be changed by a test key with any scopes, nor can anything else that costs', async () => {
    const { auth } = await signUp(api);
    const tester = await newKey(api, auth, { scopes: ['billing:write', 'account:read'], livemode: false });
    const refused = { status: 403, code: 'live_key_required' };
    expect((await post(tester.auth, 'balance-checkout', { amount_usd: '25' })).body).toMatchObject(refused);
    expect((await post(tester.auth, 'checkout', { plan_id: 'pro' })).body).toMatchObject(refused);
    expect((await post(tester.auth, 'cancel')).body).toMatchObject(refused);
    expect(await get(tester.auth, 'billing-summary')).toMatchObject({ balance_usd: '0', owed_usd: '0' });
  });
});
