import { setTimeout as delay } from 'node:timers/promises';
import { HASH_BYTES } from '@tallygate/receipts';
import type { Pool, PoolClient } from 'pg';
import type { JournalEntry, LaneCeiling, SettlementFeed } from '../../adapters/lanes/port.ts';
import { type Archive, DamagedArchive, ensurePartitions, isWithoutPartition, RECEIPTS, USAGE_RECORDS } from '../../archive/index.ts';
import { rfc3339 } from '../../kernel/clock.ts';
import { isCollision } from '../../kernel/collisions.ts';
import { copyField, copyInto } from '../../kernel/copy-rows.ts';
import type { Log } from '../../kernel/log.ts';
import { inTransaction } from '../../kernel/transaction.ts';
import { type LogPlacing, PriceEntries, takeNumbers } from '../../receipts/index.ts';
import { parseLaneId } from './lane-ids.ts';
import type { LedgerBatch, LedgerReceipts, Overbilled, Posted } from './ledger-batch.ts';
import type { LedgerPages } from './page-thread.ts';
import { PriceSets } from './price-sets.ts';
import type { WrittenFacts } from './receipt-facts.ts';
import { added, addSums, COVERED_SUMS, DETAIL_DAY, RUN_DAY, USAGE_SUMS } from './rollup-columns.ts';
import { SEGMENT_INSERT } from './segments/segment-row.ts';
import { unknownAmong } from './unwritten.ts';

interface LedgerWriterDeps {
  readonly feed: SettlementFeed;
  readonly pool: Pool;
  /** Whether a settlement of an archived month is written already. */
  readonly archive: Archive;
  /** What a batch comes to: that takes longer than the writing, so production works it out on a thread of its own. */
  readonly pages: LedgerPages;
  readonly log: Log;
  /** Writes what else follows from a batch, in its transaction and after its sums. What it throws undoes what it wrote, and is logged. */
  readonly alongside?: (client: PoolClient, settled: readonly Posted[]) => Promise<void>;
  /** Gives receipts their places in the log as they are written. Without it they wait until somebody appends them. */
  readonly placing?: Pick<LogPlacing, 'within'> | undefined;
  /** How far apart batches begin that nobody waits for, milliseconds. Default 100. */
  readonly paceMs?: number;
  /** Told of each settlement whose provider billed more than was held, once it is written. */
  readonly onOverbilled?: (overbilled: Overbilled) => void;
  /** Told of a record that the database refuses, after it was set aside. */
  readonly onQuarantine: (entry: JournalEntry, error: unknown) => void;
}

const GATHER_MS = 15;
/** What a batch takes of the database by itself is what some fifty of its settlements take. */
const PACE_MS = 100;
/** A batch of as many is worth its own, and another follows it at once. */
const LARGE_BATCH = 250;
const RETRY_MS = 500;
const MOST_COLLISIONS = 20;
const OTHERS_WRITE_MS = 5_000;
const LOOK_MS = 20;

/**
 * Drains settlements into PostgreSQL: usage record, receipt, posting, sums, all of a batch in one transaction, each settlement once.
 * What is delivered twice (a crash between commit and acknowledgement) is recognised by its (request_id, attempt) and passed over.
 */
export class LedgerWriter {
  readonly #deps: LedgerWriterDeps;
  /** The drains so far, one after the other: the feed has one reader. */
  #drains: Promise<void> = Promise.resolve();
  readonly #prices = new PriceEntries();
  readonly #priceSets = new PriceSets();
  #timer: NodeJS.Timeout | undefined;
  /** When a batch may begin that nobody waits for, by `performance.now()`. */
  #nextAt = 0;
  #closed = false;

  constructor(deps: LedgerWriterDeps) {
    this.#deps = deps;
    deps.feed.onAppend(() => this.#wakeIn(Math.max(GATHER_MS, this.#nextAt - performance.now())));
  }

  /** Writes everything that is there by now. @throws when the database cannot be reached */
  drain(): Promise<void> {
    return this.#inTurn(async () => {
      while ((await this.#writeBatch()) > 0);
    });
  }

  /** Resolves when what is being written now is written, or has failed. Nothing that is read later is waited for. */
  idle(): Promise<void> {
    return this.#drains;
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    // Not the drain that is running: that one may have looked for more already.
    const drain = this.#drains.then(work);
    this.#drains = drain.catch(() => {});
    return drain;
  }

  /**
   * The same, where it may be another process that writes: resolves once the ledger has everything that was settled before the call, or after
   * five seconds.
   * @throws when the database cannot be reached
   */
  async written(): Promise<void> {
    const isWritten = await this.#deps.feed.mark?.();
    await this.drain();
    if (!isWritten) return;
    for (const until = performance.now() + OTHERS_WRITE_MS; !(await isWritten()) && performance.now() < until; ) {
      await delay(LOOK_MS);
      // Where the one that wrote is gone, this one does.
      await this.drain();
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.drain();
  }

  #wakeIn(delayMs: number): void {
    if (this.#closed) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#inTurn(() => this.#writePaced()).catch((error: unknown) => {
        this.#deps.log.error({ err: error }, 'the ledger writer cannot write; settlements wait in the journal');
        this.#wakeIn(RETRY_MS);
      });
    }, delayMs);
  }

  /** One batch, and later the next. */
  async #writePaced(): Promise<void> {
    const begunAt = performance.now();
    this.#nextAt = begunAt + (this.#deps.paceMs ?? PACE_MS);
    const written = await this.#writeBatch();
    if (written === 0 || written >= LARGE_BATCH) this.#nextAt = 0;
    if (written > 0) this.#wakeIn(Math.max(0, this.#nextAt - performance.now()));
  }

  /** @returns how much was read; 0 when there was nothing */
  async #writeBatch(): Promise<number> {
    const batch = await this.#deps.feed.read();
    const read = batch.entries.length + batch.ceilings.length;
    if (read === 0) return 0;
    await writeCeilings(this.#deps.pool, batch.ceilings);
    await this.#write(batch.entries);
    batch.acknowledge();
    return read;
  }

  /** A record that the database refuses must not keep the others out: it is found by halving, and set aside. */
  async #write(entries: readonly JournalEntry[], collisions = 0): Promise<void> {
    try {
      await this.#writeTogether(entries);
    } catch (error) {
      // Another writer was faster with the same records: what it has written is known by now. Or their month was archived meanwhile.
      const isToRepeat = isOvertaken(error) || isWithoutPartition(this.#deps.pool, error);
      if (isToRepeat && collisions < MOST_COLLISIONS) return this.#write(entries, collisions + 1);
      if (!isRefusal(error)) throw error;
      const [first] = entries;
      if (entries.length === 1 && first) return this.#deps.onQuarantine(first, error);
      const middle = Math.ceil(entries.length / 2);
      await this.#write(entries.slice(0, middle));
      await this.#write(entries.slice(middle));
    }
  }

  async #writeTogether(entries: readonly JournalEntry[]): Promise<void> {
    const { pool, archive, pages: work } = this.#deps;
    if (entries.length === 0) return;
    let pages = await workedOut(work.ledgerBatchOf(entries));
    const settled = pages.posted.filter(({ kind }) => kind === 'usage');
    await ensurePartitions(
      pool,
      USAGE_RECORDS,
      settled.map(({ month }) => month),
    );
    await ensurePartitions(
      pool,
      RECEIPTS,
      pages.posted.map(({ receiptMonth }) => receiptMonth),
    );
    const isUnknown = await unknownAmong({ pool, archive }, pages.posted);
    const unknown = entries.filter((_, index) => isUnknown[index]);
    if (unknown.length === 0) return;
    if (unknown.length < entries.length) pages = await workedOut(work.ledgerBatchOf(unknown));
    const committed = await inTransaction(pool, async (client) => {
      const written = await this.#writtenFacts(client, pages.posted);
      const receipts = await workedOut(work.receiptsOf(unknown, written));
      const setsCommitted = await this.#priceSets.write(client, pages.priceSets);
      await writePages(client, pages);
      await this.#writeAlongside(
        client,
        pages.posted.filter(({ kind }) => kind === 'usage'),
      );
      const receiptsCommitted = await this.#writeReceipts(client, receipts);
      return [setsCommitted, receiptsCommitted];
    });
    for (const isThere of committed) isThere?.();
    for (const { overbilled } of pages.posted) if (overbilled) this.#deps.onOverbilled?.(overbilled);
  }

  /** Last, since nobody else grows the log meanwhile. @returns to be called once the transaction is committed */
  async #writeReceipts(client: PoolClient, { columns, lines, seals, digests }: LedgerReceipts): Promise<(() => void) | undefined> {
    const entries = Array.from({ length: digests.length / HASH_BYTES }, (_, at) =>
      Buffer.from(digests.subarray(at * HASH_BYTES, (at + 1) * HASH_BYTES)),
    );
    const placed = await this.#deps.placing?.within(client, entries);
    const first = placed?.first ?? null;
    // The seal is for those that wait.
    const rest = (at: number) => (first === null ? [seals[at], NULL] : [NULL, first + at]).join('\t');
    await copyInto(client, 'receipts', {
      columns: [...columns, 'seal', 'log_index'],
      lines: lines.map((line, at) => `${line}\t${rest(at)}`),
    });
    return placed?.committed;
  }

  async #writtenFacts(client: PoolClient, posted: readonly Posted[]): Promise<WrittenFacts[]> {
    const entries = await this.#prices.of(
      client,
      posted.map(({ price }) => price),
    );
    const numbers = await takeNumbers(client, posted);
    return posted.map(({ price }, at) => ({ number: numbers[at] ?? Number.NaN, price: entries.get(price) ?? null }));
  }

  /** Money comes first: a fault in what follows from it is no reason to set a settlement aside, nor to keep it waiting. */
  async #writeAlongside(client: PoolClient, settled: readonly Posted[]): Promise<void> {
    const { alongside, log } = this.#deps;
    if (!alongside || settled.length === 0) return;
    await client.query('savepoint alongside');
    try {
      await alongside(client, settled);
    } catch (error) {
      if (isCollision(error) || isOvertaken(error)) throw error;
      await client.query('rollback to savepoint alongside');
      log.error({ err: error }, 'what follows from a batch of settlements could not be written');
    }
  }
}

/** A run's ceiling only ever falls, so writing it again changes nothing. */
async function writeCeilings(pool: Pool, ceilings: readonly LaneCeiling[]): Promise<void> {
  const lowest = new Map<string, LaneCeiling>();
  for (const ceiling of ceilings) {
    const known = lowest.get(ceiling.laneId);
    if (!known || ceiling.cap < known.cap) lowest.set(ceiling.laneId, ceiling);
  }
  const rows = [...lowest.values()].flatMap(({ laneId, cap, at }) => {
    const lane = parseLaneId(laneId);
    if (lane.kind !== 'run') return [];
    const { accountId: account_id, livemode, runId: run_id } = lane;
    return {
      account_id,
      livemode,
      run_id,
      ceiling_nano: cap.toString(),
      spent_nano: 0,
      requests: 0,
      first_request_at: rfc3339(at),
      last_request_at: rfc3339(at),
    };
  });
  if (rows.length === 0) return;
  await pool.query(
    `insert into agent_runs select * from json_populate_recordset(null::agent_runs, $1) order by account_id, livemode, run_id
     on conflict (account_id, livemode, run_id) do update set ceiling_nano = least(agent_runs.ceiling_nano, excluded.ceiling_nano)`,
    [JSON.stringify(rows)],
  );
}

/** The keys of `usage_records` and `postings` stand behind `unknownAmong`: should two writers ever meet, one of them rolls back whole. */
async function writePages(client: PoolClient, pages: LedgerBatch): Promise<void> {
  await copyInto(client, 'usage_records', pages.usageRecords);
  // Prepared: to plan one takes as long as to insert a dozen rows.
  for (const [name, text] of Object.entries(INSERTS)) {
    const rows = pages[name as keyof typeof INSERTS];
    if (rows !== NO_ROWS) await client.query({ name: `ledger ${name}`, text, values: [rows] });
  }
  const { refundIds, correctionIds } = pages;
  if (refundIds.length > 0) await client.query('update refunds set posted_at = now() where refund_id = any($1)', [refundIds]);
  if (correctionIds.length > 0)
    await client.query('update corrections set posted_at = now() where correction_id = any($1)', [correctionIds]);
}

/** Sums are written in one order, so that two writers wait for each other's rows rather than deadlock. */
const INSERTS = {
  postings: `insert into postings (posting_id, kind, request_id, attempt, livemode, day)
    select posting_id, kind, request_id, attempt, livemode, day from json_populate_recordset(null::postings, $1)`,
  ledgerEntries: 'insert into ledger_entries select * from json_populate_recordset(null::ledger_entries, $1)',
  usageDaily: `insert into usage_daily select * from json_populate_recordset(null::usage_daily, $1) order by account_id, livemode, day, key_id, model
    on conflict (account_id, livemode, day, key_id, model) do update set ${added('usage_daily', [...USAGE_SUMS, ...COVERED_SUMS])}`,
  usageRunsDaily: addSums('usage_runs_daily', RUN_DAY),
  usageDetailsDaily: addSums('usage_details_daily', DETAIL_DAY),
  usageSegments: SEGMENT_INSERT,
  ledgerDaily: `insert into ledger_daily select * from json_populate_recordset(null::ledger_daily, $1) order by account, day
    on conflict (account, day) do update set amount_nano = ledger_daily.amount_nano + excluded.amount_nano`,
  agentRuns: `insert into agent_runs select * from json_populate_recordset(null::agent_runs, $1) order by account_id, livemode, run_id
    on conflict (account_id, livemode, run_id) do update set
      spent_nano = agent_runs.spent_nano + excluded.spent_nano,
      requests = agent_runs.requests + excluded.requests,
      first_request_at = least(agent_runs.first_request_at, excluded.first_request_at),
      last_request_at = greatest(agent_runs.last_request_at, excluded.last_request_at)`,
  laneSpend: `insert into lane_spend (lane_id, spent_nano)
    select lane_id, spent_nano from json_populate_recordset(null::lane_spend, $1) order by lane_id
    on conflict (lane_id) do update set spent_nano = lane_spend.spent_nano + excluded.spent_nano`,
} as const satisfies Partial<Record<keyof LedgerBatch, string>>;

const NO_ROWS = '[]';
const NULL = copyField(null);

const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error ? String(error.code) : '');

/** A settlement that is there already (unique violation). */
const isOvertaken = (error: unknown): boolean =>
  codeOf(error) === '23505' && error instanceof Error && 'table' in error && /^(postings$|usage_records_)/.test(String(error.table));

/** A record of which nothing can be worked out: what should be a number, a time or an object is none. */
class UnreadableRecord extends Error {
  override readonly name = 'UnreadableRecord';
}

/** Only what is thrown here says something of the records: the same kinds of error from a connection that breaks say nothing of them. */
const workedOut = <T>(pages: Promise<T>): Promise<T> =>
  pages.catch((cause: unknown) => {
    if (cause instanceof TypeError || cause instanceof RangeError || cause instanceof SyntaxError)
      throw new UnreadableRecord(cause.message, { cause });
    throw cause;
  });

/**
 * PostgreSQL's classes 22 (data exception), 23 (integrity violation), 54 (limit exceeded) and P0 (raised by a trigger), and a record that cannot
 * be read: the record is at fault, not the connection. Or nobody can tell whether it was written.
 */
const isRefusal = (error: unknown): boolean =>
  error instanceof DamagedArchive || error instanceof UnreadableRecord || /^(22|23|54|P0)/.test(codeOf(error));
