import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { isRedisMissing, testRedis } from '../../redis/test-redis.ts';
import { describeLaneStoreConformance } from '../conformance.ts';
import { describeLateSettlements } from '../conformance-late.ts';
import { describeLaneParts } from '../conformance-parts.ts';
import { holdRequest, keyLane, NOW, quotaLane, runLane, ScriptedSource, settlementOf } from '../conformance-requests.ts';
import { counters, held, refused } from '../conformance-store.ts';
import type { LaneSource } from '../port.ts';
import { ScratchJournals } from '../testing/scratch-journals.ts';
import { ALL_PARTITIONS } from './partitions.ts';
import { RedisFeed } from './redis-feed.ts';
import { RedisLanes } from './redis-lanes.ts';
import type { RedisConnection } from './run-script.ts';

const MINUTE_MS = 60_000;
let redis: RedisConnection;
const journals = new ScratchJournals();

interface Opened {
  readonly prefix?: string;
  readonly connection?: RedisConnection;
  /** In place of the time of Redis. */
  readonly now?: () => number;
}

/** A store and a feed of one process, beside others on the same lanes. */
function open(source: LaneSource, { prefix = `test:${randomUUID()}`, connection = redis, now = Date.now }: Opened = {}) {
  const feed = new RedisFeed({
    redis: connection,
    prefix,
    onDamage: (_place, entry) => {
      throw new Error(entry);
    },
  });
  const own = journals.process(redis, prefix);
  const store = new RedisLanes({
    redis: connection,
    prefix,
    source,
    ...own,
    onAppend: (partition) => feed.appended(partition),
    now,
  });
  return { store, feed, journal: own.journal, prefix, close: () => feed.close() };
}

/**
 * A connection on which some answers to scripts are lost: the script ran, and its caller is not told.
 *
 * A script that the server does not know yet is sent as its text.
 */
function losing(isLost: (answer: string) => boolean): RedisConnection {
  return new Proxy(redis, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      if (name !== 'evalsha' && name !== 'eval') return value.bind(target);
      return async (...args: unknown[]) => {
        const answer: unknown = await value.apply(target, args);
        if (isLost(JSON.stringify(answer))) throw new Error('Connection is closed.');
        return answer;
      };
    },
  });
}

/** Two processes on the same lanes. */
function openTwo(source = new ScriptedSource()) {
  const clock = { at: NOW };
  const now = () => clock.at;
  const a = open(source, { now });
  const b = open(source, { prefix: a.prefix, now });
  const close = async () => {
    await a.close();
    await b.close();
  };
  return { clock, source, prefix: a.prefix, a: a.store, b: b.store, feeds: [a.feed, b.feed] as const, close };
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
  for await (const { id } of store.books.lanes()) ids.push(id);
  return ids.sort();
}

describe.skipIf(isRedisMissing())('over Redis', () => {
  beforeAll(async () => {
    redis = await testRedis();
  });

  afterAll(async () => {
    journals.remove();
    await redis?.quit();
  });

  describeLaneStoreConformance('the Redis store', async (source, now) => open(source, { now }));
  describeLaneParts('the Redis store', async (source, now) => open(source, { now }));
  describeLateSettlements('the Redis store', async (source, now) => open(source, { now }));

  describe('several processes on one Redis', () => {
    test('free what a dead one held by one of them, now and then, and renew their own leases all the same', async () => {
      const source = new ScriptedSource();
      const clock = { at: NOW };
      const now = () => clock.at;
      const dead = open(source, { now });
      const sweeper = (isMine: boolean) =>
        new RedisLanes({
          ...{ redis, prefix: dead.prefix, source, onAppend: () => {}, ...journals.process(redis, dead.prefix), now },
          sweeps: { everyMs: MINUTE_MS, isMine: async () => isMine },
        });
      const [one, other] = [sweeper(true), sweeper(false)];
      const request = () => holdRequest({ amount: 1n, lanes: [keyLane('k', null)] });
      await held(dead.store, request());
      await held(other, request());
      clock.at += MINUTE_MS / 3;
      expect([await other.sweep(), await one.sweep()]).toEqual([0, 0]);
      clock.at += MINUTE_MS / 4;
      expect([await one.sweep(), await sweeper(true).sweep()]).toEqual([0, 1]);
      await dead.close();
    });

    test('send one command a sweep for each partition that is empty, and none to compare it with the ledger', async () => {
      const { store, close } = open(new ScriptedSource());
      const sent = vi.spyOn(redis, 'evalsha');
      const sentBy = async (work: () => Promise<unknown>): Promise<number> => {
        sent.mockClear();
        await work();
        return sent.mock.calls.length;
      };
      await store.sweep();
      expect(await sentBy(() => loadedIds({ store }))).toBe(0);
      expect(await sentBy(() => store.sweep())).toBe(ALL_PARTITIONS.length);
      await held(store, holdRequest({ amount: 1n, lanes: [keyLane('k', null)] }));
      await store.sweep();
      expect(await sentBy(async () => expect(await loadedIds({ store })).toContain('key:k'))).toBe(1);
      sent.mockRestore();
      await close();
    });

    test('tell the reader of what a process settled that died before it could', async () => {
      const { a, b, feeds, close } = openTwo();
      const request = holdRequest({ amount: 10n, lanes: [keyLane('k', 100n)] });
      await acknowledgeAll(feeds[1]);
      await held(a, request);
      vi.spyOn(feeds[0], 'appended').mockImplementation(() => {});
      await a.settle(settlementOf(request, 4n));
      expect((await feeds[1].read()).entries).toEqual([]);
      await b.sweep();
      expect((await feeds[1].read()).entries).toHaveLength(1);
      await close();
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

    test('settle what another one holds, once', async () => {
      const { a, b, close } = openTwo();
      const request = holdRequest({ amount: 10n, lanes: [keyLane('k', 100n)] });
      await held(a, request);
      expect(await b.settle(settlementOf(request, 4n))).toMatchObject({
        charged: 4n,
        lanes: [{ id: 'key:k', source: 'key', spent: 4n, held: 0n }],
      });
      expect(await a.settle(settlementOf(request, 4n))).toBeUndefined();
      await close();
    });

    test('keep their holds by sweeping; of one that died, what was not begun is free after half a minute and cannot be begun any more', async () => {
      const { a, b, clock, close } = openTwo();
      const key = keyLane('k', 20n);
      const [dead, alive] = [holdRequest({ amount: 10n, lanes: [key] }), holdRequest({ amount: 10n, lanes: [key] })];
      await held(a, dead);
      await held(b, alive);
      const sweepAt = (ms: number) => {
        clock.at = NOW + ms;
        return b.sweep();
      };
      expect([await sweepAt(20_000), await sweepAt(29_999), await sweepAt(30_000), await sweepAt(59_000)]).toEqual([0, 0, 1, 0]);
      expect(await counters(b, key)).toMatchObject({ held: 10n });
      // Should it be alive after all, it asks no provider.
      await expect(a.begin(settlementOf(dead, 10n))).rejects.toThrow('is lost');
      await close();
    });

    test('free what has no lease any more at the next hold, without a sweep', async () => {
      const { a, b, clock, close } = openTwo();
      const key = keyLane('k', 10n);
      await held(a, holdRequest({ amount: 10n, lanes: [key] }));
      clock.at = NOW + 29_999;
      expect(await refused(b, holdRequest({ amount: 10n, lanes: [key] }))).toMatchObject({ mayFitLater: true });
      clock.at = NOW + 30_000;
      await held(b, holdRequest({ amount: 10n, lanes: [key] }));
      await close();
    });

    test('are not judged by the clocks of each other: a request that comes a month ahead frees nothing', async () => {
      const source = new ScriptedSource();
      const a = open(source, {});
      const b = open(source, { prefix: a.prefix });
      const key = keyLane('k', 10n);
      await held(a.store, holdRequest({ amount: 10n, lanes: [key] }));
      const MONTH_MS = 31 * 24 * 60 * MINUTE_MS;
      for (const at of [NOW + MONTH_MS, NOW - MONTH_MS])
        expect(await refused(b.store, holdRequest({ amount: 10n, lanes: [key], at }))).toMatchObject({ lane: { held: 10n } });
      await Promise.all([a.close(), b.close()]);
    });

    describe('what a stopped one had begun', () => {
      const key = keyLane('k', 100n);
      async function stopped() {
        const two = openTwo();
        const request = holdRequest({ amount: 60n, lanes: [key] });
        await held(two.a, request);
        await two.a.begin(settlementOf(request, 60n));
        two.clock.at += MINUTE_MS;
        expect(await two.b.sweep()).toBe(0);
        expect(await refused(two.b, holdRequest({ amount: 50n, lanes: [key] }))).toMatchObject({ lane: { held: 60n }, mayFitLater: true });
        return { ...two, request };
      }

      test('is counted on, and settled by its usage when it is back', async () => {
        const { a, b, clock, request, close } = await stopped();
        clock.at += 9 * MINUTE_MS;
        await a.sweep();
        clock.at += MINUTE_MS / 2 - 1;
        expect(await b.sweep()).toBe(0);
        expect(await a.settle(settlementOf(request, 7n))).toMatchObject({ charged: 7n });
        expect(await counters(b, key)).toMatchObject({ spent: 7n, held: 0n });
        await close();
      });

      test('is settled at its bound, once, when it does not come back', async () => {
        const { a, b, clock, feeds, request, close } = await stopped();
        clock.at += 10 * MINUTE_MS - 1;
        expect(await b.sweep()).toBe(0);
        clock.at += 1;
        expect([await b.sweep(), await b.sweep()]).toEqual([1, 0]);
        expect(await counters(b, key)).toMatchObject({ spent: 60n, held: 0n });
        expect(await a.settle(settlementOf(request, 7n))).toBeUndefined();
        expect((await feeds[1].read()).entries).toMatchObject([{ charged: 60n }]);
        await close();
      });
    });

    test('count a hold that many draw from until its work is taken over, or as long as it was to be kept', async () => {
      const { a, b, clock, close } = openTwo();
      const key = keyLane('k', 100n);
      const [taken, left] = ['taken', 'left'].map((holdId) =>
        holdRequest({ holdId, amount: 50n, lanes: [key], keptUntil: NOW + 60 * MINUTE_MS }),
      );
      if (!taken || !left) throw new Error('there are two');
      for (const request of [taken, left]) await held(a, request);
      clock.at += 30 * MINUTE_MS;
      expect(await b.sweep()).toBe(0);
      const part = { partId: randomUUID(), reserved: { amount: 20n, units: {} }, cost: 5n, units: {}, record: '{}' };
      expect(await a.settlePart(left.holdId, part)).toMatchObject({ charged: 5n });
      await b.release(taken.holdId);
      expect(await counters(b, key)).toMatchObject({ spent: 5n, held: 30n });
      clock.at += 30 * MINUTE_MS;
      expect(await b.sweep()).toBe(1);
      expect(await counters(b, key)).toMatchObject({ spent: 5n, held: 0n });
      expect(await a.settlePart(left.holdId, { ...part, partId: randomUUID() })).toBe('no_hold');
      await close();
    });
  });

  describe('a lane is loaded', () => {
    test('anew when it was read before others used, wrote and forgot it', async () => {
      const { source, a, b, clock, feeds, close } = openTwo();
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
      clock.at += 16 * MINUTE_MS;
      await b.sweep();
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
      const clock = { at: NOW };
      const process = open(source, { now: () => clock.at });
      const { store, feed, close } = process;
      const request = holdRequest({ amount: 10n, lanes: [keyLane('k', 100n)], quota: quotaLane('q', { requests: 1n }) });
      await held(store, request);
      await store.settle(settlementOf(request, 10n));
      clock.at += 16 * MINUTE_MS;
      await store.sweep();
      expect(await loadedIds(process)).toEqual(['funds', 'key:k', 'quota:q']);
      await acknowledgeAll(feed);
      clock.at += 2 * MINUTE_MS;
      await store.sweep();
      expect(await loadedIds(process)).toEqual([]);
      source.money.set('key:k', { spent: 10n, cap: null });
      expect(await refused(store, holdRequest({ amount: 91n, lanes: [keyLane('k', 100n)] }))).toMatchObject({ lane: { spent: 10n } });
      await close();
    });

    test('is kept as long as a hold on it may still be settled', async () => {
      const clock = { at: NOW };
      const process = open(new ScriptedSource(), { now: () => clock.at });
      const { store, close } = process;
      const late = holdRequest({ amount: 10n, lanes: [keyLane('k', 100n)] });
      await held(store, late);
      for (let sweeps = 0; sweeps < 120; sweeps += 1) {
        clock.at += MINUTE_MS / 3;
        await store.sweep();
      }
      expect(await store.settle(settlementOf(late, 10n))).toMatchObject({ charged: 10n });
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
    const connection = losing((answer) => answer.includes('charged') && lost++ < 2);
    const { store, feed, close } = open(new ScriptedSource(), { connection });
    const request = holdRequest({ amount: 10n, lanes: [keyLane('k', 100n)] });
    await held(store, request);
    expect(await store.settle(settlementOf(request, 7n))).toMatchObject({ charged: 7n, lanes: [{ spent: 7n, held: 0n }] });
    expect(lost).toBe(3);
    expect((await feed.read()).entries).toHaveLength(1);
    await close();
  });

  test.each(['settle', 'abandon'] as const)(
    'a call to %s whose answer is never heard is kept in the journal when it is repeated',
    async (way) => {
      let isDeaf = true;
      const connection = losing((answer) => isDeaf && answer.includes('charged'));
      const { store, feed, journal, prefix, close } = open(new ScriptedSource(), { connection });
      const request = holdRequest({ amount: 10n, lanes: [keyLane('k', 100n)] });
      await held(store, request);
      await store.begin(settlementOf(request, 10n));
      const settlement = settlementOf(request, 7n);
      const end = () => (way === 'settle' ? store.settle(settlement) : store.abandon(request.holdId));
      await expect(end()).rejects.toThrow('closed');
      isDeaf = false;
      // By then its lease was to be renewed, and Redis does not remember what it answered.
      await store.sweep();
      await redis.del(...(await redis.keys(`${prefix}*answer:*`)));
      await end();
      expect((await feed.read()).entries).toHaveLength(1);
      expect((await journal.read()).entries.map(({ charged }) => charged)).toEqual([way === 'settle' ? 7n : 10n]);
      expect(journal.left().inFlight.size).toBe(0);
      await close();
    },
  );

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
});
