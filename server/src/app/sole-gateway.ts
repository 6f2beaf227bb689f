import pg from 'pg';
import type { Log } from '../kernel/log.ts';

/** "tallylan" in ASCII. */
const LOCK_KEY = '8386662065640595822';

/**
 * Caps are enforced in the memory of one process, so only one gateway may run on a database. This holds an advisory lock of it for as long as the
 * process lives.
 *
 * @param onLost the lock's connection broke: another gateway could start now, so this one has to stop
 * @throws when another gateway runs on the database
 */
export async function beSoleGateway(url: string, log: Log, onLost: () => void): Promise<{ release(): Promise<void> }> {
  const client = new pg.Client({ connectionString: url, keepAlive: true, application_name: 'tallygate gateway lock' });
  let isHeld = false;
  const lost = (error?: Error) => {
    if (!isHeld) return;
    isHeld = false;
    log.fatal({ err: error }, 'the lock on the database is lost; stopping, since another gateway may take over');
    onLost();
  };
  client.on('error', lost);
  client.on('end', () => lost());
  await client.connect();
  const { rows } = await client.query<{ locked: boolean }>('select pg_try_advisory_lock($1) as locked', [LOCK_KEY]);
  if (!rows[0]?.locked) {
    await client.end();
    throw new Error('Another gateway runs on this database. Caps are held in one process, so stop that one first.');
  }
  isHeld = true;
  return {
    release: async () => {
      isHeld = false;
      await client.end();
    },
  };
}
