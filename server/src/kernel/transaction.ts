import type { Pool, PoolClient } from 'pg';

/** Runs `work` in a transaction: all of it is there afterwards, or, when it throws, nothing. */
export async function inTransaction<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    await client.query('begin');
    const result = await work(client);
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback').catch((failure: Error) => {
      broken = failure;
    });
    throw error;
  } finally {
    // A connection in an unknown state is closed, not handed to the next caller.
    client.release(broken);
  }
}
