import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { balance, holdRequest, keyLane, quotaLane, refundOf, runLane, type ScriptedSource, settlementOf } from './conformance-requests.ts';
import { type MakeStore, type StoreClock, type Surroundings, withStore } from './conformance-store.ts';
import type { HoldRequest, LaneStore, Refund, Settled, Settlement } from './port.ts';
import { ReferenceLanes } from './reference-lanes.ts';

const CREDITED = 300n;
const RUNS = 40;
const COMMANDS = 60;

const small = fc.bigInt({ min: 0n, max: 60n });
const cap = fc.option(fc.bigInt({ min: 0n, max: 400n }), { nil: null });
const units = fc.record({ requests: fc.constantFrom(0n, 1n), tokens: small }, { requiredKeys: [] });

const command = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('hold' as const),
      amount: small,
      perToken: fc.bigInt({ min: 0n, max: 4n }),
      wanted: fc.nat({ max: 20 }),
      shrinkBy: fc.nat({ max: 20 }),
      unitsPerToken: fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined }),
      units,
      run: fc.option(fc.record({ name: fc.constantFrom('r', 's'), cap }), { nil: null }),
      key: fc.option(fc.record({ name: fc.constantFrom('k', 'l'), cap }), { nil: null }),
      quota: fc.option(fc.record({ requests: fc.bigInt({ min: 0n, max: 12n }), tokens: fc.bigInt({ min: 0n, max: 300n }) }), { nil: null }),
      funds: fc.constantFrom('balance', 'invoice', 'none'),
      invoiceCap: cap,
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('settle' as const),
      pick: fc.nat(),
      /** Of what was held, percent. */
      cost: fc.nat({ max: 130 }),
      units,
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('sweep' as const), afterMs: fc.nat({ max: 20_000 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('credit' as const), amount: fc.bigInt({ min: -20n, max: 50n }) }) },
);

/** What batches and refunds do, beside everything else. */
const commandWithParts = fc.oneof(
  { weight: 12, arbitrary: command },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('part' as const),
      pick: fc.nat(),
      /** Few, so that some are settled twice. */
      part: fc.nat({ max: 9 }),
      reserved: fc.record({ amount: small, units }),
      /** Of what is reserved, percent. */
      cost: fc.nat({ max: 130 }),
      units,
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('release' as const), pick: fc.nat() }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('refund' as const), pick: fc.nat() }) },
);
type Command = typeof commandWithParts extends fc.Arbitrary<infer T> ? T : never;

function requestOf(wish: Extract<Command, { kind: 'hold' }>, at: number): HoldRequest {
  const { amount, perToken, wanted, shrinkBy, run, key, quota, funds, invoiceCap } = wish;
  return holdRequest({
    at,
    amount,
    perToken,
    wanted,
    least: Math.max(0, wanted - shrinkBy),
    units: wish.units,
    ...(wish.unitsPerToken !== undefined && { unitsPerOutputToken: wish.unitsPerToken }),
    lanes: [...(run ? [runLane(run.name, run.cap)] : []), ...(key ? [keyLane(key.name, key.cap)] : [])],
    quota: quota && quotaLane('q', quota),
    funds: funds === 'balance' ? balance('a') : funds === 'invoice' ? { ...keyLane('invoice', invoiceCap), source: 'balance' } : null,
  });
}

/** One sequence of commands, given to the store and to the reference at once. */
class Comparison {
  readonly #store: LaneStore;
  readonly #source: ScriptedSource;
  readonly #reference = new ReferenceLanes(new Map([['balance:a', CREDITED]]));
  readonly #holds: { request: HoldRequest; amount: bigint }[] = [];
  /** What was settled, to be given back, some of it twice. */
  readonly #settled: { request: HoldRequest; refund: Refund }[] = [];
  readonly #named = new Set<string>();
  readonly #clock: StoreClock;

  constructor(store: LaneStore, { source, clock }: Surroundings) {
    this.#store = store;
    this.#source = source;
    this.#clock = clock;
    source.money.set('balance:a', { spent: 0n, cap: CREDITED });
  }

  async run(command: Command): Promise<void> {
    switch (command.kind) {
      case 'hold':
        await this.#hold(requestOf(command, this.#clock.at));
        break;
      case 'settle':
        await this.#settle(command);
        break;
      case 'part':
        await this.#settlePart(command);
        break;
      case 'release': {
        const { request } = this.#picked(command.pick) ?? {};
        if (!request) break;
        await this.#store.release(request.holdId);
        this.#reference.release(request.holdId);
        break;
      }
      case 'refund': {
        const { request, refund } = this.#settled[command.pick % Math.max(1, this.#settled.length)] ?? {};
        if (!request || !refund) break;
        expect(await this.#store.refund(refund)).toBe(this.#reference.refund(refund, request));
        break;
      }
      case 'sweep':
        this.#clock.at += command.afterMs;
        expect(await this.#store.sweep()).toBe(0);
        break;
      case 'credit':
        this.#reference.credit('balance:a', command.amount);
        this.#source.money.set('balance:a', { spent: 0n, cap: this.#reference.counters('balance:a').cap });
        await this.#store.refreshCredit('balance:a');
        break;
      default:
        command satisfies never;
    }
    await this.#compare();
  }

  async #hold(request: HoldRequest): Promise<void> {
    const outcome = await this.#store.hold(request);
    const expected = this.#reference.hold(request);
    expect(outcome).toMatchObject(expected);
    if (outcome.held) this.#holds.push({ request, amount: outcome.amount });
    else if ('lane' in outcome)
      expect([...request.lanes, request.funds ?? request.quota].map((lane) => lane?.id ?? '')).toContain(outcome.lane.id);
    for (const lane of [...request.lanes, request.funds]) if (lane) this.#named.add(lane.id);
  }

  async #settle({ pick, cost, units }: Extract<Command, { kind: 'settle' }>): Promise<void> {
    const hold = this.#picked(pick);
    if (!hold) return;
    const settlement: Settlement = settlementOf(hold.request, (hold.amount * BigInt(cost)) / 100n, units);
    const settled = await this.#store.settle(settlement);
    const expected = this.#reference.settle(settlement);
    if (expected) expect(settled).toMatchObject(expected);
    else expect(settled).toBeUndefined();
    if (settled) {
      expect(settled.charged <= hold.amount, `${settled.charged} of ${hold.amount}`).toBe(true);
      this.#remember(hold.request, settlement.cost - (settled.waived ?? 0n), settled);
    }
  }

  async #settlePart({ pick, part, reserved, cost, units }: Extract<Command, { kind: 'part' }>): Promise<void> {
    const hold = this.#picked(pick);
    if (!hold) return;
    const { holdId } = hold.request;
    const actual = (reserved.amount * BigInt(cost)) / 100n;
    const settlement = { partId: `${holdId}/${part}`, reserved, cost: actual, units, record: '{}' };
    const settled = await this.#store.settlePart(holdId, settlement);
    const expected = this.#reference.settlePart(holdId, settlement);
    if (typeof expected === 'string') expect(settled).toBe(expected);
    else expect(settled).toMatchObject(expected);
    if (typeof settled === 'string') return;
    expect(settled.charged <= reserved.amount, `${settled.charged} of ${reserved.amount}`).toBe(true);
    this.#remember(hold.request, actual - (settled.waived ?? 0n), settled);
  }

  #remember(request: HoldRequest, cost: bigint, settled: Settled): void {
    this.#settled.push({ request, refund: refundOf(request, cost, settled) });
  }

  #picked = (pick: number) => this.#holds[pick % Math.max(1, this.#holds.length)];

  async #compare(): Promise<void> {
    const states = await this.#store.inspect([...this.#named]);
    for (const id of this.#named) expect(states.get(id), id).toEqual(this.#reference.counters(id));
  }
}

/** Random numbers in [0, 1), the same for the same seed (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A thousand requests at once through a run, a key, a quota and a balance, each settled in its own time at a cost of its own. */
async function thousandAtOnce(store: LaneStore, source: ScriptedSource, seed: number): Promise<void> {
  const random = randomFrom(seed);
  const upTo = (most: bigint) => BigInt(Math.floor(random() * (Number(most) + 1)));
  source.money.set('balance:a', { spent: 0n, cap: 3_000n });
  const [run, key, funds] = [runLane('r', 20_000n), keyLane('k', 15_000n), balance('a')];
  const quota = quotaLane('q', { requests: 400n, tokens: 9_000n });
  const total = { cost: 0n, charged: 0n, requests: 0n, tokens: 0n };
  const withinCaps = async () => {
    for (const { spent, held, cap } of (await store.inspect([run.id, key.id, funds.id])).values()) {
      expect(held >= 0n && cap !== null && spent + held <= cap, `${spent} + ${held} > ${cap}`).toBe(true);
    }
  };
  const request = async () => {
    for (let turns = upTo(5n); turns > 0n; turns -= 1n) await Promise.resolve();
    const amount = upTo(200n);
    const tokens = upTo(150n);
    const wish = holdRequest({ amount, units: { requests: 1n, tokens }, lanes: [run, key], quota, funds });
    if (!(await store.hold(wish)).held) return;
    for (let turns = upTo(20n); turns > 0n; turns -= 1n) await Promise.resolve();
    const [cost, used] = [upTo(amount), { requests: 1n, tokens: upTo(tokens) }];
    const settled = await store.settle(settlementOf(wish, cost, used));
    expect(settled).toMatchObject({ debt: 0n });
    total.cost += cost;
    total.charged += settled?.charged ?? 0n;
    total.requests += settled?.covered['requests'] ?? 0n;
    total.tokens += settled?.covered['tokens'] ?? 0n;
    await withinCaps();
  };
  await Promise.all(Array.from({ length: 1_000 }, request));
  const states = await store.inspect([run.id, key.id, funds.id]);
  expect(states.get(run.id)).toEqual({ spent: total.cost, held: 0n, cap: 20_000n });
  expect(states.get(key.id)).toEqual({ spent: total.cost, held: 0n, cap: 15_000n });
  expect(states.get(funds.id)).toEqual({ spent: total.charged, held: 0n, cap: 3_000n });
  expect(total.requests <= 400n && total.tokens <= 9_000n).toBe(true);
}

/** Random histories of holds that many draw from, and of refunds. */
export function describePartsModel(name: string, makeStore: MakeStore): void {
  test(`${name} settles parts, releases and refunds as a naive reference does, between everything else that happens`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(commandWithParts, { minLength: 5, maxLength: COMMANDS, size: 'max' }), (commands) =>
        withStore(makeStore, async (store, _source, surroundings) => {
          const comparison = new Comparison(store, surroundings);
          for (const one of commands) await comparison.run(one);
        })(),
      ),
      { numRuns: RUNS },
    );
  });
}

/** Random histories. */
export function describeLaneModel(name: string, makeStore: MakeStore): void {
  describe(`${name}, whatever happens in whatever order,`, () => {
    test('does what a naive reference does: holds, settlements, sweeps, credits over runs, keys, quota and funds', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(command, { minLength: 5, maxLength: COMMANDS, size: 'max' }), (commands) =>
          withStore(makeStore, async (store, _source, surroundings) => {
            const comparison = new Comparison(store, surroundings);
            for (const one of commands) await comparison.run(one);
          })(),
        ),
        { numRuns: RUNS },
      );
    });

    test('never lets settled and held together exceed a cap, under a thousand requests at once', async () => {
      await fc.assert(
        fc.asyncProperty(fc.integer(), (seed) => withStore(makeStore, (store, source) => thousandAtOnce(store, source, seed))()),
        { numRuns: 3 },
      );
    });
  });
}
