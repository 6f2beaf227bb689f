import type { RequestTrace } from '@tallygate/contract';
import { sql } from 'kysely';
import type { Pool } from 'pg';
import { type Archive, USAGE_RECORDS } from '../../archive/index.ts';
import type { Seen } from '../../http/index.ts';
import { rfc3339 } from '../../kernel/clock.ts';
import { formatUsd } from '../../kernel/money.ts';
import { Problem } from '../../kernel/problem.ts';
import { anyOf, firstOf, ifGiven } from '../../kernel/statements.ts';
import { usageOfRow } from './field-kinds.ts';
import { tables } from './tables.ts';
import { traceOfRow, type UsageRecordRow } from './usage-row.ts';

type TraceRow = UsageRecordRow & {
  /** These three are null together: nothing was given back. */
  readonly refund_receipt_id: string | null;
  readonly refund_reason: string | null;
  readonly refunded_at: Date | null;
};

type CorrectionRow = Parameters<typeof usageOfRow>[0] &
  Pick<UsageRecordRow, 'receipt_id' | 'cost_nano' | 'charged_nano'> & { readonly reason: string; readonly requested_at: Date };

async function correctionOf(pool: Pool, { request_id, attempt }: UsageRecordRow): Promise<CorrectionRow | undefined> {
  return firstOf(
    pool,
    tables
      .selectFrom('corrections')
      .selectAll()
      .where('request_id', '=', request_id)
      .where('attempt', '=', attempt)
      .where('posted_at', 'is not', null),
  );
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

interface TraceScope {
  readonly accountId: string;
  /** Undefined: all of the account. */
  readonly seen?: Seen | undefined;
}

/** @param archived rows of an archived month, as JSON; undefined: those in the database */
const traceOf = ({ accountId, seen }: TraceScope, requestId: string, archived?: string) =>
  tables
    .selectFrom(
      archived === undefined
        ? sql<UsageRecordRow>`usage_records`.as('u')
        : sql<UsageRecordRow>`json_populate_recordset(null::usage_records, ${archived})`.as('u'),
    )
    .leftJoin('refunds as r', (join) =>
      join.onRef('r.request_id', '=', 'u.request_id').onRef('r.attempt', '=', 'u.attempt').on('r.posted_at', 'is not', null),
    )
    .selectAll('u')
    .select(['r.receipt_id as refund_receipt_id', 'r.reason as refund_reason', 'r.requested_at as refunded_at'])
    .where('u.account_id', '=', accountId)
    .where((eb) => eb.or([eb('u.request_id', '=', requestId), eb('u.client_request_id', '=', requestId)]))
    .where((eb) =>
      ifGiven(seen, ({ userId, projects }) => eb.or([eb('u.user_id', '=', userId), eb('u.project_id', '=', anyOf([...projects]))])),
    )
    .orderBy('u.started_at', 'desc')
    .orderBy('u.attempt', 'desc')
    .limit(1);

async function findRow(pool: Pool, archive: Archive, scope: TraceScope, requestId: string): Promise<TraceRow | undefined> {
  const live = await firstOf(pool, traceOf(scope, requestId));
  if (live) return live;
  const archived = await archive.find(USAGE_RECORDS, requestId);
  return archived === undefined ? undefined : firstOf(pool, traceOf(scope, requestId, archived));
}

/** The trace of a request by our id or by the one that the caller sent; the newest where a caller reused theirs. Of archived months by ours alone. */
export async function requestTrace(pool: Pool, archive: Archive, scope: TraceScope, requestId: string): Promise<RequestTrace> {
  const row = await findRow(pool, archive, scope, requestId);
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
    tags: row.tags && [...row.tags],
    correction: correction ? correctionToWire(correction) : null,
    refund: refundOf(row, correction?.cost_nano ?? row.cost_nano),
  };
}
