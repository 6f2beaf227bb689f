import type { ReceiptUsage } from '@tallygate/contract';
import { rfc3339 } from '../../kernel/clock.ts';
import type { SettledRecord, SettlementRecord } from './settlement-record.ts';

/** Five counts that every request has in columns, the others by name, without zeros. */
export function countsOf({
  input_tokens,
  cached_input_tokens,
  cache_write_tokens,
  output_tokens,
  reasoning_tokens,
  ...others
}: ReceiptUsage) {
  const meters = Object.fromEntries(Object.entries(others).filter(([, count]) => count));
  return { input_tokens, cached_input_tokens, cache_write_tokens, output_tokens, reasoning_tokens, meters };
}

/** A settled record as a row of `usage_records`. @param postingId of the posting that books it */
export const usageRow = (record: SettledRecord, postingId: string | undefined) => ({
  request_id: record.requestId,
  attempt: record.attempt,
  posting_id: postingId,
  started_at: rfc3339(record.startedAt),
  receipt_id: record.receiptId,
  client_request_id: record.clientRequestId,
  account_id: record.accountId,
  key_id: record.keyId,
  run_id: record.runId,
  ancestor_run_ids: record.ancestorRunIds ?? null,
  livemode: record.livemode,
  endpoint: record.endpoint,
  stream: record.stream,
  model_requested: record.modelRequested,
  model_served: record.modelServed,
  provider: record.provider,
  fallback: record.fallback,
  outcome: record.outcome,
  attempts: record.attempts,
  skipped: record.skipped ?? null,
  ...countsOf(record.usage),
  kind: record.kind ?? 'usage',
  price_factor: record.priceFactor ?? '1',
  funding: record.funding,
  estimated: record.estimated,
  price_version: record.priceVersion,
  price_tier: record.priceTier,
  unit_prices: record.unitPrices,
  held_nano: record.held,
  cost_nano: record.cost,
  charged_nano: record.charged.toString(),
  debt_nano: record.debt.toString(),
  covered: Object.fromEntries(Object.entries(record.covered).map(([meter, amount]) => [meter, amount.toString()])),
  request_sha256: record.requestSha256,
  response_sha256: record.responseSha256,
  first_byte_at: record.firstByteAt === null ? null : rfc3339(record.firstByteAt),
  completed_at: rfc3339(record.completedAt),
  overhead_ms: record.overheadMs,
});

type Counted = 'input_tokens' | 'cached_input_tokens' | 'cache_write_tokens' | 'output_tokens' | 'reasoning_tokens';
type Paid = 'held_nano' | 'cost_nano' | 'charged_nano' | 'debt_nano';
type Timed = 'started_at' | 'first_byte_at' | 'completed_at';

/** A row of `usage_records` as it is read. */
export interface UsageRecordRow
  extends Omit<ReturnType<typeof usageRow>, Counted | Paid | Timed | 'covered'>,
    Readonly<Record<Counted | Paid, bigint>> {
  readonly covered: Readonly<Record<string, string>>;
  readonly started_at: Date;
  readonly first_byte_at: Date | null;
  readonly completed_at: Date;
}

/** The usage of a row, as receipts have it. */
export const usageOfRow = (row: Pick<UsageRecordRow, Counted | 'meters'>): ReceiptUsage => ({
  input_tokens: Number(row.input_tokens),
  cached_input_tokens: Number(row.cached_input_tokens),
  cache_write_tokens: Number(row.cache_write_tokens),
  output_tokens: Number(row.output_tokens),
  reasoning_tokens: Number(row.reasoning_tokens),
  ...row.meters,
});

/** The record that a row was made from. */
export const recordOfRow = (row: UsageRecordRow): SettlementRecord => ({
  kind: row.kind,
  receiptId: row.receipt_id,
  requestId: row.request_id,
  attempt: row.attempt,
  clientRequestId: row.client_request_id,
  accountId: row.account_id,
  keyId: row.key_id,
  runId: row.run_id,
  ...(row.ancestor_run_ids && { ancestorRunIds: row.ancestor_run_ids }),
  livemode: row.livemode,
  funding: row.funding,
  endpoint: row.endpoint,
  stream: row.stream,
  modelRequested: row.model_requested,
  modelServed: row.model_served,
  provider: row.provider,
  fallback: row.fallback,
  outcome: row.outcome,
  attempts: row.attempts,
  ...(row.skipped && { skipped: row.skipped }),
  usage: usageOfRow(row),
  estimated: row.estimated,
  priceVersion: row.price_version,
  priceTier: row.price_tier,
  priceFactor: row.price_factor,
  unitPrices: row.unit_prices,
  held: row.held_nano.toString(),
  cost: row.cost_nano.toString(),
  requestSha256: row.request_sha256,
  responseSha256: row.response_sha256,
  startedAt: row.started_at.getTime(),
  firstByteAt: row.first_byte_at?.getTime() ?? null,
  completedAt: row.completed_at.getTime(),
  overheadMs: row.overhead_ms,
});
