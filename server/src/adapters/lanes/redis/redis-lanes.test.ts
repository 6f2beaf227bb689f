import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isRedisMissing, testRedis } from '../../redis/test-redis.ts';
import { describeLaneStoreConformance } from '../conformance.ts';
import { describeLaneParts } from '../conformance-parts.ts';
import { balance, holdRequest, keyLane, NOW, quotaLane, runLane, ScriptedSource, settlementOf } from '../conformance-requests.ts';
import { counters, held, refused } from '../conformance-store.ts';
import type { LaneSource } from '../port.ts';
import { RedisFeed } from './redis-feed.ts';
import { RedisLanes } from './redis-lanes.ts';
import type { RedisConnection } from './run-script.ts';

const MINUTE_MS = 60_000;
let redis: RedisConnection;

/** A store and a feed of one process, beside others on the same lanes. */
function open(source: LaneSource, prefix = `test:${randomUUID()}`, connection: RedisConnection = redis) {
  const feed = new RedisFeed({
    redis: connection,
    prefix,
    onDamage: (entry) => {
      throw new Error(entry);
    },
  });
  const store = new RedisLanes({ redis: connection, prefix, source, onAppend: (partition) => feed.appended(partition) });
  return { store, feed, prefix, close: () => feed.close() };
}

/** Two processes on the same lanes. */
function openTwo(source = new ScriptedSource()) {
  const a = open(source);
  const b = open(source, a.prefix);
  const close = async () => {
    await a.close();
    await b.close();
  };
  return { source, prefix: a.prefix, a: a.store, b: b.store, feeds: [a.feed, b.feed] as const, close };
}

async function acknowledgeAll(feed: RedisFeed): Promise<void> {
  for (;;) {
    const batch = await feed.read();
    if (batch.entries.length + batch.ceilings.length === 0) return;
    batch.acknowledge();
  }
}

async function loadedIds({ store }: { store: RedisLanes }): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id } of store.loaded()) ids.push(id);
  for await (const { id } of store.loadedQuotas()) ids.push(id);
  return ids.sort();
}

describe.skipIf(isRedisMissing())('over Redis', () => {
  beforeAll(async () => {
    redis = await testRedis();
  });

  afterAll(async () => {
    await redis?.quit();
  });

  describeLaneStoreConformance('the Redis store', async (source) => open(source));
  describeLaneParts('the Redis store', async (source) => open(source));

  describe('several processes on one Redis', () => {
    test('free what a dead one held by one of them, now and then, and renew their own leases all the same', async () => {
      const source = new ScriptedSource();
      const dead = open(source);
      const sweeper = (isMine: boolean) =>
        new RedisLanes({
          ...{ redis, prefix: dead.prefix, source, onAppend: () => {} },
          sweeps: { everyMs: MINUTE_MS, isMine: async () => isMine },
        });
      const [one, other] = [sweeper(true), sweeper(false)];
      const request = () => holdRequest({ amount: 1n, lanes: [keyLane('k', null)], expiresAt: NOW + 60 * MINUTE_MS });
      await held(dead.store, request());
      await held(other, request());
      const later = NOW + MINUTE_MS / 3;
      expect([await other.sweep(later), await one.sweep(later), await one.sweep(NOW + MINUTE_MS)]).toEqual([0, 0, 0]);
      expect(await sweeper(true).sweep(later + MINUTE_MS / 4)).toBe(1);
      await dead.close();
    });

    test('share their caps: what all of them settle never exceeds one', async () => {
      const { a, b, close } = openTwo();
      const key = keyLane('k', 10_000n);
      const one = async (index: number) => {
        const store = index % 2 === 0 ? a : b;
        const request = holdRequest({ amount: 100n, lanes: [key] });
        if ((await store.hold(request)).held) await store.settle(settlementOf(request, BigInt(index % 101)));
        const { spent, held: running } = await counters(store, key);
        expect(spent + running <= 10_000n).toBe(true);
      };
      await Promise.all(Array.from({ length: 1_000 }, (_, index) => one(index)));
      expect((await counters(a, key)).spent).toEqual((await counters(b, key)).spent);
      expect((await counters(a, key)).held).toBe(0n);
      await close();
    });

    test('share their rate limits', async () => {
      const { a, b, close } = openTwo();
      const rates = {
        tokens: 0,
        lanes: [{ id: 'rate:k', owner: 'key' as const, requestsPerMinute: 3, tokensPerMinute: null, concurrency: null }],
      };
      const outcomes = await Promise.all([a, b, a, b, a, b].map((store) => store.hold(holdRequest({ rates }))));
      expect(outcomes.filter((outcome) => outcome.held)).toHaveLength(3);
      await close();
    });

    test('settle and renew what another one holds, once', async () => {
      const { a, b, close } = openTwo();
      const request = holdRequest({ amount: 10n, lanes: [keyLane('k', 100n)], expiresAt: NOW + 10_000 });
      await held(a, request);
      await b.renew(request.holdId, NOW + 20_000);
      expect(await b.settle(settlementOf(request, 4n))).toMatchObject({
        charged: 4n,
        lanes: [{ id: 'key:k', source: 'key', spent: 4n, held: 0n }],
      });
      expect(await a.settle(settlementOf(request, 4n))).toBeUndefined();
      await close();
    });

    test('keep their holds by sweeping; those of a process that died are free after half a minute', async () => {
      const { a, b, close } = openTwo();
      const key = keyLane('k', 20n);
      const [dead, alive] = [
        holdRequest({ amount: 10n, lanes: [key], expiresAt: NOW + 15 * MINUTE_MS }),
        holdRequest({ amount: 10n, lanes: [key], expiresAt: NOW + 15 * MINUTE_MS }),
      ];
      await held(a, dead);
      await held(b, alive);
      await b.sweep(NOW + 20_000);
      expect(await b.sweep(NOW + 29_999)).toBe(0);
      expect(await b.sweep(NOW + 30_000)).toBe(1);
      expect(await b.sweep(NOW + 90_000)).toBe(0);
      expect(await counters(b, key)).toMatchObject({ held: 10n });
      // Should it be alive after all, what it has served is booked.
      expect(await a.settle(settlementOf(dead, 10n))).toMatchObject({ charged: 10n });
      await close();
    });

    test('free what expired at the next hold, without a sweep', async () => {
      const { a, b, close } = openTwo();
      const key = keyLane('k', 10n);
      await held(a, holdRequest({ amount: 10n, lanes: [key] }));
      expect(await refused(b, holdRequest({ amount: 10n, lanes: [key], at: NOW + 30_000 }))).toMatchObject({ mayFitLater: true });
      await held(b, holdRequest({ amount: 10n, lanes: [key], at: NOW + 30_001, expiresAt: NOW + MINUTE_MS }));
      await close();
    });
  });

  describe('a lane is loaded', () => {
    test('anew when it was read before others used, wrote and forgot it', async () => {
      const { source, a, b, feeds, close } = openTwo();
      const key = keyLane('k', 100n);
      // A reads nothing spent, and is slow.
      const gate = Promise.withResolvers<void>();
      source.gate = gate.promise;
      const waiting = a.hold(holdRequest({ amount: 90n, lanes: [key] }));
      await expect.poll(() => source.reads).toContain('key:k');
      source.gate = Promise.resolve();
      const request = holdRequest({ amount: 50n, lanes: [key] });
      await held(b, request);
      await b.settle(settlementOf(request, 50n));
      await acknowledgeAll(feeds[1]);
      source.money.set('key:k', { spent: 50n, cap: null });
      await b.sweep(NOW + 16 * MINUTE_MS);
      gate.resolve();
      expect(await waiting).toMatchObject({ held: false, lane: { spent: 50n } });
      await close();
    });

    test('in every partition by itself, also when accounts of many need one of the same name at once', async () => {
      const { store, close } = open(new ScriptedSource());
      const holds = Array.from({ length: 40 }, () => store.hold(holdRequest({ amount: 1n, accountId: randomUUID() })));
      expect((await Promise.all(holds)).every((outcome) => outcome.held)).toBe(true);
      await close();
    });

    test('once for all processes: what one has installed, another does not overwrite', async () => {
      const { source, a, b, close } = openTwo();
      const gate = Promise.withResolvers<void>();
      source.gate = gate.promise;
      const key = keyLane('k', 100n);
      const slow = a.hold(holdRequest({ amount: 10n, lanes: [key] }));
      await expect.poll(() => source.reads).toContain('key:k');
      source.gate = Promise.resolve();
      const request = holdRequest({ amount: 50n, lanes: [key] });
      await held(b, request);
      await b.settle(settlementOf(request, 50n));
      gate.resolve();
      expect(await slow).toMatchObject({ held: true, lanes: [{ spent: 50n, held: 10n }] });
      await close();
    });
  });

  describe('an idle lane', () => {
    test('is forgotten once the ledger has what was settled on it, and not before', async () => {
      const source = new ScriptedSource();
      const process = open(source);
      const { store, feed, close } = process;
      const request = holdRequest({ amount: 10n, lanes: [keyLane('k', 100n)], quota: quotaLane('q', { requests: 1n }) });
      await held(store, request);
      await store.settle(settlementOf(request, 10n));
      await store.sweep(NOW + 16 * MINUTE_MS);
      expect(await loadedIds(process)).toEqual(['funds', 'key:k', 'quota:q']);
      await acknowledgeAll(feed);
      await store.sweep(NOW + 18 * MINUTE_MS);
      expect(await loadedIds(process)).toEqual([]);
      source.money.set('key:k', { spent: 10n, cap: null });
      expect(await refused(store, holdRequest({ amount: 91n, lanes: [keyLane('k', 100n)] }))).toMatchObject({ lane: { spent: 10n } });
      await close();
    });

    test('is kept as long as an expired hold on it may still be settled, which is an hour', async () => {
      const process = open(new ScriptedSource());
      const { store, close } = process;
      const [late, never] = [
        holdRequest({ amount: 10n, lanes: [keyLane('k', 100n)] }),
        holdRequest({ amount: 5n, lanes: [keyLane('k', 100n)] }),
      ];
      await held(store, late);
      await held(store, never);
      await store.sweep(NOW + 16 * MINUTE_MS);
      await store.sweep(NOW + 18 * MINUTE_MS);
      expect(await store.settle(settlementOf(late, 10n))).toMatchObject({ charged: 10n });
      await store.sweep(NOW + 62 * MINUTE_MS);
      expect(await store.settle(settlementOf(never, 5n))).toBeUndefined();
      await close();
    });
  });

  test('a ceiling that a request has set or tightened is in the stream before it is asked, also when the request is refused; a wider one is not', async () => {
    const { store, feed, close } = open(new ScriptedSource());
    await store.hold(holdRequest({ amount: 10n, lanes: [runLane('r', 100n)] }));
    await store.hold(holdRequest({ amount: 10n, lanes: [runLane('r', 500n)] }));
    expect(await store.hold(holdRequest({ amount: 90n, lanes: [runLane('r', 5n)] }))).toMatchObject({ held: false });
    const { ceilings } = await feed.read();
    expect(ceilings).toEqual([
      { laneId: 'run:r', cap: 100n, at: NOW },
      { laneId: 'run:r', cap: 5n, at: NOW },
    ]);
    await close();
  });

  test('a settlement whose answer is lost on its way is not settled twice, and is answered after all', async () => {
    let lost = 0;
    const lossy = new Proxy(redis, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name);
        if (name !== 'evalsha' || typeof value !== 'function') return typeof value === 'function' ? value.bind(target) : value;
        return async (...args: unknown[]) => {
          const answer: unknown = await value.apply(target, args);
          if (typeof answer === 'string' && answer.includes('charged') && lost++ < 2) throw new Error('Connection is closed.');
          return answer;
        };
      },
    });
    const { store, feed, close } = open(new ScriptedSource(), undefined, lossy);
    const request = holdRequest({ amount: 10n, lanes: [keyLane('k', 100n)] });
    await held(store, request);
    expect(await store.settle(settlementOf(request, 7n))).toMatchObject({ charged: 7n, lanes: [{ spent: 7n, held: 0n }] });
    expect(lost).toBe(3);
    expect((await feed.read()).entries).toHaveLength(1);
    await close();
  });

  test('a hold that was begun is settled by another process as soon as `begin` has resolved; without a hold it rejects', async () => {
    const { a, b, close } = openTwo();
    const one = holdRequest({ amount: 60n, lanes: [keyLane('k', 100n)] });
    await held(a, one);
    await a.begin(settlementOf(one, 60n));
    expect(await b.abandon(one.holdId)).toBe(true);
    expect(await counters(b, keyLane('k', 100n))).toEqual({ spent: 60n, held: 0n, cap: 100n });
    await expect(a.begin(settlementOf(one, 60n))).rejects.toThrow('is lost');
    await close();
  });

  test('what is beyond exact counting is refused, and takes nothing', async () => {
    const { store, close } = open(new ScriptedSource());
    const key = keyLane('k', null);
    const hold = async (wish: Parameters<typeof holdRequest>[0]) => store.hold(holdRequest({ lanes: [key], ...wish }));
    await expect(hold({ amount: 2n ** 63n })).rejects.toThrow(RangeError);
    await expect(hold({ wanted: 10 ** 12, least: 0 })).rejects.toThrow(RangeError);
    await expect(hold({ units: { tokens: 10n ** 12n } })).rejects.toThrow(RangeError);
    const request = holdRequest({ amount: 2n ** 63n - 1n, lanes: [key] });
    await held(store, request);
    await expect(store.settle(settlementOf(request, 2n ** 63n))).rejects.toThrow(RangeError);
    expect(await counters(store, key)).toEqual({ spent: 0n, held: 2n ** 63n - 1n, cap: null });
    await close();
  });

  test('a Redis that has lost everything refuses nothing for ever: lanes are read from the ledger again, and lost holds cannot be settled', async () => {
    const { source, a, prefix, close } = openTwo();
    source.money.set('balance:a', { spent: 0n, cap: 100n });
    const lost = holdRequest({ amount: 60n, funds: balance('a') });
    await held(a, lost);
    const keys = await redis.keys(`${prefix}:*`);
    for (const key of keys) await redis.del(key);
    source.money.set('balance:a', { spent: 0n, cap: 40n });
    expect(await refused(a, holdRequest({ amount: 60n, funds: balance('a') }))).toMatchObject({ lane: { cap: 40n }, mayFitLater: false });
    expect(await a.settle(settlementOf(lost, 60n))).toBeUndefined();
    await close();
  });
});
