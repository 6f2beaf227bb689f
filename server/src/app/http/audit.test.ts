import { contract } from '@tallygate/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { recordAudit } from '../../audit/index.ts';
import { newId } from '../../kernel/ids.ts';
import { testCredentials } from './credential-matrix.ts';
import { INTERNAL_SECRET, type Instance, newKey, openTestDatabase, PASSWORD, send, signUp, startInstance } from './testing/account-api.ts';

let db: Awaited<ReturnType<typeof openTestDatabase>>;
let api: Instance;

beforeAll(async () => {
  db = await openTestDatabase();
  api = await startInstance(db.database, db.url);
});

afterAll(async () => {
  await api?.close();
  await db?.close();
});

const log = (auth: Record<string, string>, query = '') => send(api, `/v1/audit-log${query}`, { headers: auth });
const note = (accountId: string, changes: Record<string, unknown> = {}, action = 'key.created' as const) =>
  recordAudit(db.database.pool, {
    accountId,
    actor: { kind: 'system', id: null },
    action,
    target: { kind: 'key', id: newId() },
    changes,
  });

testCredentials(() => ({ api, database: db.database }), contract.audit);

describe('the audit log', () => {
  test('lists actions with actor and address, newest first', async () => {
    const { auth, userId, accountId } = await signUp(api);
    await send(api, '/v1/users/me/password', {
      headers: { ...auth, 'x-request-id': 'the-request-0001', 'user-agent': 'tests/1' },
      json: { current_password: PASSWORD, new_password: 'eight blue kettles at noon' },
    });
    const { status, body } = await log(auth);
    expect([status, body.data.length, body.has_more, body.next_cursor]).toEqual([200, 3, false, null]);
    expect(body.data.map(({ action }: { action: string }) => action)).toEqual(['user.password_changed', 'session.opened', 'user.created']);
    expect(body.data[0]).toEqual({
      entry_id: expect.any(String),
      account_id: accountId,
      actor: { kind: 'user', id: userId },
      action: 'user.password_changed',
      target: { kind: 'user', id: userId },
      changes: { sessions_ended: 0 },
      ip: '127.0.0.1',
      user_agent: 'tests/1',
      request_id: 'the-request-0001',
      created_at: expect.stringMatching(/Z$/),
    });
  });

  test('names the web front end where it made a user', async () => {
    const headers = { 'x-internal-secret': INTERNAL_SECRET };
    await send(api, '/v1/users', { headers, json: { email: 'made@example.com', password: PASSWORD } });
    const { body } = await send(api, '/v1/users/login', { json: { email: 'made@example.com', password: PASSWORD } });
    const entries = await log({ authorization: `Bearer ${body.session.token}` }, '?action=user.created');
    expect(entries.body.data).toMatchObject([{ actor: { kind: 'internal', id: null }, changes: { email: 'm…@example.com' } }]);
  });

  test('is filtered by action and time, and paged', async () => {
    const { auth, accountId } = await signUp(api);
    for (let n = 0; n < 3; n++) await note(accountId, { n });
    const { body: first } = await log(auth, '?action=key.created&limit=2');
    expect(first).toMatchObject({ data: [{ changes: { n: 2 } }, { changes: { n: 1 } }], has_more: true });
    await note(accountId, { n: 3 });
    const { body: second } = await log(auth, `?action=key.created&limit=2&cursor=${first.next_cursor}`);
    expect(second).toMatchObject({ data: [{ changes: { n: 0 } }], has_more: false, next_cursor: null });
    const future = new Date(Date.now() + 60_000).toISOString();
    expect((await log(auth, `?from=${future}`)).body.data).toEqual([]);
    expect((await log(auth, `?to=${future}&action=key.created`)).body.data).toHaveLength(4);
    expect((await log(auth, '?action=Nonsense')).status).toBe(422);
  });

  test('is filtered by noun, by who, by what it happened to, and by address, which API keys are not told', async () => {
    const { auth, accountId, userId } = await signUp(api);
    await note(accountId);
    const key = await newKey(api, auth, { scopes: ['audit:read'] });
    const actions = async (query: string) => (await log(auth, query)).body.data.map(({ action }: { action: string }) => action);
    expect(await actions('?action=key')).toEqual(['key.created', 'key.created']);
    expect(await actions('?action=ke')).toEqual([]);
    expect(await actions(`?action=key&actor_id=${userId}`)).toEqual(['key.created']);
    expect(await actions(`?target_id=${userId}`)).toContain('user.created');
    expect(await actions('?action=key&ip=127.0.0.1')).toEqual(['key.created']);
    expect(await actions('?ip=203.0.113.7')).toEqual([]);
    const byKey = await log(key.auth, '?ip=127.0.0.1');
    expect([byKey.status, byKey.body.code]).toEqual([403, 'session_required']);
  });

  test('shows an account its own entries only; administrators see all, or one account’s', async () => {
    const mine = await signUp(api);
    const theirs = await signUp(api);
    const admin = await signUp(api, 'admin');
    const seen = await log(mine.auth);
    expect(seen.body.data.every(({ account_id }: { account_id: string }) => account_id === mine.accountId)).toBe(true);
    expect((await log(mine.auth, `?account_id=${theirs.accountId}`)).body.errors[0].loc).toEqual(['query', 'account_id']);
    const all = (query: string) => send(api, `/v1/admin/audit-log${query}`, { headers: admin.auth });
    const accounts = (await all('?limit=200')).body.data.map(({ account_id }: { account_id: string }) => account_id);
    expect(accounts).toEqual(expect.arrayContaining([mine.accountId, theirs.accountId]));
    const one = (await all(`?account_id=${theirs.accountId}`)).body;
    expect(one.data.every(({ account_id }: { account_id: string }) => account_id === theirs.accountId)).toBe(true);
    expect(one.data.length).toBeGreaterThan(0);
  });

  test('shows the IP address of a change to the owner’s session, and to no API key', async () => {
    const { auth } = await signUp(api);
    const key = await newKey(api, auth, { scopes: ['audit:read'] });
    const seen = async (as: Record<string, string>) => (await log(as)).body.data;
    const [byOwner, byKey] = [await seen(auth), await seen(key.auth)];
    expect(byOwner.some(({ ip }: { ip: string | null }) => ip === '127.0.0.1')).toBe(true);
    expect(byKey).toEqual(byOwner.map((entry: object) => ({ ...entry, ip: null })));
  });

  test('of other accounts is not opened by an API key, an administrator’s included', async () => {
    const admin = await signUp(api, 'admin');
    const { auth } = await newKey(api, admin.auth, { scopes: ['audit:read', 'admin:read'] });
    const { status, body } = await send(api, '/v1/admin/audit-log', { headers: auth });
    expect([status, body.code]).toEqual([403, 'session_required']);
    expect((await log(auth)).status).toBe(200);
  });

  test('holds no secret, even where a caller of recordAudit passes one in', async () => {
    const { auth, accountId, token } = await signUp(api);
    const key = `tg_live_${'a'.repeat(12)}${'b'.repeat(38)}`;
    await note(accountId, {
      password: 'hunter2',
      nested: [{ client_secret: 's3cr3t', note: `${key} ${token}` }],
      key_id: 'kept',
      amount: 1n,
    });
    const { body } = await log(auth, '?action=key.created');
    expect(body.data[0].changes).toEqual({
      password: '[redacted]',
      nested: [{ client_secret: '[redacted]', note: `tg_live_${'a'.repeat(12)}… tgs_…` }],
      key_id: 'kept',
      amount: '1',
    });
  });

  test.each(["update audit_log set action = 'x.y'", 'delete from audit_log', 'truncate audit_log'])('refuses “%s”', async (sql) => {
    await note((await signUp(api)).accountId);
    await expect(db.database.pool.query(sql)).rejects.toThrow('audit_log only grows');
  });

  test('an entry commits with its change or not at all', async () => {
    const { accountId, auth } = await signUp(api);
    const client = await db.database.pool.connect();
    await client.query('begin');
    await recordAudit(client, {
      accountId,
      actor: { kind: 'system', id: null },
      action: 'key.revoked',
      target: { kind: 'key', id: 'x' },
    });
    await client.query('rollback');
    client.release();
    expect((await log(auth, '?action=key.revoked')).body.data).toEqual([]);
  });
});
