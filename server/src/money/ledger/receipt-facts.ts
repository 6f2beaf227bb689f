import type { ReceiptPayment } from '@tallygate/contract';
import type { PriceEntry } from '@tallygate/receipts';
import { rfc3339 } from '../../kernel/clock.ts';
import type { ReceiptFacts } from '../../receipts/index.ts';
import { SETTLEMENT_FIELDS } from './settlement-fields.ts';
import { projectionsOf } from './settlement-projections.ts';
import { isCorrection, isRefund, isSettled, type PostedRecord } from './settlement-record.ts';

const settlement = projectionsOf(SETTLEMENT_FIELDS);

/** What only the ledger's writer knows of a receipt. */
export interface WrittenFacts {
  /** Of the receipt among those of its account, mode and month. */
  readonly number: number;
  /** The entry of the log that has its price; null where none has. */
  readonly price: PriceEntry | null;
}

/** What the receipt of a settlement, a refund or a correction says: all of it is from the record, and from what its writer has given it. */
export const receiptFacts = (record: PostedRecord, { number, price }: WrittenFacts): ReceiptFacts => ({
  ...settlement.toReceipt(record),
  kind: record.kind ?? 'usage',
  receipt_id: receiptIdOf(record),
  account_sequence: number,
  outcome: isRefund(record) ? 'refunded' : record.outcome,
  price_entry: price,
  payment: paymentOf(record),
  ...(isSettled(record) && record.waived && { waived_nano_usd: record.waived.toString() }),
  refund_of: isRefund(record) || isCorrection(record) ? record.receiptId : null,
  refund_reason: isRefund(record) || isCorrection(record) ? record.reason : null,
  // A clock that was set back meanwhile must not yield a receipt that no verifier accepts.
  completed_at: rfc3339(Math.max(completedAtOf(record), record.startedAt)),
});

/** Of the receipt of what is posted: a refund and a correction have their own. */
export function receiptIdOf(record: PostedRecord): string {
  if (isRefund(record)) return record.refundReceiptId;
  return isCorrection(record) ? record.correctionReceiptId : record.receiptId;
}

const paymentOf = ({ plan, funding, covered, charged }: PostedRecord): ReceiptPayment => ({
  plan: plan ?? null,
  funding,
  covered: Object.fromEntries(Object.entries(covered).flatMap(([meter, units]) => (units > 0n ? [[meter, Number(units)]] : []))),
  charged_nano_usd: charged.toString(),
});

function completedAtOf(record: PostedRecord): number {
  if (isRefund(record)) return record.refundedAt;
  return isCorrection(record) ? record.correctedAt : record.completedAt;
}
