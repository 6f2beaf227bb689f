import { contract, NewPassword } from '@tallygate/contract';
import { generateSync } from 'otplib';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { setRoleByOperator } from '../../access/identity/index.ts';
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
  (await send(api, `/v1/audit-log?action=${action}`, { headers: auth })).body.data;

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

  test('is reported to the owner after five within an hour, once in that hour', async () => {
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

  test('with the right password and a wrong second factor is reported as a known password', async () => {
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
    /** Login attempts from changing addresses, on the gateways in turn; returns how many were checked. */
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

  test('that two gateways record at once is in the audit log once, and mailed once', async () => {
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

  test('of an unknown address stores nothing', async () => {
    await login('nobody@example.com', 'a wrong password', '203.0.113.9');
    await api.identity.recordLoginFailures();
    expect((await sql('select 1 from login_failures where user_id is null')).rowCount).toBe(0);
  });
});

describe('a weak password is refused', () => {
  const WEAK = ['Password1234', 'Summer2026!!', 'weakling1weakling1', 'correct horse battery', 'Tallygate2026!', 'hopper@navy1906'];
  const internal = { 'x-internal-secret': INTERNAL_SECRET };
  let taken = 0;
  const someone = () => `grace.hopper.${++taken}@navy.example`;
  const resetLink = async (email: string) => {
    await send(api, '/v1/users/password-reset', { json: { email } });
    return mailbox.tokenFor(email, 'reset-password');
  };

  /** Every way to a new password, each ready to be tried with several. */
  const WAYS = {
    'at registration': async () => {
      const email = someone();
      return (password: string) => send(api, '/v1/users', { headers: internal, json: { email, name: 'Grace Hopper', password } });
    },
    'when it is changed': async () => {
      const { auth } = await signUp(api);
      await send(api, '/v1/users/me', { method: 'PATCH', headers: auth, json: { name: 'Hopper Navy' } });
      return (new_password: string) =>
        send(api, '/v1/users/me/password', { headers: auth, json: { current_password: PASSWORD, new_password } });
    },
    'at a reset': async () => {
      const email = someone();
      await send(api, '/v1/users', { headers: internal, json: { email, password: PASSWORD } });
      const token = await resetLink(email);
      return (new_password: string) => send(api, '/v1/users/password-reset/confirm', { json: { token, new_password } });
    },
    'when an invitation makes the account': async () => {
      const email = someone();
      await api.identity.claimable.findOrMake({ email, name: 'Grace Hopper' });
      const token = await mailbox.tokenFor(email, 'reset-password');
      return (new_password: string) => send(api, '/v1/users/password-reset/confirm', { json: { token, new_password } });
    },
  };

  test.each(Object.entries(WAYS))('%s, which uses up neither a try nor a link', async (_way, open) => {
    const set = await open();
    for (const password of WEAK)
      expect(await set(password)).toMatchObject({ status: 422, body: { code: 'validation_failed', errors: [{ type: 'weak_password' }] } });
    expect((await set('hopper-navy-1906')).body.errors[0].msg).toContain('your name, your e-mail address');
    expect([201, 204]).toContain((await set('eight blue kettles at noon')).status);
  });

  test('by every operation that takes a new one', () => {
    const takes = Object.values(contract)
      .flatMap((routes) => Object.values(routes as Record<string, { path: string; body?: { shape?: object } }>))
      .filter(({ body }) => Object.values(body?.shape ?? {}).includes(NewPassword))
      .map(({ path }) => path);
    // How an invitation refuses one is in `members.test.ts`.
    expect(takes).toEqual(['/v1/users', '/v1/users/me/password', '/v1/users/password-reset/confirm', '/v1/members/accept']);
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
