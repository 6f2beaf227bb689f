import type { Pool, PoolClient } from 'pg';
import { firstOf } from '../../kernel/statements.ts';
import { inTransaction } from '../../kernel/transaction.ts';
import type { PersonRecords } from './person-records.ts';
import { tables } from './tables.ts';

interface ForgetDeps {
  readonly pool: Pool;
  readonly records: readonly PersonRecords[];
}

/** SQL: whether there are people for {@link forgetDeparted}. */
export const DEPARTED_DUE = 'exists (select from departed_users)';

/**
 * Deletes the data that is stored under the addresses of closed accounts. A job, and not part of the closing: releasing a place at an event
 * waits for concurrent registrations. Idempotent, also when run concurrently.
 */
export async function forgetDeparted({ pool, records }: ForgetDeps, signal?: AbortSignal): Promise<void> {
  while (!signal?.aborted && (await inTransaction(pool, (client) => forgetNext(client, records))));
}

/** @returns whether there may be more */
async function forgetNext(client: PoolClient, records: readonly PersonRecords[]): Promise<boolean> {
  const departure = await firstOf(
    client,
    tables
      .selectFrom('departed_users')
      .select(['user_id', 'emails', 'closed_at'])
      .orderBy('closed_at')
      .orderBy('user_id')
      .limit(1)
      .forUpdate()
      .skipLocked(),
  );
  if (!departure) return false;
  const of = { emails: departure.emails, personIds: [], at: departure.closed_at };
  const going = records.filter(({ outlastsDeparture }) => outlastsDeparture !== true);
  for (const { lock } of going) await lock?.(client, of);
  for (const { erase } of going) await erase(client, of);
  // Whom the team has written down itself, or has seen since, stays known to it.
  await client.query(
    `delete from people where email = any($1::text[]) and user_id is null and updated_at <= $2
       and sources <@ '{registration,invite,client_request}'`,
    [of.emails, of.at],
  );
  await client.query('delete from departed_users where user_id = $1', [departure.user_id]);
  return true;
}
