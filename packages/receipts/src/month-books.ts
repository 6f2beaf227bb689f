import {
  type BookSums,
  type Entry,
  isSharedAsCorrected,
  isSharedAsRefunded,
  type NumberRange,
  type RequestEntries,
  sumsOf,
} from './month-sums.ts';
import type { ReceiptPayload } from './receipt.ts';

/** What is wrong with a receipt that holds by itself, beside the other receipts of its month. */
export type BookFault =
  /** A receipt that was there before. */
  | 'repeated_receipt'
  /** A receipt with the number of another one. */
  | 'repeated_number'
  /** Numbers below the highest that no receipt has: as many were left out. */
  | 'missing_receipts'
  /** A second receipt that charges for one request. */
  | 'billed_twice'
  /** A second refund of one request. */
  | 'refunded_twice'
  /** A second correction of one request. */
  | 'corrected_twice'
  /** It gives back or corrects a receipt that is not there, or is none of its request's that charges for it. */
  | 'refund_of_nothing'
  /** It gives back more than what its request costs, as corrected. */
  | 'refund_exceeds_receipt'
  /** Quota and money do not share what is given back or corrected as they had shared the cost of its request. */
  | 'share_mismatch';

/** A fault, and the sentence that names the receipt and the request. */
export interface FoundInBooks {
  readonly code: BookFault;
  readonly reason: string;
}

const PARTS = { usage: 'settled', batch_line: 'settled', media_job: 'settled', correction: 'corrected', refund: 'refunded' } as const;
const TWICE = { settled: 'billed_twice', corrected: 'corrected_twice', refunded: 'refunded_twice' } as const;
const DONE = { settled: 'billed', corrected: 'corrected', refunded: 'given back' } as const;

/**
 * The receipts of a month, put together by request. What is given back or corrected is in the month of its request and may stand before it in
 * a file, so what belongs together is known once all are there.
 */
export class MonthBooks {
  readonly #ids = new Set<string>();
  readonly #numbers = new Set<number>();
  readonly #requests = new Map<string, RequestEntries>();

  /** The lowest number of a receipt that names each plan. */
  readonly #plans = new Map<string, number>();

  /** The plans that receipts up to a number name, sorted. */
  plansUpTo(last: number): string[] {
    return [...this.#plans].flatMap(([plan, lowest]) => (lowest <= last ? [plan] : [])).sort();
  }

  /** How many of the numbers from the first to the last there are. */
  countOf({ first, last }: NumberRange): number {
    let count = 0;
    for (const number of this.#numbers) if (number >= first && number <= last) count += 1;
    return count;
  }

  /** What the receipts with these numbers come to. */
  sumsOf(range: NumberRange): BookSums {
    return sumsOf(this.#requests.values(), range, this.countOf(range));
  }

  /** Takes a receipt in, or says why there must not be another like it: then it does not count. */
  enter({
    receipt_id: id,
    request_id: request,
    account_sequence: number,
    kind,
    outcome,
    refund_of: of,
    cost_nano_usd: cost,
    payment: { plan, funding, covered, charged_nano_usd: charged },
  }: ReceiptPayload): FoundInBooks | undefined {
    if (this.#ids.has(id)) return { code: 'repeated_receipt', reason: `${id} was there before.` };
    this.#ids.add(id);
    if (this.#numbers.has(number)) return { code: 'repeated_number', reason: `${id} has the number ${number} of another receipt.` };
    this.#numbers.add(number);
    if (plan !== null) this.#plans.set(plan, Math.min(number, this.#plans.get(plan) ?? number));
    const part = PARTS[kind];
    // A request that got no answer may be tried again under its id, and leaves a receipt each time, of nothing.
    if (part === 'settled' && outcome === 'failed') return undefined;
    const known = this.#requests.get(request) ?? {};
    const before = known[part];
    if (before) return { code: TWICE[part], reason: `${id}: the request ${request} was ${DONE[part]} before, in ${before.id}.` };
    this.#requests.set(request, { ...known, [part]: { id, of, number, cost: BigInt(cost), funding, covered, charged: BigInt(charged) } });
    return undefined;
  }

  /** What it comes to in nano-USD, refunds and corrections without the receipt that they are of left out, and these as faults. */
  close(): { readonly billed: bigint; readonly faults: readonly FoundInBooks[] } {
    const faults: FoundInBooks[] = missingIn(this.#numbers);
    let billed = 0n;
    for (const [request, entries] of this.#requests) {
      const found = faultsOf(request, entries);
      faults.push(...found);
      billed += standing(entries) - (found.length === 0 ? (entries.refunded?.cost ?? 0n) : 0n);
    }
    return { billed, faults };
  }
}

/** How many numbers a sentence names. */
const NAMED = 10;

function missingIn(numbers: ReadonlySet<number>): FoundInBooks[] {
  const highest = [...numbers].reduce((most, number) => Math.max(most, number), 0);
  const count = highest - numbers.size;
  if (count === 0) return [];
  const named: number[] = [];
  for (let number = 1; number <= highest && named.length < NAMED; number += 1) if (!numbers.has(number)) named.push(number);
  const which = `${named.join(', ')}${count > named.length ? ', …' : ''}`;
  return [{ code: 'missing_receipts', reason: `${count} of the numbers up to ${highest} have no receipt in this file: ${which}.` }];
}

/** What the request costs before anything of it is given back. */
const standing = ({ settled, corrected }: RequestEntries): bigint =>
  settled && corrected?.of === settled.id ? corrected.cost : (settled?.cost ?? 0n);

function faultsOf(request: string, entries: RequestEntries): FoundInBooks[] {
  const { settled, corrected, refunded } = entries;
  const faults: FoundInBooks[] = [];
  const nothing = ({ id, of }: Entry) => `${id} is of ${of}, which is no receipt in this file that charges for the request ${request}.`;
  if (corrected && corrected.of !== settled?.id) faults.push({ code: 'refund_of_nothing', reason: nothing(corrected) });
  else if (corrected && settled) faults.push(...shareFaults(corrected, isSharedAsCorrected(settled, corrected)));
  if (!refunded) return faults;
  const charging = [settled?.id, corrected?.id];
  if (!settled || !charging.includes(refunded.of ?? '')) faults.push({ code: 'refund_of_nothing', reason: nothing(refunded) });
  else if (refunded.cost > standing(entries)) {
    const reason = `${refunded.id} gives back ${refunded.cost} nano-USD, the request ${request} costs ${standing(entries)}.`;
    faults.push({ code: 'refund_exceeds_receipt', reason });
  } else faults.push(...shareFaults(refunded, isSharedAsRefunded(corrected?.of === settled.id ? corrected : settled, refunded)));
  return faults;
}

const shareFaults = ({ id, of }: Entry, isShared: boolean): FoundInBooks[] =>
  isShared ? [] : [{ code: 'share_mismatch', reason: `${id} shares its cost between quota and money otherwise than ${of} did.` }];
