import type { CorrectionResponse, contract, RefundResponse } from '@tallygate/contract';
import type { Pool } from 'pg';
import { seenBy } from '../../access/projects/index.ts';
import type { Archive } from '../../archive/index.ts';
import { actorOf, originOf, recordAudit } from '../../audit/index.ts';
import type { Handlers } from '../../http/index.ts';
import { type Clock, rfc3339 } from '../../kernel/clock.ts';
import { invalidInput } from '../../kernel/invalid-input.ts';
import { formatUsd } from '../../kernel/money.ts';
import { Problem } from '../../kernel/problem.ts';
import type { CorrectionOutcome, Corrections, MadeCorrection } from './corrections.ts';
import { latencyOf } from './latency.ts';
import type { MadeRefund, RefundOutcome, Refunds } from './refunds.ts';
import { requestTrace } from './request-trace.ts';
import { usageScopeOf } from './usage-routes.ts';

interface LedgerRoutesDeps {
  readonly pool: Pool;
  readonly archive: Archive;
  readonly clock: Clock;
  readonly refunds: Refunds;
  readonly corrections: Corrections;
}

export const ledgerRoutes = ({ pool, archive, clock, refunds, corrections }: LedgerRoutesDeps): Handlers<typeof contract.ledger> => ({
  getLatency: async ({ principal, query }) => {
    const scope = await usageScopeOf(pool, principal);
    return { status: 200, body: await latencyOf(pool, scope, query, clock.now()) };
  },
  getRequest: async ({ principal, params }) => ({
    status: 200,
    body: await requestTrace(pool, archive, { accountId: principal.accountId, seen: await seenBy(pool)(principal) }, params.request_id),
  }),
  refundRequest: async ({ principal, body: { request_id, reason }, ...call }) => {
    const outcome = await refunds.refund(null, request_id, null, {
      reason,
      alongside: (db, { accountId, cost }) =>
        recordAudit(db, {
          accountId,
          actor: actorOf(principal),
          action: 'request.refunded',
          target: { kind: 'request', id: request_id },
          changes: { reason, cost_usd: formatUsd(cost) },
          origin: originOf(call),
        }),
    });
    if ('refund' in outcome) return { status: outcome.refunded ? 201 : 200, body: toWire(outcome.refund) };
    throw refusalOf(outcome.because);
  },
  correctRequest: async ({ principal, body: { request_id, usage, reason }, ...call }) => {
    const outcome = await corrections.correct(request_id, {
      usage,
      reason,
      alongside: (db, { accountId, before, now }) =>
        recordAudit(db, {
          accountId,
          actor: actorOf(principal),
          action: 'request.corrected',
          target: { kind: 'request', id: request_id },
          changes: { reason, cost_usd: formatUsd(now.cost), cost_before_usd: formatUsd(before.cost) },
          origin: originOf(call),
        }),
    });
    if ('correction' in outcome) return { status: outcome.corrected ? 201 : 200, body: correctionToWire(outcome.correction) };
    throw outcome.because === 'impossible'
      ? invalidInput([{ loc: ['body', 'usage'], msg: outcome.reason, type: 'invalid' }])
      : refusalOf(outcome.because);
  },
});

const toWire = (refund: MadeRefund): RefundResponse => ({
  refund_id: refund.refundId,
  receipt_id: refund.receiptId,
  refund_of: refund.refundOf,
  account_id: refund.accountId,
  request_id: refund.requestId,
  reason: refund.reason,
  cost_usd: formatUsd(refund.cost),
  charged_usd: formatUsd(refund.charged),
  refunded_at: rfc3339(refund.refundedAt),
});

const correctionToWire = (correction: MadeCorrection): CorrectionResponse => ({
  correction_id: correction.correctionId,
  receipt_id: correction.receiptId,
  corrects: correction.corrects,
  account_id: correction.accountId,
  request_id: correction.requestId,
  reason: correction.reason,
  usage: correction.usage,
  cost_usd: formatUsd(correction.now.cost),
  cost_before_usd: formatUsd(correction.before.cost),
  charged_usd: formatUsd(correction.now.charged),
  charged_before_usd: formatUsd(correction.before.charged),
  corrected_at: rfc3339(correction.correctedAt),
});

type Because = Extract<RefundOutcome | CorrectionOutcome, { because: string }>['because'];

function refusalOf(because: Exclude<Because, 'already_refunded' | 'impossible'>): Problem {
  switch (because) {
    case 'unknown':
      return new Problem('not_found', 'There is no settled request with this id.');
    case 'archived':
      return new Problem('conflict', 'This request is of a month that is archived: nothing of it is given back or corrected any more.');
    case 'uncharged':
      return new Problem('conflict', 'This request ran no model and was not charged: there is nothing to give back or to correct.');
    case 'correcting':
      return new Problem('conflict', 'A correction of this request is being booked: ask again in a second.', { retryAfterSeconds: 1 });
    case 'refunded':
      return new Problem('conflict', 'All of this request was given back: there is nothing left to correct.');
    case 'same':
      return new Problem('conflict', 'This request was settled with this very usage: there is nothing to correct.');
    case 'corrected':
      return new Problem(
        'conflict',
        'This request was corrected before, with other usage. What is wrong with that can only be given back whole.',
      );
    default:
      return because satisfies never;
  }
}
