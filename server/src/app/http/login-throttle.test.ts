import { generateSync } from 'otplib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSecretBox } from '../../kernel/secret-box.ts';
import { type Instance, MovableClock, openTestDatabase, PASSWORD, send, signUp, startInstance } from './testing/account-api.ts';

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

const login = (email: string, password: string, from: string) =>
  send(api, '/v1/users/login', {
    headers: { 'x-forwarded-for': from, 'x-request-id': 'the-same-request' },
    json: { email, password },
  });

test('guessing is answered with 429 and the seconds to wait, for an unknown address exactly as for a known one', async () => {
  const { email } = await signUp(api);
  const answers = async (address: string, from: string) => {
    const seen: unknown[] = [];
    for (let attempt = 0; attempt < 7; attempt++) {
      const { status, text, headers } = await login(address, 'a wrong password', from);
      seen.push([status, text, headers.get('retry-after')]);
    }
    return seen;
  };
  const known = await answers(email, '203.0.113.1');
  expect(known.map((one) => Array.isArray(one) && one[0])).toEqual([401, 401, 401, 401, 401, 429, 429]);
  expect(known.at(-1)).toEqual([429, expect.stringContaining('rate_limited'), '1']);
  expect(await answers('nobody@example.com', '203.0.113.2')).toEqual(known);
});

test('the right password is refused during the pause too, and taken after it', async () => {
  const { email } = await signUp(api);
  for (let attempt = 0; attempt < 5; attempt++) await login(email, 'a wrong password', '203.0.113.3');
  expect((await login(email, PASSWORD, '203.0.113.3')).status).toBe(429);
  clock.stoppedAtMs = clock.now() + 1000;
  expect((await login(email, PASSWORD, '203.0.113.3')).status).toBe(200);
});

test('the owner logs in at once from where they have been before, however many guess from elsewhere', async () => {
  const { email } = await signUp(api);
  expect((await login(email, PASSWORD, '198.51.100.1')).status).toBe(200);
  for (let stranger = 1; stranger <= 30; stranger++) await login(email, 'a wrong password', `192.0.2.${stranger}`);
  expect((await login(email, PASSWORD, '198.51.100.99')).status).toBe(429);
  expect((await login(email, PASSWORD, '198.51.100.1')).status).toBe(200);
  clock.stoppedAtMs = clock.now() + 90_000;
  expect((await login(email, PASSWORD, '198.51.100.99')).status).toBe(200);
});

test('a password that changes while a login with the old one is under way leaves no session behind', async () => {
  const { email, auth, userId } = await signUp(api);
  const change = send(api, '/v1/users/me/password', {
    headers: auth,
    json: { current_password: PASSWORD, new_password: 'eight blue kettles at noon' },
  });
  const logins = await Promise.all([1, 2, 3, 4].map((n) => login(email, PASSWORD, `203.0.113.${100 + n}`)));
  expect((await change).status).toBe(204);
  const { rows } = await db.database.pool.query('select count(*)::int as live from sessions where user_id = $1 and revoked_at is null', [
    userId,
  ]);
  expect(rows[0].live).toBe(1);
  for (const { body } of logins)
    if (body.session)
      expect((await send(api, '/v1/users/me', { headers: { authorization: `Bearer ${body.session.token}` } })).status).toBe(401);
});

test('a secret of an older master key is re-encrypted when it is used', async () => {
  const { email, auth, userId } = await signUp(api);
  const { body } = await send(api, '/v1/users/mfa/begin', { method: 'POST', headers: auth });
  const code = () => generateSync({ secret: body.secret, epoch: Math.floor(clock.now() / 1000) });
  await send(api, '/v1/users/mfa/confirm', { headers: auth, json: { password: PASSWORD, code: code() } });
  const older = createSecretBox([{ id: 'older', key: Buffer.alloc(32, 9) }]).seal(body.secret, `mfa secret of ${userId}`);
  await db.database.pool.query('update users set mfa_sealed_secret = $1 where id = $2', [older, userId]);
  clock.stoppedAtMs = clock.now() + 60_000;
  const { challenge_token } = (await login(email, PASSWORD, '127.0.0.1')).body;
  expect((await send(api, '/v1/users/login/mfa', { json: { challenge_token, code: code() } })).status).toBe(200);
  const { rows } = await db.database.pool.query('select mfa_sealed_secret as sealed from users where id = $1', [userId]);
  expect(rows[0].sealed).toMatch(/^v1\.test\./);
});
