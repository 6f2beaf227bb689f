import type { contract, Health } from '@tallygate/contract';
import type { Pool } from 'pg';
import type { BlobStore } from '../adapters/blobs/port.ts';
import type { Handlers } from '../http/index.ts';
import { auditProgress, readLogRow, stopsOf, unsealedReceipts } from '../receipts/index.ts';
import type { Config } from './config.ts';

const VERSION = '0.1.0';

/** Whether this process takes requests. */
export class Readiness {
  #isStarted = false;
  #isDraining = false;

  start(): void {
    this.#isStarted = true;
  }

  drain(): void {
    this.#isDraining = true;
  }

  get isStarted(): boolean {
    return this.#isStarted;
  }

  get isDraining(): boolean {
    return this.#isDraining;
  }
}

const PATIENCE_MS = 2_000;
const UNKNOWN_BOOKS: BooksState = { lag: { ms: 0, isTooLong: true }, quarantined: 0, canRecord: false };
const TOLD_UNAUDITED = 10_000;
/** Where lanes are in Redis, settlements are looked at again every ten seconds: that is no lag. */
const TOLD_LAG_MS = 30_000;

/** What the process that writes the ledger says of it. */
export interface BooksState {
  /** For how long the ledger has taken nothing of what waits for it, and whether calls are refused for that. */
  readonly lag: { readonly ms: number; readonly isTooLong: boolean };
  /** How many settlements wait for a person. */
  readonly quarantined: number;
  /** Whether the journal's disk takes anything: without it no call is begun. */
  readonly canRecord: boolean;
}

/** What the process cannot serve without. */
interface Needs {
  readonly pool: Pool;
  readonly blobs: Pick<BlobStore, 'check'>;
  readonly config: Pick<Config, 'bucket'>;
  /** Where lanes are shared. */
  readonly redis?: { ping(): Promise<unknown> } | undefined;
  readonly booksState: () => BooksState | Promise<BooksState>;
  /** By how much the time of day, or the database's clock, is ahead of the clock that months are counted by; negative where it is behind. */
  readonly clockDifferenceMs: () => number;
}

const TOLD_DIFFERENCE_MS = 10_000;

interface HealthDeps {
  readonly readiness: Readiness;
  readonly needs: Needs;
  /** Where the service is reached from outside, without a slash at the end. */
  readonly publicUrl: () => string;
  /** Whether the docs site is built. */
  readonly hasDocs: () => boolean;
}

export const healthRoutes = ({ readiness, needs, publicUrl, hasDocs }: HealthDeps): Handlers<typeof contract.discovery> => ({
  root: async () => ({
    status: 200,
    body: {
      name: 'Tallygate',
      status: readiness.isDraining ? 'draining' : 'ok',
      version: VERSION,
      documentation: `${publicUrl()}${hasDocs() ? '/docs/' : '/openapi.json'}`,
      openapi: `${publicUrl()}/openapi.json`,
      agent: `${publicUrl()}/.well-known/agent.json`,
      llms: `${publicUrl()}/llms.txt`,
      mcp: `${publicUrl()}/mcp`,
    },
  }),
  live: async () => ({ status: 200, body: { status: 'ok', checks: {} } }),
  ready: async () => {
    const health = await checkHealth(readiness, needs);
    return health.status === 'ok' ? { status: 200, body: health } : { status: 503, body: health };
  },
});

/** What the answer of `/health/ready` says. */
export async function checkHealth(
  readiness: Readiness,
  { pool, blobs, config, redis, booksState, clockDifferenceMs }: Needs,
): Promise<Health> {
  if (readiness.isDraining) return { status: 'draining', checks: {} };
  if (!readiness.isStarted) return { status: 'unavailable', checks: { start: 'unavailable' } };
  const word = (isThere: boolean) => (isThere ? 'ok' : 'unavailable');
  const books = Promise.resolve(booksState());
  const asked = { database: pool.query('select 1'), blobs: blobs.check(), ledger: books, ...(redis && { redis: redis.ping() }) };
  const answers = await Promise.all(Object.entries(asked).map(async ([name, answer]) => [name, await answersInTime(answer)] as const));
  const checks = Object.fromEntries(answers.map(([name, isThere]) => [name, word(isThere)]));
  // All gateways have the same bucket: with none of them ready, requests without files would not be answered either.
  const isAnswered = answers.every(([name, isOne]) => isOne || (name === 'blobs' && config.bucket !== undefined));
  const hasBooks = checks['ledger'] === word(true);
  const { lag, quarantined: waiting, canRecord } = hasBooks ? await books : UNKNOWN_BOOKS;
  const isThere = isAnswered && canRecord && !lag.isTooLong;
  // A stopped log is for a person to look at; requests are answered, and their receipts wait. The database may be gone since it answered.
  const log = isThere ? await wordsOfLog(pool).catch(() => undefined) : undefined;
  const isServing = log !== undefined;
  const { receipt_log, receipt_log_audit } = log ?? { receipt_log: word(false), receipt_log_audit: word(false) };
  const quarantine = waiting === 0 ? 'ok' : `${waiting} waiting`;
  const ledger = lag.ms < TOLD_LAG_MS ? word(hasBooks) : `${Math.floor(lag.ms / 1000)} s behind`;
  return {
    status: word(isServing),
    checks: {
      ...checks,
      ledger,
      journal: word(canRecord),
      clock: wordOfClock(clockDifferenceMs()),
      receipt_log,
      receipt_log_audit,
      quarantine,
    },
  };
}

/** Calls are answered: the clock of the process continues as before. */
function wordOfClock(differenceMs: number): string {
  if (Math.abs(differenceMs) < TOLD_DIFFERENCE_MS) return 'ok';
  return `${Math.round(Math.abs(differenceMs) / 1_000)} s ${differenceMs > 0 ? 'behind' : 'ahead of'} the time of day`;
}

const wordsOfLog = async (pool: Pool) => ({ receipt_log: await wordOfLog(pool), receipt_log_audit: await wordOfAudit(pool) });

async function wordOfLog(pool: Pool): Promise<string> {
  if ((await stopsOf(pool)).length > 0) return 'stopped';
  const unsealed = await unsealedReceipts(pool);
  return unsealed.length === 0 ? 'ok' : `${unsealed.length} unsealed`;
}

/** Entries that nobody has checked yet wait for seconds; more are an audit that does not keep up. */
async function wordOfAudit(pool: Pool): Promise<string> {
  const { size } = await readLogRow(pool);
  const { checked } = await auditProgress(pool);
  return size - checked < TOLD_UNAUDITED ? 'ok' : `${checked} of ${size} entries checked`;
}

function answersInTime(answer: Promise<unknown>): Promise<boolean> {
  const answered = answer.then(
    () => true,
    () => false,
  );
  const late = new Promise<false>((resolve) => setTimeout(resolve, PATIENCE_MS, false).unref());
  return Promise.race([answered, late]);
}
