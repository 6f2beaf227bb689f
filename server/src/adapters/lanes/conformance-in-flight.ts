import { describe, expect, test } from 'vitest';
import { holdRequest, keyLane, quotaLane, settlementOf } from './conformance-requests.ts';
import { counters, held, type MakeStore, refused, withStore } from './conformance-store.ts';
import type { SettlementFeed } from './port.ts';

async function settledIn(feed: SettlementFeed) {
  const batch = await feed.read();
  batch.acknowledge();
  return batch.entries;
}

/** What a store promises of a hold whose provider was asked: it is settled once, and never freed at nothing. */
export function describeLanesInFlight(name: string, makeStore: MakeStore): void {
  const on = (body: Parameters<typeof withStore>[1]) => withStore(makeStore, body);
  const key = keyLane('k', 100n);
  const request = (fields: Parameters<typeof holdRequest>[0] = {}) => holdRequest({ amount: 60n, lanes: [key], ...fields });
  const inFlightOf = (one: ReturnType<typeof request>, cost = 60n, units = {}) => settlementOf(one, cost, units);

  describe(`${name} settles what was in flight`, () => {
    test(
      'once at its bound, when nobody can say what came of it',
      on(async (store, _source, { feed }) => {
        const one = request();
        await held(store, one);
        await store.begin(inFlightOf(one));
        expect([await store.abandon(one.holdId), await store.abandon(one.holdId)]).toEqual([true, false]);
        expect(await counters(store, key)).toEqual({ spent: 60n, held: 0n, cap: 100n });
        expect(await settledIn(feed)).toMatchObject([{ charged: 60n, debt: 0n, covered: {}, record: inFlightOf(one).record }]);
        expect(await store.settle(settlementOf(one, 1n))).toBeUndefined();
      }),
    );

    test(
      'by its usage where that is known',
      on(async (store, _source, { feed }) => {
        const one = request();
        await held(store, one);
        await store.begin(inFlightOf(one));
        await store.settle(settlementOf(one, 7n));
        expect(await store.abandon(one.holdId)).toBe(false);
        expect(await counters(store, key)).toEqual({ spent: 7n, held: 0n, cap: 100n });
        expect(await settledIn(feed)).toMatchObject([{ charged: 7n }]);
      }),
    );

    test(
      'and nothing of what was released, or was never begun, which cannot be begun then',
      on(async (store, _source, { feed }) => {
        const [begun, idle] = [request({ amount: 50n }), request({ amount: 50n })];
        for (const one of [begun, idle]) await held(store, one);
        await store.begin(inFlightOf(begun));
        await store.release(begun.holdId);
        expect([await store.abandon(begun.holdId), await store.abandon(idle.holdId)]).toEqual([false, false]);
        for (const one of [begun, idle]) await expect((async () => store.begin(inFlightOf(one)))()).rejects.toThrow();
        expect(await counters(store, key)).toMatchObject({ spent: 0n, held: 0n });
        expect(await settledIn(feed)).toEqual([]);
      }),
    );

    test(
      'out of the quota as far as that has held it',
      on(async (store, _source, { feed }) => {
        const quota = quotaLane('q', { tokens: 40n });
        const one = request({ quota, units: { tokens: 80n } });
        await held(store, one);
        await store.begin(inFlightOf(one, 60n, { tokens: 80n }));
        expect(await store.abandon(one.holdId)).toBe(true);
        expect(await settledIn(feed)).toMatchObject([{ charged: 30n, debt: 0n, covered: { tokens: 40n } }]);
      }),
    );
  });

  describe(`${name} counts what is in flight, whatever its clock does:`, () => {
    const MONTH_MS = 31 * 24 * 3_600_000;

    test.each([
      ['a leap of a month', MONTH_MS],
      ['a month back', -MONTH_MS],
      ['a minute back', -60_000],
      ['a suspended machine', 3_600_000],
    ])(
      '%s',
      async (_, byMs) =>
        await on(async (store, _source, { feed, clock }) => {
          const one = request();
          await held(store, one);
          await store.begin(inFlightOf(one));
          clock.at += byMs;
          expect(await refused(store, request())).toMatchObject({ lane: { held: 60n }, mayFitLater: true });
          expect(await store.sweep()).toBe(0);
          expect(await refused(store, request())).toMatchObject({ lane: { held: 60n } });
          clock.at -= byMs;
          expect(await store.sweep()).toBe(0);
          expect(await store.settle(settlementOf(one, 7n))).toMatchObject({ charged: 7n });
          expect(await counters(store, key)).toEqual({ spent: 7n, held: 0n, cap: 100n });
          expect(await settledIn(feed)).toMatchObject([{ charged: 7n }]);
        })(),
    );
  });
}
