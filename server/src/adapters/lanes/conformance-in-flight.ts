import { describe, expect, test } from 'vitest';
import { holdRequest, keyLane, NOW, quotaLane, settlementOf } from './conformance-requests.ts';
import { counters, held, type MakeStore, withStore } from './conformance-store.ts';
import type { SettlementFeed } from './port.ts';

/** Long after every hold has expired and every doubt is over. */
const LATER = NOW + 24 * 3_600_000;

async function settledIn(feed: SettlementFeed) {
  const batch = await feed.read();
  batch.acknowledge();
  return batch.entries;
}

/** What a store promises of a hold whose provider was asked: it is settled once, and never freed at nothing. */
export function describeLanesInFlight(name: string, makeStore: MakeStore): void {
  const on = (body: Parameters<typeof withStore>[1]) => withStore(makeStore, body);
  const key = keyLane('k', 100n);
  const request = (fields: Parameters<typeof holdRequest>[0] = {}) =>
    holdRequest({ amount: 60n, lanes: [key], expiresAt: NOW + 100, ...fields });
  const inFlightOf = (one: ReturnType<typeof request>, cost = 60n, units = {}) => settlementOf(one, cost, units);

  describe(`${name} settles what was in flight`, () => {
    test(
      'once at its bound, when nobody has said what came of it',
      on(async (store, _source, feed) => {
        const one = request();
        await held(store, one);
        await store.begin(inFlightOf(one));
        expect(await store.sweep(NOW + 99)).toBe(0);
        await store.sweep(NOW + 100);
        await store.sweep(LATER);
        await store.sweep(LATER);
        expect(await counters(store, key)).toEqual({ spent: 60n, held: 0n, cap: 100n });
        expect(await settledIn(feed)).toEqual([{ charged: 60n, debt: 0n, covered: {}, record: inFlightOf(one).record }]);
        expect(await store.settle(settlementOf(one, 1n))).toBeUndefined();
      }),
    );

    test(
      'by its usage where that is known in time',
      on(async (store, _source, feed) => {
        const one = request();
        await held(store, one);
        await store.begin(inFlightOf(one));
        await store.sweep(NOW + 100);
        await store.settle(settlementOf(one, 7n));
        await store.sweep(NOW + 200);
        await store.sweep(LATER);
        expect(await counters(store, key)).toEqual({ spent: 7n, held: 0n, cap: 100n });
        expect(await settledIn(feed)).toMatchObject([{ charged: 7n }]);
      }),
    );

    test(
      'and nothing of what was released',
      on(async (store, _source, feed) => {
        const one = request();
        await held(store, one);
        await store.begin(inFlightOf(one));
        await store.release(one.holdId);
        await store.sweep(NOW + 100);
        await store.sweep(LATER);
        expect(await counters(store, key)).toMatchObject({ spent: 0n, held: 0n });
        expect(await settledIn(feed)).toEqual([]);
      }),
    );

    test(
      'out of the quota as far as that has held it',
      on(async (store, _source, feed) => {
        const quota = quotaLane('q', { tokens: 40n });
        const one = request({ quota, units: { tokens: 80n } });
        await held(store, one);
        await store.begin(inFlightOf(one, 60n, { tokens: 80n }));
        await store.sweep(NOW + 100);
        await store.sweep(LATER);
        expect(await settledIn(feed)).toMatchObject([{ charged: 30n, debt: 0n, covered: { tokens: 40n } }]);
      }),
    );
  });
}
