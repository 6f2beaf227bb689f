import type { Pool } from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { openPool } from '../../adapters/postgres/database.ts';
import { testDatabase } from '../../adapters/postgres/test-database.ts';
import { newId } from '../../kernel/ids.ts';
import { silentLog } from '../../kernel/log.ts';
import { inTransaction } from '../../kernel/transaction.ts';
import { laneId } from '../ledger/index.ts';
import { recordLimitAlerts } from './limit-alerts.ts';

let database: Awaited<ReturnType<typeof testDatabase>>;
let pool: Pool;
let accountId: string;

beforeAll(async () => {
  database = await testDatabase();
  pool = openPool({ url: database.url, log: silentLog(), poolSize: 4 });
});
beforeEach(async () => {
  accountId = newId();
  await pool.query("insert into accounts (id, name, created_at, time_zone) values ($1, 'Acme', now(), 'Europe/Berlin')", [accountId]);
});
afterAll(async () => {
  await pool?.end();
  await database?.drop();
});

interface Set {
  readonly kind?: string;
  readonly subject?: string | null;
  readonly period?: string;
  readonly cap?: bigint | null;
  readonly thresholds?: readonly number[];
}

const setLimit = ({ kind = 'tag', subject = 'feature=search', period = 'day', cap = 100n, thresholds = [50, 80] }: Set = {}) =>
  pool.query(
    `insert into limits (id, account_id, kind, subject, period, cap_nano, alert_thresholds, created_at, updated_at)
     values ($1, $2, $3, $4, $5, $6, $7, now(), now())`,
    [newId(), accountId, kind, subject, period, cap, thresholds],
  );
/** In Berlin a day in November begins at 23:00 UTC. */
const DAY = Date.parse('2026-11-24T23:00:00Z');
const laneOf = ({ kind = 'tag', subject = 'feature=search' as string | null, period = 'day', start = DAY as number | null } = {}) =>
  laneId.limit({ accountId, livemode: true, period, start, kind, subject: subject ?? '' });

/** So much is settled on the lane, and the alerts are written with it. */
const settle = (lane: string, nano: number) =>
  inTransaction(pool, async (client) => {
    await client.query(
      `insert into lane_spend (lane_id, spent_nano) values ($1, $2)
       on conflict (lane_id) do update set spent_nano = lane_spend.spent_nano + excluded.spent_nano`,
      [lane, nano],
    );
    await recordLimitAlerts(client, [{ accountId, limitLanes: [lane] }]);
  });
const told = async () =>
  (await pool.query('select type, data from webhook_messages where account_id = $1 order by id', [accountId])).rows.map(
    ({ data: { threshold_percent, spent_usd } }) => [threshold_percent, spent_usd],
  );

test('a threshold of a limit is told of once a window, and the highest of those that are reached at once', async () => {
  await setLimit();
  const lane = laneOf();
  for (const nano of [49, 1, 1, 40, 9, 50]) await settle(lane, nano);
  expect(await told()).toEqual([
    [50, '0.00000005'],
    [80, '0.000000091'],
  ]);
  await settle(laneOf({ start: DAY + 86_400_000 }), 90);
  expect((await told()).at(-1)).toEqual([80, '0.00000009']);
  expect(await told()).toHaveLength(3);
});

test('it says whose limit it is, and when its window ends by the clocks of the account', async () => {
  await setLimit({ thresholds: [10] });
  await settle(laneOf(), 60);
  const { rows } = await pool.query('select type, data from webhook_messages where account_id = $1', [accountId]);
  expect(rows).toEqual([
    {
      type: 'limit.threshold_reached',
      data: {
        ...{ kind: 'tag', subject: 'feature=search', period: 'day', livemode: true, threshold_percent: 10 },
        ...{ spent_usd: '0.00000006', cap_usd: '0.0000001', resets_at: '2026-11-25T23:00:00.000Z' },
      },
    },
  ]);
});

test('a limit of each gives way to one of its own, also where that has no cap', async () => {
  await setLimit({ subject: null });
  await setLimit({ subject: 'feature=free', cap: null });
  await settle(laneOf({ subject: 'feature=free' }), 1_000);
  expect(await told()).toEqual([]);
  await settle(laneOf({ subject: 'feature=other' }), 50);
  expect(await told()).toEqual([[50, '0.00000005']]);
});

const mailed = async () =>
  (await pool.query('select recipient, data from mails where account_id = $1 order by recipient', [accountId])).rows.map(
    ({ recipient, data }) => [recipient.split('@')[0], data.subject, data.threshold_percent],
  );
const join = (role: string) =>
  pool.query(
    `insert into users (id, account_id, email, role, account_role, password_hash, created_at) values ($1, $2, $3, 'member', $4, '', now())`,
    [newId(), accountId, `${role}@${accountId}.example`, role],
  );

test('owners, admins and billing are mailed of a limit that names its subject, each once', async () => {
  for (const role of ['owner', 'admin', 'billing', 'developer', 'viewer']) await join(role);
  await setLimit({ thresholds: [50] });
  await settle(laneOf(), 60);
  await settle(laneOf(), 1);
  expect(await mailed()).toEqual(['admin', 'billing', 'owner'].map((name) => [name, 'feature=search', 50]));
});

test.each<[string, Set, Parameters<typeof laneOf>[0]]>([
  ['of each of a kind', { subject: null }, {}],
  ['of an hour', { period: 'hour' }, { period: 'hour' }],
])('nobody is mailed of a limit %s, and webhooks are told', async (_name, limit, lane) => {
  await join('owner');
  await setLimit(limit);
  await settle(laneOf(lane), 60);
  expect([await mailed(), await told()]).toEqual([[], [[50, '0.00000006']]]);
});

/** What the first request of a run asked for. */
const begin = (runId: string, ceiling: number | null) =>
  pool.query(
    `insert into agent_runs (account_id, livemode, run_id, ceiling_nano, spent_nano, requests, first_request_at, last_request_at)
     values ($1, true, $2, $3, 0, 0, now(), now())`,
    [accountId, runId, ceiling],
  );
const RUN = { kind: 'run', subject: 'trip', period: 'lifetime', start: null } as const;

test.each<[string, bigint | null, number | null, unknown[]]>([
  ['its own ceiling, where the account sets no cap', null, 200, [[50, '0.0000001']]],
  ['its own ceiling, where that is below the cap', 1_000n, 200, [[50, '0.0000001']]],
  ['the cap, where its ceiling is higher', 100n, 200, [[80, '0.0000001']]],
  ['the cap, where it has no ceiling', 200n, null, [[50, '0.0000001']]],
  ['nothing, where there is neither', null, null, []],
])('an agent run is told of at shares of %s', async (_name, cap, ceiling, expected) => {
  await begin('trip', ceiling);
  await setLimit({ kind: 'run', subject: null, period: 'lifetime', cap });
  await settle(laneOf(RUN), 100);
  expect(await told()).toEqual(expected);
});

test('an hour of an agent run is a share of the cap alone', async () => {
  await begin('trip', 10);
  await setLimit({ kind: 'run', subject: 'trip', period: 'hour', cap: 1_000n });
  await settle(laneOf({ ...RUN, period: 'hour', start: DAY }), 100);
  expect(await told()).toEqual([]);
});

test.each<[string, Set, Parameters<typeof laneOf>[0]]>([
  ['without thresholds', { thresholds: [] }, {}],
  ['with a cap of zero', { cap: 0n }, {}],
  ['of another period', { period: 'month' }, {}],
  ['of another kind', { kind: 'model', subject: 'gpt-4o-mini' }, {}],
])('a limit %s tells nothing', async (_name, limit, lane) => {
  await setLimit(limit);
  await settle(laneOf(lane), 1_000);
  expect(await told()).toEqual([]);
});

test('the account’s own limit of a lifetime is told of without a subject and without an end', async () => {
  await setLimit({ kind: 'account', subject: null, period: 'lifetime', thresholds: [100] });
  await settle(laneOf({ kind: 'account', subject: null, period: 'lifetime', start: null }), 100);
  const { rows } = await pool.query('select data from webhook_messages where account_id = $1', [accountId]);
  expect(rows[0].data).toMatchObject({ kind: 'account', subject: null, resets_at: null, threshold_percent: 100 });
});
