import type { RequestTrace } from '@tallygate/contract';
import type { Pool } from 'pg';
import { type Archive, USAGE_RECORDS } from '../../archive/index.ts';
import { rfc3339 } from '../../kernel/clock.ts';
import { formatUsd } from '../../kernel/money.ts';
import { Problem } from '../../kernel/problem.ts';
import { usageOfRow } from './field-kinds.ts';
import { traceOfRow, type UsageRecordRow } from './usage-row.ts';

interface TraceRow extends UsageRecordRow {
  /** These three are null together: nothing was given back. */
  readonly refund_receipt_id: string | null;
  readonly refund_reason: string | null;
  readonly refunded_at: Date | null;
}

type CorrectionRow = Parameters<typeof usageOfRow>[0] &
  Pick<UsageRecordRow, 'receipt_id' | 'cost_nano' | 'charged_nano'> & { readonly reason: string; readonly requested_at: Date };

async function correctionOf(pool: Pool, { request_id, attempt }: UsageRecordRow): Promise<CorrectionRow | undefined> {
  const { rows } = await pool.query<CorrectionRow>(
    'select * from corrections where request_id = $1 and attempt = $2 and posted_at is not null',
    [request_id, attempt],
  );
  return rows[0];
}

const correctionToWire = (row: CorrectionRow): RequestTrace['correction'] => ({
  receipt_id: row.receipt_id,
  reason: row.reason,
  usage: usageOfRow(row),
  cost_usd: formatUsd(row.cost_nano),
  charged_usd: formatUsd(row.charged_nano),
  corrected_at: rfc3339(row.requested_at),
});

const refundOf = ({ refund_receipt_id, refund_reason, refunded_at }: TraceRow, cost_nano: bigint): RequestTrace['refund'] =>
  refund_receipt_id === null || refund_reason === null || refunded_at === null
    ? null
    : { receipt_id: refund_receipt_id, reason: refund_reason, cost_usd: formatUsd(cost_nano), refunded_at: rfc3339(refunded_at) };

const TRACE = (source: string) =>
  `select u.*, r.receipt_id as refund_receipt_id, r.reason as refund_reason, r.requested_at as refunded_at from ${source} u
     left join refunds r on r.request_id = u.request_id and r.attempt = u.attempt and r.posted_at is not null
   where u.account_id = $1 and (u.request_id = $2 or client_request_id = $2) order by started_at desc, u.attempt desc limit 1`;

async function findRow(pool: Pool, archive: Archive, accountId: string, requestId: string): Promise<TraceRow | undefined> {
  const live = await pool.query<TraceRow>(TRACE('usage_records'), [accountId, requestId]);
  if (live.rows[0]) return live.rows[0];
  const archived = await archive.find(USAGE_RECORDS, requestId);
  if (archived === undefined) return undefined;
  const { rows } = await pool.query<TraceRow>(TRACE('json_populate_recordset(null::usage_records, $3)'), [accountId, requestId, archived]);
  return rows[0];
}

/** The trace of a request by our id or by the one that the caller sent; the newest where a caller reused theirs. Of archived months by ours alone. */
export async function requestTrace(pool: Pool, archive: Archive, accountId: string, requestId: string): Promise<RequestTrace> {
  const row = await findRow(pool, archive, accountId, requestId);
  if (!row)
    throw new Problem(
      'not_found',
      'There is no settled request with this id in your account; a trace appears a moment after the answer has ended.',
    );
  const correction = await correctionOf(pool, row);
  return {
    ...traceOfRow(row),
    attempts: [...row.attempts],
    skipped: [...(row.skipped ?? [])],
    correction: correction ? correctionToWire(correction) : null,
    refund: refundOf(row, correction?.cost_nano ?? row.cost_nano),
  };
}
