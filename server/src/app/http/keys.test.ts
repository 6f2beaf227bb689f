import { contract, SCOPE_ROLES } from '@tallygate/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectWithinASecond } from '../../kernel/testing/within-a-second.ts';
import { testCredentials } from './credential-matrix.ts';
import {
  type Instance,
  MovableClock,
  newKey,
  openTestDatabase,
  PASSWORD,
  type Received,
  send,
  signUp,
  startInstance,
} from './testing/account-api.ts';

const ALL_SCOPES = ['inference', 'account:read', 'account:write', 'keys:write', 'billing:write'];
const NO_KEY = '019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77';
const clock = new MovableClock();
let db: Awaited<ReturnType<typeof openTestDatabase>>;
let api: Instance;
let neighbour: Instance;
let owner: Awaited<ReturnType<typeof signUp>>;

beforeAll(async () => {
  db = await openTestDatabase();
  api = await startInstance(db.database, db.url, { clock });
  neighbour = await startInstance(db.database, db.url, { clock });
  owner = await signUp(api);
});

afterAll(async () => {
  await api?.close();
  await neighbour?.close();
  await db?.close();
});

const codeOf = ({ status, body }: Received) => [status, body?.code];
const works = async (instance: Instance, key: string) =>
  (await send(instance, '/v1/users/me', { headers: { 'x-api-key': key } })).status === 200;
const get = (keyId: string, auth: Record<string, string> = owner.auth) => send(api, `/v1/keys/${keyId}`, { headers: auth });
const revoke = (keyId: string, auth: Record<string, string> = owner.auth) =>
  send(api, `/v1/keys/${keyId}`, { method: 'DELETE', headers: auth });
const rotate = (keyId: string, json?: object, auth: Record<string, string> = owner.auth) =>
  send(api, `/v1/keys/${keyId}/rotate`, { method: 'POST', headers: auth, ...(json && { json }) });

testCredentials(() => ({ api, database: db.database }), contract.keys);

describe('creating a key', () => {
  test('gives it inference alone unless other scopes are asked for', async () => {
    const { body } = await send(api, '/v1/keys', { headers: owner.auth, json: { name: 'test' } });
    expect(body.scopes).toEqual(['inference']);
  });

  test.each(Object.entries(SCOPE_ROLES))('and changing one refuses %s, which needs the role %s, to a member', async (scope) => {
    const { keyId } = await newKey(api, owner.auth);
    for (const [path, method] of [
      ['/v1/keys', 'POST'],
      [`/v1/keys/${keyId}`, 'PATCH'],
    ] as const) {
      const { status, body } = await send(api, path, { method, headers: owner.auth, json: { name: 'test', scopes: ['inference', scope] } });
      expect([status, body.code]).toEqual([403, 'forbidden']);
      expect(body.detail).toContain(scope);
    }
  });

  test('answers with the plain key once, and no later answer or column has it', async () => {
    const { key, keyId, created } = await newKey(api, owner.auth, { monthly_cap_usd: '25.50' });
    expect(key).toMatch(/^tg_live_[0-9A-Za-z]{50}$/);
    expect(created).toEqual({
      key,
      key_id: keyId,
      name: 'test',
      prefix: key.slice(0, 20),
      livemode: true,
      scopes: ['inference', 'account:read'],
      external_id: null,
      project_id: null,
      status: 'active',
      monthly_cap_usd: '25.5',
      allowed_models: null,
      allowed_endpoints: null,
      rate_limits: { requests_per_minute: null, tokens_per_minute: null, concurrency: null },
      metadata: {},
      signing_public_key: null,
      require_signature: false,
      created_at: expect.stringMatching(/Z$/),
      expires_at: null,
      rotated_at: null,
      previous_secret_expires_at: null,
      revoked_at: null,
      last_used_at: null,
    });
    const { key: _plain, ...rest } = created;
    expect((await get(keyId)).body).toEqual(rest);
    const [dump] = await db.database.orm.em.fork().execute<{ rows: string }[]>('select json_agg(k)::text as rows from api_keys k');
    expect(dump?.rows).not.toContain(key.slice(20, 52));
  });

  test('creates a test key on request, with its mode in the answer', async () => {
    expect((await newKey(api, owner.auth, { livemode: false })).key).toMatch(/^tg_test_/);
  });

  test('needs a session: an API key is refused with every scope', async () => {
    const { auth } = await newKey(api, owner.auth, { scopes: ALL_SCOPES });
    const answer = await send(api, '/v1/keys', { headers: auth, json: { name: 'x' } });
    expect(codeOf(answer)).toEqual([403, 'session_required']);
  });

  test.each([
    ['a mistyped field', { name: 'x', budget: '5' }, 'budget'],
    ['a scope that is none', { name: 'x', scopes: ['everything'] }, 'scopes'],
    ['a cap that is no decimal', { name: 'x', monthly_cap_usd: '1e3' }, 'monthly_cap_usd'],
    ['an expiry in the past', { name: 'x', expires_at: '2020-01-01T00:00:00Z' }, 'expires_at'],
  ])('refuses %s', async (_what, json, field) => {
    const { status, body } = await send(api, '/v1/keys', { headers: owner.auth, json });
    expect([status, body.errors[0].loc.slice(0, 2)]).toEqual([422, ['body', field]]);
  });

  test('fifty times at once with one Idempotency-Key makes one key, and every repeat gets the same answer', async () => {
    const person = await signUp(api);
    const headers = { ...person.auth, 'idempotency-key': 'create-once' };
    const create = () => send(api, '/v1/keys', { headers, json: { name: 'once', scopes: ['account:read'] } });
    const answers = await Promise.all(Array.from({ length: 50 }, create));
    for (const answer of answers) {
      if (answer.status !== 201) expect(codeOf(answer)).toEqual([409, 'idempotency_in_progress']);
      if (answer.status === 409) expect([answer.headers.get('retry-after'), answer.headers.get('x-should-retry')]).toEqual(['1', null]);
    }
    const first = answers.find(({ status, headers: answered }) => status === 201 && !answered.has('idempotent-replayed'));
    const replay = await create();
    expect(replay.headers.get('idempotent-replayed')).toBe('true');
    expect(replay.text).toBe(first?.text);
    expect(replay.headers.get('content-type')).toBe(first?.headers.get('content-type'));
    expect((await send(api, '/v1/keys', { headers: person.auth })).body).toHaveLength(1);
    expect(await works(api, replay.body.key)).toBe(true);
    const other = await send(api, '/v1/keys', { headers, json: { name: 'another' } });
    expect(codeOf(other)).toEqual([409, 'idempotency_conflict']);
  });

  test('input that fails validation does not use up its Idempotency-Key', async () => {
    const headers = { ...owner.auth, 'idempotency-key': 'corrected-later' };
    expect((await send(api, '/v1/keys', { headers, json: {} })).status).toBe(422);
    expect((await send(api, '/v1/keys', { headers, json: { name: 'x' } })).status).toBe(201);
  });
});

describe('an Idempotency-Key', () => {
  test('replays a refusal as well, as the problem it was', async () => {
    const { keyId } = await newKey(api, owner.auth);
    await revoke(keyId);
    const auth = { ...owner.auth, 'idempotency-key': 'rotate-revoked' };
    const [first, replay] = [await rotate(keyId, {}, auth), await rotate(keyId, {}, auth)];
    expect(codeOf(first)).toEqual([409, 'conflict']);
    expect([replay.status, replay.text, replay.headers.get('idempotent-replayed')]).toEqual([409, first.text, 'true']);
    expect(replay.headers.get('content-type')).toBe('application/problem+json');
  });

  test('of one caller says nothing to another', async () => {
    const stranger = await signUp(api);
    const create = (auth: Record<string, string>) =>
      send(api, '/v1/keys', { headers: { ...auth, 'idempotency-key': 'the-same-words' }, json: { name: 'x' } });
    const [mine, theirs] = [await create(owner.auth), await create(stranger.auth)];
    expect(theirs.headers.has('idempotent-replayed')).toBe(false);
    expect(theirs.body.key).not.toBe(mine.body.key);
  });

  test('still replays after a new login', async () => {
    const { email, auth } = await signUp(api);
    const create = (headers: Record<string, string>) =>
      send(api, '/v1/keys', { headers: { ...headers, 'idempotency-key': 'across-logins' }, json: { name: 'x' } });
    const first = await create(auth);
    const login = await send(api, '/v1/users/login', { json: { email, password: PASSWORD } });
    const replay = await create({ authorization: `Bearer ${login.body.session.token}` });
    expect(replay.text).toBe(first.text);
  });
});

describe('listing keys', () => {
  test('shows all of the account, newest first, with revoked ones, and no others', async () => {
    const person = await signUp(api);
    const made: string[] = [];
    for (let index = 0; index < 3; index++) made.unshift((await newKey(api, person.auth)).keyId);
    await revoke(String(made[1]), person.auth);
    const { body } = await send(api, '/v1/keys', { headers: person.auth });
    expect(body.map(({ key_id }: { key_id: string }) => key_id)).toEqual(made);
    expect(body.map(({ status }: { status: string }) => status)).toEqual(['active', 'revoked', 'active']);
  });
});

describe('another account’s key', () => {
  test('is answered exactly as a missing one', async () => {
    const { keyId } = await newKey(api, owner.auth);
    const stranger = await signUp(api);
    const headers = { ...stranger.auth, 'x-request-id': 'the-same-request' };
    for (const { method, path } of [
      { method: 'GET', path: '' },
      { method: 'DELETE', path: '' },
      { method: 'POST', path: '/rotate' },
    ]) {
      const foreign = await send(api, `/v1/keys/${keyId}${path}`, { method, headers });
      const missing = await send(api, `/v1/keys/${NO_KEY}${path}`, { method, headers });
      expect(foreign.status).toBe(404);
      expect(foreign.text).toBe(missing.text);
    }
    expect((await get(keyId)).body.status).toBe('active');
  });
});

describe('revoking a key', () => {
  test('ends it here before the answer, and on every other instance within a second', async () => {
    await expectWithinASecond(async () => {
      const { key, keyId } = await newKey(api, owner.auth);
      expect([await works(api, key), await works(neighbour, key)]).toEqual([true, true]);
      expect((await revoke(keyId)).status).toBe(204);
      expect(await works(api, key)).toBe(false);
      return async () => !(await works(neighbour, key));
    });
  });

  test('is in effect on an instance that has just lost its listening connection', async () => {
    await expectWithinASecond(async () => {
      const { key, keyId } = await newKey(api, owner.auth);
      expect(await works(neighbour, key)).toBe(true);
      const { em } = db.database.orm;
      await em
        .fork()
        .execute(
          `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'tallygate listen' and datname = current_database()`,
        );
      await revoke(keyId);
      return async () => !(await works(neighbour, key));
    });
  });

  test('twice keeps the first time', async () => {
    const { keyId } = await newKey(api, owner.auth);
    await revoke(keyId);
    const first = (await get(keyId)).body.revoked_at;
    clock.offsetMs += 1000;
    expect((await revoke(keyId)).status).toBe(204);
    expect((await get(keyId)).body).toMatchObject({ revoked_at: first, status: 'revoked' });
  });

  test('needs the scope keys:write, and the answer names it', async () => {
    const { keyId, auth } = await newKey(api, owner.auth);
    const answer = await revoke(keyId, auth);
    expect(codeOf(answer)).toEqual([403, 'scope_required']);
    expect(answer.body.detail).toContain('keys:write');
  });

  test('by a key ends none that may do more than that key', async () => {
    const live = await newKey(api, owner.auth, { scopes: ALL_SCOPES });
    const test = await newKey(api, owner.auth, { scopes: ALL_SCOPES, livemode: false });
    const weak = await newKey(api, owner.auth, { scopes: ['keys:write'] });
    expect(codeOf(await revoke(live.keyId, test.auth))).toEqual([403, 'forbidden']);
    expect(codeOf(await revoke(live.keyId, weak.auth))).toEqual([403, 'scope_required']);
    expect(await works(api, live.key)).toBe(true);
    expect((await revoke(test.keyId, live.auth)).status).toBe(204);
    expect((await revoke(live.keyId, live.auth)).status).toBe(204);
  });
});

describe('rotating a key', () => {
  test('ends the old secret at once and keeps everything else', async () => {
    const { key, keyId, created } = await newKey(api, owner.auth, { monthly_cap_usd: '3' });
    expect(await works(api, key)).toBe(true);
    const { status, body } = await rotate(keyId);
    expect(status).toBe(200);
    expect(body).toEqual({ ...created, key: body.key, rotated_at: expect.stringMatching(/Z$/) });
    expect(body.key).not.toBe(key);
    expect([await works(api, key), await works(api, body.key)]).toEqual([false, true]);
  });

  test('with grace lets both secrets work, until the very end of the grace', async () => {
    const { key, keyId } = await newKey(api, owner.auth);
    const rotatedAt = clock.now();
    clock.stoppedAtMs = rotatedAt;
    try {
      const { body } = await rotate(keyId, { grace_seconds: 60 });
      expect(body.previous_secret_expires_at).toBe(new Date(rotatedAt + 60_000).toISOString());
      clock.stoppedAtMs = rotatedAt + 59_999;
      expect([await works(api, key), await works(api, body.key)]).toEqual([true, true]);
      clock.stoppedAtMs = rotatedAt + 60_000;
      expect([await works(api, key), await works(api, body.key)]).toEqual([false, true]);
      expect((await get(keyId)).body.previous_secret_expires_at).toBeNull();
    } finally {
      clock.stoppedAtMs = undefined;
    }
  });

  test('again within the grace ends the oldest secret', async () => {
    const { key, keyId } = await newKey(api, owner.auth);
    const second = (await rotate(keyId, { grace_seconds: 600 })).body.key;
    const third = (await rotate(keyId, { grace_seconds: 600 })).body.key;
    expect([await works(api, key), await works(api, second), await works(api, third)]).toEqual([false, true, true]);
  });

  test('is refused for a revoked and for an expired key', async () => {
    const revoked = await newKey(api, owner.auth);
    await revoke(revoked.keyId);
    expect(codeOf(await rotate(revoked.keyId))).toEqual([409, 'conflict']);
    const expiring = await newKey(api, owner.auth, { expires_at: new Date(clock.now() + 60_000).toISOString() });
    clock.offsetMs += 61_000;
    expect(await works(api, expiring.key)).toBe(false);
    expect((await get(expiring.keyId)).body.status).toBe('expired');
    expect(codeOf(await rotate(expiring.keyId))).toEqual([409, 'conflict']);
  });

  test('by a key never yields more than that key may do itself', async () => {
    const weak = await newKey(api, owner.auth, { scopes: ['keys:write'] });
    const strong = await newKey(api, owner.auth, { scopes: ALL_SCOPES });
    expect(codeOf(await rotate(strong.keyId, {}, weak.auth))).toEqual([403, 'scope_required']);
    expect(await works(api, strong.key)).toBe(true);
    const test = await newKey(api, owner.auth, { scopes: ALL_SCOPES, livemode: false });
    expect(codeOf(await rotate(strong.keyId, {}, test.auth))).toEqual([403, 'forbidden']);
    expect((await rotate(strong.keyId, {}, strong.auth)).status).toBe(200);
  });

  test.each([
    ['a monthly cap', { monthly_cap_usd: '5' }],
    ['a limit of requests', { rate_limits: { requests_per_minute: 10 } }],
    ['a limit of tokens', { rate_limits: { tokens_per_minute: 1000 } }],
    ['a limit of concurrency', { rate_limits: { concurrency: 1 } }],
  ])('by a key with %s gives it no other key’s on top: it rotates itself and nothing else', async (_what, limits) => {
    const bounded = await newKey(api, owner.auth, { scopes: ALL_SCOPES, ...limits });
    const sibling = await newKey(api, owner.auth, { scopes: ALL_SCOPES, ...limits });
    expect(codeOf(await rotate(sibling.keyId, {}, bounded.auth))).toEqual([403, 'forbidden']);
    expect(await works(api, sibling.key)).toBe(true);
    expect((await rotate(bounded.keyId, {}, bounded.auth)).status).toBe(200);
  });

  test('by a key without limits works on its siblings, with and without limits', async () => {
    const manager = await newKey(api, owner.auth, { scopes: ALL_SCOPES });
    for (const limits of [{}, { monthly_cap_usd: '5' }]) {
      const sibling = await newKey(api, owner.auth, limits);
      expect((await rotate(sibling.keyId, {}, manager.auth)).status).toBe(200);
      expect(await works(api, sibling.key)).toBe(false);
    }
  });

  test.each([{ grace_seconds: -1 }, { grace_seconds: 604_801 }, { grace: 1 }])('refuses the body %j', async (json) => {
    const { keyId } = await newKey(api, owner.auth);
    expect((await rotate(keyId, json)).status).toBe(422);
  });
});

describe('the owner', () => {
  test('of a key decides its role: a change is in effect on every instance within a second', async () => {
    await expectWithinASecond(async () => {
      const person = await signUp(api, 'admin');
      const { key } = await newKey(api, person.auth);
      const rolesSeen = () =>
        Promise.all([api, neighbour].map(async (instance) => (await instance.directory.authenticate(key)).principal.role));
      expect(await rolesSeen()).toEqual(['admin', 'admin']);
      await db.database.orm.em.fork().transactional(async (unit) => {
        await unit.execute(`update users set role = 'member' where id = ?`, [person.userId]);
        await unit.execute('select pg_notify(?, ?)', ['tallygate_keys', `account:${person.accountId}`]);
      });
      return async () => !(await rolesSeen()).includes('admin');
    });
  });
});

describe('the last use', () => {
  test('of keys is written in batches', async () => {
    const { key, keyId } = await newKey(api, owner.auth);
    await works(api, key);
    expect((await get(keyId)).body.last_used_at).toBeNull();
    await api.lastUse.flush();
    expect(Date.parse((await get(keyId)).body.last_used_at)).toBeLessThanOrEqual(clock.now());
  });
});
