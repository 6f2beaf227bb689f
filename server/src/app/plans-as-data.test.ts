import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { testDatabase } from '../adapters/postgres/test-database.ts';
import { databaseOf, inDatabase } from '../adapters/postgres/test-url.ts';
import { migrate } from './migrate.ts';
import { migrations } from './migrations/index.ts';

const AT = migrations.findIndex(({ name }) => name.endsWith('plans-as-data'));
const [PAID, GIVEN, INVITED, ADMIN] = [1, 2, 3, 4].map((n) => `00000000-0000-7000-8000-00000000000${n}`);

let server: Awaited<ReturnType<typeof testDatabase>>;
let client: pg.Client;
let url: string;

/** A database as it was when the payments of the sandbox still changed live plans and balances. */
beforeAll(async () => {
  server = await testDatabase();
  const admin = new pg.Client({ connectionString: server.url });
  await admin.connect();
  const name = `${databaseOf(server.url)}_before`;
  await admin.query(`create database ${name} template template0`);
  await admin.end();
  url = inDatabase(server.url, name);
  await migrate(url, migrations.slice(0, AT));
  client = new pg.Client({ connectionString: url });
  await client.connect();
  for (const [id, plan] of [
    [PAID, 'enterprise@1'],
    [GIVEN, 'scale'],
    [INVITED, 'free'],
    [ADMIN, 'free'],
  ]) {
    await client.query("insert into accounts (id, name, plan, created_at) values ($1, 'an account', $2, now())", [id, plan]);
    const email = id === ADMIN ? 'admin@tallygate.localhost' : `${id}@example.com`;
    await client.query(
      "insert into users (id, account_id, email, role, password_hash, created_at) values ($1::uuid, $1::uuid, $2, 'member', '', now())",
      [id, email],
    );
  }
  await client.query(`insert into sandbox_payment_objects (id, kind, data) values
    ('cus_1', 'customer', '{}'), ('sub_1', 'subscription', '{}'), ('cs_1', 'session', '{}'), ('pi_1', 'payment', '{}')`);
  await client.query(
    `insert into subscriptions (account_id, customer_id, subscription_id, status, plan_id, plan_version, granted_plan) values
       ($1, 'cus_1', 'sub_1', 'active', 'enterprise', 1, 'free'), ($2, null, null, 'none', null, null, 'scale')`,
    [PAID, GIVEN],
  );
  await client.query(
    `insert into payments (payment_id, provider_id, account_id, kind, status, amount_nano, refunded_nano, booked_nano, bookings, created_at)
     values (gen_random_uuid(), 'pi_1', $1, 'balance', 'succeeded', 25, 0, 25, 1, now())`,
    [PAID],
  );
  const post = async (kind: string, cause: string, account: string | undefined, amount: number, from: string) => {
    const { rows } = await client.query<{ posting_id: string }>(
      `insert into postings (posting_id, kind, request_id, attempt, livemode, day) values (gen_random_uuid(), $1, $2, 0, true, '2026-11-21')
       returning posting_id`,
      [kind, cause],
    );
    const id = rows[0]?.posting_id;
    const sides = [id, from, `customer_balance:${account}`, amount];
    await client.query('insert into ledger_entries (posting_id, account, amount_nano) values ($1, $2, -$4::int), ($1, $3, $4::int)', sides);
    await client.query("insert into ledger_daily select account, '2026-11-21', amount_nano from ledger_entries where posting_id = $1", [
      id,
    ]);
    await client.query('insert into balance_credits (posting_id, account_id, amount_nano) values ($1, $2, $3)', [id, account, amount]);
  };
  await post('payment', 'pi_1', PAID, 25, 'payment_clearing');
  await post('promotion', 'invitation', INVITED, 10, 'promotions');
  await migrate(url, migrations);
});
afterAll(async () => {
  await client?.end();
  const admin = new pg.Client({ connectionString: server.url });
  await admin.connect();
  await admin.query(`drop database ${databaseOf(url)} with (force)`);
  await admin.end();
  await server?.drop();
});

const rowsOf = async (sql: string, values: unknown[] = []) => (await client.query(sql, values)).rows;

test('what the sandbox sold is in test mode, and no live plan', async () => {
  expect(await rowsOf('select plan, given_plan from accounts where id = $1', [PAID])).toEqual([{ plan: null, given_plan: null }]);
  expect(await rowsOf('select 1 from subscriptions where customer_id is not null')).toEqual([]);
  expect(
    await rowsOf('select a.plan, s.plan_id from test_billing.subscriptions s join test_billing.accounts a on a.id = s.account_id'),
  ).toEqual([{ plan: 'enterprise@1', plan_id: 'enterprise' }]);
});

test('sandbox payments are reversed by a separate posting, and nothing else is', async () => {
  const credited = (account: string | undefined) =>
    rowsOf('select sum(amount_nano)::int as nano from balance_credits where account_id = $1', [account]);
  expect([await credited(PAID), await credited(INVITED)]).toEqual([[{ nano: 0 }], [{ nano: 10 }]]);
  expect(await rowsOf('select account, amount_nano::int as nano from ledger_daily where amount_nano <> 0 order by account')).toEqual([
    { account: `customer_balance:${INVITED}`, nano: 10 },
    { account: 'promotions', nano: -10 },
  ]);
  expect(await rowsOf('select posting_id from ledger_entries group by 1 having sum(amount_nano) <> 0')).toEqual([]);
  expect(await rowsOf('select count(*)::int as n from payments union all select count(*)::int from test_billing.payments')).toEqual([
    { n: 0 },
    { n: 1 },
  ]);
  expect(await rowsOf("select sum(amount_nano)::int as nano from test_billing.ledger_daily where account = 'payment_clearing'")).toEqual([
    { nano: -25 },
  ]);
});

test('a plan that was given stays given, and the first account is its operator’s', async () => {
  const plans = await rowsOf('select id, plan, given_plan from accounts where given_plan is not null order by id');
  expect(plans).toEqual([
    { id: GIVEN, plan: 'scale', given_plan: 'scale' },
    { id: ADMIN, plan: 'operator', given_plan: 'operator' },
  ]);
});
