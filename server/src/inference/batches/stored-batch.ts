import type { Batch, BatchError, BatchUsage, CreateBatchRequest } from '@tallygate/contract';
import { newId } from '../../kernel/ids.ts';

/** How far a batch is, and how it came about. */
export interface StoredBatch {
  /** `batch_` and 32 hex digits that begin with the time. */
  readonly id: string;
  readonly accountId: string;
  readonly livemode: boolean;
  /** Null: created by somebody who was signed in. */
  readonly keyId: string | null;
  readonly userId: string;
  readonly sessionId: string | null;
  readonly endpoint: CreateBatchRequest['endpoint'];
  readonly inputFileId: string;
  readonly metadata: Readonly<Record<string, string>> | null;
  readonly outputLifetimeSeconds: number | null;
  readonly runId: string | null;
  readonly runCap: bigint | null;
  readonly parentRunId: string | null;
  readonly runCalls: number | null;
  readonly runDeadlineAt: Date | null;
  readonly anchorWished: boolean;
  readonly model: string | null;
  readonly status: Batch['status'];
  /** How it will have ended, once no further line is run. */
  readonly ending: Ending | null;
  readonly errors: readonly BatchError[] | null;
  readonly total: number;
  readonly completed: number;
  readonly failed: number;
  readonly usage: BatchUsage;
  readonly outputFileId: string | null;
  readonly errorFileId: string | null;
  readonly createdAt: Date;
  /** Decides the lanes of the hold and of everything that is settled out of it: those of this month and of this plan. */
  readonly heldAt: Date;
  readonly heldPlan: string;
  readonly expiresAt: Date;
  readonly moments: Readonly<Record<Moment, Date | null>>;
}

export type Ending = 'completed' | 'expired' | 'cancelled';
type Moment = 'in_progress' | 'finalizing' | 'completed' | 'failed' | 'expired' | 'cancelling' | 'cancelled';

export const newBatchId = (): string => `batch_${newId().replaceAll('-', '')}`;
/** What is no id of ours is missing like any other. */
export const isBatchId = (text: string): boolean => /^batch_[0-9a-f]{32}$/.test(text);

/** Statuses in which a batch has still something to do. */
export const UNFINISHED: readonly Batch['status'][] = ['validating', 'in_progress', 'finalizing', 'cancelling'];

/** A row of `SELECT_BATCHES`. */
export interface BatchRow {
  readonly id: string;
  readonly account_id: string;
  readonly livemode: boolean;
  readonly key_id: string | null;
  readonly user_id: string;
  readonly session_id: string | null;
  readonly endpoint: StoredBatch['endpoint'];
  readonly input_file_id: string;
  readonly metadata: Readonly<Record<string, string>> | null;
  readonly output_lifetime_seconds: number | null;
  readonly run_id: string | null;
  readonly run_cap_nano: bigint | null;
  readonly run_parent_id: string | null;
  readonly run_max_calls: number | null;
  readonly run_deadline_at: Date | null;
  readonly anchor_wished: boolean;
  readonly model: string | null;
  readonly status: StoredBatch['status'];
  readonly ending: Ending | null;
  readonly errors: readonly BatchError[] | null;
  readonly total: number;
  readonly usage: BatchUsage | null;
  readonly output_file_id: string | null;
  readonly error_file_id: string | null;
  readonly created_at: Date;
  readonly held_at: Date;
  readonly held_plan: string;
  readonly in_progress_at: Date | null;
  readonly expires_at: Date;
  readonly finalizing_at: Date | null;
  readonly completed_at: Date | null;
  readonly failed_at: Date | null;
  readonly expired_at: Date | null;
  readonly cancelling_at: Date | null;
  readonly cancelled_at: Date | null;
  readonly completed_lines: number;
  readonly failed_lines: number;
  readonly input_tokens: bigint;
  readonly cached_tokens: bigint;
  readonly output_tokens: bigint;
  readonly reasoning_tokens: bigint;
}

export const batchOf = (row: BatchRow): StoredBatch => ({
  id: row.id,
  accountId: row.account_id,
  livemode: row.livemode,
  keyId: row.key_id,
  userId: row.user_id,
  sessionId: row.session_id,
  endpoint: row.endpoint,
  inputFileId: row.input_file_id,
  metadata: row.metadata,
  outputLifetimeSeconds: row.output_lifetime_seconds,
  runId: row.run_id,
  runCap: row.run_cap_nano,
  parentRunId: row.run_parent_id,
  runCalls: row.run_max_calls,
  runDeadlineAt: row.run_deadline_at,
  anchorWished: row.anchor_wished,
  model: row.model,
  status: row.status,
  ending: row.ending,
  errors: row.errors,
  total: row.total,
  completed: row.completed_lines,
  failed: row.failed_lines,
  usage: row.usage ?? usageOf(row),
  outputFileId: row.output_file_id,
  errorFileId: row.error_file_id,
  createdAt: row.created_at,
  heldAt: row.held_at,
  heldPlan: row.held_plan,
  expiresAt: row.expires_at,
  moments: {
    in_progress: row.in_progress_at,
    finalizing: row.finalizing_at,
    completed: row.completed_at,
    failed: row.failed_at,
    expired: row.expired_at,
    cancelling: row.cancelling_at,
    cancelled: row.cancelled_at,
  },
});

function usageOf(row: BatchRow): BatchUsage {
  const [input, output] = [Number(row.input_tokens), Number(row.output_tokens)];
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: Number(row.cached_tokens) },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: Number(row.reasoning_tokens) },
    total_tokens: input + output,
  };
}
