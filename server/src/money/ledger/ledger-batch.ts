import type { JournalEntry } from '../../adapters/lanes/port.ts';
import { type Month, monthOf } from '../../kernel/clock.ts';
import { type CopiedRows, copiedRows, copyField } from '../../kernel/copy-rows.ts';
import { timeOfId, timeOfRequestId } from '../../kernel/ids.ts';
import type { NanoUsd } from '../../kernel/money.ts';
import { priceSubject, receiptColumns, sealOf } from '../../receipts/index.ts';
import { postingsOf } from './postings.ts';
import { type PriceSetRow, priceSetsOf } from './price-sets.ts';
import { receiptFacts, receiptIdOf, type WrittenFacts } from './receipt-facts.ts';
import { dailyUsage, dailyUsageDetails, dailyUsageOfRuns, laneSpend, ledgerDays, runTotals } from './rollups.ts';
import { segmentsOf } from './segments/segments-of-records.ts';
import {
  type CorrectionRecord,
  isCorrection,
  isRefund,
  isSettled,
  type PostedRecord,
  postingKindOf,
  type RefundRecord,
  type SettledRecord,
  type SettlementRecord,
} from './settlement-record.ts';
import { usageRow } from './usage-row.ts';

/** What is posted for one entry of the journal. */
export interface Posted {
  readonly kind: ReturnType<typeof postingKindOf>;
  readonly requestId: string;
  /** In which the request's id was made. */
  readonly month: Month;
  readonly attempt: number;
  /** Of this posting's own receipt. */
  readonly receiptId: string;
  /** In which that id was made. */
  readonly receiptMonth: Month;
  readonly accountId: string;
  readonly livemode: boolean;
  readonly keyId: string | null;
  /** Which price: see `priceSubject`. */
  readonly price: string;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  /** Of limits. */
  readonly limitLanes: readonly string[];
  /** Its provider billed more than was held. */
  readonly overbilled: Overbilled | undefined;
}

/** A bill beyond its hold, of which the operator pays the rest. */
export interface Overbilled {
  readonly requestId: string;
  readonly model: string;
  readonly provider: string;
  readonly billed: NanoUsd;
  readonly held: NanoUsd;
}

/** What a batch of settlements adds to the ledger, receipts apart, ready to be written: of each table its rows, a JSON array or lines of `COPY`. */
export interface LedgerBatch {
  /** In the order of the entries that the pages were made from. */
  readonly posted: readonly Posted[];
  readonly postings: string;
  readonly ledgerEntries: string;
  readonly priceSets: readonly PriceSetRow[];
  readonly usageRecords: CopiedRows;
  readonly usageDaily: string;
  readonly usageRunsDaily: string;
  readonly usageDetailsDaily: string;
  readonly usageSegments: string;
  readonly ledgerDaily: string;
  readonly agentRuns: string;
  readonly laneSpend: string;
  readonly refundIds: readonly string[];
  readonly correctionIds: readonly string[];
}

/**
 * Works out what the entries come to, each counted once. It looks at nothing but its arguments, so it can be done on any thread.
 *
 * @throws TypeError, RangeError or SyntaxError for a record that cannot be read
 */
export function ledgerBatchOf(entries: readonly JournalEntry[]): LedgerBatch {
  const records = entries.map(postedRecord);
  const postings = postingsOf(records);
  const distinct = [...new Set(postings)];
  return {
    posted: records.map(postedOf),
    postings: JSON.stringify(
      distinct.map(({ id, kind, cause, livemode, day }) => ({
        posting_id: id,
        kind,
        request_id: cause?.requestId ?? null,
        attempt: cause?.attempt ?? null,
        livemode,
        day,
      })),
    ),
    ledgerEntries: JSON.stringify(
      distinct.flatMap(({ id, entries: sides }) =>
        sides.map(({ account, amount }) => ({ posting_id: id, account, amount_nano: amount.toString() })),
      ),
    ),
    priceSets: priceSetsOf(records.filter(isSettled)),
    usageRecords: copiedRows(records.flatMap((record, index) => (isSettled(record) ? usageRow(record, postings[index]?.id) : []))),
    usageDaily: JSON.stringify(dailyUsage(records)),
    usageRunsDaily: JSON.stringify(dailyUsageOfRuns(records)),
    usageDetailsDaily: JSON.stringify(dailyUsageDetails(records)),
    usageSegments: JSON.stringify(segmentsOf(records)),
    ledgerDaily: JSON.stringify(ledgerDays(distinct)),
    agentRuns: JSON.stringify(runTotals(records)),
    laneSpend: JSON.stringify(laneSpend(records)),
    refundIds: records.filter(isRefund).map(({ refundId }) => refundId),
    correctionIds: records.filter(isCorrection).map(({ correctionId }) => correctionId),
  };
}

const postedOf = (record: PostedRecord): Posted => ({
  kind: postingKindOf(record),
  requestId: record.requestId,
  month: monthOf(timeOfRequestId(record.requestId)),
  attempt: record.attempt,
  receiptId: receiptIdOf(record),
  receiptMonth: monthOf(timeOfId(receiptIdOf(record))),
  accountId: record.accountId,
  livemode: record.livemode,
  keyId: record.keyId,
  price: priceSubject(record.modelServed, record.priceVersion),
  startedAt: record.startedAt,
  limitLanes: record.limitLanes ?? [],
  overbilled: isSettled(record) ? overbilledIn(record) : undefined,
});

/** What was waived of a bill within its hold came too late for a cap. */
function overbilledIn({
  requestId,
  modelServed: model,
  provider,
  cost,
  waived = 0n,
  held: heldText,
}: SettledRecord): Overbilled | undefined {
  const [billed, held] = [BigInt(cost) + waived, BigInt(heldText)];
  return waived > 0n && billed > held ? { requestId, model, provider, billed, held } : undefined;
}

/** The receipts of entries, in their order. */
export interface LedgerReceipts extends CopiedRows {
  /** As further fields of the lines: of those that have to wait for their places in the log. */
  readonly seals: readonly string[];
  /** The entries of the log, one after the other. */
  readonly digests: Uint8Array;
}

/**
 * @param written of each entry's receipt
 * @throws as {@link ledgerBatchOf}
 */
export function receiptsOf(entries: readonly JournalEntry[], written: readonly WrittenFacts[], sealKey: Buffer): LedgerReceipts {
  const issued = entries.map((entry, at) => {
    const record = postedRecord(entry);
    return { record, ...receiptColumns(receiptFacts(record, written[at] ?? { number: Number.NaN, price: null })) };
  });
  return {
    ...copiedRows(issued.map(receiptRow)),
    seals: issued.map(({ digest }) => copyField(byteaOf(sealOf(sealKey, digest)))),
    digests: Buffer.concat(issued.map(({ digest }) => digest)),
  };
}

type IssuedColumns = ReturnType<typeof receiptColumns> & { readonly record: PostedRecord };

function receiptRow({ record, digest, packed, ...columns }: IssuedColumns) {
  return {
    ...columns,
    packed: packed && byteaOf(packed),
    digest: byteaOf(digest),
    anchor_wished: record.anchorWished ?? false,
  };
}

const byteaOf = (bytes: Buffer): string => `\\x${bytes.toString('hex')}`;

function postedRecord({ charged, debt, covered, waived = 0n, record: written }: JournalEntry): PostedRecord {
  const record = JSON.parse(written) as SettlementRecord | RefundRecord | CorrectionRecord;
  // It was decided what it comes to before the lanes were told, and they were told the difference alone.
  if (record.kind === 'correction') return correctedRecord(record);
  // Test mode has a price and no payer.
  const paid = record.funding === 'test' ? { charged: 0n, debt: 0n, covered } : { charged, debt, covered };
  // A refund's debt is not the lanes' doing: it takes back what the settlement had booked.
  if (record.kind === 'refund') return { ...record, ...paid, debt: BigInt(record.debt) };
  return waived === 0n ? { ...record, ...paid } : { ...record, ...paid, cost: (BigInt(record.cost) - waived).toString(), waived };
}

function correctedRecord(correction: CorrectionRecord): PostedRecord {
  const { correctionId: _, correctionReceiptId: __, reason: ___, correctedAt: ____, was, ...settled } = correction;
  const before: SettledRecord = { ...settled, kind: undefined, ...was, ...paidOf(was) };
  return { ...correction, ...paidOf(correction), was: before };
}

const paidOf = ({ charged, debt, covered, waived = '0' }: CorrectionRecord['was']) => ({
  waived: BigInt(waived),
  charged: BigInt(charged),
  debt: BigInt(debt),
  covered: Object.fromEntries(Object.entries(covered).map(([meter, units]) => [meter, BigInt(units)])),
});
