import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import type { Pool } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { InProcessLanes } from '../../adapters/lanes/in-process.ts';
import type { HoldRequest, LaneSource, MoneyLane, QuotaLane } from '../../adapters/lanes/port.ts';
import { SettlementJournal } from '../../adapters/lanes/settlement-journal.ts';
import { openPool } from '../../adapters/postgres/database.ts';
import { testDatabase } from '../../adapters/postgres/test-database.ts';
import { emptyArchive } from '../../archive/testing/archives.ts';
import { monthEnd, monthOf } from '../../kernel/clock.ts';
import { newId } from '../../kernel/ids.ts';
import { silentLog } from '../../kernel/log.ts';
import { bookMoney } from './book-money.ts';
import { laneId } from './lane-ids.ts';
import { LedgerLaneSource } from './lane-source.ts';
import { LedgerWriter } from './ledger-writer.ts';
import { reconcileLanes } from './reconcile.ts';
import { sampleRecord } from './sample-records.ts';
import { testPages } from './testing/pages.ts';

const PICO_PER_NANO = 1000n;
let database: Awaited<ReturnType<typeof testDatabase>>;
let pool: Pool;
let source: LaneSource;
let dir: string;
let journal: SettlementJournal;
let lanes: InProcessLanes;
let writer: LedgerWriter;

beforeAll(async () => {
  database = await testDatabase();
  pool = openPool({ url: database.url, log: silentLog(), poolSize: 4 });
  source = new LedgerLaneSource(pool);
});

afterAll(async () => {
  await pool?.end();
  await database?.drop();
});

beforeEach(() => open());
afterEach(() => shut());

function open(): void {
  dir = mkdtempSync(join(tmpdir(), 'tallygate-ledger-'));
  journal = new SettlementJournal(dir, (segment, line) => {
    throw new Error(`${segment}: ${line}`);
  });
  lanes = new InProcessLanes(source, journal);
  const onQuarantine = (_entry: unknown, error: unknown) => {
    throw error;
  };
  writer = new LedgerWriter({
    feed: journal,
    pool,
    archive: emptyArchive(pool),
    pages: testPages,
    log: silentLog(),
    onQuarantine,
  });
}

async function shut(): Promise<void> {
  await writer.close();
  journal.close();
  rmSync(dir, { recursive: true });
}

type Funding = 'test' | 'balance' | 'invoice' | 'none';

/** An account with one way of paying; its key and what it has are its own. */
const accountOf = (funding: Funding) => ({ accountId: newId(), keyId: newId(), funding, livemode: funding !== 'test' });
type Account = ReturnType<typeof accountOf>;

/** What was paid in, as the payments slice will book it. */
const credit = ({ accountId }: Account, amount: bigint) =>
  bookMoney(pool, {
    cause: { kind: 'payment', id: newId(), attempt: 0 },
    day: '2026-10-01',
    entries: [
      { account: `customer_balance:${accountId}`, amount },
      { account: 'payment_clearing', amount: -amount },
    ],
    credit: { accountId, amount },
  });

interface Use {
  readonly at: number;
  readonly run: { readonly id: string; readonly cap: bigint | null } | null;
  /** Nano-USD: what is held, and what it comes to. */
  readonly held: bigint;
  readonly cost: bigint;
  readonly tokens: { readonly held: bigint; readonly used: bigint };
}

/** The lanes that admission gives such a request. */
function request(account: Account, use: Use): HoldRequest {
  const { accountId, keyId, livemode, funding } = account;
  const month = monthOf(use.at);
  const resetsAt = monthEnd(month).getTime();
  const keyLane: MoneyLane = { id: laneId.key(keyId, month), source: 'key', cap: 10n ** 12n, capRule: 'given', resetsAt };
  const { run } = use;
  const lanes: MoneyLane[] = run
    ? [{ id: laneId.run(accountId, livemode, run.id), source: 'agent_run', cap: run.cap, capRule: 'tightening', resetsAt: null }, keyLane]
    : [keyLane];
  const quota: QuotaLane = { id: laneId.quota(accountId, month), caps: { requests: 20n, tokens: 2_000n }, resetsAt };
  const fundsLane = (id: string, capRule: MoneyLane['capRule']): MoneyLane => ({ id, source: 'balance', cap: null, capRule, resetsAt });
  const funds = {
    test: fundsLane(laneId.testFunds(accountId, month), 'given'),
    balance: fundsLane(laneId.balance(accountId), 'credited'),
    invoice: fundsLane(laneId.invoice(accountId, month), 'given'),
    none: null,
  };
  return {
    holdId: newId(),
    accountId,
    at: use.at,
    cost: { fixed: use.held * PICO_PER_NANO, perOutputToken: 0n },
    outputTokens: { wanted: 0, least: 0 },
    units: { requests: 1n, tokens: use.tokens.held },
    lanes,
    quota: funding === 'test' ? null : quota,
    funds: funds[funding],
  };
}

/** Holds, and settles if it was held. */
async function spend(account: Account, use: Use): Promise<void> {
  const hold = request(account, use);
  const outcome = await lanes.hold(hold);
  if (!outcome.held) return;
  const { accountId, keyId, livemode, funding } = account;
  const record = sampleRecord({
    accountId,
    keyId,
    livemode,
    funding,
    startedAt: use.at,
    runId: use.run?.id ?? null,
    cost: use.cost.toString(),
    held: use.held.toString(),
  });
  const units = { requests: 1n, tokens: use.tokens.used };
  lanes.settle({ holdId: hold.holdId, cost: use.cost, units, record: JSON.stringify(record) });
}

const noUnits = { requests: 0n, tokens: 0n, images: 0n, audio_seconds: 0n, video_seconds: 0n };

const use = (wish: Partial<Use> = {}): Use => ({
  at: Date.parse('2026-11-21T10:00:00Z'),
  run: null,
  held: 100n,
  cost: 60n,
  tokens: { held: 10n, used: 5n },
  ...wish,
});

describe('lanes rebuilt from PostgreSQL', () => {
  test('equal the lanes in memory, after any workload', async () => {
    const amount = fc.bigInt({ min: 0n, max: 10n ** 6n });
    const tokens = fc.bigInt({ min: 0n, max: 300n });
    const anyUse = fc.record({
      account: fc.nat({ max: 3 }),
      at: fc.integer({ min: Date.parse('2026-11-29T00:00:00Z'), max: Date.parse('2026-12-02T00:00:00Z') }),
      run: fc.option(fc.record({ id: fc.constantFrom('nightly', 'a:b c'), cap: fc.option(amount, { nil: null }) }), { nil: null }),
      held: amount,
      cost: amount,
      tokens: fc.record({ held: tokens, used: tokens }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(anyUse, { minLength: 10, maxLength: 80 }), async (uses) => {
        const accounts = (['test', 'balance', 'invoice', 'none'] as const).map(accountOf);
        for (const account of accounts) if (account.funding === 'balance') await credit(account, 5_000_000n);
        await Promise.all(
          uses.map(async (one) => {
            const account = accounts[one.account];
            if (account) await spend(account, one);
          }),
        );
        await writer.drain();
        for (const { id, counts } of lanes.books.lanes()) {
          if (id.startsWith('quota:')) {
            expect(await source.quotaLane(id), id).toMatchObject(counts);
            continue;
          }
          const inMemory = (await lanes.inspect([id])).get(id);
          const rebuilt = await source.moneyLane(id);
          const left = ({ cap, spent }: { cap: bigint | null; spent: bigint }) => (cap ?? 0n) - spent;
          if (id.startsWith('balance:')) expect(left(rebuilt), id).toBe(left(inMemory ?? { cap: 0n, spent: -1n }));
          else expect(rebuilt.spent, id).toBe(inMemory?.spent);
        }
        expect(await reconcileLanes(lanes.books, source)).toEqual([]);
        await shut();
        open();
      }),
      { numRuns: 8 },
    );
  });

  test('keep the ceiling that a run was given, also for the next process', async () => {
    const account = accountOf('test');
    await spend(account, use({ run: { id: 'nightly', cap: 500n } }));
    await spend(account, use({ run: { id: 'nightly', cap: 300n } }));
    await spend(account, use({ run: { id: 'nightly', cap: null } }));
    await shut();
    open();
    expect(await source.moneyLane(laneId.run(account.accountId, false, 'nightly'))).toEqual({ spent: 180n, cap: 300n });
  });

  test('start empty in a new month, and keep the balance', async () => {
    const account = accountOf('balance');
    await credit(account, 1_000n);
    await spend(account, use({ tokens: { held: 4_000n, used: 4_000n }, held: 60n }));
    await writer.drain();
    const { accountId, keyId } = account;
    expect((await source.moneyLane(laneId.key(keyId, '2026-11'))).spent).toBe(60n);
    expect((await source.moneyLane(laneId.key(keyId, '2026-12'))).spent).toBe(0n);
    expect(await source.quotaLane(laneId.quota(accountId, '2026-11'))).toEqual({ ...noUnits, requests: 1n, tokens: 2_000n });
    expect(await source.quotaLane(laneId.quota(accountId, '2026-12'))).toEqual(noUnits);
    expect(await source.moneyLane(laneId.balance(accountId))).toEqual({ spent: 30n, cap: 1000n, credits: 1 });
  });

  test('of an account that never spent are empty, and its balance is nothing rather than without limit', async () => {
    const id = newId();
    expect(await source.moneyLane(laneId.balance(id))).toEqual({ spent: 0n, cap: 0n, credits: 0 });
    for (const lane of [
      laneId.key(id, '2026-11'),
      laneId.invoice(id, '2026-11'),
      laneId.testFunds(id, '2026-11'),
      laneId.run(id, true, 'r'),
    ])
      expect(await source.moneyLane(lane), lane).toEqual({ spent: 0n, cap: null });
  });

  test('have no more in them than was held: what exceeded it is owed by neither the balance nor the invoice', async () => {
    const noQuota = { tokens: { held: 4_000_000n, used: 4_000_000n }, held: 50n, cost: 80n };
    const [balance, invoice] = [accountOf('balance'), accountOf('invoice')];
    await credit(balance, 60n);
    await spend(balance, use(noQuota));
    await spend(invoice, use(noQuota));
    await writer.drain();
    const left = (await lanes.inspect([laneId.balance(balance.accountId)])).get(laneId.balance(balance.accountId));
    expect(await source.moneyLane(laneId.balance(balance.accountId))).toMatchObject({ cap: left?.cap, spent: left?.spent });
    const owed = (await lanes.inspect([laneId.invoice(invoice.accountId, '2026-11')])).get(laneId.invoice(invoice.accountId, '2026-11'));
    expect(owed?.spent).toBe(50n);
    expect((await source.moneyLane(laneId.invoice(invoice.accountId, '2026-11'))).spent).toBe(owed?.spent);
  });
});

describe('reconciliation', () => {
  const testAccount = () => accountOf('test');

  test('finds a planted difference, in money and in units, and nothing else', async () => {
    const [first, second, third] = [testAccount(), accountOf('none'), testAccount()];
    for (const account of [first, second, third]) await spend(account, use());
    await writer.drain();
    await pool.query('update usage_daily set cost_nano = cost_nano + 1 where account_id = $1', [first.accountId]);
    await pool.query('update usage_daily set covered_tokens = covered_tokens - 1 where account_id = $1', [second.accountId]);
    const found = await reconcileLanes(lanes.books, source);
    expect(found.toSorted((a, b) => a.laneId.localeCompare(b.laneId))).toEqual([
      { laneId: laneId.key(first.keyId, '2026-11'), unit: 'nano_usd', inLane: 60n, inLedger: 61n },
      { laneId: laneId.quota(second.accountId, '2026-11'), unit: 'tokens', inLane: 5n, inLedger: 4n },
      { laneId: laneId.testFunds(first.accountId, '2026-11'), unit: 'nano_usd', inLane: 60n, inLedger: 61n },
    ]);
  });

  test('says nothing of a lane whose settlements are not written yet, and compares the others', async () => {
    const [first, second] = [testAccount(), testAccount()];
    await spend(first, use());
    await spend(second, use());
    await writer.drain();
    await pool.query('update usage_daily set cost_nano = 0 where account_id = any($1)', [[first.accountId, second.accountId]]);
    // Spends on the second while the ledger is being read.
    const busy: LaneSource = {
      quotaLane: (id) => source.quotaLane(id),
      moneyLane: async (id) => {
        await spend(second, use());
        return source.moneyLane(id);
      },
    };
    const ids = (await reconcileLanes(lanes.books, busy)).map(({ laneId }) => laneId);
    expect(ids.sort()).toEqual([laneId.key(first.keyId, '2026-11'), laneId.testFunds(first.accountId, '2026-11')].sort());
  });
});
