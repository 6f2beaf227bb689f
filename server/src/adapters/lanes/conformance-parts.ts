import { describe, expect, test } from 'vitest';
import type { NanoUsd } from '../../kernel/money.ts';
import { describePartsModel } from './conformance-model.ts';
import { balance, holdRequest, keyLane, quotaLane, refundOf, runLane, settlementOf } from './conformance-requests.ts';
import { counters, held, type MakeStore, refused, withStore } from './conformance-store.ts';
import type { LaneStore, PartSettlement, Settled, Units } from './port.ts';

interface Line {
  readonly reserved: NanoUsd;
  readonly cost: NanoUsd;
  readonly units?: Units;
  readonly used?: Units;
}

const line = (partId: string, { reserved, cost, units = {}, used = units }: Line): PartSettlement => ({
  partId,
  reserved: { amount: reserved, units },
  cost,
  units: used,
  record: JSON.stringify({ partId }),
});

async function settled(store: LaneStore, holdId: string, part: PartSettlement): Promise<Settled> {
  const outcome = await store.settlePart(holdId, part);
  if (typeof outcome === 'string') throw new Error(`${part.partId}: ${outcome}`);
  return outcome;
}

/** What every lane store promises of holds that many draw from, and of refunds. */
export function describeLaneParts(name: string, makeStore: MakeStore): void {
  const on = (body: Parameters<typeof withStore>[1]) => withStore(makeStore, body);

  describe(`${name} settles parts of a hold`, () => {
    test(
      'each at its actual cost in the place of its reserve, and frees the rest at the release',
      on(async (store, source) => {
        source.money.set('balance:a', { spent: 0n, cap: 1_000n });
        const batch = holdRequest({ amount: 300n, lanes: [keyLane('k', 500n)], funds: balance('a') });
        await held(store, batch);
        expect(await settled(store, batch.holdId, line('1', { reserved: 100n, cost: 60n }))).toEqual({
          covered: {},
          charged: 60n,
          debt: 0n,
          lanes: [{ id: 'key:k', source: 'key', cap: 500n, spent: 60n, held: 200n }],
        });
        await settled(store, batch.holdId, line('2', { reserved: 100n, cost: 100n }));
        expect(await counters(store, balance('a'))).toEqual({ spent: 160n, held: 100n, cap: 1_000n });
        await store.release(batch.holdId);
        expect(await counters(store, keyLane('k', 500n))).toEqual({ spent: 160n, held: 0n, cap: 500n });
        expect(await counters(store, balance('a'))).toEqual({ spent: 160n, held: 0n, cap: 1_000n });
        expect(await store.settlePart(batch.holdId, line('3', { reserved: 100n, cost: 1n }))).toBe('no_hold');
      }),
    );

    test(
      'once each, also out of a hold that was taken anew under the same name',
      on(async (store, _source, { feed }) => {
        const batch = holdRequest({ amount: 300n, lanes: [keyLane('k', 500n)] });
        await held(store, batch);
        await settled(store, batch.holdId, line('1', { reserved: 100n, cost: 60n }));
        expect(await store.settlePart(batch.holdId, line('1', { reserved: 100n, cost: 70n }))).toBe('settled_before');
        await store.release(batch.holdId);
        await held(store, batch);
        expect(await store.settlePart(batch.holdId, line('1', { reserved: 100n, cost: 70n }))).toBe('settled_before');
        expect(await counters(store, keyLane('k', 500n))).toEqual({ spent: 60n, held: 300n, cap: 500n });
        const { entries } = await feed.read();
        expect(entries.map(({ record }) => JSON.parse(record))).toEqual([{ partId: '1' }]);
      }),
    );

    test(
      'durably: the record, with how the account paid, can be read when settlePart returns',
      on(async (store, _source, { feed }) => {
        const batch = holdRequest({ amount: 100n, units: { tokens: 100n }, quota: quotaLane('q', { tokens: 50n }) });
        await held(store, batch);
        const { charged, debt, covered } = await settled(
          store,
          batch.holdId,
          line('1', { reserved: 50n, cost: 40n, units: { tokens: 50n } }),
        );
        expect((await feed.read()).entries).toEqual([{ charged, debt, covered, record: JSON.stringify({ partId: '1' }) }]);
      }),
    );

    test(
      'and waives what a part costs above its reserve, and books as debt what is above what is left of the hold',
      on(async (store) => {
        const batch = holdRequest({ amount: 100n, lanes: [keyLane('k', 100n)], funds: keyLane('f', 100n) });
        await held(store, batch);
        const first = await settled(store, batch.holdId, line('1', { reserved: 60n, cost: 70n }));
        expect(first).toMatchObject({ charged: 60n, debt: 0n, waived: 10n });
        const second = await settled(store, batch.holdId, line('2', { reserved: 60n, cost: 65n }));
        expect(second).toMatchObject({ charged: 60n, debt: 20n, waived: 5n });
        expect(await counters(store, keyLane('k', 100n))).toEqual({ spent: 120n, held: 0n, cap: 100n });
        expect(await refused(store, holdRequest({ amount: 1n, lanes: [keyLane('k', 100n)] }))).toMatchObject({ mayFitLater: false });
      }),
    );

    test(
      'never above the held charge, however unevenly quota and money meet in the parts',
      on(async (store) => {
        // The quota covers half of the tokens, and they lie unevenly: the dear lines have few of them, the cheap ones many.
        const quota = quotaLane('q', { requests: 1_000n, tokens: 505n });
        const units = { requests: 100n, tokens: 1_010n };
        const batch = holdRequest({ amount: 10_100n, units, quota, funds: keyLane('f', 5_050n) });
        await held(store, batch);
        expect(await counters(store, keyLane('f', 5_050n))).toMatchObject({ held: 5_050n });
        for (let index = 0; index < 100; index += 1) {
          const [amount, tokens] = index % 2 === 0 ? [200n, 1n] : [2n, 19n];
          const part = line(`${index}`, { reserved: amount, cost: amount, units: { requests: 1n, tokens } });
          expect(await settled(store, batch.holdId, part)).toMatchObject({ debt: 0n });
        }
        const { spent, held: left } = await counters(store, keyLane('f', 5_050n));
        expect(spent <= 5_050n && left >= 0n, `${spent}`).toBe(true);
      }),
    );

    test(
      'and charges nothing that the quota has room for by then',
      on(async (store) => {
        const quota = quotaLane('q', { tokens: 100n });
        const batch = holdRequest({ amount: 400n, units: { tokens: 400n }, quota, funds: keyLane('f', 400n) });
        await held(store, batch);
        const other = holdRequest({ amount: 10n, units: { tokens: 10n }, quota, funds: null });
        expect(await refused(store, other)).toMatchObject({ mayFitLater: true });
        const part = line('1', { reserved: 200n, cost: 30n, units: { tokens: 200n }, used: { tokens: 30n } });
        expect(await settled(store, batch.holdId, part)).toMatchObject({ covered: { tokens: 30n }, charged: 0n });
        await held(store, other);
      }),
    );

    test(
      'and settles what is left as a whole, where no part takes it',
      on(async (store) => {
        const batch = holdRequest({ amount: 100n, lanes: [keyLane('k', 100n)], funds: keyLane('f', 100n) });
        await held(store, batch);
        await settled(store, batch.holdId, line('1', { reserved: 60n, cost: 50n }));
        expect(await store.settle(settlementOf(batch, 45n))).toMatchObject({ charged: 40n, debt: 0n, waived: 5n });
        expect(await counters(store, keyLane('f', 100n))).toEqual({ spent: 90n, held: 0n, cap: 100n });
      }),
    );
  });

  describe(`${name} gives back`, () => {
    const use = { requests: 1n, tokens: 100n };

    test(
      'what a settlement took, to every lane it was taken from, and the next hold fits again',
      on(async (store, source) => {
        source.money.set('balance:a', { spent: 0n, cap: 50n });
        const [run, key, quota] = [runLane('r', 100n), keyLane('k', 100n), quotaLane('q', { requests: 1n, tokens: 50n })];
        const request = holdRequest({ amount: 100n, units: use, lanes: [run, key], quota, funds: balance('a') });
        await held(store, request);
        const paid = await store.settle(settlementOf(request, 100n, use));
        if (!paid) throw new Error('not settled');
        expect(paid).toMatchObject({ charged: 50n, covered: { requests: 1n, tokens: 50n } });
        const again = holdRequest({ amount: 100n, units: use, lanes: [run, key], quota, funds: balance('a') });
        await refused(store, again);
        expect(await store.refund(refundOf(request, 100n, paid))).toBe(true);
        for (const lane of [run, key]) expect(await counters(store, lane)).toEqual({ spent: 0n, held: 0n, cap: 100n });
        expect(await counters(store, balance('a'))).toEqual({ spent: 0n, held: 0n, cap: 50n });
        await held(store, again);
      }),
    );

    test(
      'once, durably: the record, with what is given back, can be read when refund returns',
      on(async (store, _source, { feed }) => {
        const request = holdRequest({ amount: 10n, lanes: [keyLane('k', 10n)] });
        await held(store, request);
        await store.settle(settlementOf(request, 10n));
        const refund = refundOf(request, 10n, { charged: 10n, covered: {} });
        expect([await store.refund(refund), await store.refund(refund)]).toEqual([true, false]);
        expect(await counters(store, keyLane('k', 10n))).toEqual({ spent: 0n, held: 0n, cap: 10n });
        const { entries } = await feed.read();
        expect(entries.at(-1)).toEqual({ charged: 10n, debt: 0n, covered: {}, record: JSON.stringify({ refundId: refund.refundId }) });
        expect(entries).toHaveLength(2);
      }),
    );

    test(
      'once, also when both are asked at the same time and the lanes have to be loaded',
      on(async (store, source) => {
        source.money.set('key:k', { spent: 70n, cap: null });
        source.quota.set('quota:q', { tokens: 30n });
        const request = holdRequest({ lanes: [keyLane('k', null)], quota: quotaLane('q', { tokens: 100n }) });
        const refund = refundOf(request, 50n, { charged: 20n, covered: { tokens: 30n } });
        expect((await Promise.all([store.refund(refund), store.refund(refund)])).sort()).toEqual([false, true]);
        expect(await counters(store, keyLane('k', null))).toMatchObject({ spent: 20n });
        const next = holdRequest({ amount: 100n, units: { tokens: 100n }, quota: quotaLane('q', { tokens: 100n }), funds: null });
        await held(store, next);
      }),
    );

    test(
      'of less than nothing too: it takes more, from whatever is named, and no cap keeps it out',
      on(async (store, source) => {
        source.money.set('balance:a', { spent: 0n, cap: 100n });
        const quota = quotaLane('q', { tokens: 50n });
        const request = holdRequest({ amount: 50n, units: { tokens: 50n }, lanes: [keyLane('k', 60n)], quota, funds: balance('a') });
        await held(store, request);
        const paid = await store.settle(settlementOf(request, 50n, { tokens: 50n }));
        expect(paid).toMatchObject({ charged: 0n });
        const more = refundOf(request, -12_345_678_901_234n, { charged: -7n, covered: { tokens: -3n } });
        expect([await store.refund(more), await store.refund(more)]).toEqual([true, false]);
        expect(await counters(store, keyLane('k', 60n))).toEqual({ spent: 12_345_678_901_284n, held: 0n, cap: 60n });
        expect(await counters(store, balance('a'))).toEqual({ spent: 7n, held: 0n, cap: 100n });
        await refused(store, holdRequest({ amount: 1n, units: { tokens: 1n }, quota, funds: null }));
      }),
    );

    test(
      'to a lane that is known from the ledger alone, such as that of an earlier month',
      on(async (store, source) => {
        source.money.set('key:k:2026-10', { spent: 500n, cap: null });
        const october = { ...keyLane('k', null), id: 'key:k:2026-10' };
        const request = holdRequest({ lanes: [october], funds: null });
        await store.refund(refundOf(request, 100n, { charged: 0n, covered: {} }));
        expect(await counters(store, october)).toMatchObject({ spent: 400n, held: 0n });
      }),
    );
  });

  describePartsModel(name, makeStore);
}
