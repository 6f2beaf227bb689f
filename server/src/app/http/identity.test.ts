import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  INTERNAL_SECRET,
  type Instance,
  MovableClock,
  newKey,
  openTestDatabase,
  PASSWORD,
  send,
  signUp,
  startInstance,
} from './testing/account-api.ts';

const DAY_MS = 86_400_000;
const internal = { 'x-internal-secret': INTERNAL_SECRET };
const clock = new MovableClock();
let db: Awaited<ReturnType<typeof openTestDatabase>>;
let api: Instance;

beforeAll(async () => {
  db = await openTestDatabase();
  api = await startInstance(db.database, db.url, { clock });
});

afterAll(async () => {
  await api?.close();
  await db?.close();
});

const me = (token: string) => send(api, '/v1/users/me', { headers: { authorization: `Bearer ${token}` } });
const login = (json: object) => send(api, '/v1/users/login', { json });

describe('creating a user', () => {
  const create = (json: object, headers: Record<string, string> = internal) => send(api, '/v1/users', { headers, json });

  test('creates a member with a free account, and answers without any secret', async () => {
    const { status, body, text } = await create({ email: 'Ada@Example.com', password: PASSWORD, name: '  Ada  ' });
    expect(status).toBe(201);
    expect(body).toEqual({
      user_id: expect.any(String),
      account_id: expect.any(String),
      email: 'Ada@Example.com',
      name: 'Ada',
      role: 'member',
      account_role: 'owner',
      email_verified: false,
      mfa_enabled: false,
      plan: 'free',
      stores_content: true,
      created_at: expect.stringMatching(/Z$/),
    });
    expect(text).not.toMatch(/argon2|seven grey/);
  });

  test('refuses an e-mail address that is taken, in any case, also when two come at once', async () => {
    await create({ email: 'taken@example.com', password: PASSWORD });
    const again = await create({ email: 'TAKEN@example.com', password: PASSWORD });
    expect([again.status, again.body.code, again.headers.get('x-should-retry')]).toEqual([409, 'conflict', 'false']);
    const racing = await Promise.all([1, 2].map(() => create({ email: 'race@example.com', password: PASSWORD })));
    expect(racing.map(({ status }) => status).sort()).toEqual([201, 409]);
  });

  test('needs the internal secret, also with another credential', async () => {
    const { auth } = await signUp(api, 'admin');
    const json = { email: 'x@example.com', password: PASSWORD };
    for (const headers of [{}, auth]) expect((await create(json, headers)).body.code).toBe('missing_credentials');
    for (const wrong of ['x', `${INTERNAL_SECRET}x`]) {
      const { status, body } = await create(json, { 'x-internal-secret': wrong });
      expect([status, body.code]).toEqual([401, 'invalid_credentials']);
    }
  });

  test.each([
    ['a short password', { email: 'x@example.com', password: 'short' }],
    ['no e-mail address', { email: 'x', password: PASSWORD }],
    ['a role', { email: 'x@example.com', password: PASSWORD, role: 'admin' }],
  ])('refuses %s', async (_what, json) => expect((await create(json)).status).toBe(422));
});

describe('logging in', () => {
  test('answers with the user and a session that works, and the table does not hold its token', async () => {
    const { email, userId } = await signUp(api);
    const { status, body } = await login({ email: email.toUpperCase(), password: PASSWORD });
    expect(status).toBe(200);
    expect(body.session.token).toMatch(/^tgs_[A-Za-z0-9_-]{43}$/);
    expect(Date.parse(body.session.expires_at) - clock.now()).toBeGreaterThan(29.9 * DAY_MS);
    const mine = await me(body.session.token);
    expect(mine.body.user_id).toBe(userId);
    expect(mine.body).not.toHaveProperty('session');
    const [dump] = await db.database.orm.em.fork().execute<{ rows: string }[]>('select json_agg(s)::text as rows from sessions s');
    expect(dump?.rows).not.toContain(body.session.token);
  });

  test('answers an unknown e-mail address exactly as a wrong password', async () => {
    const { email } = await signUp(api);
    const headers = { 'x-request-id': 'the-same-request' };
    const wrong = await send(api, '/v1/users/login', { headers, json: { email, password: 'wrong password' } });
    const unknown = await send(api, '/v1/users/login', { headers, json: { email: 'nobody@example.com', password: 'wrong password' } });
    expect(wrong.status).toBe(401);
    expect(unknown.text).toBe(wrong.text);
    const comparable = ({ headers: all }: typeof wrong) => Object.fromEntries([...all].filter(([name]) => name !== 'date'));
    expect(comparable(unknown)).toEqual(comparable(wrong));
  });
});

describe('a session', () => {
  test('ends with logout, and only that one', async () => {
    const { email, token } = await signUp(api);
    const other = (await login({ email, password: PASSWORD })).body.session.token;
    const logout = await send(api, '/v1/users/logout', { method: 'POST', headers: { 'x-web-session-token': token } });
    expect([logout.status, logout.text]).toEqual([204, '']);
    expect((await me(token)).body.code).toBe('invalid_credentials');
    expect((await me(other)).status).toBe(200);
  });

  test('cannot be ended by an API key', async () => {
    const { auth } = await signUp(api);
    const key = await newKey(api, auth);
    const { status, body } = await send(api, '/v1/users/logout', { method: 'POST', headers: key.auth });
    expect([status, body.code]).toEqual([403, 'session_required']);
  });

  test('dies after 30 idle days, and after 90 days however much it is used', async () => {
    const idle = await signUp(api);
    const busy = await signUp(api);
    const after = (days: number) => {
      clock.offsetMs += days * DAY_MS;
    };
    after(29);
    expect((await me(busy.token)).status).toBe(200);
    after(1);
    expect((await me(idle.token)).status).toBe(401);
    after(28);
    expect((await me(busy.token)).status).toBe(200);
    after(29);
    expect((await me(busy.token)).status).toBe(200);
    after(3);
    expect((await me(busy.token)).status).toBe(401);
  });

  test('writes its last use at most once a minute', async () => {
    const { token, userId } = await signUp(api);
    const lastUse = async () => {
      const [row] = await db.database.orm.em
        .fork()
        .execute<{ at: Date }[]>('select last_used_at as at from sessions where user_id = ?', [userId]);
      return row?.at;
    };
    const first = await lastUse();
    clock.offsetMs += 30_000;
    await me(token);
    expect(await lastUse()).toEqual(first);
    clock.offsetMs += 31_000;
    await me(token);
    expect(await lastUse()).not.toEqual(first);
  });
});
