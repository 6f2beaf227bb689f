import type { contract, RefundResponse } from '@tallygate/contract';
import type { Pool } from 'pg';
import { actorOf, type Handlers, originOf, type Principal, recordAudit } from '../identity/index.ts';
import { type Clock, rfc3339 } from '../kernel/clock.ts';
import { formatUsd } from '../kernel/money.ts';
import { Problem } from '../kernel/problem.ts';
import type { MadeRefund, Refunds } from './refunds.ts';
import { requestTrace, usageOf } from './usage-queries.ts';

interface LedgerRoutesDeps {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly refunds: Refunds;
}

export const ledgerRoutes = ({ pool, clock, refunds }: LedgerRoutesDeps): Handlers<typeof contract.ledger> => ({
  getUsage: async ({ principal, query }) => ({ status: 200, body: await usageOf(pool, scopeOf(principal), query, clock.now()) }),
  getRequest: async ({ principal, params }) => ({ status: 200, body: await requestTrace(pool, principal.accountId, params.request_id) }),
  refundRequest: async ({ principal, body: { request_id, reason }, ...call }) => {
    const outcome = await refunds.refund(null, request_id, null, {
      reason,
      alongside: (execute, { accountId, cost }) =>
        recordAudit(execute, {
          accountId,
          actor: actorOf(principal),
          action: 'request.refunded',
          target: { kind: 'request', id: request_id },
          changes: { reason, cost_usd: formatUsd(cost) },
          origin: originOf(call),
        }),
    });
    if ('refund' in outcome) return { status: outcome.refunded ? 201 : 200, body: toWire(outcome.refund) };
    throw outcome.because === 'unknown'
      ? new Problem('not_found', 'There is no settled request with this id.')
      : new Problem('conflict', 'This request got no answer and was not charged: there is nothing to give back.');
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

const scopeOf = (principal: Principal) => ({
  accountId: principal.accountId,
  livemode: principal.kind === 'session' || principal.livemode,
});
