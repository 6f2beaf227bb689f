import { canonicalJson } from '../src/canonical.ts';
import type { ReceiptLog, ReceiptPayload } from '../src/receipt.ts';
import { anchorAt } from './anchor-vectors.ts';
import { entryAt, INDEX, leavesAround } from './vector-log.ts';
import { issue, type names, payloadWith, type VectorKey } from './vector-receipts.ts';

export interface GoodVector {
  readonly why: string;
  readonly receipt?: unknown;
  readonly text?: string;
  /** What is hashed for the digest, after its prefix, and signed: to find the first byte that differs. */
  readonly canonical_payload: string;
  readonly cost_nano_usd: string;
  /** Whom and what the receipt is for: its salted hashes are of these. */
  readonly names?: typeof names;
  /** Present where the receipt carries its proof: then that is checked too. */
  readonly log?: 'ok';
  /** Present where it names a state of the log on a chain: that is checked as far as it can be without asking the chain. */
  readonly anchor?: 'unconfirmed';
}

export const logged = (why: string, entry: ReceiptLog, payload: ReceiptPayload = payloadWith(), key?: VectorKey): GoodVector => ({
  ...good(why, payload, key),
  receipt: issue(payload, key, entry),
  log: 'ok',
});

export const anchored = (why: string, size: number): GoodVector => ({
  ...good(why, payloadWith()),
  receipt: {
    ...issue(payloadWith(), undefined, entryAt(leavesAround(), INDEX)),
    anchor: anchorAt(leavesAround(payloadWith(), INDEX, size)),
  },
  log: 'ok',
  anchor: 'unconfirmed',
});

export const good = (why: string, payload: ReceiptPayload, key?: VectorKey): GoodVector => ({
  why,
  receipt: issue(payload, key),
  canonical_payload: canonicalJson(payload),
  cost_nano_usd: payload.cost_nano_usd,
});

export const goodText = (why: string, text: string): GoodVector => ({
  why,
  text,
  canonical_payload: canonicalJson(payloadWith()),
  cost_nano_usd: payloadWith().cost_nano_usd,
});
