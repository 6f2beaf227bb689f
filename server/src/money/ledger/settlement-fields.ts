import type { ClientSignature, RequestAttempt, RequestTrace, SkippedDeployment } from '@tallygate/contract';
import { duration, frozenPrices, nano, nanoText, plain, texts, time, timeOrNull, units, usage } from './field-kinds.ts';

/** A kind, and where its value is found. */
interface Field {
  write(value: never): unknown;
  read(column: never): unknown;
  show(column: never): unknown;
  sign(value: never): unknown;
  readonly column?: string;
  readonly isSpread?: true;
  readonly trace?: string;
  readonly receipt?: string;
  readonly absent?: unknown;
}

export type FieldTable = Readonly<Record<string, Field>>;

/**
 * Everything that is known of a settled request, a field each. The record of the journal, the columns of `usage_records`, the trace of a
 * request and the facts of its receipt follow from this table (`settlement-projections.ts`). It carries no prompt and no answer.
 *
 * A new field is declared here, given its value in `recordOf` of `inference/calls/settlement.ts`, and gets its column in a migration; where
 * the trace or the receipt shows it, their schemas in the contract have it.
 *
 * - `column`: of `usage_records`; left out where the ledger does not keep the field.
 * - `trace`, `receipt`: its name there; left out where it is not shown.
 * - `absent`: what its column has where a record leaves it out.
 * - `isSpread`: in several columns, named as its kind writes them.
 */
export const SETTLEMENT_FIELDS = {
  requestId: { ...plain<string>(), column: 'request_id', trace: 'request_id', receipt: 'request_id' },
  /** Which of the request's calls is settled here, from 1. */
  attempt: { ...plain<number>(), column: 'attempt' },
  /**
   * Decides the day and the month it belongs to, and so which lanes: it is in the period of the lanes it was held on. Of a line of a batch
   * it is therefore the time at which the batch's hold was taken.
   */
  startedAt: { ...time, column: 'started_at', trace: 'started_at', receipt: 'started_at' },
  receiptId: { ...plain<string>(), column: 'receipt_id', trace: 'receipt_id', receipt: 'receipt_id' },
  clientRequestId: { ...plain<string | null>(), column: 'client_request_id', trace: 'client_request_id' },
  accountId: { ...plain<string>(), column: 'account_id', receipt: 'account_id' },
  /** Whose key or session it was. */
  userId: { ...plain<string>(), column: 'user_id', absent: null },
  projectId: { ...plain<string>(), column: 'project_id', trace: 'project_id', receipt: 'project_id', absent: null },
  /** As the caller names them, of whom the account knows. The receipt has its hash: `end_user_hash`. */
  endUser: { ...plain<string>(), column: 'end_user', trace: 'end_user', receipt: 'end_user', absent: null },
  tags: { ...texts, column: 'tags', trace: 'tags', receipt: 'tags', absent: null },
  /** The lanes of limits that it was held on, by their names. */
  limitLanes: { ...texts, column: 'limit_lanes', absent: null },
  keyId: { ...plain<string | null>(), column: 'key_id', trace: 'key_id', receipt: 'key_id' },
  runId: { ...plain<string | null>(), column: 'run_id', trace: 'run_id', receipt: 'run_id' },
  /** The runs above that one, the nearest first, on whose lanes it was held too. */
  ancestorRunIds: { ...texts, column: 'ancestor_run_ids', absent: null },
  livemode: { ...plain<boolean>(), column: 'livemode', trace: 'livemode', receipt: 'livemode' },
  /** What was settled; `usage` is an answered request. A receipt has the kind of what is posted, which may be a refund. */
  kind: { ...plain<'usage' | 'batch_line' | 'media_job'>(), column: 'kind', trace: 'kind', absent: 'usage' },
  endpoint: { ...plain<string>(), column: 'endpoint', trace: 'endpoint', receipt: 'endpoint' },
  stream: { ...plain<boolean>(), column: 'stream', trace: 'stream' },
  modelRequested: { ...plain<string>(), column: 'model_requested', trace: 'model_requested', receipt: 'model_requested' },
  modelServed: { ...plain<string>(), column: 'model_served', trace: 'model_served', receipt: 'model_served' },
  provider: { ...plain<string>(), column: 'provider', trace: 'provider', receipt: 'provider' },
  fallback: { ...plain<RequestTrace['fallback']>(), column: 'fallback', trace: 'fallback', receipt: 'fallback' },
  outcome: { ...plain<RequestTrace['outcome']>(), column: 'outcome', trace: 'outcome', receipt: 'outcome' },
  attempts: { ...plain<readonly RequestAttempt[]>(), column: 'attempts', trace: 'attempts' },
  /** The deployments that were left out. */
  skipped: { ...plain<readonly SkippedDeployment[]>(), column: 'skipped', trace: 'skipped', absent: null },
  /** In six columns: five counts that every request has, and `meters`. */
  usage: { ...usage, isSpread: true, trace: 'usage', receipt: 'usage' },
  estimated: { ...plain<boolean>(), column: 'estimated', trace: 'estimated', receipt: 'estimated' },
  priceVersion: { ...plain<string>(), column: 'price_version', trace: 'price_version', receipt: 'price_version' },
  priceTier: { ...plain<number | null>(), column: 'price_tier', receipt: 'price_tier_above_input_tokens' },
  /** An exact decimal on all unit prices, such as a price's batch factor. */
  priceFactor: { ...plain<string>(), column: 'price_factor', trace: 'price_factor', receipt: 'price_factor', absent: '1' },
  /** Pico-USD per unit, by meter. */
  unitPrices: { ...frozenPrices, isSpread: true, receipt: 'unit_prices_pico_usd' },
  /** Who pays what the plan's quota does not cover. */
  funding: { ...plain<'test' | 'balance' | 'invoice' | 'none'>(), column: 'funding' },
  /** The version of the plan whose quota it drew on; null in test mode. */
  plan: { ...plain<string | null>(), column: 'plan', absent: null },
  /** Nano-USD. */
  held: { ...nanoText, column: 'held_nano', trace: 'held_usd' },
  /** Nano-USD. */
  cost: { ...nanoText, column: 'cost_nano', trace: 'cost_usd', receipt: 'cost_nano_usd' },
  clientSignature: { ...plain<ClientSignature | null>(), receipt: 'client_signature', absent: null },
  /** The caller asks for the receipt to be anchored on chain soon. */
  anchorWished: { ...plain<true>(), absent: null },
  requestSha256: { ...plain<string>(), column: 'request_sha256', receipt: 'request_sha256' },
  responseSha256: { ...plain<string>(), column: 'response_sha256', receipt: 'response_sha256' },
  firstByteAt: { ...timeOrNull, column: 'first_byte_at', trace: 'first_byte_at' },
  completedAt: { ...time, column: 'completed_at', trace: 'completed_at', receipt: 'completed_at' },
  overheadMs: { ...duration, column: 'overhead_ms', trace: 'overhead_ms' },
} as const satisfies FieldTable;

/** What the lanes decide of how the account paid, which the journal has beside the record. */
export const PAYMENT_FIELDS = {
  charged: { ...nano, column: 'charged_nano', trace: 'charged_usd' },
  debt: { ...nano, column: 'debt_nano' },
  /** What no longer fitted a cap when it was settled late: beside the cost, and the operator's loss. */
  waived: { ...nano, column: 'waived_nano', trace: 'waived_usd', absent: 0n },
  covered: { ...units, column: 'covered' },
} as const satisfies FieldTable;
