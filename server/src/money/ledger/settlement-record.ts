import type { ReceiptUsage } from '@tallygate/contract';
import type { PAYMENT_FIELDS, SETTLEMENT_FIELDS } from './settlement-fields.ts';
import type { RecordOf } from './settlement-projections.ts';

/** One settled request as the journal has it: JSON, so money is strings of nano-USD and times are epoch milliseconds. */
export interface SettlementRecord extends RecordOf<typeof SETTLEMENT_FIELDS> {}

/** What is given back of a settled request, as it stands in the journal: the settled record, and why. */
export interface RefundRecord extends Omit<SettlementRecord, 'kind'> {
  readonly kind: 'refund';
  readonly refundId: string;
  /** The refund's own receipt; `receiptId` is that of what is refunded. */
  readonly refundReceiptId: string;
  readonly reason: string;
  readonly refundedAt: number;
  /** Nano-USD: what the settlement had booked as debt. */
  readonly debt: string;
}

/** A refund with what is given back, in positive amounts. */
export interface RefundedRecord extends Omit<RefundRecord, 'debt'>, Paid {}

/** How much of a request was used and who paid it, before or after a correction. Money is nano-USD. */
export interface Repricing {
  readonly usage: ReceiptUsage;
  readonly cost: string;
  readonly charged: string;
  readonly debt: string;
  readonly covered: Readonly<Record<string, string>>;
}

/** A correction as it stands in the journal: the record as it should have been settled, how it was, and why. */
export interface CorrectionRecord extends Omit<SettlementRecord, 'kind' | keyof Repricing>, Repricing {
  readonly kind: 'correction';
  readonly correctionId: string;
  /** The correction's own receipt; `receiptId` is that of what is corrected. */
  readonly correctionReceiptId: string;
  readonly reason: string;
  readonly correctedAt: number;
  /** `waived`: a correction leaves nothing of it. Absent: nothing. */
  readonly was: Repricing & { readonly waived?: string };
}

/** A correction takes the place of what was settled: that counts no longer, and this does. */
export interface CorrectedRecord extends Omit<CorrectionRecord, 'was' | 'charged' | 'debt' | 'covered'>, Paid {
  readonly was: SettledRecord;
}

/** What the ledger writes. */
export type PostedRecord = SettledRecord | RefundedRecord | CorrectedRecord;

/** Without an answer, or with one that was kept, nothing was used: there is nothing to give back or to correct. */
export const ranNoModel = (outcome: string): boolean => outcome === 'failed' || outcome === 'cached';

export const isRefund = (record: PostedRecord): record is RefundedRecord => record.kind === 'refund';
export const isCorrection = (record: PostedRecord): record is CorrectedRecord => record.kind === 'correction';

export const isSettled = (record: PostedRecord): record is SettledRecord => postingKindOf(record) === 'usage';

/** Under which name the ledger books it. */
export const postingKindOf = (record: PostedRecord): 'usage' | 'refund' | 'correction' =>
  record.kind === 'refund' || record.kind === 'correction' ? record.kind : 'usage';

/** How the account paid. */
interface Paid extends RecordOf<typeof PAYMENT_FIELDS> {}

/** A record with what the lanes decided. */
export interface SettledRecord extends SettlementRecord, Paid {}
