import type { contract, MarketingInviteBatchResponse, MarketingInviteRecord } from '@tallygate/contract';
import { originOf } from '../../audit/index.ts';
import type { Handlers } from '../../http/index.ts';
import { type Clock, rfc3339 } from '../../kernel/clock.ts';
import { formatUsd } from '../../kernel/money.ts';
import { mapPage } from '../../kernel/page.ts';
import { planUntil } from './activate.ts';
import type { Batch, Invite } from './batches.ts';
import type { Invites } from './invites.ts';

export function inviteRoutes({ batches, activate }: Invites, clock: Clock): Handlers<typeof contract.invites> {
  const wire = (batch: Batch) => toWire(batch, clock.now());
  return {
    activate: async ({ body, ...call }) => {
      const { activation, given } = await activate(body, originOf(call));
      return {
        status: 201,
        body: {
          activation_id: activation.activation_id,
          status: 'activated',
          email: activation.email,
          plan_id: given.plan_id,
          plan_until: timeOrNull(planUntil(given, activation)),
          credit_usd: formatUsd(given.credit_nano),
          activated_at: rfc3339(activation.activated_at),
        },
      };
    },
    createBatch: async ({ principal, body, ...call }) => {
      const { batch, code } = await batches.create({ principal, origin: originOf(call) }, body);
      return { status: 201, body: { ...wire(batch), ...(code !== undefined && { code }) } };
    },
    listBatches: async ({ query }) => ({ status: 200, body: mapPage(await batches.list(query), wire) }),
    getBatch: async ({ params }) => ({ status: 200, body: wire(await batches.get(params.batch_id)) }),
    listInvites: async ({ params, query }) => ({ status: 200, body: mapPage(await batches.invites(params.batch_id, query), inviteToWire) }),
    revokeBatch: async ({ principal, params, ...call }) => ({
      status: 200,
      body: wire(await batches.revoke({ principal, origin: originOf(call) }, params.batch_id)),
    }),
    revokeInvite: async ({ principal, params, ...call }) => ({
      status: 200,
      body: inviteToWire(await batches.revokeInvite({ principal, origin: originOf(call) }, params.batch_id, params.invite_id)),
    }),
  };
}

const timeOrNull = (at: Date | null): string | null => at && rfc3339(at);

function statusOf(
  { revoked_at, expires_at, pending, queued, filter, looked_up_at }: Batch,
  now: number,
): MarketingInviteBatchResponse['status'] {
  if (revoked_at) return 'revoked';
  if (expires_at.getTime() <= now) return 'expired';
  return pending + queued > 0 || (filter && !looked_up_at) ? 'sending' : 'sent';
}

const toWire = (batch: Batch, now: number): MarketingInviteBatchResponse => {
  const { batch_id, name, shared_uses, filter, subject, message, created_by } = batch;
  const { total, pending, queued, sent, unconfirmed, failed, suppressed, activations } = batch;
  return {
    ...{ batch_id, name, shared_uses, filter, subject, message, created_by },
    status: statusOf(batch, now),
    grants: { plan_id: batch.plan_id, trial_days: batch.trial_days, credit_usd: formatUsd(batch.credit_nano) },
    counts: { total, pending, queued, sent, unconfirmed, failed, suppressed, activations },
    expires_at: rfc3339(batch.expires_at),
    created_at: rfc3339(batch.created_at),
    revoked_at: timeOrNull(batch.revoked_at),
  };
};

const inviteToWire = ({ invite_id, email, name, status, max_uses, uses, failure, sent_at, revoked_at }: Invite): MarketingInviteRecord => ({
  ...{ invite_id, email, name, max_uses, uses, failure },
  status: revoked_at ? 'revoked' : status,
  sent_at: timeOrNull(sent_at),
  revoked_at: timeOrNull(revoked_at),
});
