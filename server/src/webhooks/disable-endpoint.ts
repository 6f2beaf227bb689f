import type { PoolClient } from 'pg';
import * as z from 'zod';
import type { Posted } from '../adapters/webhooks/port.ts';
import { recordAudit } from '../audit/index.ts';
import { rfc3339 } from '../kernel/clock.ts';
import { checkedRows, type Queryable, type RowOf, run } from '../kernel/statements.ts';
import { queueMail } from '../mail/index.ts';
import type { WebhookEndpointEntity } from './entities.ts';
import { tables } from './tables.ts';

interface Disabled {
  readonly endpoint: Pick<RowOf<typeof WebhookEndpointEntity>, 'id' | 'account_id' | 'failing_since'>;
  readonly host: string;
  readonly reason: 'failed_for_three_days' | 'gone';
  readonly error: Posted;
  readonly now: Date;
}

/** Ends deliveries to an endpoint that takes none, and mails those who can change it. */
export async function disableEndpoint(client: PoolClient, { endpoint, host, reason, error, now }: Disabled): Promise<void> {
  const { id, account_id: accountId } = endpoint;
  await endDeliveries(client, id, { reason, now });
  const target = { kind: 'webhook', id };
  await recordAudit(client, { accountId, actor: { kind: 'system', id: null }, action: 'webhook.disabled', target, changes: { reason } });
  const data = {
    webhook_id: id,
    host,
    reason,
    answer: error.statusCode,
    error: error.error,
    since: rfc3339(endpoint.failing_since ?? now),
  };
  for (const { user_id, email } of await administratorsOf(client, accountId))
    await queueMail(client, {
      ...{ to: email, template: 'webhook-disabled', data, dedupeKey: `webhook:${id}:${now.getTime()}:${user_id}` },
      ...(accountId !== null && { accountId }),
    });
}

interface Ended {
  readonly reason: 'by_user' | 'failed_for_three_days' | 'gone';
  readonly now: Date;
}

/** What was pending has failed: it can be sent again. */
export async function endDeliveries(client: PoolClient, endpointId: string, { reason, now }: Ended): Promise<void> {
  const ended = { disabled_at: now, disabled_reason: reason, due_at: null, updated_at: now };
  await run(client, tables.updateTable('webhook_endpoints').set(ended).where('id', '=', endpointId));
  const pending = tables.updateTable('webhook_deliveries').set({ status: 'failed' }).where('status', '=', 'pending');
  await run(client, pending.where('endpoint_id', '=', endpointId));
}

const Administrator = z.object({ user_id: z.string(), email: z.string() });

/** Of an account its owners and admins; of the gateway those with the role. */
const administratorsOf = (db: Queryable, accountId: string | null) =>
  checkedRows(
    db,
    Administrator,
    `select id as user_id, email from users where closed_at is null
        and case when $1::uuid is null then role = 'admin' else account_id = $1 and account_role in ('owner', 'admin') end`,
    [accountId],
  );
