import type { Pool, PoolClient } from 'pg';
import * as z from 'zod';
import type { Clock } from '../kernel/clock.ts';
import { newId } from '../kernel/ids.ts';
import { checkedRows } from '../kernel/statements.ts';
import { inTransaction } from '../kernel/transaction.ts';

/** In one transaction. */
const AT_ONCE = 500;

/** SQL: whether an event has no place in the order of all yet. */
export const MESSAGES_UNPLACED = 'exists (select from webhook_messages where sequence is null)';

const Placed = z.object({ id: z.string() });
const Wanted = z.object({ endpoint_id: z.string(), message_id: z.string() });

interface PlaceDeps {
  readonly pool: Pool;
  readonly clock: Clock;
}

/**
 * Gives every new event its place in the order of all and a delivery for each webhook that wants it. Places are given by one transaction at a
 * time, so that who has seen one has been able to see all before it: transactions commit in another order than they begin.
 */
export async function placeMessages(deps: PlaceDeps, signal?: AbortSignal): Promise<void> {
  for (let placed = AT_ONCE; placed === AT_ONCE && !signal?.aborted; )
    placed = await inTransaction(deps.pool, (client) => placeSome(client, new Date(deps.clock.now())));
}

async function placeSome(client: PoolClient, now: Date): Promise<number> {
  await client.query("select pg_advisory_xact_lock(hashtextextended('webhooks:place', 0))");
  const placed = await checkedRows(
    client,
    Placed,
    `with waiting as materialized (select id from webhook_messages where sequence is null order by id limit $1),
     numbered as materialized (select id, nextval('webhook_message_sequence') as sequence from waiting)
     update webhook_messages m set sequence = numbered.sequence from numbered where m.id = numbered.id returning m.id`,
    [AT_ONCE],
  );
  if (placed.length === 0) return 0;
  const wanted = await checkedRows(
    client,
    Wanted,
    `select e.id as endpoint_id, m.id as message_id
       from webhook_messages m join webhook_endpoints e on e.disabled_at is null and case when m.endpoint_id is null
         then (e.account_id = m.account_id or e.account_id is null) and (e.event_types is null or m.type = any(e.event_types))
         else e.id = m.endpoint_id end
      where m.id = any($1) order by m.sequence for no key update of e`,
    [placed.map(({ id }) => id)],
  );
  await queueDeliveries(client, wanted, now);
  return placed.length;
}

/** Makes deliveries, or queues those that failed again. @returns how many */
export async function queueDeliveries(client: PoolClient, wanted: readonly z.infer<typeof Wanted>[], now: Date): Promise<number> {
  if (wanted.length === 0) return 0;
  const endpoints = wanted.map(({ endpoint_id }) => endpoint_id);
  const { rowCount } = await client.query(
    `insert into webhook_deliveries (id, endpoint_id, message_id, status, failures, queued_at, due_at, attempts, created_at)
     select id, endpoint_id, message_id, 'pending', 0, $4, $4, '[]', $4
       from unnest($1::uuid[], $2::uuid[], $3::uuid[]) as wanted (id, endpoint_id, message_id)
     on conflict (endpoint_id, message_id) do update set status = 'pending', failures = 0, queued_at = $4, due_at = $4
       where webhook_deliveries.status = 'failed'`,
    [wanted.map(() => newId()), endpoints, wanted.map(({ message_id }) => message_id), now],
  );
  await client.query('update webhook_endpoints set due_at = least(coalesce(due_at, $2), $2) where id = any($1)', [
    [...new Set(endpoints)].sort(),
    now,
  ]);
  return rowCount ?? 0;
}
