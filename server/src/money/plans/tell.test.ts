import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPool } from '../../adapters/postgres/database.ts';
import { testDatabase } from '../../adapters/postgres/test-database.ts';
import { newId } from '../../kernel/ids.ts';
import { silentLog } from '../../kernel/log.ts';
import { mailAccount } from './tell.ts';

let database: Awaited<ReturnType<typeof testDatabase>>;
let pool: ReturnType<typeof openPool>;
beforeAll(async () => {
  database = await testDatabase();
  pool = openPool({ url: database.url, log: silentLog(), poolSize: 2 });
});
afterAll(async () => {
  await pool?.end();
  await database?.drop();
});

test('mails about money go to the members who answer for it, and to nobody who has left', async () => {
  const accountId = newId();
  await pool.query("insert into accounts (id, name, created_at) values ($1, 'Acme', now())", [accountId]);
  for (const role of ['owner', 'admin', 'billing', 'developer', 'viewer'])
    for (const closedAt of [null, new Date()])
      await pool.query(
        `insert into users (id, account_id, email, role, account_role, password_hash, created_at, closed_at)
         values ($1, $2, $3, 'member', $4, '', now(), $5)`,
        [newId(), accountId, `${role}-${closedAt ? 'left' : 'here'}@example.com`, role, closedAt],
      );
  const told: string[] = [];
  const unit = { query: pool.query.bind(pool), livemode: true };
  await mailAccount(unit, { accountId, about: 'invoice:1' }, async (_db, { to }) => void told.push(to));
  expect(told.toSorted()).toEqual(['admin-here@example.com', 'billing-here@example.com', 'owner-here@example.com']);
});
