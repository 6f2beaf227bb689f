import { contract } from '@tallygate/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { lanesOf } from '../../inference/calls/caller-lanes.ts';
import { parseInferenceHeaders } from '../../inference/calls/index.ts';
import { expectWithinASecond } from '../../kernel/testing/within-a-second.ts';
import { planAdministrationRoutes, planOfOperator, planRoutes } from '../../money/plans/index.ts';
import { type SandboxUnderTest, sandboxUnderTest } from '../../money/plans/testing/sandbox.ts';
import { testCredentials } from './credential-matrix.ts';
import { endpointsOf } from './endpoint.ts';
import { type Instance, newKey, openTestDatabase, send, signUp, startInstance } from './testing/account-api.ts';

let db: Awaited<ReturnType<typeof openTestDatabase>>;
let world: SandboxUnderTest;
let api: Instance;
let another: Instance;
let admin: Awaited<ReturnType<typeof signUp>>;

/** A gateway without a payment provider, in two processes. */
beforeAll(async () => {
  db = await openTestDatabase();
  world = await sandboxUnderTest({ pool: db.database.pool, url: db.url });
  const start = () =>
    startInstance(db.database, db.url, {
      planOf: planOfOperator,
      endpoints: [
        ...endpointsOf(contract.plans, planRoutes(world, world.clock)),
        ...endpointsOf(contract.accounts, planAdministrationRoutes(world.live, null)),
      ],
    });
  [api, another] = [await start(), await start()];
  admin = await signUp(api, 'admin');
});
afterAll(async () => {
  await api?.close();
  await another?.close();
  await world?.close();
  await db?.close();
});

testCredentials(() => ({ api, database: db.database }), contract.accounts);

type Auth = Record<string, string>;
const get = async (auth: Auth, path: string) => (await send(api, `/v1/plans/${path}`, { headers: auth })).body;
const post = (auth: Auth, path: string, json: object = {}) => send(api, `/v1/plans/${path}`, { headers: auth, json });
const give = (accountId: string, json: object, auth: Auth = admin.auth) =>
  send(api, `/v1/admin/accounts/${accountId}/plan`, { method: 'PUT', headers: auth, json });

const WITHOUT_LIMIT = { requests: null, tokens: null, images: null, audio_seconds: null, video_seconds: null };
const NO_RATES = { requests_per_minute: null, tokens_per_minute: null, concurrency: null };

describe('an account of a gateway that sells nothing', () => {
  test.each([
    ['current', { plan: { plan_id: 'operator', quota: WITHOUT_LIMIT }, subscription: { status: 'none' }, livemode: true }],
    ['entitlements', { plan_id: 'operator', quota: WITHOUT_LIMIT, rate_limits: NO_RATES, overage: { policy: 'none' } }],
    ['usage', { plan_id: 'operator', cost_usd: '0', charged_usd: '0', livemode: true }],
    ['billing-summary', { plan_id: 'operator', monthly_price_usd: '0', balance_usd: '0', next_charge_at: null, livemode: true }],
    ['overage-estimate', { policy: 'none', charged_usd: '0', projected_usd: '0', lines: [] }],
    ['invoices', { data: [] }],
    ['payments', { data: [] }],
    ['auto-topup', { enabled: false, livemode: false }],
    ['spend-alerts', { thresholds_usd: [] }],
  ])('has no limit and no price, says %s', async (path, said) => {
    expect(await get((await signUp(api)).auth, path)).toMatchObject(said);
  });

  test('has meters without a limit', async () => {
    const { meters } = await get((await signUp(api)).auth, 'usage');
    for (const meter of meters) expect(meter).toMatchObject({ included: null, remaining: null, used: 0, beyond: 0, utilization: 0 });
  });

  test('is on the plan that its user sees in their profile', async () => {
    const { auth } = await signUp(api);
    expect((await send(api, '/v1/users/me', { headers: auth })).body.plan).toBe('operator');
  });

  test('sees the offer without the plan of operators', async () => {
    const { auth } = await signUp(api);
    expect((await get({}, 'config')).map(({ plan_id }: { plan_id: string }) => plan_id)).toEqual(['free', 'pro', 'scale', 'enterprise']);
    expect((await get(auth, 'entitlements/matrix')).plans).toHaveLength(4);
  });

  test('buys from the sandbox in test mode only, marked in every answer', async () => {
    const { auth } = await signUp(api);
    const preview = await post(auth, 'upgrade-preview', { plan_id: 'enterprise' });
    expect(preview.body).toMatchObject({ from: { plan_id: 'free' }, to: { plan_id: 'enterprise' }, livemode: false });
    const opened = await post(auth, 'checkout', { plan_id: 'enterprise' });
    expect(opened.body).toMatchObject({ status: 'open', livemode: false });
    await world.press(opened.body.checkout_url, { action: 'pay', card: 'good' });
    expect(await get(auth, `checkouts/${opened.body.checkout_id}`)).toMatchObject({ status: 'completed', livemode: false });
    expect((await post(auth, 'downgrade-preview', { plan_id: 'pro' })).body).toMatchObject({
      from: { plan_id: 'enterprise' },
      livemode: false,
    });
    expect((await post(auth, 'downgrade-schedule', { plan_id: 'pro' })).body).toMatchObject({ to_plan_id: 'pro', livemode: false });
    expect((await post(auth, 'balance-checkout', { amount_usd: '25' })).body).toMatchObject({ status: 'open', livemode: false });
    expect(await get(auth, 'current')).toMatchObject({ plan: { plan_id: 'operator' }, livemode: true });
    expect(await get(auth, 'payments')).toMatchObject({ data: [] });
    expect(await get(auth, 'payments?livemode=false')).toMatchObject({ data: [{ livemode: false }] });
    const { data } = await get(auth, 'invoices?livemode=false');
    expect(await get(auth, `invoices/${data[0].invoice_id}`)).toMatchObject({ kind: 'subscription', livemode: false });
    const test = await newKey(api, auth, { livemode: false });
    expect(await get(test.auth, 'current')).toMatchObject({ plan: { plan_id: 'enterprise' }, livemode: false });
    const live = await newKey(api, auth);
    expect(await get(live.auth, 'entitlements')).toMatchObject({ plan_id: 'operator', livemode: true });
  });

  test('is held on no quota that could refuse, and on no funds', async () => {
    const { auth } = await signUp(api);
    const { key } = await newKey(api, auth);
    const grant = await api.directory.authenticate(key);
    const { funds, quota } = lanesOf({ grant, headers: parseInferenceHeaders({}), startedAt: Date.now() }, world.live.book);
    expect([funds, Object.values(quota?.caps ?? {})]).toEqual([null, Array(5).fill(10n ** 15n)]);
  });
});

describe('PUT /v1/admin/accounts/{id}/plan', () => {
  test('is in effect on every gateway within a second', async () => {
    await expectWithinASecond(async () => {
      const { auth, accountId } = await signUp(api);
      const { key } = await newKey(api, auth);
      expect((await another.directory.authenticate(key)).plan).toBe('operator');
      expect((await give(accountId, { plan_id: 'free' })).body).toMatchObject({
        plan_id: 'free',
        given_plan: { plan_id: 'free', version: null },
      });
      expect(await get(auth, 'entitlements')).toMatchObject({ plan_id: 'free', quota: { requests: 1_000 } });
      return async () => (await another.directory.authenticate(key)).plan === 'free';
    });
  });

  test('repeated changes nothing, and null removes the granted plan', async () => {
    const { accountId } = await signUp(api);
    for (const json of [{ plan_id: 'pro', version: 1 }, { plan_id: 'pro', version: 1 }, { plan_id: null }, { plan_id: null }])
      await give(accountId, json);
    expect((await send(api, `/v1/admin/accounts/${accountId}`, { headers: admin.auth })).body).toMatchObject({
      plan_id: 'operator',
      given_plan: null,
    });
    const { rows } = await db.database.pool.query(
      "select changes from audit_log where account_id = $1 and action = 'plan.given' order by id",
      [accountId],
    );
    expect(rows.map(({ changes }) => changes)).toEqual([
      { given_plan: { from: null, to: 'pro@1' }, plan: { from: 'operator', to: 'pro@1' } },
      { given_plan: { from: 'pro@1', to: null }, plan: { from: 'pro@1', to: 'operator' } },
    ]);
  });

  test.each([
    [{ plan_id: 'gold' }, '`plan_id` is no plan: there are free, pro, scale, enterprise, operator.'],
    [{ plan_id: 'pro', version: 7 }, '`version` is no version of the plan pro.'],
    [{ plan_id: null, version: 1 }, '`version` must be left out where plan_id is null.'],
  ])('refuses %j', async (json, said) => {
    const { status, body } = await give((await signUp(api)).accountId, json);
    expect([status, body.detail]).toEqual([422, said]);
  });

  test('answers an unknown account as missing', async () => {
    expect((await give('019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77', { plan_id: 'pro' })).status).toBe(404);
  });

  test('is no way for members to give themselves a plan', async () => {
    const { auth, accountId } = await signUp(api);
    expect((await give(accountId, { plan_id: 'enterprise' }, auth)).body.code).toBe('forbidden');
    const key = await newKey(api, admin.auth, { scopes: ['account:write', 'billing:write'] });
    expect((await give(accountId, { plan_id: 'enterprise' }, key.auth)).body.code).toBe('session_required');
  });
});

describe('GET /v1/admin/accounts', () => {
  const list = async (query: string) => (await send(api, `/v1/admin/accounts?${query}`, { headers: admin.auth })).body;

  test('finds the account of an address, however it is written', async () => {
    const { accountId, email } = await signUp(api);
    expect((await list(`email=${email.toUpperCase()}`)).data).toMatchObject([
      { account_id: accountId, emails: [email], plan_id: 'operator' },
    ]);
    expect((await list('email=nobody@example.com')).data).toEqual([]);
  });

  test('gives every account once, page by page, and no closed one', async () => {
    const closed = await signUp(api);
    await db.database.pool.query('update users set closed_at = now() where id = $1', [closed.userId]);
    const { rows } = await db.database.pool.query<{ account_id: string }>('select account_id from users where closed_at is null');
    const found: string[] = [];
    for (let cursor = ''; ; ) {
      const page = await list(`limit=2${cursor}`);
      found.push(...page.data.map(({ account_id }: { account_id: string }) => account_id));
      if (!page.has_more) break;
      cursor = `&cursor=${page.next_cursor}`;
    }
    expect(found).toEqual(
      rows
        .map(({ account_id }) => account_id)
        .toSorted()
        .reverse(),
    );
  });
});
