import { contract } from '@tallygate/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { setRoleByOperator } from '../../access/identity/index.ts';
import { systemClock } from '../../kernel/clock.ts';
import { testCredentials } from './credential-matrix.ts';
import { type Instance, newKey, openTestDatabase, send, signUp, startInstance } from './testing/account-api.ts';
import { openMailbox } from './testing/mailbox.ts';

let db: Awaited<ReturnType<typeof openTestDatabase>>;
let api: Instance;
let mailbox: ReturnType<typeof openMailbox>;

beforeAll(async () => {
  db = await openTestDatabase();
  api = await startInstance(db.database, db.url);
  mailbox = openMailbox(api, db.database);
});

afterAll(async () => {
  await api?.close();
  await db?.close();
});

const confirmed = async (role?: 'admin') => {
  const user = await signUp(api, role);
  await db.database.pool.query('update users set email_verified_at = now() where id = $1', [user.userId]);
  return user;
};
const setRole = (userId: string, headers: Record<string, string>, role: string) =>
  send(api, `/v1/admin/users/${userId}/role`, { method: 'PUT', headers, json: { role } });

testCredentials(() => ({ api, database: db.database }), contract.users);

describe('an administrator', () => {
  test('gives a role that applies at once to sessions and keys, with a mail and an audit entry', async () => {
    const admin = await signUp(api, 'admin');
    const user = await confirmed();
    const key = { authorization: `Bearer ${(await newKey(api, user.auth, { scopes: ['account:read'] })).key}` };
    const canRead = async (headers: Record<string, string>) => (await send(api, '/v1/admin/audit-log', { headers })).status;
    expect([await canRead(user.auth), await canRead(key)]).toEqual([403, 403]);
    const given = await setRole(user.userId, admin.auth, 'admin');
    expect([given.status, given.body.role]).toEqual([200, 'admin']);
    expect(await canRead(user.auth)).toBe(200);
    await expect.poll(async () => (await send(api, '/v1/users/me', { headers: key })).body.role).toBe('admin');
    expect((await mailbox.to(user.email)).map(({ subject }) => subject)).toContain('Your role was changed');
    const log = await send(api, '/v1/audit-log?action=user.role_changed', { headers: user.auth });
    expect(log.body.data).toEqual([
      expect.objectContaining({ actor: { kind: 'user', id: admin.userId }, changes: { role: { from: 'member', to: 'admin' } } }),
    ]);
    expect((await setRole(user.userId, admin.auth, 'member')).status).toBe(200);
    expect(await canRead(user.auth)).toBe(403);
  });

  test('does not change their own, nor that of an unconfirmed address or an unknown user', async () => {
    const admin = await confirmed('admin');
    const stranger = await signUp(api);
    const answers = [
      await setRole(admin.userId, admin.auth, 'member'),
      await setRole(stranger.userId, admin.auth, 'marketing'),
      await setRole('019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77', admin.auth, 'marketing'),
      await setRole(stranger.userId, admin.auth, 'owner'),
    ];
    expect(answers.map(({ status, body }) => [status, body.code])).toEqual([
      [403, 'forbidden'],
      [409, 'conflict'],
      [404, 'not_found'],
      [422, 'validation_failed'],
    ]);
  });

  test('is left over when two take the role from each other at once', async () => {
    const [one, other] = [await confirmed('admin'), await confirmed('admin')];
    const answers = await Promise.all([setRole(one.userId, other.auth, 'member'), setRole(other.userId, one.auth, 'member')]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 403]);
  });

  test('lists who has a role, and whose address it is in any case', async () => {
    const admin = await signUp(api, 'admin');
    const user = await signUp(api);
    const found = await send(api, `/v1/admin/users?email=${user.email.toUpperCase()}`, { headers: admin.auth });
    expect(found.body).toMatchObject({ has_more: false, data: [{ user_id: user.userId, role: 'member', email_verified: false }] });
    const admins = await send(api, '/v1/admin/users?role=admin&limit=200', { headers: admin.auth });
    expect(admins.body.data.map(({ user_id }: { user_id: string }) => user_id)).toContain(admin.userId);
    expect(admins.body.data.every(({ role }: { role: string }) => role === 'admin')).toBe(true);
  });
});

test('on the server itself a role is given without an administrator, to a confirmed address', async () => {
  const deps = { em: db.database.orm.em, clock: systemClock };
  const user = await signUp(api);
  await expect(setRoleByOperator(deps, user.email, 'admin')).rejects.toMatchObject({ code: 'conflict' });
  await db.database.pool.query('update users set email_verified_at = now() where id = $1', [user.userId]);
  expect(await setRoleByOperator(deps, user.email, 'admin')).toEqual({ before: 'member' });
  expect(await setRoleByOperator(deps, 'nobody@example.com', 'admin')).toBeUndefined();
  expect((await send(api, '/v1/admin/users', { headers: user.auth })).status).toBe(200);
});
