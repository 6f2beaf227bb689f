import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { holdRequest, keyLane, NOW, settlementOf } from './conformance-requests.ts';
import { counters, held, type MakeStore, refused, type StoreClock, withStore } from './conformance-store.ts';
import type { HoldRequest, LaneStore, RateLane, RateRefused } from './port.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

const rateLane = (limits: Partial<RateLane>): RateLane => ({
  id: 'rate:k',
  owner: 'key',
  requestsPerMinute: null,
  tokensPerMinute: null,
  concurrency: null,
  ...limits,
});

/** A request at `at` ms after the suite's start that takes these tokens of the lanes. */
const request = (
  lanes: readonly RateLane[],
  { at = 0, tokens = 0, ...wish }: Parameters<typeof holdRequest>[0] & { tokens?: number } = {},
): HoldRequest => holdRequest({ at: NOW + at, rates: { lanes, tokens }, ...wish });

async function tooFast(store: LaneStore, wish: HoldRequest): Promise<RateRefused> {
  const outcome = await store.hold(wish);
  if (outcome.held || 'lane' in outcome) throw new Error(`${wish.holdId} was not refused by a rate lane`);
  return outcome;
}

const settle = (store: LaneStore, wish: HoldRequest, rateTokens: number) => store.settle({ ...settlementOf(wish, 0n), rateTokens });

/** The store, with a clock that shows of each request the moment at which it says that it comes. */
const onTime = (store: LaneStore, clock: StoreClock): LaneStore =>
  new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      if (name !== 'hold') return value.bind(target);
      return (request: HoldRequest) => {
        clock.at = request.at;
        return target.hold(request);
      };
    },
  });

/** What every lane store promises of rate limits. */
export function describeLaneRates(name: string, makeStore: MakeStore): void {
  const on = (body: Parameters<typeof withStore>[1]) =>
    withStore(makeStore, (store, source, surroundings) => body(onTime(store, surroundings.clock), source, surroundings));

  describe(`${name} limits requests`, () => {
    const lane = rateLane({ requestsPerMinute: 3 });

    test(
      'to as many as the limit at once, then to one each time that one has drained',
      on(async (store) => {
        for (const remaining of [2, 1, 0])
          expect((await held(store, request([lane]))).rates?.requests).toMatchObject({ limit: 3, remaining });
        expect(await tooFast(store, request([lane], { at: 1 }))).toMatchObject({ kind: 'requests', limit: 3, retryAfterMs: 19_999 });
        await tooFast(store, request([lane], { at: 19_999 }));
        await held(store, request([lane], { at: 20_000 }));
        await tooFast(store, request([lane], { at: 20_000 }));
      }),
    );

    test(
      'and says how long until all of them are there again',
      on(async (store) => {
        expect((await held(store, request([lane]))).rates?.requests).toEqual({ limit: 3, remaining: 2, resetMs: 20_000 });
        expect((await held(store, request([lane], { at: 5_000 }))).rates?.requests).toEqual({ limit: 3, remaining: 1, resetMs: 35_000 });
        expect((await held(store, request([lane], { at: HOUR_MS }))).rates?.requests).toEqual({ limit: 3, remaining: 2, resetMs: 20_000 });
      }),
    );

    test(
      'and says how they stand without taking any, a lane that was never used included',
      on(async (store, _source, { clock }) => {
        const { accountId } = request([lane]);
        const look = async (at: number) => {
          clock.at = NOW + at;
          return store.rates(accountId, [lane]);
        };
        expect(await look(0)).toEqual({ requests: { limit: 3, remaining: 3, resetMs: 0 }, tokens: null });
        await held(store, request([lane]));
        for (let looks = 0; looks < 5; looks++) expect((await look(5_000)).requests).toEqual({ limit: 3, remaining: 2, resetMs: 15_000 });
        // Looking ahead drains nothing for those who come now.
        expect((await look(HOUR_MS)).requests?.remaining).toBe(3);
        expect((await held(store, request([lane], { at: 5_000 }))).rates?.requests).toEqual({ limit: 3, remaining: 1, resetMs: 35_000 });
      }),
    );

    test(
      'and counts a refused request as one that takes no tokens, as far as there is room',
      on(async (store, _source, { clock }) => {
        const { accountId } = request([lane]);
        const full = rateLane({ id: 'rate:full', requestsPerMinute: 2, tokensPerMinute: 600 });
        const refuse = async (lanes: readonly RateLane[], at: number) => {
          clock.at = NOW + at;
          return store.countRefused(accountId, lanes);
        };
        expect((await refuse([lane], 0)).requests).toEqual({ limit: 3, remaining: 2, resetMs: 20_000 });
        expect((await held(store, request([lane]))).rates?.requests).toMatchObject({ remaining: 1 });
        // A narrow lane that is full says so, and the wide one beside it counts on.
        for (const remaining of [1, 0, 0]) expect((await refuse([full], 0)).requests).toMatchObject({ limit: 2, remaining });
        expect((await refuse([full, lane], 0)).requests).toEqual({ limit: 2, remaining: 0, resetMs: 60_000 });
        expect((await refuse([lane], 0)).requests).toEqual({ limit: 3, remaining: 0, resetMs: 60_000 });
        expect((await store.rates(accountId, [full])).tokens).toEqual({ limit: 600, remaining: 600, resetMs: 0 });
        expect((await tooFast(store, request([full]))).kind).toBe('requests');
        expect((await refuse([full], 30_000)).requests).toEqual({ limit: 2, remaining: 0, resetMs: 60_000 });
        expect(await refuse([rateLane({ id: 'rate:none' })], 0)).toEqual({ requests: null, tokens: null });
      }),
    );

    test(
      'exactly where a minute cannot be divided by the limit',
      on(async (store) => {
        const odd = rateLane({ requestsPerMinute: 7 });
        for (let count = 0; count < 7; count++) await held(store, request([odd]));
        const { retryAfterMs } = await tooFast(store, request([odd]));
        expect(retryAfterMs).toBe(Math.ceil(MINUTE_MS / 7));
        await held(store, request([odd], { at: Math.ceil(MINUTE_MS / 7) }));
      }),
    );

    test(
      'by the newest limit: a lower one is in force at once, a higher one too',
      on(async (store) => {
        for (let count = 0; count < 3; count++) await held(store, request([lane]));
        expect(await tooFast(store, request([{ ...lane, requestsPerMinute: 2 }]))).toMatchObject({ retryAfterMs: 60_000 });
        await held(store, request([{ ...lane, requestsPerMinute: 4 }]));
      }),
    );

    test(
      'with a clock that is set back as with one that stands still',
      on(async (store) => {
        await held(store, request([lane], { at: 60_000 }));
        await held(store, request([lane], { at: 0 }));
        await held(store, request([lane], { at: 60_000 }));
        await tooFast(store, request([lane], { at: 60_000 }));
      }),
    );
  });

  describe(`${name} limits tokens`, () => {
    const lane = rateLane({ tokensPerMinute: 600 });

    test(
      'and gives back at the settlement what was not used',
      on(async (store) => {
        const first = request([lane], { tokens: 600 });
        await held(store, first);
        expect(await tooFast(store, request([lane], { tokens: 100 }))).toMatchObject({ kind: 'tokens', retryAfterMs: 10_000 });
        await settle(store, first, 40);
        expect((await held(store, request([lane], { tokens: 560 }))).rates?.tokens).toEqual({ limit: 600, remaining: 0, resetMs: 60_000 });
      }),
    );

    test(
      'but nothing of what has drained since: that has let others pass already',
      on(async (store) => {
        const first = request([lane], { tokens: 300 });
        await held(store, first);
        await held(store, request([lane], { at: 30_000, tokens: 500 }));
        await settle(store, first, 0);
        expect(await tooFast(store, request([lane], { at: 30_000, tokens: 101 }))).toMatchObject({ retryAfterMs: 100 });
      }),
    );

    test(
      'and takes at the settlement what was used beyond the estimate',
      on(async (store) => {
        const first = request([lane], { tokens: 0 });
        await held(store, first);
        await settle(store, first, 900);
        expect((await tooFast(store, request([lane], { tokens: 1 }))).retryAfterMs).toBe(30_100);
      }),
    );

    test(
      'and never lets a request in that is larger than the limit',
      on(async (store) => {
        expect(await tooFast(store, request([lane], { tokens: 601 }))).toMatchObject({ retryAfterMs: null });
        await held(store, request([lane], { tokens: 600 }));
      }),
    );

    test(
      'and gives nothing back where the settlement says nothing of tokens, nor twice',
      on(async (store) => {
        const [first, second] = [request([lane], { tokens: 300 }), request([lane], { tokens: 300 })];
        await held(store, first);
        await held(store, second);
        await store.settle(settlementOf(first, 0n));
        await settle(store, second, 200);
        await settle(store, second, 0);
        expect((await held(store, request([lane], { tokens: 100 }))).rates?.tokens).toMatchObject({ remaining: 0 });
      }),
    );
  });

  describe(`${name} limits what runs at the same time`, () => {
    const lane = rateLane({ concurrency: 2 });

    test(
      'until a hold is settled, or released',
      on(async (store) => {
        const [first, second] = [request([lane]), request([lane])];
        await held(store, first);
        await held(store, second);
        expect(await tooFast(store, request([lane]))).toMatchObject({ kind: 'concurrency', limit: 2, retryAfterMs: 1_000 });
        await settle(store, first, 0);
        const third = request([lane]);
        await held(store, third);
        await store.release(second.holdId);
        await held(store, request([lane]));
        // Nothing that comes of it then frees a second place.
        await settle(store, second, 0);
        await tooFast(store, request([lane]));
      }),
    );
  });

  describe(`${name} takes rates and money together`, () => {
    const [key, plan] = [rateLane({ requestsPerMinute: 2 }), rateLane({ id: 'rate:a', owner: 'plan', requestsPerMinute: 3 })];

    test(
      'on every rate lane or on none, and names the one that refuses',
      on(async (store) => {
        await held(store, request([key, plan]));
        await held(store, request([key, plan]));
        expect(await tooFast(store, request([key, plan]))).toMatchObject({ refusedBy: { owner: 'key' } });
        await held(store, request([{ ...key, id: 'rate:l' }, plan]));
        expect(await tooFast(store, request([{ ...key, id: 'rate:m' }, plan]))).toMatchObject({ refusedBy: { owner: 'plan' } });
        await held(store, request([{ ...key, id: 'rate:m' }]));
        await held(store, request([{ ...key, id: 'rate:m' }]));
      }),
    );

    test(
      'a refused rate takes no money, and refused money takes no rate',
      on(async (store) => {
        const money = keyLane('k', 100n);
        await held(store, request([key], { lanes: [money] }));
        expect((await refused(store, request([key], { amount: 101n, lanes: [money] }))).rates?.requests).toMatchObject({
          remaining: 1,
        });
        await held(store, request([key], { lanes: [money] }));
        await tooFast(store, request([key], { amount: 50n, lanes: [money] }));
        expect(await counters(store, money)).toEqual({ spent: 0n, held: 0n, cap: 100n });
      }),
    );

    test(
      'and reports of each kind the limit that leaves least',
      on(async (store) => {
        const wide = rateLane({ id: 'rate:a', owner: 'plan', requestsPerMinute: 10, tokensPerMinute: 100 });
        const narrow = rateLane({ requestsPerMinute: 5, tokensPerMinute: 1_000 });
        expect((await held(store, request([narrow, wide], { tokens: 50 }))).rates).toMatchObject({
          requests: { limit: 5, remaining: 4 },
          tokens: { limit: 100, remaining: 50 },
        });
        expect((await held(store, request([rateLane({})]))).rates).toEqual({ requests: null, tokens: null });
      }),
    );

    test(
      'also when the lanes of money have to be read first',
      on(async (store, source) => {
        const gate = Promise.withResolvers<void>();
        source.gate = gate.promise;
        const money = keyLane('k', 100n);
        const waiting = Promise.all([1, 2, 3].map(() => store.hold(request([key], { lanes: [money] }))));
        gate.resolve();
        expect((await waiting).filter((outcome) => outcome.held)).toHaveLength(2);
      }),
    );
  });

  test(
    `${name} never lets more pass in any span than the limit and what drains in that span, whatever is given back`,
    () =>
      fc.assert(
        fc.asyncProperty(
          fc.integer({ min: 1, max: 50 }),
          fc.integer({ min: 1, max: 5_000 }),
          fc.array(
            fc.record({
              waitMs: fc.integer({ min: 0, max: 20_000 }),
              tokens: fc.integer({ min: 0, max: 3_000 }),
              usedPercent: fc.integer({ min: 0, max: 100 }),
              settles: fc.nat(),
            }),
            { maxLength: 60 },
          ),
          (requestsPerMinute, tokensPerMinute, steps) =>
            on((store) => neverTooMany(store, rateLane({ requestsPerMinute, tokensPerMinute }), steps))(),
        ),
        { numRuns: 60 },
      ),
    30_000,
  );
}

interface Step {
  readonly waitMs: number;
  readonly tokens: number;
  readonly usedPercent: number;
  /** Which of the running requests is settled after this step. */
  readonly settles: number;
}

async function neverTooMany(store: LaneStore, lane: RateLane, steps: readonly Step[]): Promise<void> {
  const passed: { at: number; used: number }[] = [];
  const running: { wish: HoldRequest; used: number }[] = [];
  let at = 0;
  for (const { waitMs, tokens, usedPercent, settles } of steps) {
    at += waitMs;
    const wish = request([lane], { at, tokens });
    const outcome = await store.hold(wish);
    if (outcome.held) {
      const used = Math.floor((tokens * usedPercent) / 100);
      passed.push({ at, used });
      running.push({ wish, used });
      expect(outcome.rates?.tokens?.remaining).toBeGreaterThanOrEqual(0);
    } else if ('refusedBy' in outcome && outcome.retryAfterMs !== null) {
      // It is told to wait not a millisecond too long.
      at += outcome.retryAfterMs - 1;
      await tooFast(store, { ...wish, at: NOW + at });
    }
    const [ended] = running.splice(settles % Math.max(1, running.length), 1);
    if (ended) await settle(store, ended.wish, ended.used);
  }
  for (let first = 0; first < passed.length; first++) {
    let used = 0;
    for (let last = first; last < passed.length; last++) {
      const spanMs = (passed[last]?.at ?? 0) - (passed[first]?.at ?? 0);
      used += passed[last]?.used ?? 0;
      expect((last - first + 1) * MINUTE_MS).toBeLessThanOrEqual((lane.requestsPerMinute ?? 0) * (MINUTE_MS + spanMs));
      expect(used * MINUTE_MS).toBeLessThanOrEqual((lane.tokensPerMinute ?? 0) * (MINUTE_MS + spanMs));
    }
  }
}
