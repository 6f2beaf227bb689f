import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Instance, MovableClock, newKey, openTestDatabase, PASSWORD, send, signUp, startInstance } from './testing/account-api.ts';

const LIMIT = 20;
const clock = new MovableClock();
let db: Awaited<ReturnType<typeof openTestDatabase>>;
let instance: Instance;
beforeAll(async () => {
  db = await openTestDatabase();
  instance = await startInstance(db.database, db.url, { clock, refusalsPerMinute: LIMIT });
  clock.stoppedAtMs = Date.now();
});
afterAll(async () => {
  await instance?.close();
  await db?.close();
});
beforeEach(() => {
  clock.stoppedAtMs = (clock.stoppedAtMs ?? 0) + 60_000;
});

let networks = 0;
const somewhere = () => `192.0.2.${++networks}`;
const from = (address: string, headers: Record<string, string> = {}) => ({ headers: { 'x-forwarded-for': address, ...headers } });
const wrongName = { json: { name: 7 } };

/** Statuses of so many requests, one after the other. */
async function statuses(count: number, path: string, options: Parameters<typeof send>[2]): Promise<number[]> {
  const answered: number[] = [];
  for (let at = 0; at < count; at++) answered.push((await send(instance, path, options)).status);
  return answered;
}

const told = (status: number, tooMany: number) => [...Array(LIMIT).fill(status), ...Array(tooMany).fill(429)];

describe('a flood of refused requests', () => {
  test('with a session ends in 429, and with it all that the session asks for, until there is room', async () => {
    const { auth } = await signUp(instance);
    expect(await statuses(LIMIT + 3, '/v1/keys', { headers: auth, ...wrongName })).toEqual(told(422, 3));
    const refused = await send(instance, '/v1/keys', { headers: auth });
    expect([refused.status, refused.body.code, refused.headers.get('retry-after')]).toEqual([429, 'rate_limited', '3']);
    clock.stoppedAtMs = (clock.stoppedAtMs ?? 0) + 3_000;
    expect((await send(instance, '/v1/keys', { headers: auth })).status).toBe(200);
  });

  test('is over in the same time on a clock that is set back meanwhile', async () => {
    const { auth } = await signUp(instance);
    await statuses(LIMIT, '/v1/keys', { headers: auth, ...wrongName });
    clock.stoppedAtMs = (clock.stoppedAtMs ?? 0) - 3_600_000;
    expect((await send(instance, '/v1/keys', { headers: auth })).status).toBe(429);
    clock.stoppedAtMs += 3_000;
    expect((await send(instance, '/v1/keys', { headers: auth })).status).toBe(200);
  });

  test('with a test key of the account API does so too, and leaves the other keys of the account alone', async () => {
    const { auth } = await signUp(instance);
    const [one, other] = [await newKey(instance, auth, { livemode: false }), await newKey(instance, auth)];
    expect(await statuses(LIMIT + 3, '/v1/users/me', { headers: one.auth, method: 'PATCH', json: {} })).toEqual(told(403, 3));
    expect((await send(instance, '/v1/keys', { headers: other.auth })).status).not.toBe(429);
    expect((await send(instance, '/v1/keys', { headers: auth })).status).toBe(200);
  });

  test('with unknown credentials ends in 429 for its network, and a valid one from there is served', async () => {
    const address = somewhere();
    const wrong = { authorization: `Bearer tgs_${'x'.repeat(43)}` };
    expect(await statuses(LIMIT + 3, '/v1/keys', from(address, wrong))).toEqual(told(401, 3));
    const { auth } = await signUp(instance);
    expect((await send(instance, '/v1/keys', from(address, auth))).status).toBe(200);
    expect((await send(instance, '/v1/keys', from(somewhere(), wrong))).status).toBe(401);
  });

  test('without a credential is refused before its bodies are read, without delaying others', async () => {
    const address = somewhere();
    const login = (at: string, json: object) => ({ ...from(at), json });
    expect(await statuses(LIMIT + 3, '/v1/users/login', login(address, { email: 7 }))).toEqual(told(422, 3));
    const { email } = await signUp(instance);
    const right = { email, password: PASSWORD };
    expect((await send(instance, '/v1/users/login', login(address, right))).status).toBe(429);
    expect((await send(instance, '/v1/users/login', login(somewhere(), right))).status).toBe(200);
    clock.stoppedAtMs = (clock.stoppedAtMs ?? 0) + 3_000;
    expect((await send(instance, '/v1/users/login', login(address, right))).status).toBe(200);
  });

  test('of an IPv6 network is one flood, from any of its addresses', async () => {
    const bad = (at: number) => from(`2001:db8:1:2::${at}`, { authorization: 'Bearer tgs_x' });
    const answered: number[] = [];
    for (let at = 0; at < LIMIT + 3; at++) answered.push((await send(instance, '/v1/keys', bad(at))).status);
    expect(answered).toEqual(told(401, 3));
  });
});

test('requests that are served count for nothing', async () => {
  const { auth } = await signUp(instance);
  expect(await statuses(LIMIT * 3, '/v1/keys', { headers: auth })).toEqual(Array(LIMIT * 3).fill(200));
});
