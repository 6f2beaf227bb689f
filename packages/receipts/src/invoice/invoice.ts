import type { QuotaMeter, ReceiptLog } from '../receipt.ts';

/** What a plan includes a month; null: without limit. */
export type PlanQuota = { [Meter in QuotaMeter]: number | null };

/**
 * What the receipts of one month come to that are on one invoice: those from the first to the last number, both included. Every amount is a
 * string of nano-USD (10⁻⁹); one that can be below zero has a sign then.
 */
export interface InvoiceMonth {
  /** `YYYY-MM`, UTC, of the requests. */
  month: string;
  first_number: number;
  /** One less than the first where there are none. */
  last_number: number;
  /** Receipts that settle a request, also one that got no answer. */
  charges: number;
  corrections: number;
  refunds: number;
  /** What the requests cost at catalogue prices, as they were settled. */
  used_nano_usd: string;
  /** What corrections say more, or less, than the receipts that they correct. */
  corrected_nano_usd: string;
  refunded_nano_usd: string;
  /** Used and corrected, less refunded. */
  cost_nano_usd: string;
  /** The part of it that plans' quotas covered; 0 in test mode. */
  covered_nano_usd: string;
  /** The part of it that the prepaid balance pays. */
  from_balance_nano_usd: string;
  /** The part of it that is paid by invoice. */
  by_invoice_nano_usd: string;
  /** Units that quotas covered, less those given back; those that come to zero are absent. */
  covered: { [Meter in QuotaMeter]?: number | undefined };
}

/** The bill of an account for a month: an entry of the log, as its receipts are. */
export interface InvoicePayload {
  version: 'tallygate-invoice/v1';
  invoice_id: string;
  /** 16 random bytes, hex. */
  nonce: string;
  /** As of receipts: see `accountHash`. */
  account_hash: string;
  livemode: boolean;
  month: string;
  /** The number of the invoice among those of its account and mode: 1, 2, 3, …, without a gap. */
  sequence: number;
  /** Digest of the invoice before it, hex; null of the first. */
  previous: string | null;
  /** The plans that the month's own receipts name, in the order of their names, with what each includes. */
  plans: { plan: string; quota: PlanQuota }[];
  /** The month itself, then earlier ones, oldest first, that have got receipts since their invoices: refunds, corrections, and what was settled late. */
  months: InvoiceMonth[];
  /** What balance and invoice pay, of all its months. */
  total_nano_usd: string;
  from_balance_nano_usd: string;
  by_invoice_nano_usd: string;
  /** What the invoice before it left: less than a cent, or less than nothing. */
  carried_before_nano_usd: string;
  /** What is to be paid: `by_invoice_nano_usd` and what was carried, in whole cents. */
  due_nano_usd: string;
  /** What is left of it for the next invoice. */
  carried_nano_usd: string;
  /** RFC 3339, UTC, with milliseconds. */
  issued_at: string;
}

/** An invoice as `GET /v1/invoices/{month}` answers it. Only the payload is signed. */
export interface InvoiceResponse {
  object: 'invoice';
  id: string;
  payload: InvoicePayload;
  /** Its entry in the log, hex: see `invoiceDigest`. */
  digest: string;
  /** As of a receipt, with `"typ":"tallygate-invoice"`. */
  jws: string;
  log: ReceiptLog;
}
