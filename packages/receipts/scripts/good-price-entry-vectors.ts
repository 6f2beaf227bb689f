import { canonicalJson } from '../src/canonical.ts';
import { entryAt, INDEX, leavesAround, loggedPrice } from './vector-log.ts';
import { current, issue, payloadWith } from './vector-receipts.ts';

/** The receipt with the entry of its price, both against one state of the log. */
function withPrice(why: string, payload = payloadWith()) {
  const leaves = leavesAround(payload);
  const receipt = issue(payload, current, entryAt(leaves, INDEX), loggedPrice(leaves));
  return { why, receipt, canonical_payload: canonicalJson(payload), cost_nano_usd: payload.cost_nano_usd, log: 'ok' as const };
}

export const goodPriceEntryVectors = {
  'logged-with-price': withPrice('With the entry of the log that declares its price, five entries before it.'),
  'logged-with-price-of-another-clock': withPrice(
    'The request began four minutes before its price was declared, by the clocks of two gateways: up to five minutes are allowed.',
    payloadWith({ started_at: '2026-07-24T07:56:00.000Z', completed_at: '2026-07-24T07:56:01.000Z' }),
  ),
};
