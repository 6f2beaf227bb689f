import { contract } from '@tallygate/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { emptyArchive } from '../../archive/testing/archives.ts';
import { Corrections, ledgerRoutes, Refunds } from '../../money/ledger/index.ts';
import { testCredentials } from './credential-matrix.ts';
import { endpointsOf } from './endpoint.ts';
import { type Instance, newKey, openTestDatabase, send, signUp, startInstance } from './testing/account-api.ts';

let db: Awaited<ReturnType<typeof openTestDatabase>>;
let api: Instance;

beforeAll(async () => {
  db = await openTestDatabase();
  const { pool } = db.database;
  const clock = { now: Date.now };
  const refunds = new Refunds({ pool, lanes: { refund: () => true }, clock, write: async () => {} });
  const corrections = new Corrections({ pool, lanes: { refund: () => true }, clock, write: async () => {}, priceOf: () => undefined });
  const endpoints = endpointsOf(contract.ledger, ledgerRoutes({ pool, archive: emptyArchive(pool), clock, refunds, corrections }));
  api = await startInstance(db.database, db.url, { endpoints });
});

afterAll(async () => {
  await api?.close();
  await db?.close();
});

testCredentials(() => ({ api, database: db.database }), contract.ledger);

describe('POST /v1/admin/refunds', () => {
  const ask = (auth: Record<string, string>, json: object) => send(api, '/v1/admin/refunds', { headers: auth, json });

  test('answers an administrator who names no settled request with a 404, whether they come with a session or a key', async () => {
    const { auth } = await signUp(api, 'admin');
    const key = await newKey(api, auth, { scopes: ['admin:write'] });
    for (const headers of [auth, key.auth]) {
      const { status, body } = await ask(headers, { request_id: 'req_unknown', reason: 'Goodwill.' });
      expect([status, body.code]).toEqual([404, 'not_found']);
    }
  });

  test.each([
    ['no reason', { request_id: 'req_1' }],
    ['an empty reason', { request_id: 'req_1', reason: '  ' }],
    ['a reason with a NUL', { request_id: 'req_1', reason: 'a\u0000b' }],
    ['half of a character as reason', { request_id: 'req_1', reason: '\ud800' }],
    ['no request', { reason: 'Goodwill.' }],
    ['an amount, which nobody may choose', { request_id: 'req_1', reason: 'Goodwill.', amount_usd: '100' }],
  ])('refuses %s', async (_, json) => {
    const { auth } = await signUp(api, 'admin');
    expect((await ask(auth, json)).status).toBe(422);
  });
});
