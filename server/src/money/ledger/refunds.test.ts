import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RefundResponse, UsageQuery } from '@tallygate/contract';
import fc from 'fast-check';
import type { Pool } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { InProcessLanes } from '../../adapters/lanes/in-process.ts';
import type { LaneSource } from '../../adapters/lanes/port.ts';
import { SettlementJournal } from '../../adapters/lanes/settlement-journal.ts';
import { openPool } from '../../adapters/postgres/database.ts';
import { testDatabase } from '../../adapters/postgres/test-database.ts';
import { emptyArchive } from '../../archive/testing/archives.ts';
import { newId, newReceiptId, newRequestId } from '../../kernel/ids.ts';
import { silentLog } from '../../kernel/log.ts';
import { minOf } from '../../kernel/money.ts';
import { publishSigningKeys } from '../../receipts/index.ts';
import { contradictions } from './contradictions.ts';
import type { Corrections } from './corrections.ts';
import { laneId } from './lane-ids.ts';
import { LedgerLaneSource } from './lane-source.ts';
import { LedgerWriter } from './ledger-writer.ts';
import { reconcileLanes } from './reconcile.ts';
import { type RefundOutcome, Refunds } from './refunds.ts';
import { requestTrace } from './request-trace.ts';
import { ledgerRoutes } from './routes.ts';
import { sampleRecord } from './sample-records.ts';
import { settledAmong } from './settled-among.ts';
import type { SettlementRecord } from './settlement-record.ts';
import { declareSamplePrices, NOW, openProcess, PRICE, settleOn, signingKey, tokens, verdictOf } from './testing/ledger.ts';
import { testPages } from './testing/pages.ts';
import { usageOf } from './usage-queries.ts';

let database: Awaited<ReturnType<typeof testDatabase>>;
let pool: Pool;
let source: LaneSource;
let dir: string;
let journal: SettlementJournal;
let lanes: InProcessLanes;
let writer: LedgerWriter;
let refunds: Refunds;
let corrections: Corrections;

beforeAll(async () => {
  database = await testDatabase();
  pool = openPool({ url: database.url, log: silentLog(), poolSize: 8 });
  source = new LedgerLaneSource(pool);
  await publishSigningKeys(pool, [signingKey], Date.parse('2026-10-01T00:00:00Z'));
  await declareSamplePrices(pool);
});

afterAll(async () => {
  await pool?.end();
  await database?.drop();
});

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'tallygate-refunds-'));
  open();
});

afterEach(async () => {
  await writer.close();
  journal.close();
  rmSync(dir, { recursive: true });
});

/** A process on the same directory and database. */
function open(): void {
  ({ journal, lanes, writer, refunds, corrections } = openProcess({ pool, source, dir, price: PRICE }));
}

async function restart(): Promise<void> {
  await writer.close();
  journal.close();
  open();
}

type Funding = SettlementRecord['funding'];
const settle = (record: SettlementRecord) => settleOn(lanes, record);

/** Nobody pays in, so that what is spent is owed: only what the lanes hold and the ledger says is compared. */
const paidIn = (accountId: string) =>
  pool.query(`insert into ledger_daily values ($1, '2026-10-01', 1000000000)`, [`customer_balance:${accountId}`]);

/** Takes the payment off again: it has no entries that the sums could be compared with. */
const notPaidIn = (accountId: string) =>
  pool.query(`delete from ledger_daily where account = $1 and day = '2026-10-01'`, [`customer_balance:${accountId}`]);

const video = (wish: Partial<SettlementRecord> = {}) =>
  sampleRecord({
    kind: 'media_job',
    endpoint: '/v1/videos',
    modelServed: 'sora-2',
    usage: { ...tokens(0, 0), video_seconds: 8 },
    unitPrices: { video_seconds: '1000000' },
    held: '8000',
    cost: '8000',
    funding: 'invoice',
    ...wish,
  });

const refund = ({ accountId, requestId, attempt }: SettlementRecord): Promise<RefundOutcome> =>
  refunds.refund(accountId, requestId, attempt, { reason: 'The video could not be made.' });

const spentOf = async (id: string) => (await lanes.inspect([id])).get(id)?.spent;

describe('a refund', () => {
  test('gives all of the cost back to the lanes of the month it was spent in, with a receipt that verifies and names the first', async () => {
    const record = video();
    await settle(record);
    await writer.drain();
    const key = laneId.key(record.keyId ?? '', '2026-11');
    expect(await spentOf(key)).toBe(8_000n);
    const outcome = await refund(record);
    expect(outcome).toMatchObject({ refunded: true, refund: { refundOf: record.receiptId, cost: 8_000n, charged: 8_000n } });
    expect(await spentOf(key)).toBe(0n);
    expect(await spentOf(laneId.invoice(record.accountId, '2026-11'))).toBe(0n);
    await writer.drain();
    if (!('refund' in outcome)) throw new Error('not refunded');
    expect(await verdictOf(pool, outcome.refund.receiptId)).toMatchObject({
      valid: true,
      payload: {
        kind: 'refund',
        outcome: 'refunded',
        refund_of: record.receiptId,
        refund_reason: 'The video could not be made.',
        cost_nano_usd: '8000',
        usage: { video_seconds: 8 },
        completed_at: '2026-12-03T10:00:00.000Z',
      },
    });
    const { rows } = await pool.query(
      `select account, amount_nano::text as amount from ledger_entries join postings using (posting_id)
        where request_id = $1 and kind = 'refund' and amount_nano <> 0 order by account`,
      [record.requestId],
    );
    expect(rows).toEqual([
      { account: `receivable:${record.accountId}`, amount: '8000' },
      { account: 'revenue', amount: '-8000' },
    ]);
    expect(await contradictions(pool)).toEqual([]);
  });

  test('is shown in the trace, and its request counts nowhere as usage', async () => {
    const record = video({ runId: 'nightly' });
    await settle(record);
    const sums = async (group: { per: 'day' } | { group_by: 'run' }) => {
      const query = UsageQuery.parse({ ...group, from: '2026-11-01', to: '2026-11-30' });
      return (await usageOf(pool, { accountId: record.accountId, livemode: true }, query, NOW)).total;
    };
    await writer.drain();
    expect(await sums({ per: 'day' })).toMatchObject({ requests: 1, video_seconds: 8, cost_usd: '0.000008' });
    expect((await requestTrace(pool, emptyArchive(pool), { accountId: record.accountId }, record.requestId)).refund).toBeNull();
    await refund(record);
    await writer.drain();
    for (const group of [{ per: 'day' }, { group_by: 'run' }] as const)
      expect(await sums(group)).toMatchObject({ requests: 0, video_seconds: 0, cost_usd: '0' });
    expect(await requestTrace(pool, emptyArchive(pool), { accountId: record.accountId }, record.requestId)).toMatchObject({
      kind: 'media_job',
      usage: { video_seconds: 8 },
      refund: { reason: 'The video could not be made.', cost_usd: '0.000008', refunded_at: '2026-12-03T10:00:00.000Z' },
    });
  });

  test('of what the quota had covered returns the units', async () => {
    const record = sampleRecord({ funding: 'none', usage: { ...tokens(10, 5), images: 3 }, held: '90', cost: '90' });
    await settle(record);
    await writer.drain();
    const quota = laneId.quota(record.accountId, '2026-11');
    expect(await source.quotaLane(quota)).toMatchObject({ requests: 1n, tokens: 0n, images: 3n });
    await refund(record);
    await writer.drain();
    expect(await source.quotaLane(quota)).toMatchObject({ requests: 0n, images: 0n });
    expect(await reconcileLanes(lanes.books, source)).toEqual([]);
  });

  test('can be asked for right after the settlement, before the ledger has it', async () => {
    const record = video();
    await settle(record);
    expect(await refund(record)).toMatchObject({ refunded: true });
  });

  test('is made once, whether it is asked for again at once, later, or by many at the same time', async () => {
    const record = video();
    await settle(record);
    const outcomes = await Promise.all(Array.from({ length: 8 }, () => refund(record)));
    expect(outcomes.filter(({ refunded }) => refunded)).toHaveLength(1);
    expect(outcomes.filter((one) => !one.refunded && one.because === 'already_refunded')).toHaveLength(7);
    expect(new Set(outcomes.map((one) => 'refund' in one && one.refund.receiptId)).size).toBe(1);
    await writer.drain();
    expect(await refund(record)).toMatchObject({ refunded: false, because: 'already_refunded', refund: { cost: 8_000n } });
    expect(await spentOf(laneId.key(record.keyId ?? '', '2026-11'))).toBe(0n);
    expect(await contradictions(pool)).toEqual([]);
  });

  test('is refused for what is not there, is another account’s, or was never charged', async () => {
    const record = video();
    const failed = video({ outcome: 'failed', cost: '0', usage: tokens(0, 0) });
    await settle(record);
    await settle(failed);
    const cached = video({ kind: 'usage', outcome: 'cached', cost: '0', usage: tokens(0, 0) });
    await settle(cached);
    expect(await refund(cached)).toEqual({ refunded: false, because: 'uncharged' });
    expect(await refund({ ...record, requestId: newRequestId() })).toEqual({ refunded: false, because: 'unknown' });
    expect(await refund({ ...record, accountId: newId() })).toEqual({ refunded: false, because: 'unknown' });
    expect(await refund({ ...record, attempt: 2 })).toEqual({ refunded: false, because: 'unknown' });
    expect(await refund(failed)).toEqual({ refunded: false, because: 'uncharged' });
  });

  test('by an administrator needs neither the account nor the attempt', async () => {
    const record = video({ attempt: 3 });
    await settle(record);
    expect(await refunds.refund(null, record.requestId, null, { reason: 'Goodwill.' })).toMatchObject({
      refunded: true,
      refund: { accountId: record.accountId, attempt: 3 },
    });
  });

  test('that was journaled when the process died is booked by the next one, once', async () => {
    const record = video();
    await settle(record);
    await writer.drain();
    const { accountId, requestId, attempt } = record;
    // A writer that never writes: the process dies with the refund in its journal.
    const dying = new SettlementJournal(mkdtempSync(join(dir, 'dying-')), () => {});
    await new Refunds({ pool, lanes: new InProcessLanes(source, dying), clock: { now: () => NOW }, write: async () => {} }).refund(
      accountId,
      requestId,
      attempt,
      { reason: 'first' },
    );
    const onQuarantine = (_entry: unknown, error: unknown) => {
      throw error;
    };
    await new LedgerWriter({
      feed: dying,
      pool,
      archive: emptyArchive(pool),
      pages: testPages,
      log: silentLog(),
      onQuarantine,
    }).drain();
    dying.close();
    expect(await refunds.resume()).toBe(0);
    expect(await refund(record)).toMatchObject({ because: 'already_refunded', refund: { reason: 'first' } });
    expect(await contradictions(pool)).toEqual([]);
  });

  test('that was begun and not journaled when the process died is ended by the next one', async () => {
    const record = video();
    await settle(record);
    await writer.drain();
    const dies = { refund: () => Promise.reject(new Error('killed')) };
    const dying = new Refunds({ pool, lanes: dies, clock: { now: () => NOW - 1_000 }, write: async () => {} });
    await expect(dying.refund(record.accountId, record.requestId, 1, { reason: 'first' })).rejects.toThrow('killed');
    expect(await refunds.resume()).toBe(1);
    await writer.drain();
    expect(await refunds.resume()).toBe(0);
    expect(await requestTrace(pool, emptyArchive(pool), { accountId: record.accountId }, record.requestId)).toMatchObject({
      refund: { reason: 'first' },
    });
    expect(await spentOf(laneId.key(record.keyId ?? '', '2026-11'))).toBe(0n);
  });
});

describe('an administrator', () => {
  const admin = { kind: 'session', accountId: newId(), userId: newId(), role: 'admin', sessionId: newId() } as const;
  const headers = {
    'x-internal-secret': undefined,
    'x-web-session-token': undefined,
    'x-api-key': undefined,
    'idempotency-key': undefined,
  };
  const give = (requestId: string) => {
    const call = { requestId: newRequestId(), peer: { address: '203.0.113.7', userAgent: null }, setHeader: () => {}, headers };
    const routes = ledgerRoutes({ pool, archive: emptyArchive(pool), clock: { now: () => NOW }, refunds, corrections });
    return routes.refundRequest({ ...call, principal: admin, body: { request_id: requestId, reason: 'Goodwill.' } });
  };

  test('gives back once, is told of the refund when they ask again, and it stands in the log of the account', async () => {
    const record = video();
    await pool.query(`insert into accounts (id, name, created_at) values ($1, 'an account', now())`, [record.accountId]);
    await settle(record);
    const [first, again] = [await give(record.requestId), await give(record.requestId)];
    expect([first.status, again.status]).toEqual([201, 200]);
    expect(again.body).toEqual(first.body);
    expect(RefundResponse.parse(first.body)).toMatchObject({ refund_of: record.receiptId, cost_usd: '0.000008', charged_usd: '0.000008' });
    const { rows } = await pool.query('select actor_id, action, target_id, changes from audit_log where account_id = $1', [
      record.accountId,
    ]);
    expect(rows).toEqual([
      {
        actor_id: admin.userId,
        action: 'request.refunded',
        target_id: record.requestId,
        changes: { reason: 'Goodwill.', cost_usd: '0.000008' },
      },
    ]);
  });

  test('is refused what was never settled, and what was never charged', async () => {
    const failed = video({ outcome: 'failed', cost: '0', usage: tokens(0, 0) });
    await settle(failed);
    await expect(give(newRequestId())).rejects.toMatchObject({ code: 'not_found' });
    await expect(give(failed.requestId)).rejects.toMatchObject({ code: 'conflict' });
  });
});

test('what the ledger has a settlement of is told from what it has not', async () => {
  const record = video();
  await settle(record);
  await writer.drain();
  const unknown = newReceiptId();
  expect(await settledAmong(pool, [record.receiptId, unknown])).toEqual(new Set([record.receiptId]));
});

describe('after any settlements, corrections and refunds, with deaths in between,', () => {
  const step = fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({
        kind: fc.constant('settle' as const),
        account: fc.nat({ max: 3 }),
        run: fc.option(fc.constantFrom('nightly', 'weekly'), { nil: null }),
        hasKey: fc.boolean(),
        startedAt: fc.integer({ min: Date.parse('2026-11-29T00:00:00Z'), max: Date.parse('2026-12-02T00:00:00Z') }),
        outcome: fc.constantFrom('completed', 'completed', 'cut', 'failed'),
        held: fc.bigInt({ min: 0n, max: 10_000n }),
        cost: fc.bigInt({ min: 0n, max: 12_000n }),
        usage: fc.oneof(
          fc.tuple(fc.nat({ max: 500 }), fc.nat({ max: 500 })).map(([input, output]) => tokens(input, output)),
          fc.integer({ min: 1, max: 4 }).map((images) => ({ ...tokens(5, 0), images })),
          fc.integer({ min: 1, max: 60 }).map((audio_seconds) => ({ ...tokens(0, 7), audio_seconds })),
          fc.integer({ min: 1, max: 9 }).map((video_seconds) => ({ ...tokens(0, 0), video_seconds })),
        ),
      }),
    },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('refund' as const), pick: fc.nat() }) },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constant('correct' as const),
        pick: fc.nat(),
        input: fc.nat({ max: 900 }),
        output: fc.nat({ max: 900 }),
      }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('drain' as const) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('restart' as const) }) },
  );

  test('the ledger sums to zero, sums equal their rows, lanes equal the ledger, and every key has spent what was not given back', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 50 }), async (steps) => {
        // Lanes of an earlier run would remember a payment that was taken off since.
        await restart();
        const fundings: Funding[] = ['test', 'balance', 'invoice', 'none'];
        const accounts = fundings.map((funding) => ({ accountId: newId(), keyId: newId(), funding, livemode: funding !== 'test' }));
        for (const { accountId } of accounts) await paidIn(accountId);
        const settled: SettlementRecord[] = [];
        const givenBack = new Set<string>();
        const costs = new Map<string, bigint>();
        for (const one of steps) {
          switch (one.kind) {
            case 'settle': {
              const { account: _, kind: __, run: runId, hasKey, held, cost, usage, outcome, ...rest } = one;
              const account = accounts[one.account];
              if (!account) break;
              const isFailed = outcome === 'failed';
              const record = sampleRecord({
                ...rest,
                ...account,
                keyId: hasKey ? account.keyId : null,
                runId,
                outcome: isFailed ? 'failed' : 'completed',
                held: `${held}`,
                cost: `${isFailed ? 0n : cost}`,
                usage: isFailed ? tokens(0, 0) : usage,
              });
              await settle(record).catch(() => {});
              settled.push(record);
              break;
            }
            case 'refund': {
              const record = settled[one.pick % Math.max(1, settled.length)];
              if (record && (await refund(record)).refunded) givenBack.add(record.requestId);
              break;
            }
            case 'correct': {
              const record = settled[one.pick % Math.max(1, settled.length)];
              const wish = { usage: tokens(one.input, one.output), reason: 'Counted again.' };
              const outcome = record && (await corrections.correct(record.requestId, wish));
              if (record && outcome?.corrected) costs.set(record.requestId, outcome.correction.now.cost);
              break;
            }
            case 'drain':
              await writer.drain();
              break;
            case 'restart':
              await restart();
              break;
            default:
              one satisfies never;
          }
        }
        await writer.drain();
        expect(await reconcileLanes(lanes.books, source)).toEqual([]);
        for (const { accountId } of accounts) {
          const id = laneId.balance(accountId);
          const [inMemory, rebuilt] = [(await lanes.inspect([id])).get(id), await source.moneyLane(id)];
          expect((inMemory?.cap ?? 0n) - (inMemory?.spent ?? 0n), id).toBe((rebuilt.cap ?? 0n) - rebuilt.spent);
        }
        const written = await pool.query<{ request_id: string }>('select request_id from usage_records where account_id = any($1)', [
          accounts.map(({ accountId }) => accountId),
        ]);
        const counted = new Set(written.rows.map(({ request_id }) => request_id).filter((id) => !givenBack.has(id)));
        for (const { keyId } of accounts) {
          for (const month of ['2026-11', '2026-12']) {
            const ofKey = settled.filter((one) => one.keyId === keyId && counted.has(one.requestId));
            const ofMonth = ofKey.filter(({ startedAt }) => new Date(startedAt).toISOString().startsWith(month));
            const { spent } = await source.moneyLane(laneId.key(keyId, month));
            expect(spent).toBe(
              ofMonth.reduce((sum, one) => sum + (costs.get(one.requestId) ?? minOf(BigInt(one.cost), BigInt(one.held))), 0n),
            );
          }
        }
        for (const { accountId } of accounts) await notPaidIn(accountId);
        expect(await contradictions(pool)).toEqual([]);
      }),
      { numRuns: 6 },
    );
  });
});
