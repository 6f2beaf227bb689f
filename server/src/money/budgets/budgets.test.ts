import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { signUp } from '../../app/http/testing/account-api.ts';
import type { SessionPrincipal } from '../../http/index.ts';
import type { Admission } from '../../inference/calls/admission.ts';
import { monthEnd, monthOf } from '../../kernel/clock.ts';
import { formatUsd, maxOf } from '../../kernel/money.ts';
import { Problem } from '../../kernel/problem.ts';
import { laneId } from '../ledger/index.ts';
import { type BudgetWorld, openBudgetWorld, rowsOf } from './testing/budgets.ts';

const ORIGIN = { ip: null, userAgent: null, requestId: 'req_test_of_budgets' };
let world: BudgetWorld;
let owner: SessionPrincipal;

beforeAll(async () => {
  world = await openBudgetWorld();
  const { accountId, userId } = await signUp(world.api);
  owner = { kind: 'session', accountId, userId, role: 'member', sessionId: await endlessSession(userId) };
});
afterAll(() => world?.close());

/** The stories go through decades, in which nobody logs in again. */
async function endlessSession(userId: string): Promise<string> {
  const sql = `update sessions set created_at = '2200-01-01', last_used_at = '2200-01-01' where user_id = $1 returning id`;
  return String((await rowsOf(world, sql, [userId]))[0]?.['id']);
}

type Step =
  | { readonly kind: 'call'; readonly tokens: number }
  /** Ends one of the running calls at a part of what it holds. */
  | { readonly kind: 'settle'; readonly which: number; readonly percent: number }
  | { readonly kind: 'cap'; readonly cents: number | null }
  | { readonly kind: 'write' };

/** Steps that are begun together, and whether a month ends after them. Of two rotations at once nobody could say whose secret is the newest. */
interface Turn {
  readonly steps: readonly Step[];
  readonly rotates: boolean;
  readonly monthEnds: boolean;
}

// A token holds 0.0025 cents: calls take up to 25 cents, caps are up to 100.
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('call' as const), tokens: fc.integer({ min: 1, max: 10_000 }) }) },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('settle' as const), which: fc.nat(20), percent: fc.integer({ min: 0, max: 100 }) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('cap' as const), cents: fc.option(fc.nat(100)) }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'write' as const }) },
);
const turns: fc.Arbitrary<Turn[]> = fc.array(
  fc.record({
    steps: fc.array(step, { minLength: 1, maxLength: 6 }),
    rotates: fc.boolean(),
    monthEnds: fc.boolean(),
  }),
  { minLength: 1, maxLength: 12 },
);

const CENT = 10_000_000n;
const UNCAPPED = 1n << 80n;

/** One key through one story, checked at every admission and after every turn. */
class Story {
  readonly #keyId: string;
  #plainKey: string;
  /** What binds now; while caps are being changed, the highest of those that may. */
  #cap = UNCAPPED;
  readonly #running: Admission[] = [];
  /** By month, nano-USD. */
  readonly #spent = new Map<string, bigint>();

  private constructor(keyId: string, plainKey: string) {
    this.#keyId = keyId;
    this.#plainKey = plainKey;
  }

  static async begin(): Promise<Story> {
    const input = { name: 'story', livemode: false, scopes: ['inference' as const] };
    const { key, plainKey } = await world.keys.create(owner, input);
    return new Story(key.id, plainKey);
  }

  async turn({ steps, rotates, monthEnds }: Turn): Promise<void> {
    const caps = steps.flatMap((one) => (one.kind === 'cap' ? nanoOf(one.cents) : []));
    this.#cap = caps.reduce(maxOf, this.#cap);
    await Promise.all([...steps.map((one) => this.#take(one)), ...(rotates ? [this.#rotate()] : [])]);
    await this.#compare();
    if (monthEnds) world.clock.stoppedAtMs = monthEnd(monthOf(world.clock.now())).getTime();
  }

  async end(): Promise<void> {
    for (const admission of this.#running.splice(0)) this.#settle(admission, 100);
    await world.written();
    await this.#compare();
    for (const [month, spent] of this.#spent) expect(await this.#inLedger(month)).toEqual([spent, spent]);
    expect(world.quarantined).toEqual([]);
  }

  async #take(one: Step): Promise<void> {
    switch (one.kind) {
      case 'call':
        return this.#call(one.tokens);
      case 'settle': {
        const [admission] = this.#running.splice(one.which % (this.#running.length || 1), 1);
        if (admission) this.#settle(admission, one.percent);
        return;
      }
      case 'cap': {
        const monthly_cap_usd = one.cents === null ? null : formatUsd(BigInt(one.cents) * CENT);
        await world.budgets.update(owner, this.#keyId, { monthly_cap_usd }, ORIGIN);
        return;
      }
      case 'write':
        return world.written();
      default:
        one satisfies never;
    }
  }

  /** With grace, so that the calls beside it may come with the secret before. */
  async #rotate(): Promise<void> {
    this.#plainKey = (await world.keys.rotate(owner, this.#keyId, 600, ORIGIN)).plainKey;
  }

  async #call(tokens: number): Promise<void> {
    try {
      const admission = await world.call(this.#plainKey, tokens);
      const [lane] = admission.hold.lanes;
      expect(lane && lane.spent + lane.held).toBeLessThanOrEqual(this.#cap);
      this.#running.push(admission);
    } catch (refusal) {
      if (!(refusal instanceof Problem) || !/^budget_/.test(refusal.code)) throw refusal;
      expect(refusal.extras.budget?.limit_source).toBe('key');
    }
  }

  #settle(admission: Admission, percent: number): void {
    const cost = (admission.hold.amount * BigInt(percent)) / 100n;
    world.settle(admission, cost);
    const month = monthOf(admission.call.startedAt);
    this.#spent.set(month, (this.#spent.get(month) ?? 0n) + cost);
  }

  /** With nothing under way the status says exactly what was done, and the cap that binds from now on. */
  async #compare(): Promise<void> {
    const { counters, period } = await world.budgets.get(owner, this.#keyId);
    const inMonth = this.#running.filter(({ call }) => monthOf(call.startedAt) === period.month);
    expect(counters.spent).toBe(this.#spent.get(period.month) ?? 0n);
    expect(counters.held).toBe(inMonth.reduce((sum, { hold }) => sum + hold.amount, 0n));
    this.#cap = counters.cap ?? UNCAPPED;
  }

  async #inLedger(month: string): Promise<bigint[]> {
    const sums = await rowsOf(
      world,
      `select (select sum(cost_nano) from usage_daily where key_id = $1 and to_char(day, 'YYYY-MM') = $2)::text as daily,
              (select sum(cost_nano) from usage_records where key_id = $1 and to_char(started_at at time zone 'utc', 'YYYY-MM') = $2)::text as records`,
      [this.#keyId, month],
    );
    const lane = laneId.key(this.#keyId, month);
    expect((await world.lanes.inspect([lane])).get(lane)).toMatchObject({ spent: BigInt(String(sums[0]?.['daily'])), held: 0n });
    return [BigInt(String(sums[0]?.['daily'])), BigInt(String(sums[0]?.['records']))];
  }
}

const nanoOf = (cents: number | null): bigint => (cents === null ? UNCAPPED : BigInt(cents) * CENT);

test('whatever is called, settled, re-capped and rotated at once, over months: no request is admitted beyond the cap, and the status is the ledger’s', async () => {
  world.clock.stoppedAtMs = Date.parse('2027-01-31T23:59:59.999Z');
  await fc.assert(
    fc.asyncProperty(turns, async (story) => {
      const played = await Story.begin();
      for (const turn of story) await played.turn(turn);
      await played.end();
    }),
    { numRuns: 25 },
  );
});

test('each threshold and the refusal below them is told once a month, and told whenever it is reached, in one mail a step', async () => {
  const plan = fc.array(
    fc.oneof(
      fc.record({ kind: fc.constant('spend' as const), cents: fc.integer({ min: 1, max: 40 }) }),
      fc.record({ kind: fc.constant('cap' as const), cents: fc.integer({ min: 1, max: 200 }) }),
      fc.record({ kind: fc.constant('month' as const), cents: fc.constant(0) }),
    ),
    { minLength: 1, maxLength: 15 },
  );
  const thresholds = fc.uniqueArray(fc.integer({ min: 1, max: 100 }), { maxLength: 10 }).map((some) => some.sort((a, b) => a - b));
  world.clock.stoppedAtMs = Date.parse('2030-01-15T00:00:00.000Z');
  await fc.assert(
    fc.asyncProperty(plan, thresholds, async (steps, alert_thresholds) => {
      const { key, plainKey } = await world.keys.create(owner, { name: 'told', livemode: false, scopes: ['inference'] });
      const told = new Set<string>();
      let mailed = 0;
      const spent = new Map<string, bigint>();
      let cap = 100n * CENT;
      await world.budgets.update(owner, key.id, { monthly_cap_usd: formatUsd(cap), alert_thresholds }, ORIGIN);
      for (const { kind, cents } of steps) {
        const month = monthOf(world.clock.now());
        const toldBefore = told.size;
        if (kind === 'month') world.clock.stoppedAtMs = monthEnd(month).getTime();
        else if (kind === 'cap') {
          cap = BigInt(cents) * CENT;
          await world.budgets.update(owner, key.id, { monthly_cap_usd: formatUsd(cap) }, ORIGIN);
        } else {
          const admission = await world.call(plainKey, cents * 400).catch(() => undefined);
          const isAtCap = (spent.get(month) ?? 0n) * 10n >= cap * 9n;
          if (!admission && alert_thresholds.includes(100)) told.add(`${month} ${isAtCap ? 100 : 'refusal'}`);
          if (admission) world.settle(admission, BigInt(cents) * CENT);
          if (admission) spent.set(month, (spent.get(month) ?? 0n) + BigInt(cents) * CENT);
          await world.written();
        }
        for (const [inMonth, sum] of spent) {
          const isLooked = inMonth === monthOf(world.clock.now());
          for (const threshold of alert_thresholds)
            if (isLooked && sum * 100n >= cap * BigInt(threshold)) told.add(`${inMonth} ${threshold}`);
        }
        // What one step reaches is one mail.
        if (told.size > toldBefore) mailed += 1;
      }
      const rows = await rowsOf(
        world,
        `select period || ' ' || coalesce(threshold::text, 'refusal') as alert from key_budget_alerts where key_id = $1`,
        [key.id],
      );
      expect(rows.map(({ alert }) => alert).sort()).toEqual([...told].sort());
      const [mails] = await rowsOf(world, `select count(*)::int as count from mails where dedupe_key like $1`, [`budget:${key.id}:%`]);
      expect(mails?.['count']).toBe(mailed);
    }),
    { numRuns: 30 },
  );
});
