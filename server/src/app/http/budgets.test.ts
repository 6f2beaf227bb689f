import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { formatUsd } from '../../kernel/money.ts';
import { expectWithinASecond } from '../../kernel/testing/within-a-second.ts';
import { type BudgetWorld, openBudgetWorld, rowsOf, TOKEN_NANO_USD } from '../../money/budgets/testing/budgets.ts';
import { INTERNAL_SECRET, type Instance, newKey, type Received, send, signUp, startInstance } from './testing/account-api.ts';

const NO_KEY = '019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77';
const ROUTES = [
  { method: 'GET', path: '/budget' },
  { method: 'PATCH', path: '/budget', json: { monthly_cap_usd: '1' } },
  { method: 'GET', path: '/budget/history' },
  { method: 'GET', path: '/budget/alerts' },
];
let world: BudgetWorld;
let api: Instance;
let owner: Awaited<ReturnType<typeof signUp>>;

beforeAll(async () => {
  world = await openBudgetWorld();
  api = world.api;
  owner = await signUp(api);
});
afterAll(() => world?.close());
beforeEach(() => {
  world.clock.stoppedAtMs = undefined;
});

const codeOf = ({ status, body }: Received) => [status, body?.code];
const nanoUsd = (usd: number): bigint => BigInt(Math.round(usd * 1e9));
const budgetOf = async (keyId: string, auth: Record<string, string> = owner.auth) =>
  (await send(api, `/v1/keys/${keyId}/budget`, { headers: auth })).body;
const setBudget = (keyId: string, json: object, auth: Record<string, string> = owner.auth) =>
  send(api, `/v1/keys/${keyId}/budget`, { method: 'PATCH', headers: auth, json });
const historyOf = async (keyId: string, query = '') =>
  (await send(api, `/v1/keys/${keyId}/budget/history${query}`, { headers: owner.auth })).body;
const alertsOf = async (keyId: string) => (await send(api, `/v1/keys/${keyId}/budget/alerts`, { headers: owner.auth })).body;
const testKey = (input: object = {}) => newKey(api, owner.auth, { livemode: false, ...input });

/** One settled call that costs so many USD; what it holds is a little more. */
async function spend(key: string, usd: number): Promise<void> {
  const admission = await world.call(key, Math.ceil((usd * 1e9) / TOKEN_NANO_USD));
  world.settle(admission, nanoUsd(usd));
  await world.written();
}

/** One call that fits under none of the caps of these tests, as long as they are below 0.25 USD. */
async function refuse(key: string): Promise<void> {
  await expect(world.call(key, 10_000)).rejects.toMatchObject({ code: 'budget_exceeded' });
  await world.written();
}

describe('every route of a budget', () => {
  test('takes a session, and an API key of the right scope, in each header of theirs', async () => {
    const { key, keyId } = await newKey(api, owner.auth, { scopes: ['account:read', 'keys:write'] });
    const credentials = [
      owner.auth,
      { 'x-web-session-token': owner.token },
      { authorization: `Bearer ${key}` },
      { 'x-api-key': key },
      { 'x-api-key': key, 'x-internal-secret': INTERNAL_SECRET },
    ];
    for (const headers of credentials)
      for (const { method, path, json } of ROUTES)
        expect((await send(api, `/v1/keys/${keyId}${path}`, { method, headers, json })).status, `${method} ${path}`).toBe(200);
    for (const headers of credentials) expect((await send(api, '/v1/keys/budget-summary', { headers })).status).toBe(200);
  });

  test('refuses a caller without a credential, with a dead one, and with the internal secret alone', async () => {
    const { keyId } = await newKey(api, owner.auth);
    const routes = [...ROUTES.map((route) => ({ ...route, path: `/v1/keys/${keyId}${route.path}` })), SUMMARY];
    for (const { method, path, json } of routes) {
      const ask = async (headers: Record<string, string>) => codeOf(await send(api, path, { method, headers, json }));
      expect(await ask({})).toEqual([401, 'missing_credentials']);
      expect(await ask({ 'x-internal-secret': INTERNAL_SECRET })).toEqual([401, 'missing_credentials']);
      expect(await ask({ authorization: 'Bearer tgs_nobody' })).toEqual([401, 'invalid_credentials']);
    }
  });

  test('asks API keys for the scope: account:read to look, keys:write to change', async () => {
    const { keyId, auth: inferring } = await newKey(api, owner.auth, { scopes: ['inference'] });
    const { auth: reading } = await newKey(api, owner.auth, { scopes: ['account:read'] });
    for (const { method, path, json } of ROUTES) {
      const refused = await send(api, `/v1/keys/${keyId}${path}`, { method, headers: method === 'PATCH' ? reading : inferring, json });
      expect(codeOf(refused)).toEqual([403, 'scope_required']);
      expect(refused.body.detail).toContain(method === 'PATCH' ? 'keys:write' : 'account:read');
    }
    expect(codeOf(await send(api, SUMMARY.path, { headers: inferring }))).toEqual([403, 'scope_required']);
  });

  test('answers another account’s key exactly as a missing one, and changes nothing of it', async () => {
    const { keyId } = await newKey(api, owner.auth, { monthly_cap_usd: '7' });
    const stranger = await signUp(api);
    const headers = { ...stranger.auth, 'x-request-id': 'the-same-request' };
    for (const { method, path, json } of ROUTES) {
      const foreign = await send(api, `/v1/keys/${keyId}${path}`, { method, headers, json });
      const missing = await send(api, `/v1/keys/${NO_KEY}${path}`, { method, headers, json });
      expect([foreign.status, foreign.text]).toEqual([404, missing.text]);
      expect((await send(api, `/v1/keys/no-uuid${path}`, { method, headers, json })).status).toBe(422);
    }
    expect((await budgetOf(keyId)).monthly_cap_usd).toBe('7');
    expect((await historyOf(keyId)).data).toEqual([]);
  });
});

const SUMMARY = { method: 'GET', path: '/v1/keys/budget-summary', json: undefined };

describe('the status', () => {
  test('of a key without a cap says what it spent and knows no limit', async () => {
    const { key, keyId } = await testKey();
    world.clock.stoppedAtMs = Date.parse('2027-02-15T12:00:00.000Z');
    await spend(key, 0.25);
    expect(await budgetOf(keyId, (await signedIn()).auth)).toEqual({
      key_id: keyId,
      period: '2027-02',
      period_start: '2027-02-01T00:00:00.000Z',
      resets_at: '2027-03-01T00:00:00.000Z',
      monthly_cap_usd: null,
      spent_usd: '0.25',
      held_usd: '0',
      remaining_usd: null,
      utilization: null,
      status: 'uncapped',
      alert_thresholds: [50, 80, 100],
    });
  });

  test('counts what running requests hold, apart from what is spent', async () => {
    const { key, keyId } = await testKey({ monthly_cap_usd: '1' });
    const running = await world.call(key, 1000);
    const held = running.hold.amount;
    expect(held).toBeGreaterThan(0n);
    const during = await budgetOf(keyId);
    expect(during).toMatchObject({ spent_usd: '0', status: 'ok', utilization: 0 });
    expect([during.held_usd, during.remaining_usd]).toEqual([formatUsd(held), formatUsd(nanoUsd(1) - held)]);
    world.settle(running, 1000n);
    expect(await budgetOf(keyId)).toMatchObject({ spent_usd: '0.000001', held_usd: '0', remaining_usd: '0.999999' });
  });

  test('is a warning from the first threshold on, and exceeded once the cap is spent', async () => {
    const { key, keyId } = await testKey({ monthly_cap_usd: '1' });
    await spend(key, 0.49);
    expect(await budgetOf(keyId)).toMatchObject({ status: 'ok', utilization: 0.49 });
    await spend(key, 0.01);
    expect(await budgetOf(keyId)).toMatchObject({ status: 'warning', utilization: 0.5, remaining_usd: '0.5' });
    await setBudget(keyId, { monthly_cap_usd: '0.5' });
    expect(await budgetOf(keyId)).toMatchObject({ status: 'exceeded', utilization: 1, remaining_usd: '0' });
  });

  test('is exceeded once a request does not fit with 90 % spent, until the cap is raised beyond the one that refused', async () => {
    const { key, keyId } = await testKey({ monthly_cap_usd: '0.1' });
    await spend(key, 0.09);
    expect(await budgetOf(keyId)).toMatchObject({ status: 'warning' });
    await refuse(key);
    expect(await budgetOf(keyId)).toMatchObject({ status: 'exceeded', spent_usd: '0.09' });
    expect((await setBudget(keyId, { monthly_cap_usd: '1' })).body.status).toBe('ok');
    expect((await setBudget(keyId, { monthly_cap_usd: '0.1' })).body.status).toBe('exceeded');
  });

  test('stays as it is when a request is refused with less than 90 % spent, and later spend makes no more of that refusal', async () => {
    const { key, keyId } = await testKey({ monthly_cap_usd: '0.1' });
    await refuse(key);
    expect(await budgetOf(keyId)).toMatchObject({ status: 'ok', spent_usd: '0' });
    await spend(key, 0.08);
    await refuse(key);
    await spend(key, 0.01);
    expect(await budgetOf(keyId)).toMatchObject({ status: 'warning', spent_usd: '0.09' });
  });

  test('starts afresh with the month, without anybody resetting it', async () => {
    const { key, keyId } = await testKey({ monthly_cap_usd: '1' });
    world.clock.stoppedAtMs = Date.parse('2027-04-30T23:59:59.999Z');
    await spend(key, 0.9);
    const { auth } = await signedIn();
    expect(await budgetOf(keyId, auth)).toMatchObject({ period: '2027-04', spent_usd: '0.9', status: 'warning' });
    world.clock.stoppedAtMs += 1;
    expect(await budgetOf(keyId, auth)).toMatchObject({ period: '2027-05', spent_usd: '0', remaining_usd: '1', status: 'ok' });
  });

  test('survives rotation and revocation', async () => {
    const { key, keyId } = await testKey({ monthly_cap_usd: '1' });
    await spend(key, 0.6);
    const before = await budgetOf(keyId);
    await send(api, `/v1/keys/${keyId}/rotate`, { method: 'POST', headers: owner.auth });
    expect(await budgetOf(keyId)).toEqual(before);
    await send(api, `/v1/keys/${keyId}`, { method: 'DELETE', headers: owner.auth });
    expect(await budgetOf(keyId)).toEqual(before);
  });
});

/** A session of the owner's that begins now, by the clock of the test. */
async function signedIn() {
  const { body } = await send(api, '/v1/users/login', { json: { email: owner.email, password: 'seven grey herons at dawn' } });
  return { auth: { authorization: `Bearer ${body.session.token}` } };
}

describe('the summary', () => {
  test('has every key of the account, newest first, with revoked ones, and no others', async () => {
    const person = await signUp(api);
    const live = await newKey(api, person.auth, { name: 'live', monthly_cap_usd: '2' });
    const test = await newKey(api, person.auth, { name: 'test', livemode: false });
    await spend(test.key, 0.3);
    await send(api, `/v1/keys/${live.keyId}`, { method: 'DELETE', headers: person.auth });
    const { status, body } = await send(api, SUMMARY.path, { headers: person.auth });
    expect(status).toBe(200);
    expect(body).toMatchObject({ spent_usd: '0', held_usd: '0', total: 2 });
    expect(body.items).toMatchObject([
      { key_id: test.keyId, name: 'test', livemode: false, revoked: false, spent_usd: '0.3', status: 'uncapped' },
      { key_id: live.keyId, name: 'live', livemode: true, revoked: true, spent_usd: '0', status: 'ok', monthly_cap_usd: '2' },
    ]);
    expect(body.items.map(({ period }: { period: string }) => period)).toEqual([body.period, body.period]);
  });

  test('of an account without keys is empty', async () => {
    const person = await signUp(api);
    expect((await send(api, SUMMARY.path, { headers: person.auth })).body).toMatchObject({ items: [], total: 0, spent_usd: '0' });
  });
});

describe('changing a budget', () => {
  test('sets, changes and clears the cap; the key itself shows the same', async () => {
    const { keyId } = await newKey(api, owner.auth);
    expect((await setBudget(keyId, { monthly_cap_usd: '25.50' })).body).toMatchObject({ monthly_cap_usd: '25.5', status: 'ok' });
    expect((await send(api, `/v1/keys/${keyId}`, { headers: owner.auth })).body.monthly_cap_usd).toBe('25.5');
    expect((await setBudget(keyId, { monthly_cap_usd: null })).body).toMatchObject({ monthly_cap_usd: null, status: 'uncapped' });
    expect((await send(api, `/v1/keys/${keyId}`, { headers: owner.auth })).body.monthly_cap_usd).toBeNull();
  });

  test.each([
    ['nothing', {}, 'monthly_cap_usd'],
    ['a mistyped field', { monthly_cap_usd: '5', budget: '5' }, 'budget'],
    ['a number', { monthly_cap_usd: 5 }, 'monthly_cap_usd'],
    ['a negative cap', { monthly_cap_usd: '-1' }, 'monthly_cap_usd'],
    ['an exponent', { monthly_cap_usd: '1e3' }, 'monthly_cap_usd'],
    ['too many decimals', { monthly_cap_usd: '0.0000000001' }, 'monthly_cap_usd'],
    ['a threshold of zero', { monthly_cap_usd: '1', alert_thresholds: [0] }, 'alert_thresholds'],
    ['a threshold beyond 100', { monthly_cap_usd: '1', alert_thresholds: [101] }, 'alert_thresholds'],
    ['a broken threshold', { monthly_cap_usd: '1', alert_thresholds: [50.5] }, 'alert_thresholds'],
    ['thresholds out of order', { monthly_cap_usd: '1', alert_thresholds: [80, 50] }, 'alert_thresholds'],
    ['a threshold twice', { monthly_cap_usd: '1', alert_thresholds: [50, 50] }, 'alert_thresholds'],
    ['eleven thresholds', { monthly_cap_usd: '1', alert_thresholds: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11] }, 'alert_thresholds'],
  ])('refuses %s', async (_what, json, field) => {
    const { keyId } = await newKey(api, owner.auth, { monthly_cap_usd: '3' });
    const { status, body } = await setBudget(keyId, json);
    expect([status, body.errors[0].loc.slice(0, 2)]).toEqual([422, ['body', field]]);
    expect(await budgetOf(keyId)).toMatchObject({ monthly_cap_usd: '3', alert_thresholds: [50, 80, 100] });
  });

  test('binds the next request at once, also below what is spent and held', async () => {
    const { key, keyId } = await testKey();
    await spend(key, 0.2);
    const running = await world.call(key, 100_000);
    expect((await setBudget(keyId, { monthly_cap_usd: '0.1' })).body).toMatchObject({ status: 'exceeded', remaining_usd: '0' });
    await expect(world.call(key, 16)).rejects.toMatchObject({ code: 'budget_exceeded' });
    expect((await setBudget(keyId, { monthly_cap_usd: null })).status).toBe(200);
    world.settle(await world.call(key, 16), 1n);
    world.settle(running, 1n);
  });

  test('binds on another instance within a second', async () => {
    const neighbour = await startInstance(world.database, world.url);
    try {
      await expectWithinASecond(async () => {
        const { key, keyId } = await testKey({ monthly_cap_usd: '5' });
        const capSeen = async () => (await neighbour.directory.authenticate(key)).monthlyCap;
        expect(await capSeen()).toBe(nanoUsd(5));
        await setBudget(keyId, { monthly_cap_usd: '3' });
        return async () => (await capSeen()) === nanoUsd(3);
      });
    } finally {
      await neighbour.close();
    }
  });

  test('by a key never gives that key or another more than it has itself', async () => {
    const capped = await newKey(api, owner.auth, { scopes: ['keys:write'], monthly_cap_usd: '5' });
    const other = await newKey(api, owner.auth, { scopes: ['inference'], monthly_cap_usd: '20' });
    const change = async (keyId: string, cap: string | null) => (await setBudget(keyId, { monthly_cap_usd: cap }, capped.auth)).status;
    expect([await change(capped.keyId, '6'), await change(capped.keyId, null)]).toEqual([403, 403]);
    expect([await change(other.keyId, '21'), await change(other.keyId, null)]).toEqual([403, 403]);
    expect([await change(other.keyId, '19'), await change(capped.keyId, '4')]).toEqual([200, 200]);
    expect((await historyOf(capped.keyId)).data).toHaveLength(1);
  });

  test('is refused for a key that spends nothing any more, and for a live key by a test key', async () => {
    const revoked = await newKey(api, owner.auth);
    await send(api, `/v1/keys/${revoked.keyId}`, { method: 'DELETE', headers: owner.auth });
    expect(codeOf(await setBudget(revoked.keyId, { monthly_cap_usd: '1' }))).toEqual([409, 'conflict']);
    const live = await newKey(api, owner.auth);
    const test = await testKey({ scopes: ['keys:write'] });
    expect(codeOf(await setBudget(live.keyId, { monthly_cap_usd: '1' }, test.auth))).toEqual([403, 'forbidden']);
    expect((await setBudget(test.keyId, { monthly_cap_usd: '1' }, test.auth)).status).toBe(200);
  });
});

describe('the history', () => {
  test('says who changed what to what, newest first, with no more of an id than its end', async () => {
    const { keyId } = await newKey(api, owner.auth, { monthly_cap_usd: '1' });
    const changer = await newKey(api, owner.auth, { scopes: ['keys:write'] });
    await setBudget(keyId, { monthly_cap_usd: '2', alert_thresholds: [90] });
    await setBudget(keyId, { monthly_cap_usd: null }, changer.auth);
    const history = await historyOf(keyId);
    expect(history).toMatchObject({
      data: [
        {
          actor: { kind: 'key', id: `…${changer.keyId.slice(-4)}` },
          previous_cap_usd: '2',
          new_cap_usd: null,
          previous_alert_thresholds: [90],
          new_alert_thresholds: [90],
        },
        {
          actor: { kind: 'user', id: `…${owner.userId.slice(-4)}` },
          previous_cap_usd: '1',
          new_cap_usd: '2',
          previous_alert_thresholds: [50, 80, 100],
          new_alert_thresholds: [90],
        },
      ],
      has_more: false,
    });
    const first = await historyOf(keyId, '?limit=1');
    expect((await historyOf(keyId, `?limit=1&cursor=${first.next_cursor}`)).data).toEqual(history.data.slice(1));
    const text = JSON.stringify(history);
    for (const secret of [owner.userId, changer.keyId, owner.email, changer.key.slice(20)]) expect(text).not.toContain(secret);
  });

  test('has no line for what changed nothing', async () => {
    const { keyId } = await newKey(api, owner.auth, { monthly_cap_usd: '1' });
    for (const json of [{ monthly_cap_usd: '1.00' }, { monthly_cap_usd: '1', alert_thresholds: [50, 80, 100] }])
      expect((await setBudget(keyId, json)).status).toBe(200);
    expect((await historyOf(keyId)).data).toEqual([]);
  });

  test('goes with an entry of the audit log, field by field', async () => {
    const { keyId } = await newKey(api, owner.auth);
    await setBudget(keyId, { monthly_cap_usd: '4' });
    const entries = await rowsOf(
      world,
      `select actor_kind, action, changes from audit_log where target_id = $1 and action like 'key.budget%'`,
      [keyId],
    );
    expect(entries).toEqual([
      {
        actor_kind: 'user',
        action: 'key.budget_changed',
        changes: {
          monthly_cap_usd: { from: null, to: '4' },
        },
      },
    ]);
  });
});

describe('the alerts', () => {
  const told = async (keyId: string) =>
    (await alertsOf(keyId)).data.map(({ threshold_percent, kind, cause }: Record<string, unknown>) => [threshold_percent, kind, cause]);
  const mailsAbout = (keyId: string) =>
    rowsOf(world, `select recipient, data from mails where template = 'budget-alert' and dedupe_key like $1 order by id`, [
      `budget:${keyId}:%`,
    ]);

  test('are recorded and mailed with the settlement that reached the threshold, each once', async () => {
    const { key, keyId } = await testKey({ monthly_cap_usd: '1', name: 'nightly' });
    await spend(key, 0.5);
    expect(await told(keyId)).toEqual([[50, 'warning', 'spend']]);
    await spend(key, 0.2);
    expect(await told(keyId)).toEqual([[50, 'warning', 'spend']]);
    await spend(key, 0.15);
    const { data } = await alertsOf(keyId);
    expect(data).toHaveLength(2);
    expect(data[0]).toMatchObject({ threshold_percent: 80, kind: 'warning', spent_usd: '0.85', cap_usd: '1' });
    const mails = await mailsAbout(keyId);
    expect(mails.map(({ recipient }) => recipient)).toEqual([owner.email, owner.email]);
    expect(mails[1]).toMatchObject({
      data: { key_name: 'nightly', threshold_percent: 80, kind: 'warning', spent_usd: '0.85', cap_usd: '1', period: data[0].period },
    });
  });

  test('are mailed to those who see what the account spends and to the person whose key it is, and to no other member', async () => {
    const roles = ['admin', 'billing', 'viewer', 'developer', 'left'] as const;
    const people = new Map<string, Awaited<ReturnType<typeof signUp>>>();
    for (const role of roles) {
      const person = await signUp(api);
      people.set(role, person);
      await world.pool.query('update users set account_id = $2, account_role = $3, closed_at = $4 where id = $1', [
        person.userId,
        owner.accountId,
        role === 'left' ? 'admin' : role,
        role === 'left' ? new Date() : null,
      ]);
    }
    const emailOf = (role: string) => people.get(role)?.email;
    const { keyId, key } = await testKey({ monthly_cap_usd: '1' });
    await spend(key, 0.5);
    expect((await mailsAbout(keyId)).map(({ recipient }) => recipient).toSorted()).toEqual(
      [owner.email, emailOf('admin'), emailOf('billing')].toSorted(),
    );
    const theirs = await testKey({ monthly_cap_usd: '1' });
    await world.pool.query('update api_keys set user_id = $2 where id = $1', [theirs.keyId, people.get('developer')?.userId]);
    await spend(theirs.key, 0.5);
    expect((await mailsAbout(theirs.keyId)).map(({ recipient }) => recipient)).toContain(emailOf('developer'));
    await world.pool.query('update users set closed_at = now() where account_id = $1 and id <> $2', [owner.accountId, owner.userId]);
  });

  test('show no e-mail address and no secret', async () => {
    const { key, keyId } = await testKey({ monthly_cap_usd: '0.1' });
    await spend(key, 0.09);
    const text = JSON.stringify(await alertsOf(keyId));
    expect(text).toContain('warning');
    for (const secret of [owner.email, owner.userId, key.slice(20)]) expect(text).not.toContain(secret);
  });

  test('fire when the cap is lowered past a threshold, and not again when it is raised and reached again', async () => {
    const { key, keyId } = await testKey({ monthly_cap_usd: '10' });
    await spend(key, 0.6);
    expect(await told(keyId)).toEqual([]);
    await setBudget(keyId, { monthly_cap_usd: '1' });
    expect(await told(keyId)).toEqual([[50, 'warning', 'cap_change']]);
    await setBudget(keyId, { monthly_cap_usd: '6' });
    await spend(key, 2.5);
    expect(await told(keyId)).toEqual([[50, 'warning', 'cap_change']]);
  });

  test('that a lowered cap passes at once are all recorded, and the highest is mailed with the real numbers', async () => {
    const { key, keyId } = await testKey({ monthly_cap_usd: '1' });
    await spend(key, 0.3);
    await setBudget(keyId, { monthly_cap_usd: '0.2' });
    expect((await told(keyId)).sort()).toEqual([
      [100, 'exceeded', 'cap_change'],
      [50, 'warning', 'cap_change'],
      [80, 'warning', 'cap_change'],
    ]);
    expect(await mailsAbout(keyId)).toMatchObject([{ data: { threshold_percent: 100, spent_usd: '0.3', cap_usd: '0.2' } }]);
  });

  test('that one settlement passes at once are all recorded, and the highest is mailed', async () => {
    const { key, keyId } = await testKey({ monthly_cap_usd: '1' });
    await spend(key, 0.85);
    expect(await told(keyId)).toHaveLength(2);
    expect(await mailsAbout(keyId)).toMatchObject([{ data: { threshold_percent: 80, spent_usd: '0.85' } }]);
  });

  test('report the first refusal below 90 % as one, and no later one', async () => {
    const { key, keyId } = await testKey({ monthly_cap_usd: '0.001' });
    for (let index = 0; index < 5; index++) await refuse(key);
    await setBudget(keyId, { monthly_cap_usd: '0.002' });
    await refuse(key);
    const { data } = await alertsOf(keyId);
    expect(data).toHaveLength(1);
    expect(data[0]).toMatchObject({ threshold_percent: null, kind: 'warning', cause: 'refusal', spent_usd: '0', cap_usd: '0.001' });
    expect(Number(data[0].required_usd)).toBeGreaterThanOrEqual(0.25);
    const mails = await mailsAbout(keyId);
    expect(mails).toMatchObject([{ data: { kind: 'warning', cause: 'refusal', required_usd: data[0].required_usd } }]);
  });

  test('of 100 % still come after a refusal far below the cap: by a refusal at it', async () => {
    const { key, keyId } = await testKey({ monthly_cap_usd: '0.1' });
    await refuse(key);
    await spend(key, 0.097);
    for (let index = 0; index < 3; index++) await refuse(key);
    expect(await told(keyId)).toEqual([
      [100, 'exceeded', 'refusal'],
      [80, 'warning', 'spend'],
      [50, 'warning', 'spend'],
      [null, 'warning', 'refusal'],
    ]);
    const mails = await mailsAbout(keyId);
    expect(mails.map(({ data }) => data)).toMatchObject([
      { threshold_percent: null },
      { threshold_percent: 80 },
      { threshold_percent: 100, kind: 'exceeded', cause: 'refusal', spent_usd: '0.097' },
    ]);
  });

  test('of 100 % still come after a refusal far below the cap: by spend', async () => {
    const { key, keyId } = await testKey({ monthly_cap_usd: '0.1' });
    await refuse(key);
    await spend(key, 0.06);
    await setBudget(keyId, { monthly_cap_usd: '0.06' });
    expect((await told(keyId))[0]).toEqual([100, 'exceeded', 'cap_change']);
  });

  test('do not report a refusal that can be retried', async () => {
    const { key, keyId } = await testKey({ monthly_cap_usd: '0.05' });
    const running = await world.call(key, 1500);
    await expect(world.call(key, 1500)).rejects.toMatchObject({ code: 'budget_in_flight' });
    world.settle(running, 1n);
    await world.written();
    expect(await budgetOf(keyId)).toMatchObject({ status: 'ok' });
    expect(await told(keyId)).toEqual([]);
  });

  test('keep to the thresholds that were chosen, and none were chosen where the list is empty', async () => {
    const chosen = await testKey({ monthly_cap_usd: '1' });
    await setBudget(chosen.keyId, { monthly_cap_usd: '1', alert_thresholds: [10, 90] });
    await spend(chosen.key, 0.5);
    expect(await told(chosen.keyId)).toEqual([[10, 'warning', 'spend']]);
    const silent = await testKey({ monthly_cap_usd: '1' });
    await setBudget(silent.keyId, { monthly_cap_usd: '1', alert_thresholds: [] });
    await spend(silent.key, 0.9);
    await expect(world.call(silent.key, 10_000)).rejects.toMatchObject({ code: 'budget_exceeded' });
    await world.written();
    expect(await told(silent.keyId)).toEqual([]);
  });

  test('of a cap of zero are about requests, since there is nothing to use up', async () => {
    const { key, keyId } = await testKey();
    await spend(key, 0.1);
    await setBudget(keyId, { monthly_cap_usd: '0' });
    expect(await budgetOf(keyId)).toMatchObject({ status: 'exceeded', utilization: 1, remaining_usd: '0' });
    expect(await told(keyId)).toEqual([]);
    await expect(world.call(key, 16)).rejects.toMatchObject({ code: 'budget_exceeded' });
    await world.written();
    expect(await told(keyId)).toEqual([[100, 'exceeded', 'refusal']]);
  });

  test('fire again in the next month', async () => {
    const { key, keyId } = await testKey({ monthly_cap_usd: '1' });
    for (const at of ['2027-06-30T23:59:59.999Z', '2027-07-01T00:00:00.000Z']) {
      world.clock.stoppedAtMs = Date.parse(at);
      await spend(key, 0.5);
    }
    const alerts = await rowsOf(world, 'select period, threshold from key_budget_alerts where key_id = $1 order by period', [keyId]);
    expect(alerts).toEqual([
      { period: '2027-06', threshold: 50 },
      { period: '2027-07', threshold: 50 },
    ]);
  });
});
