import { join } from 'node:path';
import { startEmbeddedPostgres } from '../../server/src/adapters/postgres/embedded-postgres.ts';
import { createLog } from '../../server/src/kernel/log.ts';
import { Gateway } from './gateway.ts';
import { closedLoop, openLoop } from './load.ts';
import type { Stage } from './stage.ts';
import { chatShot, startProvider } from './subjects.ts';
import { COUNTING, type DatabaseWork, databaseWork, workEach } from './views/database-work.ts';

const CONNECTIONS = 64;
const ROUND_MS = 1_000;
const STEADY_PER_SECOND = 200;
const WARM_UP_MS = 3_000;

/** What the books of a request take of PostgreSQL: CPU, rows, disk and write-ahead log, by statement and by table. */
export async function measureBooks(stage: Stage, requests: number, print: (text: string) => void): Promise<boolean> {
  const postgres = await startEmbeddedPostgres({ dir: join(stage.folder, 'data/postgres'), log: createLog('error'), settings: COUNTING });
  try {
    const { ready: origin } = await startProvider(stage, 'instant');
    const gateway = await Gateway.start(stage, { instant: origin, paced: origin, long: origin }, { DATABASE_URL: postgres.url });
    const { database, postmasterPid, tally } = gateway;
    await database.query('create extension pg_stat_statements');
    const { key } = await gateway.newKey();
    const shot = chatShot({ origin: gateway.origin, key, tally });
    const during = async (load: () => Promise<unknown>): Promise<DatabaseWork> => {
      await gateway.drained();
      // Whole pages go into the write-ahead log after each checkpoint: every load begins with one.
      await database.query('checkpoint');
      const [answers, before] = [tally.answers, await databaseWork(database, postmasterPid)];
      await load();
      await gateway.drained();
      return workEach(before, await databaseWork(database, postmasterPid), tally.answers - answers);
    };

    print('… warming up');
    await closedLoop(shot, CONNECTIONS, WARM_UP_MS);
    print(`… ${CONNECTIONS} connections`);
    const busy = await during(async () => {
      for (let answered = 0; answered < requests; ) answered += (await closedLoop(shot, CONNECTIONS, ROUND_MS)).requests;
    });
    print(`… ${STEADY_PER_SECOND} requests a second`);
    const steady = await during(() => openLoop(shot, STEADY_PER_SECOND, (requests / 10 / STEADY_PER_SECOND) * 1_000));
    const { requests: recorded, receipts } = await gateway.recorded();
    await gateway.disconnect();
    print(`\n${CONNECTIONS} connections\n\n${workTable(busy)}\n\n${STEADY_PER_SECOND} requests a second\n\n${workTable(steady)}`);
    return recorded === tally.answers && receipts === recorded;
  } finally {
    await stage.strike();
    await postgres.stop();
  }
}

const LEAST_MICROS = 0.3;
const STATEMENT_WIDTH = 110;

function workTable({ cpu, walBytes, statements, tables }: DatabaseWork): string {
  const total = [...cpu.values()].reduce((sum, micros) => sum + micros, 0);
  const sizes = [...tables.values()];
  const disk = sizes.reduce((sum, { heapBytes, indexBytes }) => sum + heapBytes + indexBytes, 0);
  const processes = [...cpu].filter(([, micros]) => micros >= LEAST_MICROS).map(([kind, micros]) => `${kind} ${shown(micros)}`);
  const byStatement = [...statements]
    .filter(([, { micros }]) => micros >= LEAST_MICROS)
    .sort(([, one], [, other]) => other.micros - one.micros);
  const byTable = [...tables]
    .filter(([, { inserted, updated, deleted }]) => inserted + updated + deleted > 0.001)
    .sort(([, one], [, other]) => other.heapBytes + other.indexBytes - one.heapBytes - one.indexBytes);
  return [
    `A request: ${shown(total)} µs of CPU (${processes.join(', ')}), ${shown(walBytes)} bytes of write-ahead log, ${shown(disk)} bytes of disk`,
    '',
    aligned(['µs', 'calls', 'rows', 'WAL', '', 'statement, by planning and execution']),
    ...byStatement.map(([query, { micros, calls, rows, walBytes: wal }]) =>
      aligned([shown(micros), shown(calls), shown(rows), shown(wal), '', query.trim().slice(0, STATEMENT_WIDTH)]),
    ),
    '',
    aligned(['inserted', 'updated', 'in place', 'deleted', 'heap', 'indexes', '', 'table, rows and bytes']),
    ...byTable.map(([name, { inserted, updated, updatedInPlace, deleted, heapBytes, indexBytes }]) =>
      aligned([...[inserted, updated, updatedInPlace, deleted, heapBytes, indexBytes].map(shown), '', name]),
    ),
  ].join('\n');
}

const aligned = (cells: readonly string[]): string => {
  const named = cells.indexOf('');
  return [...cells.slice(0, named).map((cell) => cell.padStart(9)), ' ', ...cells.slice(named + 1)].join(' ');
};

const shown = (value: number): string => (value >= 100 ? Math.round(value).toLocaleString('en') : value.toFixed(value >= 10 ? 1 : 3));
