import { contract } from '@tallygate/contract';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { silentLog } from '../../kernel/log.ts';
import { type Instance, newKey, openTestDatabase, signUp, startInstance } from './testing/account-api.ts';
import { type FrontUnderTest, openFrontUnderTest } from './testing/front.ts';
import { usageTransferRoutes } from './usage-transfer-api.ts';

const { exportUsage, exportAdminUsage } = contract.usageTransfers;

let db: Awaited<ReturnType<typeof openTestDatabase>>;
let api: Instance;
let front: FrontUnderTest;
let member: Awaited<ReturnType<typeof signUp>>;
beforeAll(async () => {
  db = await openTestDatabase();
  api = await startInstance(db.database, db.url, {});
  const limits = { idleTimeoutMs: 5_000, timeoutMs: 60_000 };
  const deps = { pool: db.database.pool, clock: { now: () => Date.parse('2026-11-21T10:00:00Z') }, log: silentLog(), limits };
  front = await openFrontUnderTest(() => usageTransferRoutes(deps), { authenticator: api.authenticator });
  member = await signUp(api);
  const sums = [10, 4, 5, 20, 20, 0, 0];
  await db.database.pool.query(
    `insert into usage_daily (account_id, livemode, day, key_id, model, requests, input_tokens, cached_input_tokens, output_tokens, cost_nano,
       charged_nano, covered_requests, covered_tokens) values ($1, true, '2026-11-20', $1, 'gpt-5.4-nano', 1, ${sums.join()})`,
    [member.accountId],
  );
});
afterAll(async () => {
  front?.close();
  await api?.close();
  await db?.close();
});

const get = (path: string, headers: Record<string, string>, method = 'GET') => fetch(`${front.url}${path}`, { method, headers });

test('usage is a CSV file under the name of what it has', async () => {
  const answer = await get(`${exportUsage.path}?group_by=model`, member.auth);
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toMatch(/^text\/csv\b/);
  expect(answer.headers.get('content-disposition')).toBe('attachment; filename="usage-by-model-2026-11-01-2026-11-21.csv"');
  expect((await answer.text()).split('\r\n')[1]).toBe('2026-11-01,2026-11-21,gpt-5.4-nano,1,10,4,5,0,0,0,0,0.00000002,0.00000002');
  const head = await get(`${exportUsage.path}?group_by=model`, member.auth, 'HEAD');
  expect([head.status, head.headers.get('content-disposition')]).toEqual([200, answer.headers.get('content-disposition')]);
});

test('usage is a FOCUS dataset for those who ask for it', async () => {
  const answer = await get(`${exportUsage.path}?format=focus&from=2026-11-20`, member.auth);
  expect(answer.headers.get('content-disposition')).toBe('attachment; filename="usage-focus-per-day-2026-11-20-2026-11-21.csv"');
  expect(await answer.text()).toMatch(/^BilledCost,BillingAccountId,[A-Za-z,]+,Tags\r\n$/);
});

test('an operator exports all accounts or one, and nobody else does', async () => {
  const path = `${exportAdminUsage.path}?group_by=account&account_id=${member.accountId}`;
  const operator = await signUp(api, 'admin');
  const text = await (await get(path, operator.auth)).text();
  expect(text.split('\r\n')[1]).toMatch(`2026-11-01,2026-11-21,${member.accountId},1,`);
  expect((await get(path, member.auth)).status).toBe(403);
  const key = await newKey(api, member.auth, { scopes: ['inference'] });
  expect((await get(exportUsage.path, key.auth)).status).toBe(403);
});

test.each([
  'group_by=week',
  'group_by=model,key,tag',
  'format=xml',
  'from=2026-11-22',
  'fro=2026-11-01',
  'group_by=account',
  'format=focus&group_by=model',
])('an export of %s is refused', async (query) => {
  expect((await get(`${exportUsage.path}?${query}`, member.auth)).status).toBe(422);
});
