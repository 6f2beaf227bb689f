import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CorrectionResponse, UsageQuery } from '@tallygate/contract';
import type { Pool } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { LaneSource } from '../../adapters/lanes/port.ts';
import { openPool } from '../../adapters/postgres/database.ts';
import { testDatabase } from '../../adapters/postgres/test-database.ts';
import { emptyArchive } from '../../archive/testing/archives.ts';
import { newId, newRequestId } from '../../kernel/ids.ts';
import { silentLog } from '../../kernel/log.ts';
import { publishSigningKeys } from '../../receipts/index.ts';
import { contradictions } from './contradictions.ts';
import { Corrections } from './corrections.ts';
import { laneId } from './lane-ids.ts';
import { LedgerLaneSource } from './lane-source.ts';
import { reconcileLanes } from './reconcile.ts';
import { requestTrace } from './request-trace.ts';
import { ledgerRoutes } from './routes.ts';
import { sampleRecord } from './sample-records.ts';
import type { SettlementRecord } from './settlement-record.ts';
import { declareSamplePrices, NOW, openProcess, PRICE, settleOn, signingKey, tokens, verdictOf } from './testing/ledger.ts';
import { usageOf } from './usage-queries.ts';

let database: Awaited<ReturnType<typeof testDatabase>>;
let pool: Pool;
let source: LaneSource;
let dir: string;
let process: ReturnType<typeof openProcess>;

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
  dir = mkdtempSync(join(tmpdir(), 'tallygate-corrections-'));
  process = openProcess({ pool, source, dir, price: PRICE });
});
afterEach(async () => {
  await process.writer.close();
  process.journal.close();
  rmSync(dir, { recursive: true });
});

/** 100 tokens in and 50 out, 200 nano-USD by invoice: its quota has 2,000 tokens, so that nothing is charged unless it is used up. */
const chat = (wish: Partial<SettlementRecord> = {}) =>
  sampleRecord({ usage: tokens(100, 50), held: '1000000', cost: '200', funding: 'invoice', ...wish });
/** A video, of which the quota has none: all of it is charged. */
const charged = (wish: Partial<SettlementRecord> = {}) => chat({ usage: { ...tokens(100, 50), video_seconds: 1 }, ...wish });

const reason = 'The provider had counted twice.';
const correct = ({ requestId }: SettlementRecord, usage: SettlementRecord['usage']) =>
  process.corrections.correct(requestId, { usage, reason });
const spentOf = async (id: string) => (await process.lanes.inspect([id])).get(id)?.spent;
const written = () => process.writer.drain();
async function settled(record: SettlementRecord): Promise<SettlementRecord> {
  await settleOn(process.lanes, record);
  await written();
  return record;
}
async function inOrder(): Promise<void> {
  await written();
  expect(await reconcileLanes(process.lanes.books, source)).toEqual([]);
  expect(await contradictions(pool)).toEqual([]);
}
async function made(record: SettlementRecord, usage: SettlementRecord['usage']) {
  const outcome = await correct(record, usage);
  if (!('correction' in outcome) || !outcome.corrected) throw new Error(`not corrected: ${JSON.stringify(outcome)}`);
  await written();
  return outcome.correction;
}

describe('a correction', () => {
  test('to less gives the difference back, with a receipt that verifies, names the first, and counts in its place everywhere', async () => {
    const record = await settled(charged({ runId: 'nightly' }));
    const correction = await made(record, { ...tokens(100, 20), video_seconds: 1 });
    expect(correction).toMatchObject({
      corrects: record.receiptId,
      before: { cost: 200n, charged: 200n },
      now: { cost: 140n, charged: 140n },
    });
    expect(await verdictOf(pool, correction.receiptId)).toMatchObject({
      valid: true,
      payload: {
        ...{ kind: 'correction', outcome: 'completed', request_id: record.requestId, refund_of: record.receiptId, refund_reason: reason },
        ...{ usage: { input_tokens: 100, output_tokens: 20 }, cost_nano_usd: '140', started_at: '2026-11-21T10:00:00.000Z' },
        completed_at: '2026-12-03T10:00:00.000Z',
      },
    });
    for (const id of [
      laneId.key(record.keyId ?? '', '2026-11'),
      laneId.run(record.accountId, true, 'nightly'),
      laneId.invoice(record.accountId, '2026-11'),
    ])
      expect(await spentOf(id)).toBe(140n);
    const { rows } = await pool.query(
      `select account, amount_nano::text as amount from ledger_entries join postings using (posting_id)
        where request_id = $1 and kind = 'correction' and amount_nano <> 0 order by account`,
      [record.requestId],
    );
    expect(rows).toEqual([
      { account: `receivable:${record.accountId}`, amount: '60' },
      { account: 'revenue', amount: '-60' },
    ]);
    for (const group of [{ per: 'day' }, { group_by: 'run' }]) {
      const query = UsageQuery.parse({ ...group, from: '2026-11-01', to: '2026-11-30' });
      expect((await usageOf(pool, { accountId: record.accountId, livemode: true }, query, NOW)).total).toMatchObject({
        ...{ requests: 1, output_tokens: 20, cost_usd: '0.00000014', charged_usd: '0.00000014' },
      });
    }
    expect(await requestTrace(pool, emptyArchive(pool), { accountId: record.accountId }, record.requestId)).toMatchObject({
      ...{ receipt_id: record.receiptId, usage: { output_tokens: 50 }, cost_usd: '0.0000002', refund: null },
      correction: { receipt_id: correction.receiptId, usage: { output_tokens: 20 }, cost_usd: '0.00000014', charged_usd: '0.00000014' },
    });
    await inOrder();
  });

  test('to more than was held is refused: it was promised to cost no more', async () => {
    const record = await settled(charged({ held: '259' }));
    const more = await correct(record, { ...tokens(100, 80), video_seconds: 1 });
    expect(more).toMatchObject({ corrected: false, because: 'impossible', reason: expect.stringContaining('was held') });
  });

  test('to more charges the difference, for which no money is held: as debt', async () => {
    const record = await settled(charged());
    const correction = await made(record, { ...tokens(100, 80), video_seconds: 1 });
    expect(correction.now).toEqual({ cost: 260n, charged: 260n });
    expect(await spentOf(laneId.key(record.keyId ?? '', '2026-11'))).toBe(260n);
    const { rows } = await pool.query(
      "select account, sum(amount_nano)::text as amount from ledger_daily where account like '%' || $1 group by 1",
      [record.accountId],
    );
    expect(rows.sort((a, b) => a.account.localeCompare(b.account))).toEqual([
      { account: `invoice_debt:${record.accountId}`, amount: '-60' },
      { account: `plan_quota:${record.accountId}`, amount: '0' },
      { account: `receivable:${record.accountId}`, amount: '-200' },
    ]);
    await inOrder();
  });

  test('of what was waived in part charges no more than was charged, and leaves no loss where it charges less', async () => {
    const record = charged();
    const [key, invoice] = [laneId.key(record.keyId ?? '', '2026-11'), laneId.invoice(record.accountId, '2026-11')];
    const entry = { charged: 200n, debt: 0n, covered: {}, record: JSON.stringify(record), caps: { [key]: 150n } };
    const named = { accountId: record.accountId, lanes: [key], quota: laneId.quota(record.accountId, '2026-11'), funds: invoice };
    await process.lanes.late.settle({ lateId: record.requestId, heldAs: record.receiptId, ...named, cost: 200n, entry });
    await written();
    const losses = async () =>
      (await pool.query("select coalesce(sum(amount_nano), 0)::text as sum from ledger_daily where account = 'operator_losses'")).rows[0]
        ?.sum;
    const before = BigInt(await losses()) + 50n;
    const more = await correct(record, { ...tokens(100, 45), video_seconds: 1 });
    expect(more).toMatchObject({ corrected: false, because: 'impossible', reason: expect.stringContaining('was waived') });

    expect((await made(record, { ...tokens(100, 10), video_seconds: 1 })).now).toEqual({ cost: 120n, charged: 120n });
    expect([await spentOf(key), await spentOf(invoice)]).toEqual([120n, 120n]);
    expect(BigInt(await losses())).toBe(before);
    await inOrder();
  });

  test('of what the quota had covered takes its units from the quota, and money from nobody', async () => {
    const record = await settled(chat());
    const quota = laneId.quota(record.accountId, '2026-11');
    expect((await made(record, tokens(100, 250))).now).toEqual({ cost: 600n, charged: 0n });
    expect(await source.quotaLane(quota)).toMatchObject({ requests: 1n, tokens: 350n });
    await inOrder();
  });

  test('falls under the tier that the usage reaches, and its receipt shows the prices of that', async () => {
    const record = await settled(chat({ livemode: false, funding: 'test' }));
    const correction = await made(record, tokens(1_001, 0));
    expect(correction.now).toEqual({ cost: 3_003n, charged: 0n });
    expect(await verdictOf(pool, correction.receiptId)).toMatchObject({
      valid: true,
      payload: { price_tier_above_input_tokens: 1_000, unit_prices_pico_usd: { input_tokens: '3000' } },
    });
    expect(await spentOf(laneId.testFunds(record.accountId, '2026-11'))).toBe(3_003n);
    await inOrder();
  });

  test('is made once, by however many at the same time, and never again with other usage', async () => {
    const record = charged();
    await settleOn(process.lanes, record);
    const usage = { ...tokens(10, 0), video_seconds: 1 };
    const outcomes = await Promise.all(Array.from({ length: 8 }, () => correct(record, usage)));
    expect(outcomes.filter(({ corrected }) => corrected)).toHaveLength(1);
    expect(new Set(outcomes.map((one) => 'correction' in one && one.correction.receiptId)).size).toBe(1);
    await written();
    expect(await correct(record, usage)).toMatchObject({ corrected: false, correction: { now: { cost: 10n } } });
    expect(await correct(record, tokens(5, 0))).toEqual({ corrected: false, because: 'corrected' });
    expect(await spentOf(laneId.key(record.keyId ?? '', '2026-11'))).toBe(10n);
    await inOrder();
  });

  test('and a refund of the same request: what is given back is what then counted, whoever comes first', async () => {
    const record = await settled(charged());
    const correction = await made(record, { ...tokens(100, 20), video_seconds: 1 });
    const outcome = await process.refunds.refund(null, record.requestId, null, { reason: 'Goodwill.' });
    expect(outcome).toMatchObject({ refunded: true, refund: { refundOf: correction.receiptId, cost: 140n, charged: 140n } });
    await written();
    expect(await spentOf(laneId.invoice(record.accountId, '2026-11'))).toBe(0n);
    expect(await requestTrace(pool, emptyArchive(pool), { accountId: record.accountId }, record.requestId)).toMatchObject({
      refund: { cost_usd: '0.00000014' },
    });

    const refunded = await settled(charged());
    await process.refunds.refund(null, refunded.requestId, null, { reason: 'Goodwill.' });
    expect(await correct(refunded, tokens(5, 0))).toEqual({ corrected: false, because: 'refunded' });

    const both = await settled(charged());
    await Promise.all([
      correct(both, tokens(5, 0)),
      process.refunds.refund(null, both.requestId, null, { reason: 'Goodwill.' }),
      correct(both, tokens(5, 0)),
    ]);
    await written();
    expect([0n, 5n]).toContain(await spentOf(laneId.invoice(both.accountId, '2026-11')));
    await inOrder();
  });

  test('that was begun when the process died is ended by the next one, and no refund comes before it', async () => {
    const record = await settled(charged());
    const dies = { refund: () => Promise.reject(new Error('killed')) };
    const dying = new Corrections({ pool, lanes: dies, clock: { now: () => NOW }, write: async () => {}, priceOf: () => PRICE });
    await expect(dying.correct(record.requestId, { usage: tokens(5, 0), reason })).rejects.toThrow('killed');
    const refund = () => process.refunds.refund(null, record.requestId, null, { reason: 'Goodwill.' });
    expect(await refund()).toEqual({ refunded: false, because: 'correcting' });
    expect(await process.corrections.resume()).toBe(1);
    await written();
    expect(await process.corrections.resume()).toBe(0);
    expect(await refund()).toMatchObject({ refunded: true, refund: { cost: 5n } });
    await inOrder();
  });

  test('is refused for what is not there, ran no model, changes nothing, or cannot be', async () => {
    const failed = await settled(chat({ outcome: 'failed', cost: '0', usage: tokens(0, 0) }));
    const cached = await settled(chat({ outcome: 'cached', cost: '0', usage: tokens(0, 0) }));
    expect(await correct(cached, tokens(1, 1))).toEqual({ corrected: false, because: 'uncharged' });
    const record = await settled(chat());
    const long = await settled(chat({ priceVersion: '2026-01-01', priceTier: 50 }));
    expect(await correct({ ...record, requestId: newRequestId() }, tokens(1, 1))).toEqual({ corrected: false, because: 'unknown' });
    expect(await correct(failed, tokens(1, 1))).toEqual({ corrected: false, because: 'uncharged' });
    expect(await correct(record, tokens(100, 50))).toEqual({ corrected: false, because: 'same' });
    const impossible = { corrected: false, because: 'impossible', reason: expect.stringContaining('tokens') };
    expect(await correct(record, { ...tokens(1, 1), cached_input_tokens: 2 })).toEqual(impossible);
    // Of that version no other prices are known than those that were frozen.
    expect(await correct(long, tokens(50, 1))).toEqual(impossible);
    expect(await correct(long, tokens(101, 1))).toEqual(impossible);
    expect(await correct(long, tokens(51, 1))).toMatchObject({ corrected: true });
    await inOrder();
  });
});

test('an administrator is told of the correction that was made, and it stands in the log of the account', async () => {
  const admin = { kind: 'session', accountId: newId(), userId: newId(), role: 'admin', sessionId: newId() } as const;
  const headers = {
    'x-internal-secret': undefined,
    'x-web-session-token': undefined,
    'x-api-key': undefined,
    'idempotency-key': undefined,
  };
  const record = await settled(charged());
  await pool.query(`insert into accounts (id, name, created_at) values ($1, 'an account', now())`, [record.accountId]);
  const { refunds, corrections } = process;
  const routes = ledgerRoutes({ pool, archive: emptyArchive(pool), clock: { now: () => NOW }, refunds, corrections });
  const ask = (usage: SettlementRecord['usage']) => {
    const call = { requestId: newRequestId(), peer: { address: '203.0.113.7', userAgent: null }, setHeader: () => {}, headers };
    return routes.correctRequest({ ...call, principal: admin, body: { request_id: record.requestId, usage, reason } });
  };
  const [first, again] = [await ask(tokens(5, 0)), await ask(tokens(5, 0))];
  expect([first.status, again.status]).toEqual([201, 200]);
  expect(again.body).toEqual(first.body);
  expect(CorrectionResponse.parse(first.body)).toMatchObject({ cost_usd: '0.000000005', cost_before_usd: '0.0000002' });
  await expect(ask(tokens(6, 0))).rejects.toMatchObject({ code: 'conflict' });
  await expect(ask({ ...tokens(6, 0), reasoning_tokens: 7 })).rejects.toMatchObject({ code: 'conflict' });
  const { rows } = await pool.query('select action, target_id, changes from audit_log where account_id = $1', [record.accountId]);
  expect(rows).toEqual([
    {
      action: 'request.corrected',
      target_id: record.requestId,
      changes: { reason, cost_usd: '0.000000005', cost_before_usd: '0.0000002' },
    },
  ]);
});
