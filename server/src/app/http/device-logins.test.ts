import { contract } from '@tallygate/contract';
import { generateSync } from 'otplib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { testCredentials } from './credential-matrix.ts';
import { type Instance, MovableClock, newKey, openTestDatabase, PASSWORD, send, signUp, startInstance } from './testing/account-api.ts';

const clock = new MovableClock();
let db: Awaited<ReturnType<typeof openTestDatabase>>;
let api: Instance;

beforeAll(async () => {
  db = await openTestDatabase();
  clock.stoppedAtMs = Date.now();
  api = await startInstance(db.database, db.url, { clock });
});

afterAll(async () => {
  await api?.close();
  await db?.close();
});

const { token, approve } = contract.deviceLogins;
// The other routes have the metadata of these.
testCredentials(() => ({ api, database: db.database }), { token, approve });

type Headers = Record<string, string>;
let serial = 0;
/** Every program comes from a different network, so that their rate limits are independent. */
const somewhere = (): Headers => ({ 'x-forwarded-for': `198.51.${100 + Math.floor(++serial / 250)}.${serial % 250}` });
const later = (seconds: number) => {
  clock.stoppedAtMs = clock.now() + seconds * 1000;
};
const begin = async (client_name = 'tallygate on ada-laptop', headers: Headers = somewhere()) =>
  (await send(api, '/v1/users/login/device', { headers: { 'user-agent': 'tallygate-cli/0.1.0', ...headers }, json: { client_name } })).body;
const take = (device_code: string) => send(api, '/v1/users/login/device/token', { json: { device_code } });
const decide = (verb: 'find' | 'approve' | 'deny', auth: Headers, user_code: string) =>
  send(api, `/v1/users/me/device-logins/${verb}`, { headers: { ...somewhere(), ...auth }, json: { user_code } });
const codeAfter = async (device_code: string) => (await take(device_code)).body.code;

describe('a login that is approved in a browser', () => {
  test('gives the program a session of the one who approved, once', async () => {
    const user = await signUp(api);
    const begun = await begin();
    expect(begun).toEqual({
      device_code: expect.stringMatching(/^tgd_[\w-]{43}$/),
      user_code: expect.stringMatching(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/),
      verification_uri: 'https://tallygate.test/device',
      verification_uri_complete: `https://tallygate.test/device?user_code=${begun.user_code}`,
      expires_in: 600,
      interval: 5,
    });
    const pending = await take(begun.device_code);
    expect([pending.status, pending.body.code, pending.headers.get('retry-after')]).toEqual([400, 'authorization_pending', '5']);
    expect((await decide('approve', user.auth, begun.user_code)).status).toBe(204);
    const { status, body } = await take(begun.device_code);
    expect([status, body.email, body.session.token]).toEqual([200, user.email, expect.stringMatching(/^tgs_/)]);
    const me = await send(api, '/v1/users/me', { headers: { authorization: `Bearer ${body.session.token}` } });
    expect(me.body.user_id).toBe(user.userId);
    expect(await codeAfter(begun.device_code)).toBe('expired_token');
  });

  test('is shown with program, address and rights, for any case and dashes of the code', async () => {
    const { auth } = await signUp(api);
    const begun = await begin('deploy <script> on ci', { 'x-forwarded-for': '203.0.113.9' });
    const { status, body } = await decide('find', auth, ` ${begun.user_code.toLowerCase().replace('-', ' ')} `);
    expect(status).toBe(200);
    expect(body).toMatchObject({ client_name: 'deploy <script> on ci', ip_address: '203.0.113.9', user_agent: 'tallygate-cli/0.1.0' });
    expect(body.scopes).toEqual(['inference', 'account:read', 'account:write', 'keys:write', 'billing:write', 'audit:read']);
  });

  test('that is denied gets the denial for every poll', async () => {
    const { auth } = await signUp(api);
    const { device_code, user_code } = await begin();
    expect((await decide('deny', auth, user_code)).status).toBe(204);
    expect([await codeAfter(device_code), await codeAfter(device_code)]).toEqual(['access_denied', 'access_denied']);
    expect((await decide('approve', auth, user_code)).status).toBe(404);
  });

  test('dies after ten minutes, approved or not', async () => {
    const { auth } = await signUp(api);
    const [one, other] = [await begin(), await begin()];
    later(590);
    const { auth: fresh } = await signUp(api);
    expect((await decide('approve', fresh, other.user_code)).status).toBe(204);
    later(11);
    expect((await decide('find', auth, one.user_code)).status).toBe(404);
    expect([await codeAfter(one.device_code), await codeAfter(other.device_code)]).toEqual(['expired_token', 'expired_token']);
  });

  test('is in the audit log with program and address, and its session is listed', async () => {
    const { auth } = await signUp(api);
    const { device_code, user_code } = await begin('tallygate on build-7', { 'x-forwarded-for': '203.0.113.77' });
    await decide('approve', auth, user_code);
    await take(device_code);
    const { body } = await send(api, '/v1/audit-log?limit=2', { headers: auth });
    expect(body.data.map(({ action, changes }: { action: string; changes: object }) => ({ action, changes }))).toEqual([
      { action: 'session.opened', changes: { client: 'tallygate on build-7' } },
      { action: 'device_login.approved', changes: { client: 'tallygate on build-7', asked_from: '203.0.113.77' } },
    ]);
    expect((await send(api, '/v1/users/me/sessions', { headers: auth })).body.data).toHaveLength(2);
  });
});

describe('of two at once', () => {
  test('approvals, one counts', async () => {
    const [ada, eve] = [await signUp(api), await signUp(api)];
    const { device_code, user_code } = await begin();
    const answers = await Promise.all([ada, eve].map(({ auth }) => decide('approve', auth, user_code)));
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 404]);
    const winner = answers[0]?.status === 204 ? ada : eve;
    expect((await take(device_code)).body.email).toBe(winner.email);
  });

  test('questions for an approved session, one gets it', async () => {
    const { auth } = await signUp(api);
    const { device_code, user_code } = await begin();
    await decide('approve', auth, user_code);
    const answers = await Promise.all([1, 2, 3].map(() => take(device_code)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400]);
  });
});

describe('a program that asks', () => {
  test('sooner than the interval adds five seconds each time, and works after the wait', async () => {
    const { device_code } = await begin();
    expect(await codeAfter(device_code)).toBe('authorization_pending');
    later(2);
    const soon = await take(device_code);
    expect([soon.body.code, soon.headers.get('retry-after')]).toEqual(['slow_down', '10']);
    later(5);
    expect((await take(device_code)).headers.get('retry-after')).toBe('15');
    later(14.5);
    expect(await codeAfter(device_code)).toBe('authorization_pending');
  });

  test('begins no end of logins from one network', async () => {
    const from = somewhere();
    const statuses: number[] = [];
    for (let attempt = 0; attempt < 32; attempt++)
      statuses.push((await send(api, '/v1/users/login/device', { headers: from, json: { client_name: 'x' } })).status);
    expect([statuses[0], statuses.at(-1)]).toEqual([200, 429]);
  });

  test.each(['tgd_nothing', `tgd_${'A'.repeat(43)}`, 'WDJB-MJHT'])(
    'with %s, a code it was never given, learns nothing',
    async (device_code) => {
      expect(await codeAfter(device_code)).toBe('expired_token');
    },
  );
});

describe('guessing codes', () => {
  test('is paused after five, from any address, and the owner of the code is not', async () => {
    const [guesser, owner] = [await signUp(api), await signUp(api)];
    const from = somewhere();
    const guess = (headers: Headers) =>
      send(api, '/v1/users/me/device-logins/approve', { headers: { ...headers, ...guesser.auth }, json: { user_code: 'BBBB-BBBB' } });
    const statuses: number[] = [];
    for (let attempt = 0; attempt < 7; attempt++) statuses.push((await guess(from)).status);
    expect(statuses.slice(0, 5)).toEqual([404, 404, 404, 404, 404]);
    expect(statuses.at(-1)).toBe(429);
    for (let attempt = 0; attempt < 20; attempt++) await guess(somewhere());
    expect((await guess(somewhere())).status).toBe(429);
    const { user_code } = await begin();
    expect((await decide('approve', owner.auth, user_code)).status).toBe(204);
  });

  test('finds no code in the database, neither the program’s nor the person’s', async () => {
    const { device_code, user_code } = await begin();
    const { rows } = await db.database.pool.query('select json_agg(d)::text as dump from device_logins d');
    for (const code of [device_code, user_code, user_code.replace('-', '')]) expect(rows[0].dump).not.toContain(code);
  });
});

describe('approving takes', () => {
  test('a session opened with the password within fifteen minutes', async () => {
    const { auth } = await signUp(api);
    later(15 * 60);
    const { device_code, user_code } = await begin();
    const { status, body } = await decide('approve', auth, user_code);
    expect([status, body.code]).toEqual([403, 'recent_login_required']);
    expect(await codeAfter(device_code)).toBe('authorization_pending');
  });

  test('no session that was approved itself: one stolen token must not beget others', async () => {
    const { auth } = await signUp(api);
    const first = await begin();
    await decide('approve', auth, first.user_code);
    const { session } = (await take(first.device_code)).body;
    const second = await begin();
    const { body } = await decide('approve', { authorization: `Bearer ${session.token}` }, second.user_code);
    expect(body.code).toBe('recent_login_required');
  });

  test('the second factor where one is on, since nothing else opens a session', async () => {
    const user = await signUp(api);
    const { secret } = (await send(api, '/v1/users/mfa/begin', { method: 'POST', headers: user.auth })).body;
    const now = () => generateSync({ secret, epoch: Math.floor(clock.now() / 1000) });
    await send(api, '/v1/users/mfa/confirm', { headers: user.auth, json: { password: PASSWORD, code: now() } });
    later(60);
    const { device_code, user_code } = await begin();
    const challenge = (await send(api, '/v1/users/login', { json: { email: user.email, password: PASSWORD } })).body;
    expect(challenge).toMatchObject({ mfa_required: true });
    const { body } = await send(api, '/v1/users/login/mfa', { json: { challenge_token: challenge.challenge_token, code: now() } });
    expect((await decide('approve', { authorization: `Bearer ${body.session.token}` }, user_code)).status).toBe(204);
    expect((await take(device_code)).status).toBe(200);
  });

  test('no API key', async () => {
    const { auth } = await signUp(api);
    const key = await newKey(api, auth, { scopes: ['account:write', 'keys:write'] });
    const { user_code } = await begin();
    expect((await decide('approve', key.auth, user_code)).body.code).toBe('session_required');
  });
});

test('a password changed after the approval leaves nothing to take', async () => {
  const { auth } = await signUp(api);
  const { device_code, user_code } = await begin();
  await decide('approve', auth, user_code);
  const json = { current_password: PASSWORD, new_password: 'another horse, other staples' };
  expect((await send(api, '/v1/users/me/password', { headers: auth, json })).status).toBe(204);
  expect(await codeAfter(device_code)).toBe('expired_token');
});

test('what has expired is swept away', async () => {
  await begin();
  later(601);
  await api.identity.sweep();
  const { rows } = await db.database.pool.query('select count(*)::int as left from device_logins');
  expect(rows[0].left).toBe(0);
});

test('a session is deleted once it is older than any session lives, whether or not it was ended', async () => {
  await signUp(api);
  later(89 * 86_400);
  const young = await signUp(api);
  later(86_400);
  await api.identity.sweep();
  const { rows } = await db.database.pool.query('select u.email from sessions s join users u on u.id = s.user_id');
  expect(rows).toEqual([{ email: young.email }]);
});
