import { CONNECTIONS, withCountedGateway } from './counted-gateway.ts';
import { openLoop } from './load.ts';
import type { Stage } from './stage.ts';
import type { DatabaseWork } from './views/database-work.ts';

const STEADY_PER_SECOND = 200;

/** What the books of a request take of PostgreSQL: CPU, rows, disk and write-ahead log, by statement and by table. */
export const measureBooks = (stage: Stage, requests: number, print: (text: string) => void): Promise<boolean> =>
  withCountedGateway(stage, print, async ({ gateway, shot, during, busy }) => {
    print(`… ${CONNECTIONS} connections`);
    const fast = await during(() => busy(requests));
    print(`… ${STEADY_PER_SECOND} requests a second`);
    const steady = await during(() => openLoop(shot, STEADY_PER_SECOND, (requests / 10 / STEADY_PER_SECOND) * 1_000));
    const { requests: recorded, receipts } = await gateway.recorded();
    print(`\n${CONNECTIONS} connections\n\n${workTable(fast)}\n\n${STEADY_PER_SECOND} requests a second\n\n${workTable(steady)}`);
    return recorded === gateway.tally.answers && receipts === recorded;
  });

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
