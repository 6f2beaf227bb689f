import { quotaUnits, verifyReceipt } from '@tallygate/receipts';
import type { Pool } from 'pg';
import { InProcessLanes } from '../../../adapters/lanes/in-process.ts';
import type { LaneSource, LaneStore, MoneyLane, Units } from '../../../adapters/lanes/port.ts';
import { SettlementJournal } from '../../../adapters/lanes/settlement-journal.ts';
import { emptyArchive } from '../../../archive/testing/archives.ts';
import { silentLog } from '../../../kernel/log.ts';
import { newSigningSeed, priceSubject, signingKeyFromSeed } from '../../../receipts/index.ts';
import { payloadOf } from '../../../receipts/packed-receipt.ts';
import { signReceipt } from '../../../receipts/sign-receipt.ts';
import { storedReceipt } from '../../../receipts/stored-receipt.ts';
import type { Price } from '../../catalog/index.ts';
import { Corrections } from '../corrections.ts';
import { lanesOfRecord } from '../lanes-of-record.ts';
import { LedgerWriter } from '../ledger-writer.ts';
import { Refunds } from '../refunds.ts';
import { sampleRecord } from '../sample-records.ts';
import type { SettlementRecord } from '../settlement-record.ts';
import { testPages } from './pages.ts';

export const NOW = Date.parse('2026-12-03T10:00:00Z');
const CAPS: Units = { requests: 20n, tokens: 2_000n, images: 3n, audio_seconds: 100n, video_seconds: 0n };
export const signingKey = signingKeyFromSeed(newSigningSeed());

/** What sample records were settled at, and what input of more than a thousand tokens costs. */
export const PRICE: Price = {
  version: '2026-07-24',
  effectiveFrom: Date.parse('2026-07-24'),
  unit: { input_tokens: 1_000n, output_tokens: 2_000n },
  tiers: [{ aboveInputTokens: 1_000, unit: { input_tokens: 3_000n, output_tokens: 4_000n } }],
  batchFactor: '0.5',
};

interface On {
  readonly pool: Pool;
  readonly source: LaneSource;
  /** Of the journal. */
  readonly dir: string;
  /** What is published. Otherwise nothing is, and what a record has frozen counts. */
  readonly price?: Price | undefined;
}

/** Lanes, journal and ledger as a process has them: what another left in the journal is not read yet. For tests. */
export function openProcess({ pool, source, dir, price }: On) {
  const journal = new SettlementJournal(dir, (segment, line) => {
    throw new Error(`${segment}: ${line}`);
  });
  const lanes = new InProcessLanes(source, journal);
  const onQuarantine = (_entry: unknown, error: unknown) => {
    throw error;
  };
  const writer = new LedgerWriter({
    feed: journal,
    pool,
    archive: emptyArchive(pool),
    pages: testPages,
    log: silentLog(),
    onQuarantine,
  });
  const deps = { pool, lanes, clock: { now: () => NOW }, write: () => writer.drain() };
  return { journal, lanes, writer, refunds: new Refunds(deps), corrections: new Corrections({ ...deps, priceOf: () => price }) };
}

/** Where prices stand in a log that these tests do not have: what was charged has an entry. */
export const declarePrices = (pool: Pool, prices: readonly { readonly model: string; readonly version: string }[]): Promise<unknown> =>
  pool.query(
    `insert into log_declarations (log_index, kind, subject, digest, declaration)
     select place, 'price', subject, $2, '{}' from unnest($1::text[]) with ordinality as given (subject, place)`,
    [prices.map(({ model, version }) => priceSubject(model, version)), Buffer.alloc(32, 1)],
  );

/** Those that sample records name. */
export const declareSamplePrices = (pool: Pool, models: readonly string[] = [sampleRecord().modelServed, 'sora-2']): Promise<unknown> =>
  declarePrices(
    pool,
    models.map((model) => ({ model, version: sampleRecord().priceVersion })),
  );

/** Holds a request on the lanes that its record names, and settles it at its cost. */
export async function settleOn(lanes: LaneStore, record: SettlementRecord): Promise<void> {
  const units = await takeOn(lanes, record);
  await lanes.settle({ holdId: record.receiptId, cost: BigInt(record.cost), units, record: JSON.stringify(record) });
}

/** Holds a request on the lanes that its record names, and says which units it uses. */
async function takeOn(lanes: LaneStore, record: SettlementRecord): Promise<Units> {
  const names = lanesOfRecord(record);
  const lane = (id: string): MoneyLane => ({
    id,
    source: 'key',
    cap: null,
    capRule: id.startsWith('balance:') ? 'credited' : 'given',
    resetsAt: null,
  });
  const units = quotaUnits(record.usage);
  const outcome = await lanes.hold({
    holdId: record.receiptId,
    accountId: record.accountId,
    at: record.startedAt,
    cost: { fixed: BigInt(record.held) * 1_000n, perOutputToken: 0n },
    outputTokens: { wanted: 0, least: 0 },
    units,
    lanes: names.lanes.map(lane),
    quota: names.quota === null ? null : { id: names.quota, caps: CAPS, resetsAt: 0 },
    funds: names.funds === null ? null : lane(names.funds),
  });
  if (!outcome.held) throw new Error('not held');
  return units;
}

export const tokens = (input_tokens: number, output_tokens: number) => ({
  input_tokens,
  cached_input_tokens: 0,
  cache_write_tokens: 0,
  output_tokens,
  reasoning_tokens: 0,
});

/** What the receipt that the ledger's writer has stored is found to be. */
export async function verdictOf(pool: Pool, receiptId: string) {
  const row = await storedReceipt(pool, emptyArchive(pool), receiptId);
  if (!row) throw new Error(`There is no receipt ${receiptId}`);
  const payload = payloadOf(row);
  const { x, kid } = signingKey;
  const times = { not_before: '2026-01-01T00:00:00.000Z', not_after: null };
  const keys = { keys: [{ kty: 'OKP', crv: 'Ed25519', x, kid, use: 'sig', alg: 'EdDSA', purpose: 'receipt', ...times }] };
  const receipt = {
    object: 'receipt',
    id: receiptId,
    payload: JSON.parse(payload),
    digest: row.digest.toString('hex'),
    jws: await signReceipt(payload, signingKey),
    log: { state: 'pending' },
    price: null,
    anchor: null,
  };
  return verifyReceipt(receipt, keys);
}
