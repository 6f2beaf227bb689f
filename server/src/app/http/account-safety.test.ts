import { generateSync } from 'otplib';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { setRoleByOperator } from '../../identity/index.ts';
import {
  INTERNAL_SECRET,
  type Instance,
  MovableClock,
  openTestDatabase,
  PASSWORD,
  send,
  signUp,
  startInstance,
} from './testing/account-api.ts';
import { openMailbox } from './testing/mailbox.ts';

const HOUR_MS = 3_600_000;
const clock = new MovableClock();
let db: Awaited<ReturnType<typeof openTestDatabase>>;
let api: Instance;
let mailbox: ReturnType<typeof openMailbox>;

beforeAll(async () => {
  db = await openTestDatabase();
  clock.stoppedAtMs = Date.now();
  api = await startInstance(db.database, db.url, { clock });
  mailbox = openMailbox(api, db.database);
});

afterAll(async () => {
  await api?.close();
  await db?.close();
});

const sql = (text: string, values: unknown[] = []) => db.database.pool.query(text, values);
const login = (email: string, password: string, from: string) =>
  send(api, '/v1/users/login', { headers: { 'x-forwarded-for': from }, json: { email, password } });
const auditOf = async (auth: Record<string, string>, action: string) =>
  (await send(api, `/v1/audit-log?action=${action}`, { headers: auth })).body.items;

describe('a failed login', () => {
  const told = async (email: string) =>
    (await mailbox.to(email)).map(({ subject }) => subject).filter((subject) => /Failed|knows/.test(subject));

  test('is in the audit log of the account, with its address and program', async () => {
    const user = await signUp(api);
    await login(user.email.toUpperCase(), 'a wrong password', '203.0.113.7');
    await mailbox.to(user.email);
    expect(await auditOf(user.auth, 'login.failed')).toEqual([
      expect.objectContaining({ account_id: user.accountId, ip: '203.0.113.7', target: { kind: 'user', id: user.userId } }),
    ]);
  });

  test('is told to the owner after five within an hour, once in that hour', async () => {
    const user = await signUp(api);
    const fail = async (times: number) => {
      for (let n = 0; n < times; n++) {
        await login(user.email, 'a wrong password', `2001:db8:${n}::1`);
        clock.stoppedAtMs = clock.now() + 1000;
      }
      return told(user.email);
    };
    expect(await fail(4)).toEqual([]);
    expect(await fail(1)).toEqual(['Failed logins to your account']);
    expect(await fail(5)).toHaveLength(1);
    clock.stoppedAtMs = clock.now() + HOUR_MS;
    expect(await fail(4)).toHaveLength(1);
    expect(await fail(1)).toHaveLength(2);
  });

  test('with the right password and a wrong second factor says that somebody knows the password', async () => {
    const user = await signUp(api);
    const { body } = await send(api, '/v1/users/mfa/begin', { method: 'POST', headers: user.auth });
    const code = generateSync({ secret: body.secret, epoch: Math.floor(clock.now() / 1000) });
    await send(api, '/v1/users/mfa/confirm', { headers: user.auth, json: { password: PASSWORD, code } });
    const { challenge_token } = (await login(user.email, PASSWORD, '203.0.113.8')).body;
    for (let n = 0; n < 5; n++)
      await send(api, '/v1/users/login/mfa', {
        headers: { 'x-forwarded-for': '203.0.113.8' },
        json: { challenge_token, code: 'AAAA-AAAA' },
      });
    expect(await told(user.email)).toEqual(['Somebody knows your password']);
    const entries = await auditOf(user.auth, 'login.second_factor_failed');
    expect(entries.map(({ ip }: { ip: string }) => ip)).toEqual(Array(5).fill('203.0.113.8'));
  });

  test('or second factor is tried fewer than 100 times an hour, at all gateways, from any address', async () => {
    const other = await startInstance(db.database, db.url, { clock });
    let restarted: Instance | undefined;
    const user = await signUp(api);
    const owner = { ...user, known: [1, 2, 3, 4, 5].map((n) => `198.51.100.${n}`) };
    for (const address of owner.known) expect((await login(user.email, PASSWORD, address)).status).toBe(200);
    /** From wherever a try may come from next, on the gateways in turn; how many were looked at. */
    const guesses = async (ask: (from: string, at: Instance) => Promise<{ status: number; headers: Headers }>): Promise<number> => {
      const end = clock.now() + HOUR_MS;
      let tries = 0;
      for (let turn = 0; clock.now() < end; turn++) {
        if (clock.now() > end - HOUR_MS / 2) restarted ??= await startInstance(db.database, db.url, { clock });
        const at = [api, restarted ?? other][turn % 2] ?? api;
        const answers = [await ask(`2001:db8:${turn.toString(16)}::1`, at), await ask(owner.known[turn % owner.known.length] ?? '', at)];
        tries += answers.filter(({ status }) => status === 401).length;
        const waits = answers.map(({ status, headers }) => (status === 429 ? Number(headers.get('retry-after')) : 0));
        if (!waits.includes(0)) clock.stoppedAtMs = clock.now() + Math.min(...waits) * 1000;
      }
      return tries;
    };
    const post = (at: Instance, path: string, from: string, json: object) => send(at, path, { headers: { 'x-forwarded-for': from }, json });
    try {
      const passwords = await guesses((from, at) => post(at, '/v1/users/login', from, { email: user.email, password: 'a wrong password' }));
      expect(passwords).toBeGreaterThan(20);
      expect(passwords).toBeLessThan(100);

      clock.stoppedAtMs = clock.now() + 2 * HOUR_MS;
      const { body } = await send(api, '/v1/users/mfa/begin', { method: 'POST', headers: user.auth });
      const code = generateSync({ secret: body.secret, epoch: Math.floor(clock.now() / 1000) });
      expect((await send(api, '/v1/users/mfa/confirm', { headers: user.auth, json: { password: PASSWORD, code } })).status).toBe(200);
      const factors = await guesses(async (from, at) => {
        const begun = await post(at, '/v1/users/login', from, { email: user.email, password: PASSWORD });
        if (begun.status !== 200) return begun;
        return post(at, '/v1/users/login/mfa', from, { challenge_token: begun.body.challenge_token, code: 'AAAA-AAAA' });
      });
      expect(factors).toBeGreaterThan(20);
      expect(factors).toBeLessThan(100);
    } finally {
      await other.close();
      await restarted?.close();
    }
  });

  test('that two gateways note at once is in the audit log once, and told once', async () => {
    const other = await startInstance(db.database, db.url, { clock });
    const user = await signUp(api);
    for (let n = 0; n < 12; n++)
      await send(n % 2 ? api : other, '/v1/users/login', {
        headers: { 'x-forwarded-for': `203.0.113.${n}` },
        json: { email: user.email, password: 'a wrong password' },
      });
    await Promise.all([api, other, api, other].map(({ identity }) => identity.recordLoginFailures()));
    expect(await told(user.email)).toEqual(['Failed logins to your account']);
    const entries = await auditOf(user.auth, 'login.failed');
    expect(entries.map(({ ip }: { ip: string }) => ip).toSorted()).toEqual(
      Array.from({ length: 12 }, (_, n) => `203.0.113.${n}`).toSorted(),
    );
    await other.close();
  });

  test('of an address that nobody has leaves nothing behind', async () => {
    await login('nobody@example.com', 'a wrong password', '203.0.113.9');
    await api.identity.recordLoginFailures();
    expect((await sql('select 1 from login_failures where user_id is null')).rowCount).toBe(0);
  });
});

describe('a weak password is refused', () => {
  const WEAK = 'Password1234';
  const refusal = {
    status: 422,
    body: { code: 'validation_failed', errors: [{ type: 'weak_password', msg: expect.stringContaining('known password') }] },
  };

  test('at registration', async () => {
    const headers = { 'x-internal-secret': INTERNAL_SECRET };
    const register = (password: string) =>
      send(api, '/v1/users', { headers, json: { email: 'grace.hopper@example.com', name: 'Grace Hopper', password } });
    expect(await register(WEAK)).toMatchObject(refusal);
    expect((await register('gracehopper1906')).body.errors[0].msg).toContain('your name or e-mail address');
    expect((await register(PASSWORD)).status).toBe(201);
  });

  test('when it is changed, which uses up no try', async () => {
    const user = await signUp(api);
    const change = (new_password: string) =>
      send(api, '/v1/users/me/password', { headers: user.auth, json: { current_password: PASSWORD, new_password } });
    for (let n = 0; n < 6; n++) expect(await change(WEAK)).toMatchObject(refusal);
    expect((await change('another horse battery')).status).toBe(204);
  });

  test('at a reset, whose link stays good', async () => {
    const user = await signUp(api);
    await send(api, '/v1/users/password-reset', { json: { email: user.email } });
    const token = await mailbox.tokenFor(user.email, 'reset-password');
    const reset = (new_password: string) => send(api, '/v1/users/password-reset/confirm', { json: { token, new_password } });
    expect(await reset(WEAK)).toMatchObject(refusal);
    expect((await reset('another horse battery')).status).toBe(204);
  });
});

describe('the last administrator', () => {
  const close = (auth: Record<string, string>) => send(api, '/v1/users/me/close', { headers: auth, json: { password: PASSWORD } });
  const administrator = async () => {
    const user = await signUp(api, 'admin');
    await sql('update users set email_verified_at = now() where id = $1', [user.userId]);
    return user;
  };
  const left = async () => (await sql(`select id from users where role = 'admin' and closed_at is null`)).rows.length;
  beforeEach(() => sql(`update users set role = 'member' where role = 'admin'`));

  test('cannot close the account until there is another one', async () => {
    const last = await administrator();
    const refused = await close(last.auth);
    expect([refused.status, refused.body.code]).toEqual([409, 'conflict']);
    await administrator();
    expect((await close(last.auth)).status).toBe(204);
  });

  test('is left over when two close their accounts at once', async () => {
    const two = [await administrator(), await administrator()];
    const answers = await Promise.all(two.map(({ auth }) => close(auth)));
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 409]);
    expect(await left()).toBe(1);
  });

  test('is left over when one closes the account while the other loses the role', async () => {
    const [one, other] = [await administrator(), await administrator()];
    const demote = send(api, `/v1/admin/users/${one.userId}/role`, { method: 'PUT', headers: other.auth, json: { role: 'member' } });
    const answers = await Promise.all([demote, close(other.auth)]);
    expect(answers.map(({ status }) => status < 300).sort()).toEqual([false, true]);
    expect(await left()).toBe(1);
  });

  test('keeps the role on the server itself too', async () => {
    const { email } = await administrator();
    const deps = { em: db.database.orm.em, clock };
    await expect(setRoleByOperator(deps, email, 'member')).rejects.toMatchObject({ code: 'conflict' });
    expect(await left()).toBe(1);
  });
});
