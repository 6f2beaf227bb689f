import { contract } from '@tallygate/contract';
import { generateSync } from 'otplib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { testCredentials } from './credential-matrix.ts';
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
import { openMailbox } from './testing/mailbox.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const NEW_PASSWORD = 'eight blue kettles at noon';
const clock = new MovableClock();
let db: Awaited<ReturnType<typeof openTestDatabase>>;
let api: Instance;
let mailbox: ReturnType<typeof openMailbox>;

beforeAll(async () => {
  db = await openTestDatabase();
  api = await startInstance(db.database, db.url, { clock });
  mailbox = openMailbox(api, db.database);
});

afterAll(async () => {
  await api?.close();
  await db?.close();
});

const login = (email: string, password: string) => send(api, '/v1/users/login', { json: { email, password } });
const me = (auth: Record<string, string>) => send(api, '/v1/users/me', { headers: auth });
const patch = (auth: Record<string, string>, json: object) => send(api, '/v1/users/me', { method: 'PATCH', headers: auth, json });
const post = (path: string, json: object, headers: Record<string, string> = {}) => send(api, `/v1/users/${path}`, { headers, json });
const anotherSession = async (email: string) => ({ authorization: `Bearer ${(await login(email, PASSWORD)).body.session.token}` });

testCredentials(() => ({ api, database: db.database }), contract.identity);
testCredentials(() => ({ api, database: db.database }), contract.account);

describe('the profile', () => {
  test('changes its name at once, and null removes it', async () => {
    const { auth } = await signUp(api);
    expect((await patch(auth, { name: '  Ada King ' })).body.name).toBe('Ada King');
    expect((await patch(auth, { name: null })).body.name).toBeNull();
    expect((await patch(auth, {})).status).toBe(200);
  });

  test('changes the e-mail address after its confirmation, and notifies the old one', async () => {
    const { auth, email } = await signUp(api);
    const wanted = `new-${email}`;
    const asked = await patch(auth, { email: wanted, password: PASSWORD });
    expect([asked.status, asked.body.email]).toEqual([200, email]);
    expect((await login(wanted, PASSWORD)).status).toBe(401);
    const token = await mailbox.tokenFor(wanted, 'verify-email');
    expect((await post('verify-email', { token })).status).toBe(204);
    expect((await me(auth)).body).toMatchObject({ email: wanted, email_verified: true });
    expect((await login(email, PASSWORD)).status).toBe(401);
    expect((await mailbox.to(email)).map(({ subject }) => subject)).toContain('Your e-mail address was changed');
  });

  test('does not take a new e-mail address without the password', async () => {
    const { auth } = await signUp(api);
    const without = await patch(auth, { email: 'x@example.com' });
    expect([without.status, without.body.errors[0].loc]).toEqual([422, ['body', 'password']]);
    expect((await patch(auth, { email: 'x@example.com', password: 'wrong' })).body.code).toBe('confirmation_failed');
  });

  test('answers for another user’s address as for a free one, and sends no mail', async () => {
    const taken = await signUp(api);
    const { auth } = await signUp(api);
    const before = (await mailbox.to(taken.email)).length;
    expect((await patch(auth, { email: taken.email, password: PASSWORD })).status).toBe(200);
    expect((await mailbox.to(taken.email)).length).toBe(before);
  });

  test('keeps the last address that was asked for: an older link cannot bring back another one', async () => {
    const { auth, email } = await signUp(api);
    await patch(auth, { email: `first-${email}`, password: PASSWORD });
    const first = await mailbox.tokenFor(`first-${email}`, 'verify-email');
    await patch(auth, { email: `second-${email}`, password: PASSWORD });
    await mailbox.tokenFor(`second-${email}`, 'verify-email');
    expect((await post('verify-email', { token: first })).body.code).toBe('invalid_token');
  });
});

describe('confirming an e-mail address', () => {
  test('works once, by the link that a new user gets', async () => {
    const { auth, email } = await signUp(api);
    expect((await me(auth)).body.email_verified).toBe(false);
    const token = await mailbox.tokenFor(email, 'verify-email');
    const racing = await Promise.all([1, 2].map(() => post('verify-email', { token })));
    expect(racing.map(({ status }) => status).sort()).toEqual([204, 400]);
    expect((await me(auth)).body.email_verified).toBe(true);
  });

  test('is over after a day, and a new mail can be asked for', async () => {
    const { auth, email } = await signUp(api);
    const token = await mailbox.tokenFor(email, 'verify-email');
    clock.offsetMs += 24 * HOUR_MS + 1;
    expect((await post('verify-email', { token })).body.code).toBe('invalid_token');
    expect((await post('verify-email/resend', { email: email.toUpperCase() })).status).toBe(202);
    expect((await post('verify-email', { token: await mailbox.tokenFor(email, 'verify-email') })).status).toBe(204);
    expect((await me(auth)).body.email_verified).toBe(true);
  });

  test('a token opens its own purpose only', async () => {
    const { email } = await signUp(api);
    const verify = await mailbox.tokenFor(email, 'verify-email');
    expect((await post('password-reset/confirm', { token: verify, new_password: NEW_PASSWORD })).body.code).toBe('invalid_token');
    await post('password-reset', { email });
    const reset = await mailbox.tokenFor(email, 'reset-password');
    expect((await post('verify-email', { token: reset })).body.code).toBe('invalid_token');
  });

  test('no token lies in the database in a form that can be used', async () => {
    const { email } = await signUp(api);
    const token = await mailbox.tokenFor(email, 'verify-email');
    const { rows } = await db.database.pool.query(
      'select (select json_agg(m)::text from mails m) || (select json_agg(t)::text from mail_tokens t) as dump',
    );
    expect(rows[0].dump).not.toContain(token);
  });
});

describe('a change of address that another person requested', () => {
  test.each([
    [
      'changed',
      async (auth: Record<string, string>) => post('me/password', { current_password: PASSWORD, new_password: NEW_PASSWORD }, auth),
    ],
    [
      'reset',
      async (_auth: Record<string, string>, email: string) => {
        await post('password-reset', { email });
        return post('password-reset/confirm', { token: await mailbox.tokenFor(email, 'reset-password'), new_password: NEW_PASSWORD });
      },
    ],
  ])('ends with the password that it was asked for with, once that is %s', async (_, renew) => {
    const { auth, email } = await signUp(api);
    const [sent, unsent] = [`sent-${email}`, `unsent-${email}`];
    await patch(auth, { email: sent, password: PASSWORD });
    const token = await mailbox.tokenFor(sent, 'verify-email');
    expect((await mailbox.to(email)).map(({ subject }) => subject)).toContain('A new e-mail address was asked for');
    await patch(auth, { email: unsent, password: PASSWORD });
    expect((await renew(auth, email)).status).toBe(204);
    expect((await post('verify-email', { token })).body.code).toBe('invalid_token');
    // A mail that went out before is worth nothing, and none goes out after.
    for (const { text } of await mailbox.to(unsent)) {
      const late = /token=(\S+)/.exec(text)?.[1];
      expect((await post('verify-email', { token: late })).body.code).toBe('invalid_token');
    }
    expect((await login(email, NEW_PASSWORD)).status).toBe(200);
  });

  test('is no way to have the gateway write to many strangers', async () => {
    const { auth, email } = await signUp(api);
    const asked: number[] = [];
    for (let n = 0; n < 8; n += 1) asked.push((await patch(auth, { email: `stranger-${n}-${email}`, password: PASSWORD })).status);
    expect(asked).toEqual([200, 200, 200, 200, 200, 429, 429, 429]);
  });
});

describe('a new password by mail', () => {
  test('ends every session and every older link, logs in with the new one, and leaves the second factor on', async () => {
    const user = await signUp(api);
    await post('verify-email', { token: await mailbox.tokenFor(user.email, 'verify-email') });
    const { body: begun } = await send(api, '/v1/users/mfa/begin', { method: 'POST', headers: user.auth });
    const code = () => generateSync({ secret: begun.secret, epoch: Math.floor(clock.now() / 1000) });
    await post('mfa/confirm', { password: PASSWORD, code: code() }, user.auth);
    await post('password-reset', { email: user.email });
    const older = await mailbox.tokenFor(user.email, 'reset-password');
    clock.offsetMs += 2 * MINUTE_MS;
    await post('password-reset', { email: user.email });
    const token = await mailbox.tokenFor(user.email, 'reset-password');
    expect(token).not.toBe(older);
    const racing = await Promise.all(
      [older, token].map((one) => post('password-reset/confirm', { token: one, new_password: NEW_PASSWORD })),
    );
    expect(racing.map(({ status }) => status).sort()).toEqual([204, 400]);
    expect((await me(user.auth)).status).toBe(401);
    expect((await login(user.email, PASSWORD)).status).toBe(401);
    const { body } = await login(user.email, NEW_PASSWORD);
    expect(body.mfa_required).toBe(true);
    expect((await mailbox.to(user.email)).map(({ subject }) => subject)).toContain('Your password was changed');
  });

  test('is over after an hour', async () => {
    const { email } = await signUp(api);
    await post('password-reset', { email });
    const token = await mailbox.tokenFor(email, 'reset-password');
    clock.offsetMs += HOUR_MS + 1;
    expect((await post('password-reset/confirm', { token, new_password: NEW_PASSWORD })).body.code).toBe('invalid_token');
    expect((await login(email, PASSWORD)).status).toBe(200);
  });

  test('is mailed once a minute at most, however often it is asked for', async () => {
    const { email } = await signUp(api);
    const resets = async () => (await mailbox.to(email)).filter(({ subject }) => subject === 'Set a new password').length;
    for (let time = 0; time < 3; time++) {
      expect((await post('password-reset', { email })).status).toBe(202);
      expect(await resets()).toBe(1);
    }
  });

  test.each(['password-reset', 'verify-email/resend'])(
    '%s answers alike and writes alike whether or not there is an account',
    async (path) => {
      const { email } = await signUp(api);
      const known = await post(path, { email }, { 'x-request-id': 'the-same-request' });
      const unknown = await post(path, { email: `no-${email}` }, { 'x-request-id': 'the-same-request' });
      expect([known.status, known.text]).toEqual([202, unknown.text]);
      const { rows } = await db.database.pool.query('select email from mail_requests where email like $1 order by id', [`%${email}`]);
      expect(rows).toEqual([{ email }, { email: `no-${email}` }]);
      expect(await mailbox.to(`no-${email}`)).toEqual([]);
    },
  );
});

describe('changing the password', () => {
  test('ends every other session and keeps the one that asks', async () => {
    const { auth, email } = await signUp(api);
    const other = await anotherSession(email);
    const done = await post('me/password', { current_password: PASSWORD, new_password: NEW_PASSWORD }, auth);
    expect([done.status, done.text]).toEqual([204, '']);
    expect([(await me(auth)).status, (await me(other)).status]).toEqual([200, 401]);
    expect((await login(email, PASSWORD)).status).toBe(401);
    expect((await login(email, NEW_PASSWORD)).status).toBe(200);
  });

  test('needs the old one, and slows down guesses with a stolen session', async () => {
    const { auth } = await signUp(api);
    const codes: string[] = [];
    for (let attempt = 0; attempt < 6; attempt++)
      codes.push((await post('me/password', { current_password: `guess ${attempt}`, new_password: NEW_PASSWORD }, auth)).body.code);
    expect(codes).toEqual([...Array(5).fill('confirmation_failed'), 'rate_limited']);
  });

  test('refuses a new one that is too short', async () => {
    const { auth } = await signUp(api);
    expect((await post('me/password', { current_password: PASSWORD, new_password: 'short' }, auth)).status).toBe(422);
  });
});

describe('sessions', () => {
  const list = (auth: Record<string, string>, query = '') => send(api, `/v1/users/me/sessions${query}`, { headers: auth });
  const end = (auth: Record<string, string>, id: string) => send(api, `/v1/users/me/sessions/${id}`, { method: 'DELETE', headers: auth });

  test('are listed, the current one marked, without their tokens and without ended ones', async () => {
    const { auth, email, token } = await signUp(api);
    const other = await anotherSession(email);
    await send(api, '/v1/users/logout', { method: 'POST', headers: await anotherSession(email) });
    const { body, text } = await list(other);
    expect([body.data.length, body.data.filter(({ current }: { current: boolean }) => current).length]).toEqual([2, 1]);
    expect(text).not.toContain(token);
    const first = (await list(auth, '?limit=1')).body;
    const second = (await list(auth, `?limit=1&cursor=${first.next_cursor}`)).body;
    expect(second).toMatchObject({ data: [{ ip_address: '127.0.0.1' }], has_more: false });
    expect(second.data[0].session_id).not.toBe(first.data[0].session_id);
  });

  test('end one at a time, and twice changes nothing', async () => {
    const { auth, email } = await signUp(api);
    const other = await anotherSession(email);
    const [{ session_id: id }] = (await list(other)).body.data.filter(({ current }: { current: boolean }) => current);
    expect([(await end(auth, id)).status, (await end(auth, id)).status]).toEqual([204, 204]);
    expect([(await me(auth)).status, (await me(other)).status]).toEqual([200, 401]);
  });

  test('of others are answered exactly as missing ones', async () => {
    const mine = await signUp(api);
    const theirs = await signUp(api);
    const [{ session_id: id }] = (await list(theirs.auth)).body.data;
    const headers = { ...mine.auth, 'x-request-id': 'the-same-request' };
    const foreign = await end(headers, id);
    const missing = await end(headers, '019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77');
    expect([foreign.status, foreign.text]).toEqual([404, missing.text]);
    expect((await me(theirs.auth)).status).toBe(200);
  });
});

test('a credential in the User-Agent is not stored', async () => {
  const user = await signUp(api);
  const pasted = `curl/8 tg_live_${'a'.repeat(12)}${'b'.repeat(30)} tg_test_short x=${user.token}`;
  const { status } = await send(api, '/v1/users/login', {
    headers: { 'user-agent': pasted },
    json: { email: user.email, password: PASSWORD },
  });
  expect(status).toBe(200);
  const { rows } = await db.database.pool.query(
    `select (select json_agg(s.user_agent) from sessions s where user_id = $1)::text
         || (select json_agg(a.user_agent) from audit_log a where account_id = $2)::text as kept`,
    [user.userId, user.accountId],
  );
  expect(rows[0].kept.match(/curl\/8 tg_live_… tg_test_… x=tgs_…/g)).toHaveLength(2);
});

describe('closing the account', () => {
  const close = (auth: Record<string, string>, json: object) => post('me/close', json, auth);

  test('ends sessions and keys, frees the address, forgets the person and keeps what the audit log says', async () => {
    const user = await signUp(api);
    const key = await newKey(api, user.auth, { scopes: ['account:read'] });
    expect((await me(key.auth)).status).toBe(200);
    expect((await close(user.auth, { password: PASSWORD })).status).toBe(204);
    expect((await me(user.auth)).status).toBe(401);
    await expect.poll(async () => (await me(key.auth)).status, { timeout: 60_000 }).toBe(401);
    expect((await login(user.email, PASSWORD)).status).toBe(401);
    expect((await mailbox.to(user.email)).map(({ subject }) => subject)).toContain('Your account is closed');
    const { rows: people } = await db.database.pool.query('select name, email, password_hash from users where id = $1', [user.userId]);
    expect(people).toEqual([{ name: null, email: `${user.userId}@closed.invalid`, password_hash: '!' }]);
    const { rows: keys } = await db.database.pool.query('select revoked_at is not null as revoked from api_keys where id = $1', [
      key.keyId,
    ]);
    expect(keys).toEqual([{ revoked: true }]);
    const { rows: entries } = await db.database.pool.query(
      `select actor_kind, actor_id, target_id, ip from audit_log where account_id = $1 and action = 'key.revoked'`,
      [user.accountId],
    );
    expect(entries).toEqual([{ actor_kind: 'user', actor_id: user.userId, target_id: key.keyId, ip: '127.0.0.1' }]);
    const again = await send(api, '/v1/users', {
      headers: { 'x-internal-secret': INTERNAL_SECRET },
      json: { email: user.email, password: PASSWORD },
    });
    expect([again.status, again.body.user_id === user.userId]).toEqual([201, false]);
    expect((await login(`${user.userId}@closed.invalid`, PASSWORD)).status).toBe(401);
  });

  test('needs the password, and the second factor where there is one', async () => {
    const user = await signUp(api);
    expect((await close(user.auth, { password: 'wrong' })).body.code).toBe('confirmation_failed');
    const { body } = await send(api, '/v1/users/mfa/begin', { method: 'POST', headers: user.auth });
    const code = () => generateSync({ secret: body.secret, epoch: Math.floor(clock.now() / 1000) });
    await post('mfa/confirm', { password: PASSWORD, code: code() }, user.auth);
    expect((await close(user.auth, { password: PASSWORD })).body.code).toBe('confirmation_failed');
    expect((await close(user.auth, { password: PASSWORD, code: '000000' })).body.code).toBe('invalid_mfa_code');
    clock.offsetMs += MINUTE_MS;
    expect((await close(user.auth, { password: PASSWORD, code: code() })).status).toBe(204);
  });
});
