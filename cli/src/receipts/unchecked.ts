import type { ExportedReceipt } from '@tallygate/receipts';

type Verdict = ExportedReceipt['verdict'];

/** A price that is not at hand may have been published since: that says nothing against the receipt, and nothing for it. */
export const isUnchecked = (found: Verdict): boolean => !found.valid && found.code === 'price_unpublished';

export const HOW_TO_CHECK =
  'The prices at hand are those that were seen: `tallygate receipts keys` adds today’s, --no-prices leaves them out. A gateway that never published this price has charged what it liked.\n';
