import { contract } from '@tallygate/contract';
import { generateSync } from 'otplib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { testCredentials } from './credential-matrix.ts';
import { type Instance, MovableClock, newKey, openTestDatabase, PASSWORD, send, signUp, startInstance } from './testing/account-api.ts';
import { openMailbox } from './testing/mailbox.ts';

const STEP_MS = 30_000;
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

const codeOf = (secret: string, steps = 0) => generateSync({ secret, epoch: Math.floor(clock.now() / 1000) + steps * 30 });
const later = (ms: number) => {
  clock.stoppedAtMs = clock.now() + ms;
};
const post = (path: string, headers: Record<string, string>, json?: object) =>
  send(api, `/v1/users/mfa/${path}`, { method: 'POST', headers, ...(json && { json }) });
const login = (email: string, password = PASSWORD) => send(api, '/v1/users/login', { json: { email, password } });
const complete = (challenge_token: string, code: string) => send(api, '/v1/users/login/mfa', { json: { challenge_token, code } });
const challengeOf = async (email: string): Promise<string> => (await login(email)).body.challenge_token;

/** A user with a second factor, the present step of which is not used up. */
async function withSecondFactor() {
  const user = await signUp(api);
  const { body: begun } = await post('begin', user.auth);
  const secret: string = begun.secret;
  const { body: confirmed } = await post('confirm', user.auth, { password: PASSWORD, code: codeOf(secret) });
  later(2 * STEP_MS);
  const recoveryCodes: string[] = confirmed.recovery_codes;
  return { ...user, secret, recoveryCodes };
}

testCredentials(() => ({ api, database: db.database }), contract.mfa);

describe('setting up', () => {
  test('begin shows a secret as text, link and QR code, and changes no login', async () => {
    const { auth, email } = await signUp(api);
    const { status, body } = await post('begin', auth);
    expect(status).toBe(200);
    expect(body.secret).toMatch(/^[A-Z2-7]{32}$/);
    expect(new URL(body.otpauth_uri).searchParams.get('secret')).toBe(body.secret);
    const svg = Buffer.from(body.qr_code.replace('data:image/svg+xml;base64,', ''), 'base64').toString();
    expect(svg).toMatch(/^<svg [\s\S]*<\/svg>$/);
    expect((await login(email)).body.session.token).toBeDefined();
    expect((await send(api, '/v1/users/mfa/status', { headers: auth })).body).toEqual({
      enabled: false,
      enabled_at: null,
      pending: true,
      recovery_codes_left: 0,
    });
  });

  test('begin again replaces the secret', async () => {
    const { auth } = await signUp(api);
    const first = await post('begin', auth);
    const second = await post('begin', auth);
    const old = await post('confirm', auth, { password: PASSWORD, code: codeOf(first.body.secret) });
    expect([old.status, old.body.code]).toEqual([401, 'invalid_mfa_code']);
    expect((await post('confirm', auth, { password: PASSWORD, code: codeOf(second.body.secret) })).status).toBe(200);
  });

  test('confirm shows ten recovery codes once, mails the owner, and neither they nor the secret are in the database', async () => {
    const user = await withSecondFactor();
    expect(new Set(user.recoveryCodes).size).toBe(10);
    const status = await send(api, '/v1/users/mfa/status', { headers: user.auth });
    expect(status.body).toEqual({ enabled: true, enabled_at: expect.any(String), pending: false, recovery_codes_left: 10 });
    expect((await send(api, '/v1/users/me', { headers: user.auth })).body.mfa_enabled).toBe(true);
    expect((await mailbox.to(user.email)).map(({ subject }) => subject)).toContain('Two-factor login is on');
    const { rows } = await db.database.pool.query(
      'select json_agg(u)::text || (select json_agg(c)::text from mfa_recovery_codes c) as dump from users u',
    );
    for (const secret of [user.secret, ...user.recoveryCodes, ...user.recoveryCodes.map((code) => code.replaceAll('-', ''))])
      expect(rows[0].dump).not.toContain(secret);
  });

  test('confirm without begin, begin and confirm while on, and disable while off are conflicts', async () => {
    const { auth } = await signUp(api);
    expect((await post('confirm', auth, { password: PASSWORD, code: '000000' })).status).toBe(409);
    expect((await post('disable', auth, { code: '000000', password: PASSWORD })).status).toBe(409);
    const on = await withSecondFactor();
    expect((await post('begin', on.auth)).status).toBe(409);
    expect((await post('confirm', on.auth, { password: PASSWORD, code: codeOf(on.secret) })).status).toBe(409);
  });

  test('an API key cannot change how its owner logs in without the owner’s password', async () => {
    const user = await signUp(api);
    const key = await newKey(api, user.auth, { scopes: ['account:read', 'account:write'] });
    const { body } = await post('begin', key.auth);
    const code = codeOf(body.secret);
    expect((await post('confirm', key.auth, { code })).status).toBe(422);
    expect((await post('confirm', key.auth, { code, password: 'a wrong password' })).body.code).toBe('confirmation_failed');
    expect((await post('confirm', key.auth, { code, password: PASSWORD })).status).toBe(200);
  });
});

describe('the second step of a login', () => {
  test('takes a code of the app and answers with a session', async () => {
    const user = await withSecondFactor();
    const { status, body } = await login(user.email);
    expect([status, Object.keys(body).sort()]).toEqual([200, ['challenge_token', 'expires_at', 'methods', 'mfa_required']]);
    const done = await complete(body.challenge_token, codeOf(user.secret));
    expect([done.status, done.body.user_id, done.body.mfa_enabled]).toEqual([200, user.userId, true]);
    expect((await send(api, '/v1/users/me', { headers: { authorization: `Bearer ${done.body.session.token}` } })).status).toBe(200);
  });

  test.each([
    [-2, 401],
    [-1, 200],
    [1, 200],
    [2, 401],
  ])('with a code that is %i steps off answers %i', async (steps, status) => {
    const user = await withSecondFactor();
    expect((await complete(await challengeOf(user.email), codeOf(user.secret, steps))).status).toBe(status);
  });

  test('takes a step once, also when it comes twice at the same time, and no older step after it', async () => {
    const user = await withSecondFactor();
    const challenges = await Promise.all(Array.from({ length: 4 }, () => challengeOf(user.email)));
    const code = codeOf(user.secret);
    const racing = await Promise.all(challenges.map((challenge) => complete(challenge, code)));
    expect(racing.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401]);
    expect((await complete(await challengeOf(user.email), codeOf(user.secret, -1))).body.code).toBe('invalid_mfa_code');
    expect((await complete(await challengeOf(user.email), codeOf(user.secret, 1))).status).toBe(200);
  });

  test('the code that confirmed the setup does not log in', async () => {
    const user = await signUp(api);
    const { body } = await post('begin', user.auth);
    const code = codeOf(body.secret);
    await post('confirm', user.auth, { password: PASSWORD, code });
    expect((await complete(await challengeOf(user.email), code)).body.code).toBe('invalid_mfa_code');
  });

  test('accepts each recovery code once, in any spelling, and notifies the owner', async () => {
    const user = await withSecondFactor();
    const [code = ''] = user.recoveryCodes;
    expect((await complete(await challengeOf(user.email), ` ${code.toUpperCase().replaceAll('-', ' ')}`)).status).toBe(200);
    expect((await complete(await challengeOf(user.email), code)).body.code).toBe('invalid_mfa_code');
    expect((await send(api, '/v1/users/mfa/status', { headers: user.auth })).body.recovery_codes_left).toBe(9);
    expect((await mailbox.to(user.email)).map(({ subject }) => subject)).toContain('A recovery code was used');
  });

  test('gives a challenge five tries, also when they come at once; after them even the right code is too late', async () => {
    const user = await withSecondFactor();
    const challenge = await challengeOf(user.email);
    const tries = await Promise.all(['000001', '000002', '000003', '000004', '000005', '000006'].map((code) => complete(challenge, code)));
    expect(tries.filter(({ body }) => body.code === 'invalid_mfa_code').length).toBeLessThanOrEqual(5);
    later(10 * 60_000);
    const fresh = await challengeOf(user.email);
    for (let attempt = 0; attempt < 5; attempt++) {
      await complete(fresh, '000000');
      later(55_000);
    }
    const late = await complete(fresh, codeOf(user.secret));
    expect([late.status, late.body.code]).toEqual([401, 'challenge_expired']);
  });

  test('refuses a challenge after five minutes, after its use, and one that never was', async () => {
    const user = await withSecondFactor();
    const old = await challengeOf(user.email);
    later(5 * 60_000);
    expect((await complete(old, codeOf(user.secret))).body.code).toBe('challenge_expired');
    const used = await challengeOf(user.email);
    await complete(used, codeOf(user.secret));
    later(STEP_MS);
    expect((await complete(used, codeOf(user.secret))).body.code).toBe('challenge_expired');
    for (const token of ['x', `tgc_${'A'.repeat(43)}`]) expect((await complete(token, '123456')).body.code).toBe('challenge_expired');
  });

  test('slows down guesses with new challenges', async () => {
    const user = await withSecondFactor();
    const codes: string[] = [];
    for (let attempt = 0; attempt < 7; attempt++) codes.push((await complete(await challengeOf(user.email), '000000')).body.code);
    expect(codes).toEqual([...Array(5).fill('invalid_mfa_code'), 'rate_limited', 'rate_limited']);
  });
});

describe('a stolen session', () => {
  test('cannot switch a second factor on without the password', async () => {
    const user = await signUp(api);
    const { body } = await post('begin', user.auth);
    const code = codeOf(body.secret);
    const alone = await post('confirm', user.auth, { code });
    expect([alone.status, alone.body.errors[0].loc]).toEqual([422, ['body', 'password']]);
    const guessed = await post('confirm', user.auth, { code, password: 'a wrong password' });
    expect([guessed.status, guessed.body.code]).toEqual([403, 'confirmation_failed']);
    expect((await login(user.email)).body.session.token).toBeDefined();
  });

  test('ends when the owner switches the second factor on; the owner’s own stays', async () => {
    const user = await signUp(api);
    const stolen = { authorization: `Bearer ${(await login(user.email)).body.session.token}` };
    const { body } = await post('begin', user.auth);
    expect((await post('confirm', user.auth, { password: PASSWORD, code: codeOf(body.secret) })).status).toBe(200);
    const answers = [stolen, user.auth].map((headers) => send(api, '/v1/users/me', { headers }));
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([401, 200]);
  });
});

describe('an administrator', () => {
  const reset = (userId: string, headers: Record<string, string>) =>
    send(api, `/v1/admin/users/${userId}/mfa`, { method: 'DELETE', headers });

  test('removes a user’s second factor and sessions, with a mail and an audit entry', async () => {
    const user = await withSecondFactor();
    const admin = await signUp(api, 'admin');
    expect((await reset(user.userId, admin.auth)).status).toBe(204);
    expect((await send(api, '/v1/users/me', { headers: user.auth })).status).toBe(401);
    const { token } = (await login(user.email)).body.session;
    expect((await mailbox.to(user.email)).map(({ subject }) => subject)).toContain('Two-factor login is off');
    const log = await send(api, '/v1/audit-log?action=mfa.reset', { headers: { authorization: `Bearer ${token}` } });
    expect(log.body.data).toEqual([
      expect.objectContaining({ actor: { kind: 'user', id: admin.userId }, target: { kind: 'user', id: user.userId } }),
    ]);
    expect((await reset(user.userId, admin.auth)).status).toBe(204);
    expect((await send(api, '/v1/users/me', { headers: { authorization: `Bearer ${token}` } })).status).toBe(200);
  });

  test('needs the password and a code for their own, and gets a 404 for an unknown user', async () => {
    const admin = await signUp(api, 'admin');
    const own = await reset(admin.userId, admin.auth);
    expect([own.status, own.body.code]).toEqual([403, 'forbidden']);
    expect((await reset('019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77', admin.auth)).status).toBe(404);
  });
});

test('beginning is in the audit log', async () => {
  const { auth } = await signUp(api);
  await post('begin', auth);
  expect((await send(api, '/v1/audit-log?action=mfa.begun', { headers: auth })).body.data).toHaveLength(1);
});

describe('disabling', () => {
  test('needs the password and a code, and answers a wrong code as a login does', async () => {
    const user = await withSecondFactor();
    const wrongPassword = await post('disable', user.auth, { password: 'wrong', code: codeOf(user.secret) });
    const wrongCode = await post('disable', user.auth, { password: PASSWORD, code: '000000' });
    expect([wrongPassword.status, wrongPassword.body.code]).toEqual([403, 'confirmation_failed']);
    expect([wrongCode.status, wrongCode.body.code]).toEqual([401, 'invalid_mfa_code']);
    expect((await send(api, '/v1/users/me', { headers: user.auth })).status).toBe(200);
    const done = await post('disable', user.auth, { password: PASSWORD, code: codeOf(user.secret) });
    expect(done.body).toEqual({ enabled: false, enabled_at: null, pending: false, recovery_codes_left: 0 });
    expect((await login(user.email)).body.session.token).toBeDefined();
    const { rows } = await db.database.pool.query('select 1 from mfa_recovery_codes where user_id = $1', [user.userId]);
    expect(rows).toEqual([]);
  });

  test('takes a recovery code in place of the app, and a new setup can follow at once', async () => {
    const user = await withSecondFactor();
    expect((await post('disable', user.auth, { password: PASSWORD, code: user.recoveryCodes[3] })).status).toBe(200);
    const { body } = await post('begin', user.auth);
    expect((await post('confirm', user.auth, { password: PASSWORD, code: codeOf(body.secret) })).status).toBe(200);
  });
});
