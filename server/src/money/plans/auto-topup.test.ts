import { afterEach, beforeEach, expect, test } from 'vitest';
import { CARDS, type PlansUnderTest, plansUnderTest } from './testing/plans.ts';

const USD = 1_000_000_000n;
const SETTINGS = { enabled: true, threshold: 10n * USD, amount: 25n * USD, dailyMaximum: 50n * USD };
let one: PlansUnderTest;
beforeEach(async () => {
  one = await plansUnderTest();
  await one.pool.query("update accounts set plan = 'pro' where id = $1", [one.accountId]);
});
afterEach(() => one.close());

const set = (settings = SETTINGS) => one.plans.autoTopup.set(one.accountId, settings, one.trail);
const run = () => one.plans.autoTopup.run();
const cap = async () => {
  await one.takeEvents();
  return (await one.balance()).cap;
};
/** With a card that is saved, and $5. */
const paidIn = async (card = CARDS.good) => {
  await one.topUp(5n, card);
  await one.takeEvents();
};

test('a balance below its threshold is topped up by itself, once', async () => {
  await paidIn();
  await set();
  await run();
  await run();
  expect(await cap()).toBe(30n * USD);
});

test('a card that has no funds is not tried again, and a mail says so', async () => {
  await paidIn(CARDS.noFundsLater);
  await set();
  await run();
  await run();
  expect(await one.plans.autoTopup.read(one.accountId)).toMatchObject({ attempt_id: null, decline: expect.stringContaining('fund') });
  expect(await cap()).toBe(5n * USD);
  expect(await one.mails()).toEqual(['top-up-declined']);
});

test.each([
  ['at once', 0, 30n],
  ['after the provider has forgotten its key', 2, 30n],
])(
  'a charge whose answer was lost is not made again %s, though the amount was changed',
  async (_when, days, dollars) => {
    await paidIn();
    await set();
    one.fake.loseAnswersTo('POST /v1/payment_intents');
    await run();
    one.fake.loseAnswersTo(undefined);
    await set({ ...SETTINGS, amount: 20n * USD });
    one.fake.advance({ days });
    await run();
    await run();
    expect(await cap()).toBe(dollars * USD);
    expect(await one.plans.autoTopup.read(one.accountId)).toMatchObject({ attempt_id: null });
  },
  30_000,
);

test('a charge whose answer was lost is over as soon as its payment is told of', async () => {
  await paidIn();
  await set();
  one.fake.loseAnswersTo('POST /v1/payment_intents');
  await run();
  one.fake.loseAnswersTo(undefined);
  expect(await one.plans.autoTopup.read(one.accountId)).toMatchObject({ attempt_id: expect.any(String) });
  await one.takeEvents();
  expect(await one.plans.autoTopup.read(one.accountId)).toMatchObject({ attempt_id: null, charged: 25n * USD });
});

test('a charge that never reached the provider is not made once there is no reason for it any more', async () => {
  await paidIn();
  await set();
  one.fake.failNext(...Array.from({ length: 12 }, () => 'reset' as const));
  await run();
  one.fake.failNext();
  while (
    await one.plans.provider.readPayment('pi_none').then(
      () => false,
      () => true,
    )
  ) {
    // The faults that are left are used up.
  }
  await one.topUp(100n);
  await one.takeEvents();
  await run();
  expect(await cap()).toBe(105n * USD);
  expect(await one.plans.autoTopup.read(one.accountId)).toMatchObject({ attempt_id: null });
});

test('trouble with one account keeps no other waiting', async () => {
  await paidIn();
  const { rows } = await one.pool.query<{ id: string }>(
    `insert into accounts (id, name, created_at, plan) values ('00000000-0000-7000-8000-000000000001', 'First', now(), 'pro') returning id`,
  );
  const first = rows[0]?.id ?? '';
  await one.pool.query("insert into subscriptions (account_id, customer_id) values ($1, 'cus_gone')", [first]);
  await one.pool.query(
    `insert into users (id, account_id, email, role, password_hash, created_at) values ($1, $1, 'first@example.com', 'member', '', now())`,
    [first],
  );
  await one.plans.autoTopup.set(first, SETTINGS, one.trail);
  await set();
  await run();
  expect(await cap()).toBe(30n * USD);
});

test('nothing is charged beyond the daily maximum, and again a day later', async () => {
  await paidIn();
  await set({ ...SETTINGS, threshold: 25n * USD, dailyMaximum: 30n * USD });
  await run();
  expect(await cap()).toBe(30n * USD);
  await set({ ...SETTINGS, threshold: 40n * USD, amount: 40n * USD, dailyMaximum: 40n * USD });
  await run();
  expect(await cap()).toBe(30n * USD);
  one.fake.advance({ days: 1.1 });
  await run();
  expect(await cap()).toBe(70n * USD);
});

test('a plan without automatic top-up neither switches it on nor is charged', async () => {
  await paidIn();
  await set();
  await one.pool.query("update accounts set plan = 'free' where id = $1", [one.accountId]);
  await run();
  expect(await cap()).toBe(5n * USD);
  await expect(set()).rejects.toMatchObject({ code: 'plan_required' });
  await expect(set({ ...SETTINGS, enabled: false })).resolves.toBeUndefined();
});
