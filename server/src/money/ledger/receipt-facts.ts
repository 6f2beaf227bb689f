import type { ReceiptUsage } from '@tallygate/contract';
import { rfc3339 } from '../../kernel/clock.ts';
import type { ReceiptFacts } from '../../receipts/index.ts';
import { isCorrection, isRefund, type PostedRecord } from './settlement-record.ts';

/**
 * What the receipt of a settlement, a refund or a correction says, taken from the record and nowhere else.
 *
 * @param number of the receipt among those of its account, mode and month
 */
export const receiptFacts = (record: PostedRecord, number: number): ReceiptFacts => ({
  kind: record.kind ?? 'usage',
  receipt_id: receiptIdOf(record),
  request_id: record.requestId,
  account_id: record.accountId,
  key_id: record.keyId,
  livemode: record.livemode,
  account_sequence: number,
  endpoint: record.endpoint,
  run_id: record.runId,
  model_requested: record.modelRequested,
  model_served: record.modelServed,
  provider: record.provider,
  fallback: record.fallback,
  outcome: isRefund(record) ? 'refunded' : record.outcome,
  request_sha256: record.requestSha256,
  response_sha256: record.responseSha256,
  usage: withoutZeros(record.usage),
  estimated: record.estimated,
  price_version: record.priceVersion,
  price_tier_above_input_tokens: record.priceTier,
  unit_prices_pico_usd: { ...record.unitPrices },
  price_factor: record.priceFactor ?? '1',
  cost_nano_usd: record.cost,
  refund_of: isRefund(record) || isCorrection(record) ? record.receiptId : null,
  refund_reason: isRefund(record) || isCorrection(record) ? record.reason : null,
  started_at: rfc3339(record.startedAt),
  // A clock that was set back meanwhile must not yield a receipt that no verifier accepts.
  completed_at: rfc3339(Math.max(completedAtOf(record), record.startedAt)),
  client_signature: record.clientSignature ?? null,
});

/** Of the receipt of what is posted: a refund and a correction have their own. */
export function receiptIdOf(record: PostedRecord): string {
  if (isRefund(record)) return record.refundReceiptId;
  return isCorrection(record) ? record.correctionReceiptId : record.receiptId;
}

function completedAtOf(record: PostedRecord): number {
  if (isRefund(record)) return record.refundedAt;
  return isCorrection(record) ? record.correctedAt : record.completedAt;
}

/** The counts that only some requests have are left out when they are zero: a zero would be a second spelling. */
export function withoutZeros({
  input_tokens,
  cached_input_tokens,
  cache_write_tokens,
  output_tokens,
  reasoning_tokens,
  ...others
}: ReceiptUsage): ReceiptUsage {
  const more = Object.fromEntries(Object.entries(others).filter(([, count]) => count));
  return { input_tokens, cached_input_tokens, cache_write_tokens, output_tokens, reasoning_tokens, ...more };
}
