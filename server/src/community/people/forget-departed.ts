import type { Pool, PoolClient } from 'pg';
import { inTransaction } from '../../kernel/transaction.ts';
import type { PersonRecords } from './person-records.ts';

interface Departure {
  readonly user_id: string;
  readonly emails: string[];
  readonly closed_at: Date;
}

interface ForgetDeps {
  readonly pool: Pool;
  readonly records: readonly PersonRecords[];
}

/** SQL: whether there is somebody for {@link forgetDeparted}. */
export const DEPARTED_DUE = 'exists (select from departed_users)';

/**
 * Takes out what is kept under the addresses of accounts that have closed. A job, and not the closing itself: giving up a place at an event
 * waits for whoever is registering for it. Run twice, or by two at once, it does it once.
 */
export async function forgetDeparted({ pool, records }: ForgetDeps, signal?: AbortSignal): Promise<void> {
  while (!signal?.aborted && (await inTransaction(pool, (client) => forgetNext(client, records))));
}

/** @returns whether there may be more */
async function forgetNext(client: PoolClient, records: readonly PersonRecords[]): Promise<boolean> {
  const { rows } = await client.query<Departure>(
    'select user_id, emails, closed_at from departed_users order by closed_at, user_id limit 1 for update skip locked',
  );
  const [departure] = rows;
  if (!departure) return false;
  const of = { emails: departure.emails, personIds: [], at: departure.closed_at };
  for (const { lock } of records) await lock?.(client, of);
  for (const { erase } of records) await erase(client, of);
  // Whom the team has written down itself, or has seen since, stays known to it.
  await client.query(
    `delete from people where email = any($1::text[]) and user_id is null and updated_at <= $2
       and sources <@ '{registration,invite,client_request}'`,
    [of.emails, of.at],
  );
  await client.query('delete from departed_users where user_id = $1', [departure.user_id]);
  return true;
}
