import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { measureBooks } from './books.ts';
import { divideCores } from './cores.ts';
import { Gateway } from './gateway.ts';
import { measureGrowth } from './growth.ts';
import { logTable } from './log-table.ts';
import { measurePeople } from './people.ts';
import { measureReceipts } from './receipts.ts';
import { table } from './report.ts';
import { type Results, run } from './run.ts';
import { FULL, QUICK } from './settings.ts';
import { Stage } from './stage.ts';
import { KINDS, startSubjects } from './subjects.ts';
import { timingTable } from './timing-table.ts';
import { isOverspent } from './views/overspend.ts';
import { promiseCost } from './views/promises.ts';
import { receiptLog } from './views/receipt-log.ts';
import { timing } from './views/timing.ts';
import { measureWorkers } from './workers.ts';

const NOWHERE = 'http://127.0.0.1:9';
const LOG_SIZES = { quick: [1_000, 10_000, 100_000], full: [1_000, 10_000, 100_000, 1_000_000] };
/** Requests. */
const GROWN = { quick: 200_000, full: 20_000_000 };
const BOOKED = { quick: 5_000, full: 50_000 };
const [QUICK_ROUNDS, ROUNDS] = [2, 5];
const EXIT_FAILED = 1;
const EXIT_SIGINT = 130; // 128 + the signal's number, as shells report it

const flag = { type: 'boolean', default: false } as const;
const { values: flags } = parseArgs({
  options: {
    quick: flag,
    save: flag,
    timing: flag,
    people: flag,
    log: flag,
    promises: flag,
    growth: flag,
    books: flag,
    receipts: flag,
    workers: flag,
    requests: { type: 'string' },
  },
});
const print = (text: string): void => void process.stdout.write(`${text}\n`);
const onProgress = (what: string): void => print(`… ${what}`);

if (process.platform !== 'linux') {
  process.stderr.write('The bench reads CPU times from /proc, so it needs Linux.\n');
  process.exit(EXIT_FAILED);
}

// Workers are to have all cores.
const cores = flags.workers ? undefined : divideCores();
const stage = new Stage(cores);
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    print('\nStopping.');
    void stage.strike().finally(() => process.exit(EXIT_SIGINT));
  });

const setting = cores
  ? `Node ${process.version}, ${cpus().length} cores: the subject on core ${cores.subject}; load, providers and PostgreSQL on ${cores.surroundings}.`
  : `Node ${process.version}, ${cpus().length} cores, nothing pinned (that needs taskset and two cores): the figures disturb each other.`;
print(setting);

try {
  const isGood = await measurement();
  process.exit(isGood ? 0 : EXIT_FAILED);
} catch (error) {
  // A run that was interrupted fails in whatever it was doing; the handler above has the last word.
  if (stage.isStruck) await new Promise(() => {});
  await stage.strike();
  process.stderr.write(`\nThe bench failed: ${error instanceof Error ? (error.stack ?? error.message) : error}\n`);
  process.exit(EXIT_FAILED);
}

function measurement(): Promise<boolean> {
  if (flags.people) return measurePeople(print);
  if (flags.log) return growLog();
  if (flags.promises) return measurePromises();
  if (flags.workers) return measureWorkers(flags.quick ? QUICK_ROUNDS : ROUNDS, print);
  if (flags.growth) return growDatabase();
  if (flags.books || flags.receipts) {
    const requests = Number(flags.requests ?? (flags.quick ? BOOKED.quick : BOOKED.full));
    return flags.books ? measureBooks(stage, requests, print) : measureReceipts(stage, requests, print);
  }
  return flags.timing ? compareTimes() : measureSpeed();
}

async function measureSpeed(): Promise<boolean> {
  const subjects = await startSubjects(stage);
  const results = await run(subjects, flags.quick ? QUICK : FULL, onProgress);
  await subjects.gateway.disconnect();
  await stage.strike();
  print(`\n${table(results.views)}\n\n${verdict(results)}`);
  if (flags.save) save(results);
  return isSound(results);
}

/** What could not be told apart from noise has not been shown to be safe, so it fails as well. */
async function compareTimes(): Promise<boolean> {
  const findings = await timing(stage, onProgress);
  await stage.strike();
  print(`\n${timingTable(findings)}`);
  return findings.every(({ verdict }) => verdict === 'indistinguishable');
}

/** Nobody is asked: what the log does depends on its size alone. */
async function growLog(): Promise<boolean> {
  const gateway = await Gateway.start(stage, { instant: NOWHERE, paced: NOWHERE, long: NOWHERE });
  const found = await receiptLog(gateway, flags.quick ? LOG_SIZES.quick : LOG_SIZES.full, onProgress);
  await gateway.disconnect();
  await stage.strike();
  print(`\n${logTable(found)}`);
  return true;
}

async function measurePromises(): Promise<boolean> {
  const { promise, ordinarySignature, nonce, characters } = promiseCost();
  print(
    `\na promise (${characters} characters): ${promise.toFixed(2)} µs of the main thread; ${ordinarySignature.toFixed(1)} µs by an ordinary signature`,
  );
  print(`a nonce made ahead: ${nonce.toFixed(1)} µs of its thread`);
  return true;
}

async function growDatabase(): Promise<boolean> {
  const isGood = await measureGrowth(stage, Number(flags.requests ?? (flags.quick ? GROWN.quick : GROWN.full)), print);
  await stage.strike();
  return isGood;
}

function verdict({ overspends, answered, recorded, receipts }: Results): string {
  const spent = overspends.map(({ kind, overspentUsd, capUsd, spentUsd, answered: served, refused: refusals }) => {
    const refused = Object.entries(refusals).map(([status, count]) => `${count.toLocaleString('en')} × ${status}`);
    const details = `cap ${capUsd}, spent ${spentUsd}; ${served} answered, refused ${refused.join(', ') || 'none'}`;
    return `  ${KINDS[kind].padEnd(13)}  ${overspentUsd} USD   (${details})`;
  });
  return [
    'Overspent under load',
    ...spent,
    `Answered, recorded  ${answered.toLocaleString('en')} answers, ${recorded.toLocaleString('en')} usage records, ${receipts.toLocaleString('en')} receipts`,
  ].join('\n');
}

/** No figure counts if money or a record went missing on the way to it. */
function isSound({ overspends, answered, recorded, receipts }: Results): boolean {
  return !overspends.some(isOverspent) && answered === recorded && recorded === receipts;
}

function save(results: Results): void {
  const folder = join(import.meta.dirname, '../results');
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'latest.json');
  writeFileSync(file, `${JSON.stringify({ at: new Date().toISOString(), setting, quick: flags.quick, ...results }, null, 2)}\n`);
  print(`\nSaved in ${file}`);
}
