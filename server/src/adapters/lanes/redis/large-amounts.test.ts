import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isRedisMissing, testRedis } from '../../redis/test-redis.ts';
import { balance, holdRequest, keyLane, quotaLane, ScriptedSource, settlementOf } from '../conformance-requests.ts';
import type { HoldRequest } from '../port.ts';
import { ReferenceLanes } from '../reference-lanes.ts';
import { ScratchJournals } from '../testing/scratch-journals.ts';
import { RedisLanes } from './redis-lanes.ts';
import type { RedisConnection } from './run-script.ts';

const LARGEST = 2n ** 62n;
const CREDITED = 2n ** 63n - 1n;

let redis: RedisConnection;
const journals = new ScratchJournals();

/** About 2^53, where doubles stop being exact, about the largest amounts, and small ones. */
const amount = fc.oneof(
  fc.bigInt({ min: 2n ** 53n - 3n, max: 2n ** 53n + 3n }),
  fc.bigInt({ min: 0n, max: LARGEST }),
  fc.bigInt({ min: LARGEST - 3n, max: LARGEST }),
  fc.bigInt({ min: 0n, max: 5n }),
);
const tokens = fc.bigInt({ min: 0n, max: 800_000_000_000n });
const step = fc.record({
  amount,
  perToken: fc.bigInt({ min: 0n, max: 2n ** 57n }),
  wanted: fc.nat({ max: 12 }),
  units: fc.record({ requests: fc.constant(1n), tokens }),
  keyCap: fc.option(fc.bigInt({ min: 0n, max: CREDITED }), { nil: null }),
  quota: fc.option(fc.record({ requests: fc.constant(100n), tokens: fc.bigInt({ min: 0n, max: 2_000_000_000_000n }) }), { nil: null }),
  isSettled: fc.boolean(),
  usedPercent: fc.bigInt({ min: 0n, max: 100n }),
});

describe.skipIf(isRedisMissing())('amounts near the limits', () => {
  beforeAll(async () => {
    redis = await testRedis();
  });

  afterAll(async () => {
    journals.remove();
    await redis?.quit();
  });

  test('are held, clamped, shared with a quota and settled to the nano-dollar as the naive reference does it', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 15 }), async (steps) => {
        const source = new ScriptedSource();
        source.money.set('balance:a', { spent: 0n, cap: CREDITED });
        const prefix = `test:${randomUUID()}`;
        const store = new RedisLanes({ redis, prefix, source, onAppend: () => {}, ...journals.process(redis, prefix) });
        const reference = new ReferenceLanes(new Map([['balance:a', CREDITED]]));
        for (const { amount, perToken, wanted, units, keyCap, quota, isSettled, usedPercent } of steps) {
          const request: HoldRequest = holdRequest({
            amount,
            perToken,
            wanted,
            least: 0,
            units,
            lanes: [keyLane('k', keyCap)],
            quota: quota && quotaLane('q', quota),
            funds: balance('a'),
          });
          const outcome = await store.hold(request);
          expect(outcome).toMatchObject(reference.hold(request));
          if (outcome.held && isSettled) {
            const used = { requests: 1n, tokens: (units.tokens * usedPercent) / 100n };
            const settlement = settlementOf(request, (outcome.amount * usedPercent) / 100n, used);
            expect(await store.settle(settlement)).toMatchObject(reference.settle(settlement) ?? {});
          }
          const states = await store.inspect(['key:k', 'balance:a']);
          for (const [id, state] of states) expect(state).toEqual(reference.counters(id));
        }
      }),
      { numRuns: 60 },
    );
  });
});
