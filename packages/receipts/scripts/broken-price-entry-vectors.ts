import { declarationDigest } from '../src/log/declaration.ts';
import { leafHash } from '../src/log/tree.ts';
import type { LoggedPrice, PriceDeclaration, ReceiptPayload } from '../src/receipt.ts';
import type { RefusalCode } from '../src/refusal.ts';
import { type BrokenVector, broken } from './broken-vector.ts';
import { entryAt, INDEX, leavesAround, loggedPrice } from './vector-log.ts';
import { current, issue, payloadWith, priceDeclaration, priceEntryOf } from './vector-receipts.ts';

interface Attack {
  readonly declaration?: Partial<PriceDeclaration>;
  /** Of the entry that declares the price. */
  readonly index?: number;
  readonly payload?: Partial<ReceiptPayload>;
  /** What is beside the receipt instead of the price that it names. */
  readonly shown?: Partial<LoggedPrice>;
}

/** Logged, proven and signed as the service would do it: only the price's entry is wrong. */
function attacked(
  code: RefusalCode,
  why: string,
  { declaration: changes = {}, index = 0, payload: more = {}, shown = {} }: Attack,
): BrokenVector {
  const declaration = { ...priceDeclaration, ...changes };
  const payload = payloadWith({ price_entry: priceEntryOf(declaration, index), ...more });
  const leaves = leavesAround(payload);
  leaves[index] = leafHash(declarationDigest(declaration));
  return broken(code, why, issue(payload, current, entryAt(leaves, INDEX), { ...loggedPrice(leaves, declaration, index), ...shown }));
}

const dearer = { ...priceDeclaration.unit_prices_pico_usd, output_tokens: '700000' };

export const brokenPriceEntryVectors: Readonly<Record<string, BrokenVector>> = {
  'price-without-entry': attacked('price_undeclared', 'It was charged, and names no entry of the log.', { payload: { price_entry: null } }),
  'price-dated-back': attacked('price_logged_after', 'The price is in the log after the receipt that was charged at it.', {
    index: INDEX + 1,
  }),
  'price-declared-later': attacked('price_not_in_force', 'The price was declared an hour after the request began.', {
    declaration: { declared_at: '2026-11-21T09:00:00.000Z' },
  }),
  'price-charged-early': attacked('price_not_in_force', 'The price was announced for a later day, and charged before it.', {
    declaration: { effective_from: '2026-12-01T00:00:00.000Z' },
  }),
  'price-other-than-declared': attacked('price_mismatch', 'The unit prices are not those of the entry.', {
    declaration: { unit_prices_pico_usd: dearer },
  }),
  'price-entry-swapped': attacked('price_entry_mismatch', 'Beside the receipt is another declaration than the one that it names.', {
    shown: { declaration: { ...priceDeclaration, declared_at: '2026-07-25T00:00:00.000Z' } },
  }),
  'price-entry-of-another-model': attacked('price_entry_mismatch', 'The entry is the price of another model.', {
    declaration: { model: 'gpt-4o' },
  }),
  'price-entry-not-in-log': attacked('price_not_in_log', 'The proof of the price does not lead to the root.', {
    shown: { inclusion_path: [] },
  }),
  'price-entry-malformed': attacked('malformed_declaration', 'The entry has no time.', {
    shown: { declaration: { ...priceDeclaration, declared_at: 'yesterday' } },
  }),
};
