import type { WebhookAttempt } from '@tallygate/contract';
import { sql } from 'kysely';
import type { Pool, PoolClient } from 'pg';
import type { Posted, WebhookSender } from '../adapters/webhooks/port.ts';
import { type Clock, rfc3339 } from '../kernel/clock.ts';
import type { Log } from '../kernel/log.ts';
import type { SecretBox } from '../kernel/secret-box.ts';
import { asJson, firstOf, run } from '../kernel/statements.ts';
import { inTransaction } from '../kernel/transaction.ts';
import { delayAfter, THREE_DAYS_MS } from './backoff.ts';
import { disableEndpoint } from './disable-endpoint.ts';
import { eventOf, MESSAGE_COLUMNS } from './event.ts';
import { bodyFor } from './formats.ts';
import { openSecrets, signedHeaders } from './secrets.ts';
import { tables } from './tables.ts';

/** Longer than a gateway has an endpoint for itself: it is another's after that, should this one have died. */
const LEASE_MS = 60_000;
/** For so long, and then others have their turn. With the timeout of one request it is less than the lease. */
const TURN_MS = 20_000;
const MOST_ATTEMPTS_SHOWN = 20;
const GONE = 410;

/** SQL: whether a delivery is due at an endpoint that nobody delivers to. */
export const DELIVERIES_DUE =
  'exists (select from webhook_endpoints where due_at <= present and busy_until <= present and disabled_at is null)';

interface DeliverDeps {
  readonly pool: Pool;
  readonly box: SecretBox;
  readonly sender: WebhookSender;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Delivers what is due, one endpoint after the other. An endpoint is served by one run at a time, in the order of events, and keeps no other
 * endpoint waiting longer than its turn. A run that dies leaves its delivery pending: it is made again, with the same id.
 */
export async function deliverDue(deps: DeliverDeps, signal?: AbortSignal): Promise<void> {
  while (!signal?.aborted) {
    const endpointId = await claimEndpoint(deps);
    if (endpointId === undefined) return;
    try {
      const endAt = performance.now() + TURN_MS;
      while (!signal?.aborted && performance.now() < endAt && (await deliverNext(deps, endpointId)));
    } finally {
      await releaseEndpoint(deps, endpointId);
    }
  }
}

async function claimEndpoint({ pool, clock }: DeliverDeps): Promise<string | undefined> {
  const now = new Date(clock.now());
  const first = tables
    .selectFrom('webhook_endpoints')
    .select('id')
    .where('due_at', '<=', now)
    .where('busy_until', '<=', now)
    .where('disabled_at', 'is', null)
    .orderBy('due_at')
    .limit(1)
    .forNoKeyUpdate()
    .skipLocked();
  const claimed = tables
    .updateTable('webhook_endpoints')
    .set({ busy_until: new Date(now.getTime() + LEASE_MS) })
    .where('id', '=', first);
  return (await firstOf(pool, claimed.returning('id')))?.id;
}

/** The row first: what is queued meanwhile is either seen, or moves `due_at` afterwards. */
const releaseEndpoint = ({ pool, clock }: DeliverDeps, endpointId: string): Promise<void> =>
  inTransaction(pool, async (client) => {
    const now = new Date(clock.now());
    await lockEndpoint(client, endpointId);
    const pending = tables.selectFrom('webhook_deliveries').where('endpoint_id', '=', endpointId).where('status', '=', 'pending');
    // Behind those that have waited for the turn of this one.
    const dueAt = sql<Date | null>`greatest(${pending.select(({ fn }) => fn.min('due_at').as('due_at'))}, ${now}::timestamptz)`;
    const hasPending = await firstOf(client, pending.select('id').limit(1));
    await run(
      client,
      tables
        .updateTable('webhook_endpoints')
        .set({ busy_until: now, due_at: hasPending ? dueAt : null })
        .where('id', '=', endpointId),
    );
  });

const lockEndpoint = (client: PoolClient, endpointId: string) =>
  firstOf(client, tables.selectFrom('webhook_endpoints').selectAll().where('id', '=', endpointId).forNoKeyUpdate());

/** @returns whether there was one */
async function deliverNext(deps: DeliverDeps, endpointId: string): Promise<boolean> {
  const next = await firstOf(deps.pool, nextOf(endpointId, new Date(deps.clock.now())));
  if (!next) return false;
  const { delivery_id, sealed, format, previous_secret_expires_at, ...message } = next;
  const now = deps.clock.now();
  const { url, secret, previous_secret } = openSecrets(deps.box, { id: endpointId, sealed });
  const isBeforeExpiry = previous_secret !== null && previous_secret_expires_at !== null && previous_secret_expires_at.getTime() > now;
  const body = bodyFor(format, eventOf(message));
  const signed = signedHeaders(isBeforeExpiry ? [secret, previous_secret] : [secret], {
    ...{ id: message.id, timestamp: Math.floor(now / 1_000), body },
  });
  const headers = { 'content-type': 'application/json', 'user-agent': 'Tallygate-Webhooks', ...signed };
  const posted = await deps.sender.post({ url: new URL(url), headers, body });
  await recordAttempt(deps, { endpointId, deliveryId: delivery_id }, posted);
  return true;
}

const nextOf = (endpointId: string, now: Date) =>
  tables
    .selectFrom('webhook_deliveries as d')
    .innerJoin('webhook_messages as m', 'm.id', 'd.message_id')
    .innerJoin('webhook_endpoints as e', 'e.id', 'd.endpoint_id')
    .select(['d.id as delivery_id', 'e.sealed', 'e.format', 'e.previous_secret_expires_at'])
    .select(MESSAGE_COLUMNS.map((column) => `m.${column}` as const))
    .where('d.endpoint_id', '=', endpointId)
    .where('d.status', '=', 'pending')
    .where('d.due_at', '<=', now)
    .where('e.disabled_at', 'is', null)
    .orderBy('d.due_at')
    .orderBy('m.sequence')
    .limit(1);

interface Attempted {
  readonly endpointId: string;
  readonly deliveryId: string;
}

const recordAttempt = (deps: DeliverDeps, { endpointId, deliveryId }: Attempted, posted: Posted): Promise<void> =>
  inTransaction(deps.pool, async (client) => {
    const now = new Date(deps.clock.now());
    // Always the endpoint before its deliveries.
    const endpoint = await lockEndpoint(client, endpointId);
    const delivery = await firstOf(
      client,
      tables.selectFrom('webhook_deliveries').selectAll().where('id', '=', deliveryId).forNoKeyUpdate(),
    );
    if (!endpoint || !delivery) return;
    const attempt: WebhookAttempt = {
      at: rfc3339(now),
      status_code: posted.statusCode,
      error: posted.error,
      duration_ms: posted.durationMs,
    };
    const failures = posted.error === null ? 0 : delivery.failures + 1;
    const delayMs = posted.error === null || posted.statusCode === GONE ? undefined : delayAfter(failures);
    const attempts = asJson([...delivery.attempts, attempt].slice(-MOST_ATTEMPTS_SHOWN));
    const status = posted.error === null ? 'delivered' : delayMs === undefined ? 'failed' : 'pending';
    const dueAt = new Date(now.getTime() + (delayMs ?? 0));
    await run(
      client,
      tables.updateTable('webhook_deliveries').set({ attempts, failures, status, due_at: dueAt }).where('id', '=', deliveryId),
    );
    const failingSince = posted.error === null ? null : (endpoint.failing_since ?? now);
    await run(client, tables.updateTable('webhook_endpoints').set({ failing_since: failingSince }).where('id', '=', endpointId));
    if (status !== 'failed' || endpoint.disabled_at !== null) return;
    const hasFailedThroughout = failingSince !== null && now.getTime() - failingSince.getTime() >= THREE_DAYS_MS;
    if (posted.statusCode === GONE || hasFailedThroughout) {
      const reason = posted.statusCode === GONE ? 'gone' : 'failed_for_three_days';
      const { url } = openSecrets(deps.box, endpoint);
      await disableEndpoint(client, { endpoint, host: new URL(url).host, reason, now, error: posted });
      deps.log.warn({ webhook: endpointId, account: endpoint.account_id, reason }, 'a webhook is disabled: its deliveries failed');
    }
  });
