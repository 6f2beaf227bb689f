import type { EntityManager } from '@mikro-orm/postgresql';
import type { Pool, PoolClient, QueryResult } from 'pg';
import { repeatCollisions } from './collisions.ts';

/**
 * Runs `work` in a transaction: all of it is there afterwards, or, when it throws, nothing. Where PostgreSQL ends the transaction for the sake
 * of another one, `work` runs again from the start: what it does outside the database must be safe to do twice.
 */
export const inTransaction = <T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> =>
  repeatCollisions(() => once(pool, 'begin', work));

/** The same for entities, each time with a new unit of work. */
export const inUnitOfWork = <T>(em: EntityManager, work: (unit: EntityManager) => Promise<T>): Promise<T> =>
  repeatCollisions(() => em.fork().transactional(work));

/** Reads all of one moment, and can write nothing. */
export const inSnapshot = <T>(pool: Pool, read: (client: PoolClient) => Promise<T>): Promise<T> =>
  repeatCollisions(() => once(pool, SNAPSHOT, read));

/** The same on a connection that the caller holds for something else. */
export const inSnapshotOf = <T>(client: PoolClient, read: (client: PoolClient) => Promise<T>): Promise<T> =>
  repeatCollisions(() => between(client, SNAPSHOT, read));

const SNAPSHOT = 'begin isolation level repeatable read read only';

async function once<T>(pool: Pool, begin: string, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let isBroken = true;
  try {
    const result = await between(client, begin, work, () => {
      isBroken = false;
    });
    return result;
  } finally {
    // A connection in an unknown state is closed, not handed to the next caller.
    client.release(isBroken);
  }
}

/** @param onEnd called once the connection is in no transaction any more */
async function between<T>(client: PoolClient, begin: string, work: (client: PoolClient) => Promise<T>, onEnd = () => {}): Promise<T> {
  await client.query(begin);
  try {
    const result = await work(client);
    requireCommitted(await client.query('commit'));
    onEnd();
    return result;
  } catch (error) {
    await client.query('rollback').then(onEnd, () => {});
    throw error;
  }
}

/**
 * PostgreSQL answers a commit after a statement that failed with a rollback, and not with an error.
 * @param answer to `commit`
 * @throws where nothing was written
 */
export function requireCommitted({ command }: Pick<QueryResult, 'command'>): void {
  if (command !== 'COMMIT') throw new Error('The transaction was rolled back: one of its statements had failed, and its error was dropped');
}
