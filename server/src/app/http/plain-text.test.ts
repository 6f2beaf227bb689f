import { contract } from '@tallygate/contract';
import { type AppRoute, isAppRoute } from '@ts-rest/core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { INTERNAL_SECRET, type Instance, openTestDatabase, PASSWORD, send, signUp, startInstance } from './testing/account-api.ts';

const EMAIL = 'ada@example.com';
/** A value that is taken, for every text that a body of these contracts may carry. */
const TAKEN: Readonly<Record<string, string>> = {
  email: EMAIL,
  name: 'Ada Lovelace',
  password: PASSWORD,
  current_password: PASSWORD,
  new_password: PASSWORD,
  token: 'tgv_x7Qm2x7Qm2x7Qm2x7Qm2',
  challenge_token: 'tgc_8Qm2x8Qm2x8Qm2x8Qm2x',
  code: '492039',
};
const ODD = [
  ['NUL', '\u0000'],
  ['half of a surrogate pair', '\ud800'],
  ['a line break', '\r\n'],
] as const;

const routes = [contract.identity, contract.mfa, contract.account].flatMap((slice): AppRoute[] => Object.values(slice).filter(isAppRoute));
const fields = routes.flatMap((route) => {
  const body: unknown = 'body' in route ? route.body : undefined;
  const names = body instanceof z.ZodObject ? Object.keys(body.shape) : [];
  return names.map((field) => ({ route, field, names }));
});

let db: Awaited<ReturnType<typeof openTestDatabase>>;
let api: Instance;
let auth: Record<string, string>;

beforeAll(async () => {
  db = await openTestDatabase();
  api = await startInstance(db.database, db.url);
  ({ auth } = await signUp(api, 'admin'));
});
afterAll(async () => {
  await api?.close();
  await db?.close();
});

describe('a text with what databases and mails trip over is refused', () => {
  test.each(fields)('$route.method $route.path, $field', async ({ route, field, names }) => {
    const headers = route.path === '/v1/users' ? { 'x-internal-secret': INTERNAL_SECRET } : auth;
    for (const [name, odd] of ODD) {
      const json = Object.fromEntries(names.map((one) => [one, TAKEN[one]]));
      json[field] = `${TAKEN[field]?.slice(0, 3)}${odd}${TAKEN[field]?.slice(3)}`;
      const { status, body } = await send(api, route.path, { method: route.method, headers, json });
      expect([name, status, body.errors?.map(({ loc }: { loc: string[] }) => loc)]).toEqual([name, 422, [['body', field]]]);
    }
  });
});

test.each([
  '/v1/audit-log?action=key.created%00',
  '/v1/audit-log?action=key.created%0d%0a',
  '/v1/audit-log?from=2026-11-21T08:00:00Z%00',
  '/v1/audit-log?from=0000-01-01T00:00:00Z',
  '/v1/audit-log?to=0000-01-01T00:00:00Z',
  '/v1/admin/audit-log?account_id=%00',
  '/v1/audit-log?cursor=%00',
  '/v1/audit-log?cursor=bm90aGluZw',
  '/v1/audit-log?limit=201',
])('%s is refused', async (path) => {
  expect((await send(api, path, { headers: auth })).status).toBe(422);
});

test('an id in a path that is none is refused', async () => {
  const { status } = await send(api, '/v1/users/me/sessions/%00', { method: 'DELETE', headers: auth });
  expect(status).toBe(422);
});
