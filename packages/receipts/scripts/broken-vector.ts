import type { PublishedPrices } from '../src/prices.ts';
import type { ReceiptPayload } from '../src/receipt.ts';
import type { RefusalCode } from '../src/refusal.ts';
import { issue, payloadWith } from './vector-receipts.ts';

export interface BrokenVector {
  readonly why: string;
  readonly expected_code: RefusalCode;
  readonly receipt?: unknown;
  readonly text?: string;
  /** Takes the place of keys.json. */
  readonly keys?: unknown;
  readonly prices?: PublishedPrices;
  /** Verifier keys of witnesses that the reader knows. */
  readonly witnesses?: readonly string[];
}

export const broken = (expected_code: RefusalCode, why: string, receipt: unknown): BrokenVector => ({ why, expected_code, receipt });
/** A receipt that holds: what most broken ones are made of. */
export const honest = issue(payloadWith());
export const { usage }: ReceiptPayload = honest.payload;

/** A receipt that the service has digested and signed as it is: what is changed is all that is wrong. */
export const altered = (changes: object): unknown => issue(payloadWith(changes));

/** The same value with the members of every object in reverse order. */
export function reversed(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(reversed);
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, member]) => [name, reversed(member)]),
  );
}
