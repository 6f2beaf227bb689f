import { afterAll, beforeAll, expect, test } from 'vitest';
import { isStoreFailure } from '../../kernel/store-failure.ts';
import { type Instance, openTestDatabase, PASSWORD, send, signUp, startInstance } from './testing/account-api.ts';

const POOL_SIZE = 2;
let db: Awaited<ReturnType<typeof openTestDatabase>>;
let instance: Instance;
let auth: Record<string, string>;
beforeAll(async () => {
  db = await openTestDatabase({ connectTimeoutMs: 2_000, poolSize: POOL_SIZE });
  instance = await startInstance(db.database, db.url);
  ({ auth } = await signUp(instance));
});
afterAll(async () => {
  await instance?.close();
  await db?.close();
});

const ASKED = [
  ['GET', '/v1/keys', undefined],
  ['GET', '/v1/users/me', undefined],
  ['GET', '/v1/audit-log', undefined],
  ['POST', '/v1/keys', { name: 'one more' }],
  ['POST', '/v1/users/login', { email: 'nobody@example.com', password: PASSWORD }],
] as const;

/** Every connection is lent out until `release`. */
async function exhaust(): Promise<() => void> {
  const clients = await Promise.all(Array.from({ length: POOL_SIZE }, () => db.database.pool.connect()));
  return () => {
    for (const client of clients) client.release();
  };
}

test.each(ASKED)('%s %s waits for a connection, and is a 503 that says when to repeat it where none comes', async (method, path, json) => {
  const ask = () => send(instance, path, { method, headers: auth, ...(json && { json }) });
  const release = await exhaust();
  const refused = await ask();
  release();
  expect([refused.status, refused.body.code]).toEqual([503, 'store_unavailable']);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  expect((await ask()).status).toBeLessThan(500);
});

test('a fault of a query is no failure of the store', async () => {
  const fault = await db.database.pool.query('select * from no_such_table').catch((error: unknown) => error);
  expect(fault).toBeInstanceOf(Error);
  expect(isStoreFailure(fault)).toBe(false);
  expect(
    isStoreFailure(new TypeError('fetch failed', { cause: Object.assign(new Error(), { code: 'ECONNREFUSED', syscall: 'connect' }) })),
  ).toBe(false);
});
