import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newKey, signUp } from '../../app/http/testing/account-api.ts';
import { type BudgetWorld, openBudgetWorld, rowsOf, TOKEN_NANO_USD } from './testing/budgets.ts';

let world: BudgetWorld;
let auth: Record<string, string>;

beforeAll(async () => {
  world = await openBudgetWorld();
  ({ auth } = await signUp(world.api));
});
afterAll(() => world?.close());

const WAITING_FOR_CHANGES = `select 1 from pg_stat_activity
  where datname = current_database() and wait_event_type = 'Lock' and query like '%for key share%'`;
const tokensFor = (cents: number): number => Math.ceil((cents * 10_000_000) / TOKEN_NANO_USD);
const alertsOf = (keyId: string) => rowsOf(world, 'select threshold, cause from key_budget_alerts where key_id = $1', [keyId]);
const spend = async (key: string, cents: number) => world.settle(await world.call(key, tokensFor(cents)), BigInt(cents) * 10_000_000n);

test('a threshold that a settlement and a lowered cap reach together is not lost between the two', async () => {
  const { key, keyId } = await newKey(world.api, auth, { livemode: false, monthly_cap_usd: '10' });
  const lowering = await world.pool.connect();
  try {
    await lowering.query('begin');
    await lowering.query('select 1 from api_keys where id = $1 for update', [keyId]);
    await lowering.query('update api_keys set monthly_cap_nano_usd = 1000000000 where id = $1', [keyId]);
    await spend(key, 60);
    const writing = world.written();
    // The writer has booked and waits for the change, whose cap it could not see before.
    while ((await rowsOf(world, WAITING_FOR_CHANGES)).length === 0) await nextTurn();
    await lowering.query('commit');
    await writing;
  } finally {
    lowering.release();
  }
  expect(await alertsOf(keyId)).toEqual([{ threshold: 50, cause: 'spend' }]);
});

test('an alert that cannot be written keeps no money from being booked, and comes with the next settlement', async () => {
  const { key, keyId } = await newKey(world.api, auth, { livemode: false, monthly_cap_usd: '1' });
  const booked = () => rowsOf(world, 'select sum(requests)::int as requests from usage_daily where key_id = $1', [keyId]);
  await world.pool.query('alter table mails add constraint no_mails check (false) not valid');
  await spend(key, 55);
  await world.written();
  expect([await booked(), await alertsOf(keyId), world.quarantined]).toEqual([[{ requests: 1 }], [], []]);
  await world.pool.query('alter table mails drop constraint no_mails');
  await spend(key, 1);
  await world.written();
  expect([await booked(), await alertsOf(keyId)]).toEqual([[{ requests: 2 }], [{ threshold: 50, cause: 'spend' }]]);
});

test('a settlement that arrives after its month has ended makes an alert of that month', async () => {
  const { key, keyId } = await newKey(world.api, auth, { livemode: false, monthly_cap_usd: '1' });
  world.clock.stoppedAtMs = Date.parse('2027-08-31T23:59:59.999Z');
  const late = await world.call(key, tokensFor(60));
  world.clock.stoppedAtMs = Date.parse('2027-09-01T00:00:01.000Z');
  world.settle(late, 600_000_000n);
  await world.written();
  world.clock.stoppedAtMs = undefined;
  const alerts = await rowsOf(world, 'select period, created_at from key_budget_alerts where key_id = $1', [keyId]);
  expect(alerts).toEqual([{ period: '2027-08', created_at: new Date('2027-09-01T00:00:01.000Z') }]);
});

test('a key without a cap is told nothing', async () => {
  const { key, keyId } = await newKey(world.api, auth, { livemode: false });
  await spend(key, 100);
  await world.written();
  expect(await alertsOf(keyId)).toEqual([]);
});
