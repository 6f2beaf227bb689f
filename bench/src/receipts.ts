import { CONNECTIONS, withCountedGateway } from './counted-gateway.ts';
import { cpuTime } from './proc.ts';
import type { Stage } from './stage.ts';
import type { DatabaseWork, TableWork } from './views/database-work.ts';
import { promiseCost } from './views/promises.ts';

/** What PostgreSQL keeps of a request for its receipt and the log: at most so many bytes, indexes included. */
const MOST_BYTES = 700;
/** The receipts, their numbers, and the log with its tree. */
const OF_RECEIPTS = /^receipt(s$|_numbers$|_log)/;
const NAMES_ONE = /\b(receipts|receipt_numbers|receipt_log\w*)\b/;
const STATEMENT_WIDTH = 110;
const SHOWN_MICROS = 0.3;

/** What a receipt costs, from requests through a running gateway: PostgreSQL's bytes and time, and the CPU of a request that has one. */
export const measureReceipts = (stage: Stage, requests: number, print: (text: string) => void): Promise<boolean> =>
  withCountedGateway(stage, print, async ({ gateway, during, busy }) => {
    print(`… ${CONNECTIONS} connections`);
    const [answers, before] = [gateway.tally.answers, cpuTime(gateway.pid)];
    const work = await during(() => busy(requests));
    const after = cpuTime(gateway.pid);
    const asked = gateway.tally.answers - answers;
    const mainThread = (after.mainThread - before.mainThread) / asked;
    const otherThreads = (after.process - before.process) / asked - mainThread;
    const { requests: recorded, receipts } = await gateway.recorded();
    const { rows } = await gateway.database.query<{ waiting: number }>(
      'select count(*)::int as waiting from receipts where log_index is null',
    );
    const [{ waiting } = { waiting: Number.NaN }] = rows;
    const { promise, ordinarySignature, nonce } = promiseCost();
    const [bytes, table] = tablesOf(work);
    print(
      [
        `\n${asked.toLocaleString('en')} requests, ${waiting} receipts not in the log\n`,
        table,
        '',
        statementsOf(work),
        '',
        `A promise: ${promise.toFixed(2)} µs of the main thread (${ordinarySignature.toFixed(1)} by an ordinary signature), ${nonce.toFixed(1)} µs of another`,
        `A request with its receipt: ${mainThread.toFixed(0)} µs of the main thread, ${otherThreads.toFixed(0)} µs of other threads`,
        bytes <= MOST_BYTES ? '' : `\nReceipt and tree take more than ${MOST_BYTES} bytes.`,
      ].join('\n'),
    );
    return bytes <= MOST_BYTES && waiting === 0 && recorded === gateway.tally.answers && receipts === recorded;
  });

/** @returns the bytes of a receipt, and the table of where they are */
function tablesOf({ tables }: DatabaseWork): [number, string] {
  const found = [...tables]
    .filter(([name, work]) => OF_RECEIPTS.test(name) && bytesOf(work) > 0)
    .sort(([, one], [, other]) => bytesOf(other) - bytesOf(one));
  const sum = (of: (work: TableWork) => number) => found.reduce((total, [, work]) => total + of(work), 0);
  const bytes = sum(bytesOf);
  const line = (name: string, heap: number, indexes: number) =>
    [name.padEnd(24), ...[heap, indexes, heap + indexes].map((each) => each.toFixed(1).padStart(9))].join(' ');
  const lines = found.map(([name, { heapBytes, indexBytes }]) => line(name, heapBytes, indexBytes));
  const total = line(
    'receipt and tree',
    sum(({ heapBytes }) => heapBytes),
    sum(({ indexBytes }) => indexBytes),
  );
  const head = ['bytes a receipt'.padEnd(24), ...['heap', 'indexes', 'both'].map((name) => name.padStart(9))].join(' ');
  return [bytes, [head, ...lines, total].join('\n')];
}

const bytesOf = ({ heapBytes, indexBytes }: TableWork): number => heapBytes + indexBytes;

/** Of all statements, and of those that name a table of receipts. */
function statementsOf({ statements, cpu }: DatabaseWork): string {
  const all = [...statements]
    .map(([query, { micros }]) => ({ query: query.trim(), micros }))
    .sort((one, other) => other.micros - one.micros);
  const own = all.filter(({ query }) => NAMES_ONE.test(query));
  const sum = (of: typeof all) => of.reduce((total, { micros }) => total + micros, 0).toFixed(1);
  const shown = own.filter(({ micros }) => micros >= SHOWN_MICROS);
  const processor = [...cpu.values()].reduce((total, micros) => total + micros, 0).toFixed(1);
  return [
    `A settlement in PostgreSQL: ${sum(all)} µs of planning and execution, ${sum(own)} of them in statements of receipts and log; ${processor} µs of CPU`,
    ...shown.map(({ query, micros }) => `${micros.toFixed(1).padStart(9)}  ${query.slice(0, STATEMENT_WIDTH)}`),
  ].join('\n');
}
