import type { Pool } from 'pg';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { DEFAULT_OFFER } from './default-offer.ts';
import type { Offer } from './offer.ts';
import { createPlanBook } from './plan-book.ts';
import { ChangedPlan, recordedPlans, recordOffer } from './plan-versions.ts';
import { openTestPool } from './testing/plans.ts';
import type { Plan } from './tiers.ts';

let database: Awaited<ReturnType<typeof openTestPool>>;
let pool: Pool;
beforeAll(async () => {
  database = await openTestPool();
  ({ pool } = database);
});
afterAll(() => database.close());
afterEach(() => pool.query("set session_replication_role = 'replica'; delete from plan_versions; set session_replication_role = 'origin'"));

/** The default offer with another plan `pro`. */
const withPro = (change: Partial<Plan>): Offer => ({
  ...DEFAULT_OFFER,
  plans: DEFAULT_OFFER.plans.map((plan) => (plan.id === 'pro' ? { ...plan, ...change } : plan)),
});

const bookNow = async (offer: Offer) => {
  const book = createPlanBook(offer, { isSelling: true });
  book.rewrite(offer, await recordedPlans(pool));
  return book;
};

test('an offer is put on record once, by however many gateways at a time', async () => {
  await Promise.all([1, 2, 3].map(() => recordOffer(pool, DEFAULT_OFFER)));
  expect((await recordedPlans(pool)).map(({ id, version }) => `${id}@${version}`).toSorted()).toEqual([
    ...['enterprise@1', 'free@1', 'pro@1', 'scale@1'],
  ]);
});

test.each<[string, Partial<Plan>]>([
  ['name', { name: 'Professional' }],
  ['monthly_price_usd', { monthlyPrice: 25_000_000_000n }],
  ['features', { features: new Set(['receipts']) }],
  ['overage', { overage: { kind: 'block' } }],
  ['rate_limits', { rates: { requestsPerMinute: null, tokensPerMinute: null, concurrency: null } }],
])('a plan with another %s under the same version is refused, with what to do', async (field, change) => {
  await recordOffer(pool, DEFAULT_OFFER);
  await recordOffer(pool, withPro({ version: 2, name: 'Pro 2' }));
  const refused = recordOffer(pool, withPro(change));
  await expect(refused).rejects.toBeInstanceOf(ChangedPlan);
  await expect(refused).rejects.toThrow(
    `the plan pro@1 is on record with another ${field}: what was offered under a version never changes. Give the changed plan the version 3`,
  );
});

test('an offer that is refused leaves nothing on record', async () => {
  await recordOffer(pool, DEFAULT_OFFER);
  const gold = { ...DEFAULT_OFFER.plans[1], id: 'gold' } as Plan;
  const offer = withPro({ name: 'Professional' });
  await expect(recordOffer(pool, { ...offer, plans: [gold, ...offer.plans] })).rejects.toThrow('pro@1');
  expect((await recordedPlans(pool)).some(({ id }) => id === 'gold')).toBe(false);
});

test('a version that is offered no longer stays known, and its id means the newest one', async () => {
  await recordOffer(pool, DEFAULT_OFFER);
  const next = withPro({ version: 2, monthlyPrice: 25_000_000_000n });
  await recordOffer(pool, next);
  const book = await bookNow(next);
  expect(['pro', 'pro@1', 'pro@2'].map((ref) => book.of(ref).monthlyPrice)).toEqual([25_000_000_000n, 20_000_000_000n, 25_000_000_000n]);
});

test('a plan that is offered no longer can be had and given, and not bought', async () => {
  await recordOffer(pool, DEFAULT_OFFER);
  const without = {
    ...DEFAULT_OFFER,
    plans: DEFAULT_OFFER.plans.filter(({ id }) => id !== 'pro'),
    forSale: new Set(['scale', 'enterprise']),
  };
  const book = await bookNow(without);
  expect([book.of('pro@1').name, book.ids.includes('pro'), book.isForSale('pro'), book.offered.some(({ id }) => id === 'pro')]).toEqual([
    ...['Pro', true, false, false],
  ]);
});

test('the database refuses to change a version', async () => {
  await recordOffer(pool, DEFAULT_OFFER);
  await expect(pool.query("update plan_versions set terms = '{}'")).rejects.toThrow('never changes');
  await expect(pool.query('delete from plan_versions')).rejects.toThrow('never changes');
});
