import { join } from 'node:path';
import { startEmbeddedPostgres } from '../../server/src/adapters/postgres/embedded-postgres.ts';
import { createLog } from '../../server/src/kernel/log.ts';
import { Gateway } from './gateway.ts';
import type { Shot } from './http-connection.ts';
import { closedLoop } from './load.ts';
import type { Stage } from './stage.ts';
import { chatShot, startProvider } from './subjects.ts';
import { COUNTING, type DatabaseWork, databaseWork, workEach } from './views/database-work.ts';

export const CONNECTIONS = 64;
const ROUND_MS = 1_000;
const WARM_UP_MS = 3_000;

/** A gateway whose PostgreSQL counts what it does (`pg_stat_statements`). */
export interface CountedGateway {
  readonly gateway: Gateway;
  readonly shot: Shot;
  /** What the database does for each request of a load, until all of them are in the ledger. */
  during(load: () => Promise<unknown>): Promise<DatabaseWork>;
  /** At least so many requests, over all connections as fast as they go. */
  busy(requests: number): Promise<void>;
}

/** Starts one, warms it up, and stops all of it after the work. */
export async function withCountedGateway<T>(
  stage: Stage,
  print: (text: string) => void,
  work: (counted: CountedGateway) => Promise<T>,
): Promise<T> {
  const postgres = await startEmbeddedPostgres({ dir: join(stage.folder, 'data/postgres'), log: createLog('error'), settings: COUNTING });
  try {
    const { ready: origin } = await startProvider(stage, 'instant');
    const gateway = await Gateway.start(stage, { instant: origin, paced: origin, long: origin }, { DATABASE_URL: postgres.url });
    const { database, postmasterPid, tally } = gateway;
    await database.query('create extension pg_stat_statements');
    const { key } = await gateway.newKey();
    const shot = chatShot({ origin: gateway.origin, key, tally });
    print('… warming up');
    await closedLoop(shot, CONNECTIONS, WARM_UP_MS);
    const found = await work({
      ...{ gateway, shot },
      during: async (load) => {
        await gateway.drained();
        // Whole pages go into the write-ahead log after each checkpoint: every load begins with one.
        await database.query('checkpoint');
        const [answers, before] = [tally.answers, await databaseWork(database, postmasterPid)];
        await load();
        await gateway.drained();
        return workEach(before, await databaseWork(database, postmasterPid), tally.answers - answers);
      },
      busy: async (requests) => {
        for (let answered = 0; answered < requests; ) answered += (await closedLoop(shot, CONNECTIONS, ROUND_MS)).requests;
      },
    });
    await gateway.disconnect();
    return found;
  } finally {
    await stage.strike();
    await postgres.stop();
  }
}
