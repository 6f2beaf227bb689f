import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { MovableClock, newKey, type Received, send, signUp } from './testing/account-api.ts';
import { CHAT, chat, type InferenceWorld, openInferenceWorld } from './testing/inference-api.ts';

const clock = new MovableClock();
const PUBLIC_KEY = '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo';
const NO_KEY = '019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77';
const ALL_SCOPES = ['inference', 'account:read', 'account:write', 'keys:write', 'billing:write'];
let world: InferenceWorld;
let owner: Awaited<ReturnType<typeof signUp>>;

beforeAll(async () => {
  world = await openInferenceWorld(clock);
});
beforeEach(async () => {
  owner = await signUp(world.account);
});
afterAll(() => world?.close());

const keyWith = (input: object = {}) => newKey(world.account, owner.auth, { livemode: false, ...input });
const patch = (keyId: string, json: object, headers = owner.auth) =>
  send(world.account, `/v1/keys/${keyId}`, { method: 'PATCH', headers, json });
const codeOf = ({ status, body }: Received) => [status, body?.code];
const auditOf = async (keyId: string) => {
  const { rows } = await world.database.pool.query(
    'select action, actor_kind, actor_id, changes from audit_log where target_id = $1 order by id',
    [keyId],
  );
  return rows;
};

describe('a key that may use some models only', () => {
  test('gets the allowed ones, for another model and for another fallback alike', async () => {
    const { auth } = await keyWith({ allowed_models: ['gpt-4o-mini'] });
    expect((await chat(world, auth)).status).toBe(200);
    const refused = await chat(world, auth, { ...CHAT, model: 'claude-opus-4-8' });
    expect([refused.status, refused.code, refused.body.error.param]).toEqual([403, 'model_not_allowed', 'model']);
    expect(refused.body.detail).toContain('gpt-4o-mini only');
    const fallback = await chat(world, auth, { ...CHAT, models: ['gpt-4o-mini', 'claude-opus-4-8'] });
    expect([fallback.status, fallback.code, fallback.body.error.param]).toEqual([403, 'model_not_allowed', 'models[1]']);
  });

  test('is not handed down to a model that it may not use', async () => {
    const { auth } = await keyWith({ allowed_models: ['claude-opus-4-8'], rate_limits: { requests_per_minute: 2 } });
    expect((await chat(world, auth)).code).toBe('model_not_allowed');
    const failed = await chat(
      world,
      { ...auth, 'x-sandbox-fault': '500', 'x-fallback-policy': 'semantic' },
      { ...CHAT, model: 'claude-opus-4-8' },
    );
    expect([failed.status, failed.headers.get('x-model-served'), failed.headers.get('x-fallback')]).toEqual([
      502,
      'claude-opus-4-8',
      'none',
    ]);
  });

  test('sees the whole catalogue’s limits change at once, by a PATCH', async () => {
    const { auth, keyId } = await keyWith({ allowed_models: ['claude-opus-4-8'] });
    expect((await chat(world, auth)).code).toBe('model_not_allowed');
    expect((await patch(keyId, { allowed_models: ['gpt-4o-mini'] })).body.allowed_models).toEqual(['gpt-4o-mini']);
    expect((await chat(world, auth)).status).toBe(200);
    await patch(keyId, { allowed_models: null });
    expect((await chat(world, auth, { ...CHAT, model: 'claude-opus-4-8' })).status).toBe(200);
  });
});

test('a key that may use some endpoints only is refused on the others before its body is looked at', async () => {
  const { auth, keyId } = await keyWith({ allowed_endpoints: ['/v1/embeddings'] });
  const refused = await chat(world, auth, 'not json');
  expect([refused.status, refused.code]).toEqual([403, 'endpoint_not_allowed']);
  await patch(keyId, { allowed_endpoints: ['/v1/embeddings', '/v1/chat/completions'] });
  expect((await chat(world, auth)).status).toBe(200);
});

describe('changing a key', () => {
  test('changes what is given and nothing else, and is in the audit log from what to what', async () => {
    const { keyId, created } = await keyWith({ metadata: { team: 'search' }, allowed_models: ['gpt-4o-mini'] });
    const { key: _plain, ...before } = created;
    const { status, body } = await patch(keyId, { name: 'renamed', rate_limits: { concurrency: 2 } });
    expect([status, body]).toEqual([
      200,
      { ...before, name: 'renamed', rate_limits: { requests_per_minute: null, tokens_per_minute: null, concurrency: 2 } },
    ]);
    expect((await patch(keyId, { metadata: {}, rate_limits: { requests_per_minute: 5 } })).body).toMatchObject({
      metadata: {},
      rate_limits: { requests_per_minute: 5, concurrency: 2 },
    });
    expect((await auditOf(keyId)).slice(0, 2)).toMatchObject([
      { action: 'key.created', actor_kind: 'user', actor_id: owner.userId },
      { action: 'key.updated', changes: { name: { from: 'test', to: 'renamed' }, concurrency: { from: null, to: 2 } } },
    ]);
  });

  test('with nothing to change changes nothing', async () => {
    const { keyId, created } = await keyWith();
    const { key: _plain, ...before } = created;
    expect((await patch(keyId, {})).body).toEqual(before);
  });

  test('moves the expiry, and takes it away', async () => {
    const { keyId } = await keyWith({ expires_at: new Date(clock.now() + 60_000).toISOString() });
    const later = new Date(clock.now() + 120_000).toISOString();
    expect((await patch(keyId, { expires_at: later })).body.expires_at).toBe(later);
    expect((await patch(keyId, { expires_at: null })).body.expires_at).toBeNull();
  });

  test('of another account is answered exactly as of a missing one', async () => {
    const { keyId } = await keyWith();
    const stranger = await signUp(world.account);
    const headers = { ...stranger.auth, 'x-request-id': 'the-same-request' };
    const [foreign, missing] = [await patch(keyId, { name: 'mine' }, headers), await patch(NO_KEY, { name: 'mine' }, headers)];
    expect([foreign.status, foreign.text]).toEqual([404, missing.text]);
  });

  test('is refused for a revoked key', async () => {
    const { keyId } = await keyWith();
    await send(world.account, `/v1/keys/${keyId}`, { method: 'DELETE', headers: owner.auth });
    expect(codeOf(await patch(keyId, { name: 'x' }))).toEqual([409, 'conflict']);
  });

  test.each([
    ['a model that the catalogue does not have', { allowed_models: ['gpt-4o-mini', 'gpt-none'] }, ['allowed_models', 1]],
    ['no model at all', { allowed_models: [] }, ['allowed_models']],
    ['an endpoint that does not spend', { allowed_endpoints: ['/v1/keys'] }, ['allowed_endpoints', 0]],
    ['a limit of zero', { rate_limits: { concurrency: 0 } }, ['rate_limits', 'concurrency']],
    ['a mistyped limit', { rate_limits: { rpm: 5 } }, ['rate_limits', 'rpm']],
    ['an expiry in the past', { expires_at: '2020-01-01T00:00:00Z' }, ['expires_at']],
    ['seventeen pairs of metadata', { metadata: Object.fromEntries(Array.from({ length: 17 }, (_, at) => [`k${at}`, 'v'])) }, ['metadata']],
    ['a long metadata key', { metadata: { ['k'.repeat(65)]: 'v' } }, ['metadata']],
    ['a long metadata value', { metadata: { k: 'v'.repeat(513) } }, ['metadata', 'k']],
    ['a NUL in metadata', { metadata: { k: 'a\u0000b' } }, ['metadata', 'k']],
    ['half a surrogate pair in the name', { name: 'a\ud83d' }, ['name']],
    ['a public key of small order', { signing_public_key: `AQ${'A'.repeat(41)}` }, ['signing_public_key']],
    ['a public key that is no point of the curve', { signing_public_key: `Ag${'A'.repeat(41)}` }, ['signing_public_key']],
    ['a public key with bits left over', { signing_public_key: `${PUBLIC_KEY.slice(0, -1)}p` }, ['signing_public_key']],
    ['a public key that is too short', { signing_public_key: PUBLIC_KEY.slice(1) }, ['signing_public_key']],
    ['a requirement that no signature could meet', { require_signature: true }, ['require_signature']],
    ['the cap, which has its own endpoint', { monthly_cap_usd: '1' }, ['monthly_cap_usd']],
  ])('refuses %s, and so does creating one', async (_what, json, loc) => {
    const { keyId } = await keyWith();
    const { status, body } = await patch(keyId, json);
    expect([status, body.errors?.[0].loc.slice(0, loc.length + 1)], JSON.stringify(body)).toEqual([422, ['body', ...loc]]);
    if ('monthly_cap_usd' in json) return;
    const created = await send(world.account, '/v1/keys', { headers: owner.auth, json: { name: 'x', ...json } });
    expect(created.status).toBe(422);
  });
});

describe('a key that changes keys', () => {
  const strong = { livemode: true, scopes: ALL_SCOPES };

  test.each([
    [
      'a scope that it lacks',
      { scopes: ['keys:write'] },
      { scopes: ['inference'] },
      { scopes: ['inference', 'account:read'] },
      'scope_required',
    ],
    [
      'a model that it may not use',
      { allowed_models: ['gpt-4o-mini'] },
      { allowed_models: ['gpt-4o-mini'] },
      { allowed_models: null },
      'forbidden',
    ],
    [
      'an endpoint that it may not use',
      { allowed_endpoints: ['/v1/embeddings'] },
      { allowed_endpoints: ['/v1/embeddings'] },
      { allowed_endpoints: ['/v1/chat/completions'] },
      'forbidden',
    ],
    [
      'more requests than it has',
      { rate_limits: { requests_per_minute: 5 } },
      { rate_limits: { requests_per_minute: 3 } },
      { rate_limits: { requests_per_minute: 6 } },
      'forbidden',
    ],
    [
      'no limit where it has one',
      { rate_limits: { concurrency: 2 } },
      { rate_limits: { concurrency: 1 } },
      { rate_limits: { concurrency: null } },
      'forbidden',
    ],
    [
      'a longer life than its own',
      { expires_at: '2099-01-01T00:00:00Z' },
      { expires_at: '2098-01-01T00:00:00Z' },
      { expires_at: null },
      'forbidden',
    ],
  ])('cannot give another %s', async (_what, limits, given, wanted, code) => {
    const caller = await newKey(world.account, owner.auth, { ...strong, ...limits });
    const other = await newKey(world.account, owner.auth, { livemode: true, scopes: ['inference'], ...given });
    expect(codeOf(await patch(other.keyId, wanted, caller.auth))).toEqual([403, code]);
    // To take away, and to leave as it is, is no giving.
    expect((await patch(other.keyId, { name: 'renamed', ...given }, caller.auth)).status).toBe(200);
    expect((await patch(other.keyId, wanted)).status).toBe(200);
  });

  test('cannot rise by changing itself', async () => {
    const { auth, keyId } = await newKey(world.account, owner.auth, { scopes: ['keys:write'], allowed_models: ['gpt-4o-mini'] });
    expect(codeOf(await patch(keyId, { scopes: ['keys:write', 'inference'] }, auth))).toEqual([403, 'scope_required']);
    expect(codeOf(await patch(keyId, { allowed_models: null }, auth))).toEqual([403, 'forbidden']);
    expect((await patch(keyId, { name: 'still itself' }, auth)).status).toBe(200);
  });

  test('may give what it has, and keeps its hands off live keys when it is a test key', async () => {
    const caller = await newKey(world.account, owner.auth, strong);
    const testing = await newKey(world.account, owner.auth, { ...strong, livemode: false });
    const other = await newKey(world.account, owner.auth, { scopes: ['inference'] });
    expect((await patch(other.keyId, { scopes: ['inference', 'account:read'] }, caller.auth)).status).toBe(200);
    expect(codeOf(await patch(other.keyId, { name: 'x' }, testing.auth))).toEqual([403, 'forbidden']);
  });

  test('never changes how requests are signed: a thief of the key would begin there', async () => {
    const signing = { signing_public_key: PUBLIC_KEY };
    const { auth, keyId } = await newKey(world.account, owner.auth, { ...strong, ...signing });
    for (const json of [{ require_signature: true }, { require_signature: false }, { signing_public_key: null }])
      expect(codeOf(await patch(keyId, json, auth))).toEqual([403, 'session_required']);
    expect((await patch(keyId, { require_signature: true })).body).toMatchObject({ require_signature: true });
    expect((await patch(keyId, { require_signature: false, signing_public_key: null })).body).toMatchObject({ require_signature: false });
  });

  test.each([
    ['has no cap', { monthly_cap_usd: '1' }, {}],
    ['may use more models', { allowed_models: ['gpt-4o-mini'] }, {}],
    ['lives longer', { expires_at: '2099-01-01T00:00:00Z' }, {}],
  ])('cannot rotate one that %s, but itself it can', async (_what, limits, more) => {
    const caller = await newKey(world.account, owner.auth, { ...strong, ...limits });
    const other = await newKey(world.account, owner.auth, { ...strong, ...more });
    const rotate = (keyId: string) => send(world.account, `/v1/keys/${keyId}/rotate`, { headers: caller.auth, json: {} });
    expect(codeOf(await rotate(other.keyId))).toEqual([403, 'forbidden']);
    expect((await rotate(caller.keyId)).status).toBe(200);
  });
});

test('creation, rotation and revocation are in the audit log once each, however often they are repeated, and no secret is', async () => {
  const { keyId, key } = await keyWith();
  const headers = { ...owner.auth, 'idempotency-key': 'rotate-once' };
  const rotate = () => send(world.account, `/v1/keys/${keyId}/rotate`, { headers, json: { grace_seconds: 60 } });
  const [first, again] = [await rotate(), await rotate()];
  // The repeat gets the very secret that the first answer had, and the grace period of the old one continues.
  expect([again.text, again.headers.get('idempotent-replayed')]).toEqual([first.text, 'true']);
  for (const secret of [key, first.body.key]) expect((await chat(world, { 'x-api-key': secret })).status).toBe(200);
  for (let time = 0; time < 2; time++) await send(world.account, `/v1/keys/${keyId}`, { method: 'DELETE', headers: owner.auth });
  const entries = await auditOf(keyId);
  expect(entries.map(({ action }) => action)).toEqual(['key.created', 'key.rotated', 'key.revoked']);
  expect(JSON.stringify(entries)).not.toContain(key.slice(20));
});
