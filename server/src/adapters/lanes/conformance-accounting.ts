import { describe, expect, test } from 'vitest';
import { balance, holdRequest, keyLane, quotaLane, runLane, settlementOf } from './conformance-requests.ts';
import { counters, held, type MakeStore, refused, withStore } from './conformance-store.ts';
import type { SettlementFeed } from './port.ts';

async function recordsIn(feed: SettlementFeed): Promise<unknown[]> {
  const batch = await feed.read();
  return batch.entries.map(({ record }) => JSON.parse(record));
}

/** What every lane store promises of settlements. */
export function describeLaneAccounting(name: string, makeStore: MakeStore): void {
  const on = (body: Parameters<typeof withStore>[1]) => withStore(makeStore, body);

  describe(`${name} settles`, () => {
    test(
      'the actual cost in the place of the hold, on every lane',
      on(async (store, source) => {
        source.money.set('balance:a', { spent: 0n, cap: 100n });
        const request = holdRequest({ amount: 50n, lanes: [runLane('r', 100n), keyLane('k', null)], funds: balance('a') });
        await held(store, request);
        expect(await store.settle(settlementOf(request, 30n))).toEqual({
          covered: {},
          charged: 30n,
          debt: 0n,
          lanes: [
            { id: 'run:r', source: 'agent_run', cap: 100n, spent: 30n, held: 0n },
            { id: 'key:k', source: 'key', cap: null, spent: 30n, held: 0n },
          ],
        });
        expect(await counters(store, balance('a'))).toEqual({ spent: 30n, held: 0n, cap: 100n });
      }),
    );

    test(
      'once: a second settlement and one of what was never held are undefined and change nothing',
      on(async (store, _source, { feed }) => {
        const request = holdRequest({ amount: 50n, lanes: [keyLane('k', 100n)] });
        await held(store, request);
        await store.settle(settlementOf(request, 30n));
        expect(await store.settle(settlementOf(request, 40n))).toBeUndefined();
        expect(await store.settle({ ...settlementOf(request, 40n), holdId: 'never held' })).toBeUndefined();
        expect(await counters(store, keyLane('k', 100n))).toEqual({ spent: 30n, held: 0n, cap: 100n });
        expect(await recordsIn(feed)).toEqual([{ holdId: request.holdId }]);
      }),
    );

    test(
      'nothing of a request that was refused',
      on(async (store, _source, { feed }) => {
        const request = holdRequest({ amount: 50n, lanes: [keyLane('k', 10n)] });
        await refused(store, request);
        expect(await store.settle(settlementOf(request, 30n))).toBeUndefined();
        expect(await recordsIn(feed)).toEqual([]);
      }),
    );

    test(
      'durably: the record, with how the account paid, can be read when settle returns',
      on(async (store, _source, { feed }) => {
        const quota = quotaLane('q', { requests: 10n, tokens: 60n });
        const request = holdRequest({ amount: 100n, units: { requests: 1n, tokens: 80n }, quota, funds: keyLane('f', null) });
        await held(store, request);
        const settled = await store.settle(settlementOf(request, 100n, { requests: 1n, tokens: 80n }));
        const batch = await feed.read();
        expect(batch.entries).toEqual([
          { charged: settled?.charged, debt: settled?.debt, covered: settled?.covered, record: JSON.stringify({ holdId: request.holdId }) },
        ]);
      }),
    );

    test(
      'never more than was held: what the provider bills beyond it is waived, and on no lane',
      on(async (store, source, { feed }) => {
        source.money.set('balance:a', { spent: 0n, cap: 50n });
        const [key, funds] = [keyLane('k', 50n), balance('a')];
        const request = holdRequest({ amount: 50n, lanes: [key], funds });
        await held(store, request);
        expect(await store.settle(settlementOf(request, 70n))).toMatchObject({ charged: 50n, debt: 0n, waived: 20n });
        expect((await feed.read()).entries).toMatchObject([{ charged: 50n, debt: 0n, waived: 20n }]);
        expect(await counters(store, key)).toEqual({ spent: 50n, held: 0n, cap: 50n });
        expect(await counters(store, funds)).toEqual({ spent: 50n, held: 0n, cap: 50n });
      }),
    );

    test(
      'as debt out of a hold of nothing for just that, also on a lane that is above its cap',
      on(async (store) => {
        const run = runLane('r', 50n);
        const costly = holdRequest({ amount: 50n, lanes: [run] });
        await held(store, costly);
        await store.settle(settlementOf(costly, 50n));
        const nothing = holdRequest({ lanes: [run], isForDebt: true });
        await held(store, nothing);
        const part = (partId: string) => ({ partId, reserved: { amount: 5n, units: {} }, cost: 5n, units: {}, record: '{}' });
        expect(await store.settlePart(nothing.holdId, part('1'))).toMatchObject({ charged: 5n, debt: 5n });
        await refused(store, holdRequest({ lanes: [run] }));
        expect(await store.settlePart(nothing.holdId, part('2'))).toMatchObject({ charged: 5n, debt: 5n });
        await refused(store, holdRequest({ amount: 1n, lanes: [run], isForDebt: true }));
        expect(await counters(store, run)).toEqual({ spent: 60n, held: 0n, cap: 50n });
      }),
    );
  });

  describe(`${name} draws on the quota first, then on money`, () => {
    const use = (tokens: bigint) => ({ requests: 1n, tokens });

    test(
      'and charges the request that crosses pro rata, exact to the nano-dollar',
      on(async (store, source) => {
        source.money.set('balance:a', { spent: 0n, cap: 1_000n });
        const quota = quotaLane('q', { requests: 10n, tokens: 100n });
        const wish = { amount: 70n, units: use(70n), quota, funds: balance('a') };
        const [first, second, third] = [holdRequest(wish), holdRequest({ ...wish, amount: 71n }), holdRequest(wish)];
        for (const request of [first, second, third]) await held(store, request);
        // 30 of 70 tokens are covered, so 40/70 of the cost are charged: 41, and of a third request all.
        expect(await counters(store, balance('a'))).toMatchObject({ held: 111n });
        expect(await store.settle(settlementOf(first, 70n, use(70n)))).toMatchObject({ covered: use(70n), charged: 0n });
        expect(await store.settle(settlementOf(second, 71n, use(70n)))).toMatchObject({ covered: use(30n), charged: 41n });
        expect(await store.settle(settlementOf(third, 70n, use(70n)))).toMatchObject({
          covered: { requests: 0n, tokens: 0n },
          charged: 70n,
        });
        expect(await counters(store, balance('a'))).toEqual({ spent: 111n, held: 0n, cap: 1_000n });
      }),
    );

    test(
      'by the scarcest meter: a quota of requests that is used up covers no tokens',
      on(async (store) => {
        const quota = quotaLane('q', { requests: 1n, tokens: 1_000_000n });
        const wish = { amount: 70n, units: use(70n), quota, funds: null };
        await held(store, holdRequest(wish));
        expect(await refused(store, holdRequest(wish))).toMatchObject({ required: 70n });
        await held(store, holdRequest({ ...wish, amount: 0n }));
      }),
    );

    test(
      'and never charges what the quota has left by the time of the settlement',
      on(async (store, source) => {
        source.money.set('balance:a', { spent: 0n, cap: 1_000n });
        const wish = { amount: 100n, units: use(100n), quota: quotaLane('q', { requests: 10n, tokens: 100n }), funds: balance('a') };
        const [first, second] = [holdRequest(wish), holdRequest(wish)];
        await held(store, first);
        await held(store, second);
        expect(await counters(store, balance('a'))).toMatchObject({ held: 100n });
        expect(await store.settle(settlementOf(first, 5n, use(5n)))).toMatchObject({ charged: 0n });
        expect(await store.settle(settlementOf(second, 60n, use(60n)))).toMatchObject({ covered: use(60n), charged: 0n, debt: 0n });
        expect(await counters(store, balance('a'))).toMatchObject({ spent: 0n, held: 0n });
      }),
    );

    test(
      'and takes no more of it than was held, where the provider bills more',
      on(async (store) => {
        const quota = quotaLane('q', { requests: 10n, tokens: 100n });
        const [first, second] = [
          holdRequest({ amount: 50n, units: use(50n), quota, funds: null }),
          holdRequest({ amount: 60n, units: use(60n), quota, funds: keyLane('f', 10n) }),
        ];
        await held(store, first);
        const settled = await store.settle(settlementOf(first, 60n, use(60n)));
        expect(settled).toMatchObject({ covered: use(50n), charged: 0n, debt: 0n, waived: 10n });
        await held(store, second);
        expect(await store.settle(settlementOf(second, 120n, use(120n)))).toMatchObject({ covered: use(50n), charged: 10n, waived: 60n });
        expect(await counters(store, keyLane('f', 10n))).toEqual({ spent: 10n, held: 0n, cap: 10n });
        expect(await refused(store, holdRequest({ amount: 1n, units: use(1n), quota, funds: null }))).toMatchObject({ mayFitLater: false });
      }),
    );

    test(
      'of caps as the newest request gives them',
      on(async (store, source) => {
        source.quota.set('quota:q', { requests: 3n, tokens: 90n });
        const wish = (tokens: bigint) =>
          holdRequest({ amount: 10n, units: use(10n), quota: quotaLane('q', { requests: 10n, tokens }), funds: null });
        await held(store, wish(100n));
        await refused(store, wish(100n));
        await held(store, wish(200n));
        await refused(store, wish(50n));
      }),
    );
  });
}
