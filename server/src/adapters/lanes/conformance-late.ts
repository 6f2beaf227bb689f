import { describe, expect, test } from 'vitest';
import { holdRequest, keyLane, NOW, ScriptedSource, settlementOf } from './conformance-requests.ts';
import { counters, held, type StoreUnderTest } from './conformance-store.ts';
import type { LateSettlement } from './late-settlement.ts';
import type { JournalEntry, LaneStore } from './port.ts';

interface LateStore extends LaneStore {
  readonly late: { settle(late: LateSettlement): Promise<JournalEntry> };
}

type MakeLateStore = (source: ScriptedSource, now: () => number) => Promise<StoreUnderTest & { readonly store: LateStore }>;

const INVOICE = 'invoice:a';

const late = (lateId: string, cost: bigint, entry: Partial<JournalEntry> = {}): LateSettlement => ({
  ...{ lateId, heldAs: lateId, accountId: 'account', lanes: ['key:k'], quota: 'quota:q', funds: INVOICE, cost },
  entry: { charged: cost, debt: 0n, covered: {}, record: JSON.stringify({ lateId }), ...entry },
});

/** What every store of lanes does with what was settled without it. */
export function describeLateSettlements(name: string, makeStore: MakeLateStore): void {
  describe(`late settlements on ${name}`, () => {
    const on = (body: (store: LateStore, feed: StoreUnderTest['feed'], ledger: ScriptedSource) => Promise<void>) => async () => {
      const ledger = new ScriptedSource();
      const { store, feed, close } = await makeStore(ledger, () => NOW);
      try {
        await body(store, feed, ledger);
      } finally {
        await close();
      }
    };
    const written = async (feed: StoreUnderTest['feed']) => (await feed.read()).entries;

    test(
      'are charged as far as they fit beside what is held, and waived for the rest',
      on(async (store, feed) => {
        await held(store, holdRequest({ amount: 70n, lanes: [keyLane('k', 100n)] }));
        const settled = await store.late.settle(late('one', 50n));
        expect(settled).toMatchObject({ charged: 30n, waived: 20n });
        expect(await counters(store, { id: 'key:k' })).toEqual({ spent: 30n, held: 70n, cap: 100n });
        expect(await counters(store, { id: INVOICE })).toMatchObject({ spent: 30n });
        expect(await store.late.settle(late('two', 7n))).toMatchObject({ charged: 0n, waived: 7n });
        expect(await written(feed)).toMatchObject([
          { charged: 30n, waived: 20n },
          { charged: 0n, waived: 7n },
        ]);
      }),
    );

    test(
      'count once, however often they are told',
      on(async (store, feed) => {
        for (let times = 0; times < 2; times += 1) await store.late.settle(late('one', 50n));
        expect(await counters(store, { id: 'key:k' })).toMatchObject({ spent: 50n });
        expect(await written(feed)).toHaveLength(1);
      }),
    );

    test(
      'keep to the cap that their request had where no lane knows one',
      on(async (store, _feed, ledger) => {
        ledger.money.set('key:k', { spent: 90n, cap: null });
        expect(await store.late.settle(late('one', 50n, { caps: { 'key:k': 100n } }))).toMatchObject({ charged: 10n, waived: 40n });
        expect(await counters(store, { id: 'key:k' })).toMatchObject({ spent: 100n });
      }),
    );

    test(
      'add to what was waived of them before, and share what the quota has covered',
      on(async (store, feed, ledger) => {
        ledger.money.set('key:k', { spent: 0n, cap: 40n });
        const settled = await store.late.settle(late('one', 80n, { charged: 40n, waived: 20n, covered: { tokens: 5n } }));
        // Half of it fits, and half of its charge is paid.
        expect(settled).toMatchObject({ charged: 20n, waived: 60n, covered: { tokens: 5n } });
        expect(await written(feed)).toMatchObject([{ charged: 20n, waived: 60n }]);
        expect(await counters(store, { id: INVOICE })).toMatchObject({ spent: 20n });
      }),
    );

    test(
      'know their caps from what was settled in time',
      on(async (store, feed) => {
        const request = holdRequest({ amount: 10n, lanes: [keyLane('k', 100n)] });
        await held(store, request);
        await store.settle(settlementOf(request, 10n));
        expect(await written(feed)).toMatchObject([{ charged: 10n, caps: { 'key:k': 100n } }]);
      }),
    );
  });
}
