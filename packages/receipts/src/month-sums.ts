import { QUOTA_METERS } from './quota-units.ts';
import type { QuotaMeter, ReceiptPayment } from './receipt.ts';

/** How a receipt says that it was paid. */
interface BookedPayment {
  readonly funding: ReceiptPayment['funding'];
  readonly covered: ReceiptPayment['covered'];
  /** Nano-USD. */
  readonly charged: bigint;
}

export interface Entry extends BookedPayment {
  readonly id: string;
  readonly of: string | null;
  readonly number: number;
  readonly cost: bigint;
}

/** What is known of a request: settled once, corrected at most once, given back at most once. */
export type RequestEntries = { [Part in 'settled' | 'corrected' | 'refunded']?: Entry };

/** Both included. */
export interface NumberRange {
  readonly first: number;
  readonly last: number;
}

/** What the receipts of a range of numbers come to, in nano-USD. */
export interface BookSums {
  readonly charges: number;
  readonly corrections: number;
  readonly refunds: number;
  readonly used: bigint;
  readonly corrected: bigint;
  readonly refunded: bigint;
  readonly fromBalance: bigint;
  readonly byInvoice: bigint;
  readonly covered: Readonly<Record<QuotaMeter, bigint>>;
}

/** @param count of all receipts in the range: those that got no answer are on no request, and come to nothing */
export function sumsOf(requests: Iterable<RequestEntries>, { first, last }: NumberRange, count: number): BookSums {
  const sums = { corrections: 0, refunds: 0, used: 0n, corrected: 0n, refunded: 0n, fromBalance: 0n, byInvoice: 0n };
  const covered = { requests: 0n, tokens: 0n, images: 0n, audio_seconds: 0n, video_seconds: 0n };
  const isIn = (entry: Entry | undefined): entry is Entry => entry !== undefined && entry.number >= first && entry.number <= last;
  const pay = ({ funding, charged, covered: units }: BookedPayment, sign: 1n | -1n) => {
    sums[funding === 'invoice' ? 'byInvoice' : 'fromBalance'] += sign * charged;
    for (const meter of QUOTA_METERS) covered[meter] += sign * BigInt(units[meter] ?? 0);
  };
  for (const { settled, corrected, refunded } of requests) {
    if (isIn(settled)) {
      sums.used += settled.cost;
      pay(settled, 1n);
    }
    if (isIn(corrected)) {
      sums.corrections += 1;
      sums.corrected += corrected.cost - (settled?.cost ?? 0n);
      pay(corrected, 1n);
      if (settled) pay(settled, -1n);
    }
    if (isIn(refunded)) {
      sums.refunds += 1;
      sums.refunded += refunded.cost;
      pay(refunded, -1n);
    }
  }
  return { ...sums, charges: count - sums.corrections - sums.refunds, covered };
}

/**
 * Quota and money share the corrected cost as they had shared the settled one, what is charged rounded down. Who may not go beyond the quota
 * is charged nothing. Where the settled cost was nothing, who had been asked first pays: the quota, where it had covered anything.
 */
export function isSharedAsCorrected(settled: Entry, corrected: Entry): boolean {
  if (corrected.funding !== settled.funding) return false;
  if (settled.funding === 'test' || settled.funding === 'none') return corrected.charged === 0n;
  if (settled.cost === 0n) return corrected.charged === (Object.keys(settled.covered).length > 0 ? 0n : corrected.cost);
  return corrected.charged === (corrected.cost * settled.charged) / settled.cost;
}

/** What is given back of a cost returns in the shares in which it was paid, the money's share rounded up; all of it exactly. */
export function isSharedAsRefunded(paid: Entry, refunded: Entry): boolean {
  if (refunded.funding !== paid.funding) return false;
  if (refunded.cost === paid.cost && QUOTA_METERS.some((meter) => refunded.covered[meter] !== paid.covered[meter])) return false;
  const charged = paid.cost === 0n ? 0n : (paid.charged * refunded.cost + paid.cost - 1n) / paid.cost;
  return refunded.charged === charged;
}
