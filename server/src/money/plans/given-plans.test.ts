import type { Pool } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { givePlanByOperator } from '../../app/give-plan.ts';
import { newId } from '../../kernel/ids.ts';
import { DEFAULT_OFFER } from './default-offer.ts';
import { recordOffer } from './plan-versions.ts';
import { planOf } from './testing/book.ts';
import { openTestPool, type PlansUnderTest, plansUnderTest } from './testing/plans.ts';

let database: Awaited<ReturnType<typeof openTestPool>>;
let pool: Pool;
let one: PlansUnderTest;
beforeAll(async () => {
  database = await openTestPool();
  ({ pool } = database);
  await recordOffer(pool, DEFAULT_OFFER);
});
afterAll(() => database.close());
beforeEach(async () => {
  one = await plansUnderTest({ pool });
});
afterEach(() => one.close());

const give = (plan: string | null) => one.plans.given.give(one.accountId, plan, one.trail);

test('a given plan stands before the subscription that runs, which comes back with what was given taken back', async () => {
  await one.subscribe('scale');
  await one.takeEvents();
  await give('free');
  expect(await one.planOfAccount()).toBe('free');
  await one.takeEvents();
  one.fake.advance({ days: 31 });
  await one.takeEvents();
  expect(await one.planOfAccount()).toBe('free');
  await give(null);
  expect(await one.planOfAccount()).toBe('scale@1');
});

test('an upgrade that is bought later stands before a given plan', async () => {
  await one.subscribe('pro');
  await one.takeEvents();
  await give('free');
  await one.subscribe('scale');
  expect(await one.planOfAccount()).toBe('scale@1');
});

test('a plan that is bought later stands before a given plan, and ends with it', async () => {
  await give('pro');
  await one.subscribe('scale');
  await one.takeEvents();
  expect(await one.planOfAccount()).toBe('scale@1');
  await one.plans.downgrades.schedule(one.accountId, planOf('pro'), newId(), one.trail);
  expect(await one.downgrades()).toEqual(['pro scheduled']);
  one.fake.advance({ days: 31 });
  await one.plans.downgrades.apply(10);
  expect([await one.planOfAccount(), await one.downgrades()]).toEqual(['pro', ['pro applied']]);
});

test('the plan of operators leaves nothing to buy', async () => {
  await give('operator');
  await expect(one.subscribe('enterprise')).rejects.toThrow('without limits and price: there is nothing to buy');
});

test('a plan that is given ends a trial: what comes after the trial does not take it back', async () => {
  const endsAt = new Date(one.clock.now() + 86_400_000);
  await one.plans.gifts.give(one.accountId, { cause: newId(), credit: 0n, trial: { plan: planOf('pro'), endsAt } }, async () => true);
  await give('pro');
  one.fake.advance({ days: 2 });
  await one.plans.gifts.endTrials();
  expect(await one.planOfAccount()).toBe('pro');
});

test('a downgrade that was scheduled before is dropped', async () => {
  await give('scale');
  await one.plans.downgrades.schedule(one.accountId, planOf('pro'), newId(), one.trail);
  await give('enterprise');
  one.fake.advance({ days: 31 });
  await one.plans.downgrades.apply(10);
  expect([await one.planOfAccount(), await one.downgrades()]).toEqual(['enterprise', ['pro dropped']]);
});

test('given by two at once, the account has the one that the log names last', async () => {
  await Promise.all(['pro', 'scale', 'enterprise', 'free'].map(give));
  const { rows } = await pool.query<{ to: string }>(
    "select changes #>> '{given_plan,to}' as to from audit_log where account_id = $1 and action = 'plan.given' order by id desc limit 1",
    [one.accountId],
  );
  expect(await one.planOfAccount()).toBe(rows[0]?.to);
});

const onServer = (account: string, plan: string, stripe?: { secretKey: string; webhookSecret: string; apiUrl: undefined }) =>
  givePlanByOperator({ pool, clock: one.clock, config: { offer: DEFAULT_OFFER, stripe } }, account, plan);
const LIVE = { secretKey: 'sk_live_fake', webhookSecret: 'whsec_x', apiUrl: undefined };

test('npm run admin -- plan gives one by id or address, and says what it did', async () => {
  const address = `${one.payer.userId}@example.com`;
  expect(await onServer(one.accountId, 'pro@1')).toEqual({ isDone: true, said: 'The account was on Operator and is on Pro now.' });
  expect(await onServer(address.toUpperCase(), 'pro@1')).toEqual({ isDone: true, said: 'The account stays on Pro.' });
  expect(await onServer(address, 'default')).toEqual({ isDone: true, said: 'The account was on Pro and is on Operator now.' });
  expect(await onServer(address, 'operator', LIVE)).toEqual({ isDone: true, said: 'The account was on Free and is on Operator now.' });
});

test.each([
  ['nobody@example.com', 'pro', 'There is no account with the id or the address nobody@example.com here.'],
  [
    '019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77',
    'pro',
    'There is no account with the id or the address 019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77 here.',
  ],
  [
    'nobody@example.com',
    'gold',
    'There is no plan gold: there are free, pro, scale, enterprise, operator, and default, which takes back what was given.',
  ],
])('npm run admin -- plan %s %s says what is wrong', async (account, plan, said) => {
  expect(await onServer(account, plan)).toEqual({ isDone: false, said });
});
