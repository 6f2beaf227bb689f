import { contract } from '@tallygate/contract';
import { generateSync } from 'otplib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { resetByOperator } from '../../access/identity/index.ts';
import { SoftwareAuthenticator } from '../../access/identity/testing/software-authenticator.ts';
import { testCredentials } from './credential-matrix.ts';
import {
  type Instance,
  MovableClock,
  newKey,
  openTestDatabase,
  PASSWORD,
  RP_ID,
  send,
  signUp,
  startInstance,
} from './testing/account-api.ts';
import { openMailbox } from './testing/mailbox.ts';

const MINUTE_MS = 60_000;
const ORIGIN = `https://${RP_ID}`;
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

type User = Awaited<ReturnType<typeof signUp>>;
type Auth = Record<string, string>;

const later = (ms: number) => {
  clock.stoppedAtMs = clock.now() + ms;
};
const optionsFor = async (auth: Auth) => (await send(api, '/v1/users/me/passkeys/begin', { method: 'POST', headers: auth })).body;
const keep = (auth: Auth, credential: object, name = 'Laptop') =>
  send(api, '/v1/users/me/passkeys', { headers: auth, json: { name, credential } });
const listed = async (auth: Auth) => (await send(api, '/v1/users/me/passkeys', { headers: auth })).body.data;
const begin = async (challenge_token?: string) =>
  (await send(api, '/v1/users/login/passkey/begin', { json: { ...(challenge_token && { challenge_token }) } })).body;
const finish = (credential: object, challenge_token?: string) =>
  send(api, '/v1/users/login/passkey', { json: { credential, ...(challenge_token && { challenge_token }) } });
const login = (email: string, password = PASSWORD) => send(api, '/v1/users/login', { json: { email, password } });
const bearer = (body: { session: { token: string } }): Auth => ({ authorization: `Bearer ${body.session.token}` });
const auditOf = async (auth: Auth, action: string) => (await send(api, `/v1/audit-log?action=${action}`, { headers: auth })).body.data;
const subjectsTo = async ({ email }: User) => (await mailbox.to(email)).map(({ subject }) => subject);

async function withPasskey(options: ConstructorParameters<typeof SoftwareAuthenticator>[1] = {}) {
  const user = await signUp(api);
  const device = new SoftwareAuthenticator(ORIGIN, options);
  const { body: passkey } = await keep(user.auth, device.create(await optionsFor(user.auth)));
  const passkeyId: string = passkey.passkey_id;
  return { ...user, device, passkeyId };
}

/** The same, with a second factor on; answers with the challenge of a login with the password. */
async function withBoth() {
  const user = await withPasskey();
  const { body: begun } = await send(api, '/v1/users/mfa/begin', { method: 'POST', headers: user.auth });
  const code = generateSync({ secret: begun.secret, epoch: Math.floor(clock.now() / 1000) });
  await send(api, '/v1/users/mfa/confirm', { headers: user.auth, json: { password: PASSWORD, code } });
  const challenged = async (): Promise<string> => (await login(user.email)).body.challenge_token;
  return { ...user, challenged };
}

testCredentials(() => ({ api, database: db.database }), contract.passkeys);

describe('a passkey is added', () => {
  test('for the domain of the service, with its user verified, and the user is told', async () => {
    const user = await signUp(api);
    const device = new SoftwareAuthenticator(ORIGIN, { isSynced: true });
    const options = await optionsFor(user.auth);
    expect(options).toMatchObject({
      rp: { id: RP_ID },
      user: { name: user.email },
      excludeCredentials: [],
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    });
    const { status, body } = await keep(user.auth, device.create(options), 'Phone');
    expect([status, body]).toEqual([
      201,
      { passkey_id: expect.any(String), name: 'Phone', synced: true, created_at: expect.any(String), last_used_at: null },
    ]);
    expect(await listed(user.auth)).toEqual([body]);
    expect((await optionsFor(user.auth)).excludeCredentials).toEqual([
      { type: 'public-key', id: device.credentialId, transports: ['internal'] },
    ]);
    expect(await auditOf(user.auth, 'passkey.added')).toEqual([
      expect.objectContaining({ target: { kind: 'passkey', id: body.passkey_id }, changes: { name: 'Phone' } }),
    ]);
    expect(await subjectsTo(user)).toContain('A passkey was added');
  });

  const WRONG = {
    'another origin': { origin: 'https://tallygate.test.evil.example' },
    'another domain': { rpId: 'evil.example' },
    'nobody verified': { isVerifyingUser: false },
    'the answer to a login': { type: 'webauthn.get' },
  };

  test.each(Object.entries(WRONG))('not with %s', async (_what, otherwise) => {
    const user = await signUp(api);
    const answer = await keep(user.auth, new SoftwareAuthenticator(ORIGIN).create(await optionsFor(user.auth), otherwise));
    expect([answer.status, answer.body.code]).toEqual([401, 'invalid_passkey']);
    expect(await listed(user.auth)).toEqual([]);
  });

  test('once for a challenge, within five minutes, by the user who was asked', async () => {
    const [user, other] = [await signUp(api), await signUp(api)];
    const options = await optionsFor(user.auth);
    const credential = () => new SoftwareAuthenticator(ORIGIN).create(options);
    expect((await keep(user.auth, credential())).status).toBe(201);
    expect((await keep(user.auth, credential())).body.code).toBe('challenge_expired');
    const others = new SoftwareAuthenticator(ORIGIN).create(await optionsFor(user.auth));
    expect((await keep(other.auth, others)).body.code).toBe('challenge_expired');
    const late = new SoftwareAuthenticator(ORIGIN).create(await optionsFor(user.auth));
    later(5 * MINUTE_MS);
    expect((await keep(user.auth, late)).body.code).toBe('challenge_expired');
    const forLogin = new SoftwareAuthenticator(ORIGIN).create({ ...options, challenge: (await begin()).challenge });
    expect((await keep(user.auth, forLogin)).body.code).toBe('challenge_expired');
  });

  test('not with the id of a passkey that somebody has', async () => {
    const victim = await withPasskey();
    const thief = await signUp(api);
    const copy = new SoftwareAuthenticator(ORIGIN, { credentialId: victim.device.credentialId });
    expect((await keep(thief.auth, copy.create(await optionsFor(thief.auth)))).body.code).toBe('conflict');
    expect((await finish(victim.device.get(await begin()))).body.user_id).toBe(victim.userId);
  });

  test('by a session alone that was opened within fifteen minutes', async () => {
    const user = await signUp(api);
    const key = await newKey(api, user.auth, { scopes: ['account:read', 'account:write'] });
    expect((await send(api, '/v1/users/me/passkeys/begin', { method: 'POST', headers: key.auth })).body.code).toBe('session_required');
    later(12 * MINUTE_MS);
    const credential = new SoftwareAuthenticator(ORIGIN).create(await optionsFor(user.auth));
    later(4 * MINUTE_MS);
    expect((await optionsFor(user.auth)).code).toBe('recent_login_required');
    expect((await keep(user.auth, credential)).body.code).toBe('recent_login_required');
    expect(await listed(user.auth)).toEqual([]);
  });
});

describe('a passkey is the whole login', () => {
  test('and opens a session, also where a second factor is on', async () => {
    const user = await withBoth();
    const options = await begin();
    expect(options).toMatchObject({ rpId: RP_ID, userVerification: 'required', allowCredentials: [] });
    const { status, body } = await finish(user.device.get(options));
    expect([status, body.user_id]).toEqual([200, user.userId]);
    expect((await listed(bearer(body)))[0]).toMatchObject({ last_used_at: expect.any(String) });
    expect((await auditOf(user.auth, 'session.opened'))[0].changes).toEqual({ by: 'passkey', passkey_id: user.passkeyId });
  });

  test('at each origin that the operator names', async () => {
    const { device, userId } = await withPasskey();
    expect((await finish(device.get(await begin(), { origin: 'https://app.tallygate.test' }))).body.user_id).toBe(userId);
  });

  const WRONG: Readonly<Record<string, Parameters<SoftwareAuthenticator['get']>[1]>> = {
    'from another origin': { origin: 'https://evil.example' },
    'by a page below another port': { origin: `${ORIGIN}:8443` },
    'for another domain': { rpId: 'evil.example' },
    'without a user verified': { isVerifyingUser: false },
    'without its user': { userHandle: null },
    'for another user': { userHandle: 'AZqi8cLTe26MTR8AqlXudw' },
    'as the answer to a registration': { type: 'webauthn.create' },
    'with an id that nobody has': { credentialId: 'bm9ib2R5IGhhcyB0aGlz' },
  };

  test.each(Object.entries(WRONG))('not %s', async (_how, otherwise) => {
    const { device } = await withPasskey();
    const answer = await finish(device.get(await begin(), otherwise));
    expect([answer.status, answer.body.code]).toEqual([401, 'invalid_passkey']);
  });

  test('not with somebody else’s id under one’s own signature', async () => {
    const [victim, thief] = [await withPasskey(), await withPasskey()];
    const options = await begin();
    const stolen = thief.device.get(options, { credentialId: victim.device.credentialId });
    const named = await finish({ ...stolen, response: { ...stolen.response, userHandle: victim.device.get(options).response.userHandle } });
    expect(named.body.code).toBe('invalid_passkey');
  });

  test('once for a challenge, within five minutes, also when two answers come at once', async () => {
    const { device } = await withPasskey({ isSynced: true });
    const options = await begin();
    const racing = await Promise.all([1, 2, 3].map(() => finish(device.get(options))));
    expect(racing.map(({ status }) => status).sort()).toEqual([200, 401, 401]);
    const late = device.get(await begin());
    later(5 * MINUTE_MS);
    expect((await finish(late)).body.code).toBe('challenge_expired');
    expect((await finish(device.get(await begin(), { challenge: 'bWFkZSB1cA' }))).body.code).toBe('challenge_expired');
  });

  test('a challenge is spent by a wrong answer too', async () => {
    const { device } = await withPasskey();
    const options = await begin();
    await finish(device.get(options, { isVerifyingUser: false }));
    expect((await finish(device.get(options))).body.code).toBe('challenge_expired');
  });

  test('not while its counter shows a copy, and the owner is told', async () => {
    const user = await withPasskey();
    await finish(user.device.get(await begin(), { counter: 7 }));
    for (const counter of [7, 3, 0]) {
      const answer = await finish(user.device.get(await begin(), { counter }));
      expect([answer.status, answer.body.code]).toEqual([401, 'invalid_passkey']);
    }
    expect((await finish(user.device.get(await begin(), { counter: 8 }))).status).toBe(200);
    expect((await auditOf(user.auth, 'passkey.copy_detected'))[0]).toMatchObject({
      target: { kind: 'passkey', id: user.passkeyId },
      changes: { name: 'Laptop', counted: '7', said: '0' },
    });
    expect(await subjectsTo(user)).toContain('There may be a copy of your passkey');
  });

  test('is braked and noted as a login with a password is', async () => {
    const user = await withPasskey();
    const attempt = async () => (await finish(user.device.get(await begin(), { isVerifyingUser: false }))).status;
    const statuses: number[] = [];
    for (let n = 0; n < 6; n++) statuses.push(await attempt());
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429]);
    expect(await subjectsTo(user)).toContain('Failed logins to your account');
    expect(await auditOf(user.auth, 'login.passkey_failed')).toHaveLength(5);
  });

  test('not for members who log in with the directory alone, but for owners', async () => {
    const [owner, member] = [await withPasskey(), await withPasskey()];
    await db.database.pool.query('update accounts set password_login = false where id = any($1)', [[owner.accountId, member.accountId]]);
    await db.database.pool.query(`update users set account_role = 'developer' where id = $1`, [member.userId]);
    expect((await finish(owner.device.get(await begin()))).status).toBe(200);
    const answer = await finish(member.device.get(await begin()));
    expect([answer.status, answer.body.code]).toEqual([403, 'directory_login_required']);
    expect((await optionsFor(member.auth)).code).toBe('directory_login_required');
  });
});

describe('a passkey is the second factor', () => {
  test('after the password, in place of a code, by its presence alone', async () => {
    const user = await withBoth();
    const { body } = await login(user.email);
    expect(body.methods).toEqual(['totp', 'recovery_code', 'passkey']);
    const options = await begin(body.challenge_token);
    expect(options).toMatchObject({ userVerification: 'preferred', allowCredentials: [{ id: user.device.credentialId }] });
    const signedIn = await finish(user.device.get(options, { isVerifyingUser: false }), body.challenge_token);
    expect([signedIn.status, signedIn.body.user_id]).toEqual([200, user.userId]);
    expect((await finish(user.device.get(options), body.challenge_token)).body.code).toBe('challenge_expired');
  });

  test('of its own user alone, asked for this purpose alone', async () => {
    const [user, other] = [await withBoth(), await withBoth()];
    const token = await user.challenged();
    expect((await finish(other.device.get(await begin(token)), token)).body.code).toBe('invalid_passkey');
    expect((await finish(user.device.get(await begin()), token)).body.code).toBe('challenge_expired');
    expect((await finish(user.device.get(await begin(token)))).body.code).toBe('challenge_expired');
    expect((await finish(user.device.get(await begin(await other.challenged())), token)).body.code).toBe('challenge_expired');
    expect((await finish(user.device.get(await begin(token)), token)).status).toBe(200);
  });

  test('within the five tries of the challenge', async () => {
    const user = await withBoth();
    const token = await user.challenged();
    for (let n = 0; n < 5; n++) await finish(user.device.get(await begin(token), { origin: 'https://evil.example' }), token);
    later(10 * MINUTE_MS);
    expect((await begin(token)).code).toBe('challenge_expired');
    expect(await auditOf(user.auth, 'login.second_factor_failed')).toHaveLength(0);
    expect(await subjectsTo(user)).toContain('Somebody knows your password');
    expect(await auditOf(user.auth, 'login.second_factor_failed')).toHaveLength(5);
  });
});

describe('a passkey is removed', () => {
  test('by its owner in a fresh session, with the other sessions that it has opened', async () => {
    const user = await withPasskey();
    const opened = (await finish(user.device.get(await begin()))).body;
    const elsewhere = (await login(user.email)).body;
    const remove = (auth: Auth) => send(api, `/v1/users/me/passkeys/${user.passkeyId}`, { method: 'DELETE', headers: auth });
    expect((await remove((await signUp(api)).auth)).status).toBe(404);
    expect((await remove(user.auth)).status).toBe(204);
    expect((await remove(user.auth)).status).toBe(404);
    expect((await finish(user.device.get(await begin()))).body.code).toBe('invalid_passkey');
    expect((await send(api, '/v1/users/me', { headers: bearer(opened) })).status).toBe(401);
    expect((await send(api, '/v1/users/me', { headers: bearer(elsewhere) })).status).toBe(200);
    expect(await subjectsTo(user)).toContain('A passkey was removed');
  });

  test('not by a session that is not fresh, which may rename it', async () => {
    const user = await withPasskey();
    later(15 * MINUTE_MS);
    const path = `/v1/users/me/passkeys/${user.passkeyId}`;
    expect((await send(api, path, { method: 'DELETE', headers: user.auth })).body.code).toBe('recent_login_required');
    expect((await send(api, path, { method: 'PATCH', headers: user.auth, json: { name: 'Old laptop' } })).body.name).toBe('Old laptop');
    expect((await send(api, path, { method: 'PATCH', headers: (await signUp(api)).auth, json: { name: 'Mine' } })).status).toBe(404);
  });

  test('by the operator with the second factor, which ends all sessions', async () => {
    const user = await withPasskey();
    expect(await resetByOperator({ em: db.database.orm.em, clock }, user.email)).toEqual({ wasOn: true, sessionsEnded: 1 });
    expect((await finish(user.device.get(await begin()))).body.code).toBe('invalid_passkey');
  });

  test('by the first proof of the address, and by no later new password', async () => {
    const user = await withPasskey();
    const reset = async () => {
      await send(api, '/v1/users/password-reset', { json: { email: user.email } });
      const token = await mailbox.tokenFor(user.email, 'reset-password');
      later(2 * MINUTE_MS);
      expect((await send(api, '/v1/users/password-reset/confirm', { json: { token, new_password: PASSWORD } })).status).toBe(204);
    };
    await reset();
    const first = await finish(user.device.get(await begin()));
    expect(first.body.code).toBe('invalid_passkey');
    const auth = bearer((await login(user.email)).body);
    const device = new SoftwareAuthenticator(ORIGIN);
    await keep(auth, device.create(await optionsFor(auth)));
    await reset();
    expect((await finish(device.get(await begin()))).status).toBe(200);
  });
});
