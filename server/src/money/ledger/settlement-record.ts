import type { ClientSignature, ReceiptUsage, RequestAttempt, RequestTrace, SkippedDeployment } from '@tallygate/contract';

/**
 * Everything the ledger has to know about one settled request, as it stands in the journal: JSON, so money is strings of nano-USD
 * and times are epoch milliseconds. It carries no prompt and no answer.
 */
export interface SettlementRecord {
  /** What was settled; `usage`, an answered request, where it is absent. */
  readonly kind?: 'usage' | 'batch_line' | 'media_job' | undefined;
  readonly receiptId: string;
  readonly requestId: string;
  /** Which of the request's calls is settled here, from 1. */
  readonly attempt: number;
  readonly clientRequestId: string | null;
  readonly accountId: string;
  readonly keyId: string | null;
  readonly runId: string | null;
  /** The runs above that one, the nearest first, on whose lanes it was held too; absent where there are none. */
  readonly ancestorRunIds?: readonly string[] | undefined;
  readonly livemode: boolean;
  /** Who pays what the plan's quota does not cover. */
  readonly funding: 'test' | 'balance' | 'invoice' | 'none';
  readonly endpoint: string;
  readonly stream: boolean;
  readonly modelRequested: string;
  readonly modelServed: string;
  readonly provider: string;
  readonly fallback: RequestTrace['fallback'];
  readonly outcome: RequestTrace['outcome'];
  readonly attempts: readonly RequestAttempt[];
  /** What was left aside; absent where nothing was. */
  readonly skipped?: readonly SkippedDeployment[] | undefined;
  readonly usage: ReceiptUsage;
  readonly estimated: boolean;
  readonly priceVersion: string;
  readonly priceTier: number | null;
  /** Pico-USD per unit, by meter. */
  readonly unitPrices: Readonly<Record<string, string>>;
  /** An exact decimal on all unit prices, such as a price's batch factor; '1' where it is absent. */
  readonly priceFactor?: string | undefined;
  /** Nano-USD. */
  readonly held: string;
  /** Nano-USD. */
  readonly cost: string;
  /** Absent in records from before requests could be signed. */
  readonly clientSignature?: ClientSignature | null;
  /** The caller asks for the receipt to be anchored on chain soon. */
  readonly anchorWished?: true | undefined;
  readonly requestSha256: string;
  readonly responseSha256: string;
  /**
   * Decides the day and the month it belongs to, and so which lanes: it is in the period of the lanes it was held on. Of a line of a batch
   * it is therefore the time at which the batch's hold was taken.
   */
  readonly startedAt: number;
  readonly firstByteAt: number | null;
  readonly completedAt: number;
  readonly overheadMs: number;
}

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
  readonly was: Repricing;
}

/** A correction takes the place of what was settled: that counts no longer, and this does. */
export interface CorrectedRecord extends Omit<CorrectionRecord, 'was' | 'charged' | 'debt' | 'covered'>, Paid {
  readonly was: SettledRecord;
}

/** What the ledger writes. */
export type PostedRecord = SettledRecord | RefundedRecord | CorrectedRecord;

export const isRefund = (record: PostedRecord): record is RefundedRecord => record.kind === 'refund';
export const isCorrection = (record: PostedRecord): record is CorrectedRecord => record.kind === 'correction';

/** Under which name the ledger books it. */
export const postingKindOf = (record: PostedRecord): 'usage' | 'refund' | 'correction' =>
  record.kind === 'refund' || record.kind === 'correction' ? record.kind : 'usage';

/** How the account paid. */
interface Paid {
  readonly charged: bigint;
  readonly debt: bigint;
  readonly covered: Readonly<Record<string, bigint>>;
}

/** A record with what the lanes decided. */
export interface SettledRecord extends SettlementRecord, Paid {}
