import { describe, expect, test } from 'vitest';
import { describeLaneAccounting } from './conformance-accounting.ts';
import { describeLanesInFlight } from './conformance-in-flight.ts';
import { describeLaneModel } from './conformance-model.ts';
import { describeLaneRates } from './conformance-rates.ts';
import { balance, holdRequest, keyLane, MONTH_END, quotaLane, runLane, settlementOf } from './conformance-requests.ts';
import { counters, held, type MakeStore, refused, withStore } from './conformance-store.ts';

/** What every lane store promises, whatever stands behind it. Call it from a test file. */
export function describeLaneStoreConformance(name: string, makeStore: MakeStore): void {
  const on = (body: Parameters<typeof withStore>[1]) => withStore(makeStore, body);

  describe(`${name} holds`, () => {
    test(
      'on every lane, or on none',
      on(async (store) => {
        const [run, key] = [runLane('r', 100n), keyLane('k', 60n)];
        expect(await held(store, holdRequest({ amount: 50n, lanes: [run, key] }))).toMatchObject({ outputTokens: 0, amount: 50n });
        expect(await refused(store, holdRequest({ amount: 20n, lanes: [run, key] }))).toMatchObject({ lane: { id: key.id } });
        expect(await counters(store, run)).toEqual({ spent: 0n, held: 50n, cap: 100n });
        expect(await counters(store, key)).toEqual({ spent: 0n, held: 50n, cap: 60n });
      }),
    );

    test(
      'exactly up to the cap',
      on(async (store) => {
        const key = keyLane('k', 100n);
        await held(store, holdRequest({ amount: 100n, lanes: [key] }));
        expect(await refused(store, holdRequest({ amount: 1n, lanes: [key] }))).toMatchObject({ required: 1n, mayFitLater: true });
      }),
    );

    test(
      'an uncapped lane without limit, and counts it',
      on(async (store) => {
        const key = keyLane('k', null);
        await held(store, holdRequest({ amount: 10n ** 18n, lanes: [key] }));
        expect(await counters(store, key)).toEqual({ spent: 0n, held: 10n ** 18n, cap: null });
      }),
    );

    test(
      'the states of the lanes in their order, this hold included',
      on(async (store) => {
        const lanes = [runLane('r', 100n), keyLane('k', null)];
        const outcome = await held(store, holdRequest({ amount: 30n, lanes }));
        expect(outcome.lanes).toEqual([
          { id: 'run:r', source: 'agent_run', cap: 100n, spent: 0n, held: 30n },
          { id: 'key:k', source: 'key', cap: null, spent: 0n, held: 30n },
        ]);
      }),
    );

    test(
      'nothing under an id that is held already',
      on(async (store) => {
        const request = holdRequest({ amount: 10n, lanes: [keyLane('k', 100n)] });
        await held(store, request);
        await expect((async () => store.hold(request))()).rejects.toThrow();
        expect(await counters(store, keyLane('k', 100n))).toMatchObject({ held: 10n });
      }),
    );

    test(
      'what its source has of a lane, before anything else',
      on(async (store, source) => {
        source.money.set('key:k', { spent: 95n, cap: null });
        expect(await refused(store, holdRequest({ amount: 6n, lanes: [keyLane('k', 100n)] }))).toMatchObject({ mayFitLater: false });
        await held(store, holdRequest({ amount: 5n, lanes: [keyLane('k', 100n)] }));
      }),
    );
  });

  describe(`${name} finds the largest bound that fits`, () => {
    test.each([
      ['a whole number of tokens', 100n, 30],
      ['a remainder', 109n, 33],
    ])(
      'with %s left: one token more would not fit',
      async (_, cap, tokens) =>
        await on(async (store) => {
          const key = keyLane('k', cap);
          const request = { amount: 10n, perToken: 3n, wanted: 1_000_000, least: 16 };
          const outcome = await held(store, holdRequest({ ...request, lanes: [key] }));
          expect(outcome.outputTokens).toBe(tokens);
          expect(outcome.amount).toBe(10n + 3n * BigInt(tokens));
          expect(outcome.amount + 3n > cap).toBe(true);
        })(),
    );

    test(
      'what is wanted where it fits, and never more',
      on(async (store) => {
        const request = holdRequest({ perToken: 3n, wanted: 100, least: 16, lanes: [keyLane('k', 10_000n)] });
        expect((await held(store, request)).outputTokens).toBe(100);
      }),
    );

    test(
      'never one below the least',
      on(async (store) => {
        const wish = { perToken: 3n, wanted: 100, least: 16 };
        expect(await refused(store, holdRequest({ ...wish, lanes: [keyLane('a', 47n)] }))).toMatchObject({ required: 48n });
        expect((await held(store, holdRequest({ ...wish, lanes: [keyLane('b', 48n)] }))).outputTokens).toBe(16);
      }),
    );

    test(
      'by the tightest of all lanes, the quota among them',
      on(async (store) => {
        const wish = { perToken: 1n, wanted: 100, least: 1, lanes: [runLane('r', 50n), keyLane('k', 40n)] };
        const quota = quotaLane('q', { tokens: 30n });
        expect((await held(store, holdRequest({ ...wish, quota, funds: null }))).outputTokens).toBe(30);
        expect((await held(store, holdRequest({ ...wish, least: 0 }))).outputTokens).toBe(10);
      }),
    );

    test(
      'by the quota with every time that a token out may be read again',
      on(async (store) => {
        const quota = quotaLane('q', { tokens: 35n });
        const wish = { perToken: 1n, wanted: 100, least: 1, units: { tokens: 3n }, unitsPerOutputToken: 4, quota, funds: null };
        expect((await held(store, holdRequest(wish))).outputTokens).toBe(8);
      }),
    );
  });

  describe(`${name} refuses`, () => {
    test(
      'permanently what no settlement can make fit, for now what running requests stand in the way of',
      on(async (store) => {
        const key = keyLane('k', 100n);
        const first = holdRequest({ amount: 60n, lanes: [key] });
        await held(store, first);
        const state = { id: key.id, source: 'key', cap: 100n, spent: 0n, held: 60n };
        const inFlight = { held: false, lane: state, lanes: [state], required: 50n, resetsAt: MONTH_END, mayFitLater: true };
        expect(await refused(store, holdRequest({ amount: 50n, lanes: [key] }))).toEqual(inFlight);
        expect(await refused(store, holdRequest({ amount: 101n, lanes: [key] }))).toMatchObject({ mayFitLater: false });
        await store.settle(settlementOf(first, 60n));
        expect(await refused(store, holdRequest({ amount: 50n, lanes: [key] }))).toMatchObject({ mayFitLater: false });
      }),
    );

    test(
      'by the lane that waiting does not cure, where several refuse',
      on(async (store, source) => {
        source.money.set('balance:a', { spent: 0n, cap: 30n });
        const [run, key, funds] = [runLane('r', 100n), keyLane('k', 70n), balance('a')];
        await held(store, holdRequest({ amount: 60n, lanes: [run] }));
        expect(await refused(store, holdRequest({ amount: 80n, lanes: [run, key] }))).toMatchObject({
          lane: { id: 'key:k' },
          mayFitLater: false,
        });
        const unpaid = await refused(store, holdRequest({ amount: 60n, lanes: [run], funds }));
        expect(unpaid).toMatchObject({ lane: { id: 'balance:a' }, required: 60n, mayFitLater: false });
        const both = await refused(store, holdRequest({ amount: 50n, lanes: [run, keyLane('k', 50n)] }));
        expect(both).toMatchObject({ lane: { id: 'run:r' }, mayFitLater: true });
      }),
    );

    test(
      'for now what the quota will cover once running requests settle',
      on(async (store) => {
        const quota = quotaLane('q', { requests: 10n, tokens: 100n });
        const wish = { amount: 5n, units: { requests: 1n, tokens: 60n }, quota, funds: null };
        const first = holdRequest(wish);
        await held(store, first);
        expect(await refused(store, holdRequest(wish))).toMatchObject({
          lane: { source: 'plan_quota' },
          resetsAt: MONTH_END,
          mayFitLater: true,
        });
        await store.settle(settlementOf(first, 5n, { requests: 1n, tokens: 50n }));
        expect(await refused(store, holdRequest(wish))).toMatchObject({ mayFitLater: false });
      }),
    );

    test(
      'when its source cannot be read, and takes nothing',
      on(async (store, source) => {
        source.gate = Promise.reject(new Error('the database is down'));
        source.gate.catch(() => {});
        const request = holdRequest({ amount: 10n, lanes: [runLane('r', 100n), keyLane('k', 100n)] });
        await expect(store.hold(request)).rejects.toThrow('the database is down');
        expect(await store.settle(settlementOf(request, 10n))).toBeUndefined();
        source.gate = Promise.resolve();
        expect(await counters(store, keyLane('k', 100n))).toMatchObject({ held: 0n, spent: 0n });
        await held(store, request);
      }),
    );
  });

  describe(`${name} keeps caps`, () => {
    test(
      'of a run: the first is set, a wider one ignored, a tighter one in force at once',
      on(async (store) => {
        const capAfter = async (cap: bigint | null) => (await held(store, holdRequest({ lanes: [runLane('r', cap)] }))).lanes[0]?.cap;
        expect(await capAfter(null)).toBe(null);
        expect(await capAfter(100n)).toBe(100n);
        expect(await capAfter(200n)).toBe(100n);
        expect(await capAfter(null)).toBe(100n);
        expect(await capAfter(40n)).toBe(40n);
      }),
    );

    test(
      'of a run that a refused request has tightened',
      on(async (store) => {
        await refused(store, holdRequest({ amount: 50n, lanes: [runLane('r', 40n)] }));
        expect(await refused(store, holdRequest({ amount: 50n, lanes: [runLane('r', 100n)] }))).toMatchObject({ lane: { cap: 40n } });
        expect(await counters(store, runLane('r', null))).toEqual({ spent: 0n, held: 0n, cap: 40n });
      }),
    );

    test(
      'of a run as its source has it, also when the request that comes first is wider',
      on(async (store, source) => {
        source.money.set('run:r', { spent: 10n, cap: 40n });
        expect(await refused(store, holdRequest({ amount: 31n, lanes: [runLane('r', 1_000n)] }))).toMatchObject({ lane: { cap: 40n } });
      }),
    );

    test(
      'of a key as the newest request gives it: raised, lowered below what is spent, taken away',
      on(async (store) => {
        const wish = (cap: bigint | null) => holdRequest({ amount: 10n, lanes: [keyLane('k', cap)] });
        const first = wish(10n);
        await held(store, first);
        await store.settle(settlementOf(first, 10n));
        await held(store, wish(20n));
        expect(await refused(store, wish(5n))).toMatchObject({ lane: { cap: 5n, spent: 10n, held: 10n }, mayFitLater: false });
        expect(await refused(store, holdRequest({ lanes: [keyLane('k', 5n)] }))).toMatchObject({ required: 0n });
        await held(store, wish(null));
      }),
    );

    test(
      'of a balance as it is credited, at once; a cap in the request does not count',
      on(async (store, source) => {
        source.money.set('balance:a', { spent: 0n, cap: 10n });
        const wish = () => holdRequest({ amount: 10n, funds: { ...balance('a'), cap: 1_000n } });
        await held(store, wish());
        expect(await refused(store, wish())).toMatchObject({ lane: { cap: 10n }, mayFitLater: true });
        source.money.set('balance:a', { spent: 0n, cap: 20n, credits: 2 });
        await store.refreshCredit('balance:a');
        await store.refreshCredit('balance:a');
        await held(store, wish());
        source.money.set('balance:a', { spent: 0n, cap: 15n, credits: 3 });
        await store.refreshCredit('balance:a');
        expect(await counters(store, balance('a'))).toEqual({ spent: 0n, held: 20n, cap: 15n });
        // A reading that comes late does not undo a newer one.
        source.money.set('balance:a', { spent: 0n, cap: 20n, credits: 2 });
        await store.refreshCredit('balance:a');
        expect(await counters(store, balance('a'))).toEqual({ spent: 0n, held: 20n, cap: 15n });
      }),
    );
  });

  describe(`${name} loads lanes`, () => {
    test(
      'once, however many first holds wait for it',
      on(async (store, source) => {
        const { promise, resolve } = Promise.withResolvers<void>();
        source.gate = promise;
        const quota = quotaLane('q', { requests: 1_000n, tokens: 1_000n });
        const wish = { amount: 1n, units: { requests: 1n }, lanes: [runLane('r', 10n), keyLane('k', 20n)], quota };
        const holds = Array.from({ length: 50 }, async () => store.hold(holdRequest(wish)));
        resolve();
        expect((await Promise.all(holds)).filter((outcome) => outcome.held)).toHaveLength(10);
        expect(source.reads.toSorted()).toEqual(['funds', 'key:k', 'quota:q', 'run:r']);
      }),
    );

    test(
      'again after a read that failed',
      on(async (store, source) => {
        const { promise, reject } = Promise.withResolvers<void>();
        source.gate = promise;
        // A store that has to ask first whether the lane is loaded reads it after that.
        source.gate.catch(() => {});
        const holds = [1, 2].map(async () => store.hold(holdRequest({ lanes: [keyLane('k', 10n)] })));
        reject(new Error('down'));
        expect((await Promise.allSettled(holds)).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
        source.gate = Promise.resolve();
        await held(store, holdRequest({ lanes: [keyLane('k', 10n)] }));
      }),
    );

    test(
      'with a credit that arrives while they are read, once',
      on(async (store, source) => {
        const { promise, resolve } = Promise.withResolvers<void>();
        source.gate = promise;
        source.money.set('balance:a', { spent: 0n, cap: 10n });
        const hold = store.hold(holdRequest({ amount: 5n, funds: balance('a') }));
        // The payment commits after the balance was read, and is announced before the answer arrives.
        source.money.set('balance:a', { spent: 0n, cap: 30n });
        const credited = store.refreshCredit('balance:a');
        resolve();
        await Promise.all([hold, credited]);
        expect(await counters(store, balance('a'))).toEqual({ spent: 0n, held: 5n, cap: 30n });
      }),
    );

    test(
      'in no order that a caller could depend on: a lane that is not loaded is inspected at its source',
      on(async (store, source) => {
        source.money.set('key:old', { spent: 7n, cap: null });
        const states = await store.inspect(['key:old', 'key:new']);
        expect(states.get('key:old')).toEqual({ spent: 7n, held: 0n, cap: null });
        expect(states.get('key:new')).toEqual({ spent: 0n, held: 0n, cap: null });
      }),
    );
  });

  describeLanesInFlight(name, makeStore);
  describeLaneAccounting(name, makeStore);
  describeLaneModel(name, makeStore);
  describeLaneRates(name, makeStore);
}
