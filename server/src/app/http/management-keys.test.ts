import { contract } from '@tallygate/contract';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { revokeKeysInProject, revokeProjectKeys } from '../../access/keys/index.ts';
import { ProjectMembers, Projects, projectRoutes } from '../../access/projects/index.ts';
import { mistyped } from '../../kernel/testing/mistyped.ts';
import { testCredentials } from './credential-matrix.ts';
import { endpointsOf } from './endpoint.ts';
import { type Instance, MovableClock, openTestDatabase, send, signUp, startInstance } from './testing/account-api.ts';

type Auth = Record<string, string>;

const clock = new MovableClock();
let db: Awaited<ReturnType<typeof openTestDatabase>>;
let api: Instance;
let neighbour: Instance;
let owner: Awaited<ReturnType<typeof signUp>>;

beforeAll(async () => {
  db = await openTestDatabase();
  const projects = new Projects({ pool: db.database.pool, clock, revokeKeys: revokeProjectKeys });
  const projectMembers = new ProjectMembers({ pool: db.database.pool, clock, revokeKeys: revokeKeysInProject });
  const endpoints = endpointsOf(contract.projects, projectRoutes(projects, projectMembers));
  api = await startInstance(db.database, db.url, { clock, endpoints });
  neighbour = await startInstance(db.database, db.url, { clock, endpoints });
});
beforeEach(async () => {
  clock.offsetMs = 0;
  owner = await signUp(api);
});
afterAll(async () => {
  await api?.close();
  await neighbour?.close();
  await db?.close();
});

testCredentials(() => ({ api, database: db.database }), contract.managementKeys);

const get = (path: string, headers: Auth = owner.auth, instance = api) => send(instance, path, { headers });
const post = (path: string, json: object, headers: Auth = owner.auth) => send(api, path, { headers, json });

async function make(input: object = {}) {
  const { status, body } = await post('/v1/management-keys', { name: 'terraform', scopes: ['account:read'], ...input });
  expect(status).toBe(201);
  const id = String(body.management_key_id);
  return { id, key: String(body.key), auth: { authorization: `Bearer ${body.key}` }, made: body };
}

/** As an admin of the account. */
const join = (userId: string, accountId: string) =>
  db.database.pool.query(`update users set account_id = $2, account_role = 'admin' where id = $1`, [userId, accountId]);

const codeOf = async (auth: Auth, instance = api) => (await get('/v1/projects', auth, instance)).body.code;

describe('a management key', () => {
  test('is shown once, and its prefix and scopes are listed', async () => {
    const { key, made } = await make({ scopes: ['keys:write', 'keys:write'] });
    expect(key).toMatch(/^tg_mgmt_[0-9A-Za-z]{50}$/);
    expect(made).toMatchObject({ prefix: key.slice(0, 20), scopes: ['keys:write'], status: 'active', created_by: owner.userId });
    const { text, body } = await get('/v1/management-keys');
    expect(body.data).toHaveLength(1);
    expect(text).not.toContain(key);
    const { rows } = await db.database.pool.query('select m::text as row from management_keys m');
    expect(rows.some(({ row }) => row.includes(key.slice(20, 52)))).toBe(false);
  });

  test('works from its addresses alone', async () => {
    const { auth } = await make({ allowed_addresses: ['203.0.113.0/24', '2001:db8::/32', '198.51.100.7'] });
    const from = async (address: string) => codeOf({ ...auth, 'x-forwarded-for': address });
    for (const address of ['203.0.113.9', '2001:db8:1::2', '198.51.100.7']) expect(await from(address)).toBeUndefined();
    for (const address of ['203.0.114.9', '2001:db9::1', '198.51.100.8']) expect(await from(address)).toBe('address_not_allowed');
    expect(await codeOf({ authorization: `Bearer ${mistyped(auth.authorization.slice(7))}`, 'x-forwarded-for': '192.0.2.1' })).toBe(
      'invalid_credentials',
    );
  });

  test.each([['203.0.113.0/33'], ['example.com'], ['203.0.113'], ['2001:db8::/200'], ['']])('takes no address range %j', async (range) => {
    const { body } = await post('/v1/management-keys', { name: 'x', scopes: ['account:read'], allowed_addresses: [range] });
    expect(body.code).toBe('validation_failed');
  });

  test('ends at its expiry, at its revocation and, after its grace, at its rotation, on every instance', async () => {
    const expiring = await make({ expires_at: new Date(clock.now() + 60_000).toISOString() });
    const revoked = await make();
    const rotated = await make();
    for (const { auth } of [expiring, revoked, rotated]) expect(await codeOf(auth, neighbour)).toBeUndefined();
    await send(api, `/v1/management-keys/${revoked.id}`, { method: 'DELETE', headers: owner.auth });
    expect(await codeOf(revoked.auth, neighbour)).toBe('invalid_credentials');
    const { body } = await post(`/v1/management-keys/${rotated.id}/rotate`, { grace_seconds: 30 });
    const fresh = { authorization: `Bearer ${body.key}` };
    for (const auth of [rotated.auth, fresh]) expect(await codeOf(auth, neighbour)).toBeUndefined();
    clock.offsetMs = 31_000;
    expect(await codeOf(rotated.auth, neighbour)).toBe('invalid_credentials');
    clock.offsetMs = 61_000;
    expect(await codeOf(expiring.auth, neighbour)).toBe('invalid_credentials');
    expect(await codeOf(fresh, neighbour)).toBeUndefined();
    expect((await get(`/v1/management-keys/${expiring.id}`)).body.status).toBe('expired');
    expect((await post(`/v1/management-keys/${revoked.id}/rotate`, {})).body.code).toBe('conflict');
  });

  test('is none of another account’s, and none of a developer’s business', async () => {
    const { id } = await make();
    const stranger = await signUp(api);
    expect((await get(`/v1/management-keys/${id}`, stranger.auth)).body.code).toBe('not_found');
    await db.database.pool.query(`update users set account_role = 'developer' where id = $1`, [stranger.userId]);
    expect((await get('/v1/management-keys', stranger.auth)).body.code).toBe('forbidden');
  });

  test('has at most the rights that its maker has now, and ends with them', async () => {
    const { auth, id } = await make({ scopes: ['account:read', 'projects:write', 'members:write'] });
    const setRole = (role: string) => db.database.pool.query('update users set account_role = $2 where id = $1', [owner.userId, role]);
    expect((await post('/v1/projects', { name: 'search' }, auth)).status).toBe(201);
    expect((await post('/v1/members/invitations', { email: 'x@example.com', account_role: 'owner' }, auth)).body.code).toBe('forbidden');
    await setRole('viewer');
    expect((await post('/v1/projects', { name: 'ads' }, auth)).body.code).toBe('forbidden');
    await setRole('owner');
    const { status } = await post('/v1/users/me/close', { password: owner.password });
    expect(status).toBe(204);
    expect(await codeOf(auth)).toBe('invalid_credentials');
    const { rows } = await db.database.pool.query('select revoked_at from management_keys where id = $1', [id]);
    expect(rows[0].revoked_at).not.toBeNull();
  });

  test('of an administrator of the gateway is not rotated by an admin of the account, who would be one then', async () => {
    const administrator = await signUp(api, 'admin');
    const { body } = await post('/v1/management-keys', { name: 'theirs', scopes: ['admin:write'] }, administrator.auth);
    await join(owner.userId, administrator.accountId);
    const rotated = await post(`/v1/management-keys/${body.management_key_id}/rotate`, {});
    expect([rotated.status, rotated.body.code, rotated.body.key]).toEqual([403, 'forbidden', undefined]);
    expect((await post(`/v1/management-keys/${body.management_key_id}/rotate`, {}, administrator.auth)).status).toBe(200);
    expect((await send(api, `/v1/management-keys/${body.management_key_id}`, { method: 'DELETE', headers: owner.auth })).status).toBe(204);
  });

  test('is revoked when its maker is removed from the account', async () => {
    const admin = await signUp(api);
    await join(admin.userId, owner.accountId);
    const { body } = await post('/v1/management-keys', { name: 'theirs', scopes: ['account:read'] }, admin.auth);
    const auth = { authorization: `Bearer ${body.key}` };
    expect(await codeOf(auth)).toBeUndefined();
    await send(api, `/v1/members/${admin.userId}`, { method: 'DELETE', headers: owner.auth });
    expect(await codeOf(auth)).toBe('invalid_credentials');
    expect((await get(`/v1/management-keys/${body.management_key_id}`)).body.status).toBe('revoked');
  });

  test('needs the role of the gateway for scopes that administer it', async () => {
    const { body } = await post('/v1/management-keys', { name: 'x', scopes: ['admin:write'] });
    expect([body.code, body.error.param]).toEqual(['forbidden', 'scopes']);
  });
});

describe('API keys that a management key makes', () => {
  test('run models, and have beside that only scopes that it has itself', async () => {
    const { auth } = await make({ scopes: ['keys:write', 'account:read'] });
    const made = await post('/v1/keys', { name: 'ci', scopes: ['inference', 'account:read'] }, auth);
    expect(made.status).toBe(201);
    const beyond = await post('/v1/keys', { name: 'ci', scopes: ['billing:write'] }, auth);
    expect([beyond.status, beyond.body.code]).toEqual([403, 'scope_required']);
    const patched = await send(api, `/v1/keys/${made.body.key_id}`, {
      method: 'PATCH',
      headers: auth,
      json: { scopes: ['billing:write'] },
    });
    expect(patched.body.code).toBe('scope_required');
  });

  test('and others are revoked by it, and those beyond its scopes are not rotated', async () => {
    const { auth } = await make({ scopes: ['keys:write'] });
    const { body } = await post('/v1/keys', { name: 'pays', scopes: ['billing:write'] });
    expect((await post(`/v1/keys/${body.key_id}/rotate`, {}, auth)).body.code).toBe('scope_required');
    expect((await send(api, `/v1/keys/${body.key_id}`, { method: 'DELETE', headers: auth })).status).toBe(204);
  });

  test('are in the audit log under the management key', async () => {
    const { auth, id } = await make({ scopes: ['keys:write', 'audit:read'] });
    const { body } = await post('/v1/keys', { name: 'ci' }, auth);
    const { body: log } = await get('/v1/audit-log', auth);
    expect(log.data.slice(0, 2)).toMatchObject([
      { action: 'key.created', actor: { kind: 'management_key', id }, target: { kind: 'key', id: body.key_id } },
      { action: 'management_key.created', actor: { kind: 'user', id: owner.userId }, target: { kind: 'management_key', id } },
    ]);
  });
});
