import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Pool } from 'pg';
import * as z from 'zod';
import type { Clock } from '../../kernel/clock.ts';
import { newId } from '../../kernel/ids.ts';
import type { Log } from '../../kernel/log.ts';
import { anyOf, checkedRows, rowsOf } from '../../kernel/statements.ts';
import type { RunningTimers, Timer, TimerRun } from './port.ts';
import { tables } from './tables.ts';

/** How long something that is due may wait unseen. */
const LOOK_MS = 1_000;
/** After how long without a sign of life a gateway counts as dead, and what it ran is run by another one. */
const LEASE_MS = 10_000;
const FIRST_RETRY_MS = 2_000;
const LAST_RETRY_MS = 60_000;
/** So many failures in a row are no accident any more. */
const MANY_FAILURES = 5;

const DueRow = z.object({ name: z.string(), looked_at: z.date() });
const ClaimRow = z.object({ name: z.string(), wait_ms: z.number().nullable() });

interface TimersOptions {
  readonly timers: readonly Timer[];
  readonly pool: Pool;
  /** What conditions compare their moments with. Leases and intervals go by the database's clock. */
  readonly clock: Clock;
  readonly log: Log;
  onRun?(run: TimerRun): void;
  readonly lookMs?: number;
  readonly leaseMs?: number;
}

/** Runs timers beside every other gateway on the database, until it is closed. */
export function startTimers(options: TimersOptions): RunningTimers {
  const board = new Timers(options);
  return { close: () => board.close() };
}

/** A timer as this process sees it. */
interface Entry {
  readonly timer: Timer;
  readonly runs: Set<Promise<void>>;
  /** By the monotonic clock: not before then is the interval looked at, or a run begun after a failure. */
  nextAt: number;
  restsUntil: number;
  failures: number;
}

/** Names of timers whose condition was found to hold, and the moment of the database's clock when that was looked up. */
type Due = ReadonlyMap<string, Date>;

/** A run under a lease. */
interface Lease {
  renewedAt: number;
  readonly lost: AbortController;
}

class Timers {
  readonly #options: TimersOptions;
  readonly #lookMs: number;
  readonly #leaseMs: number;
  readonly #runner = newId();
  readonly #entries: readonly Entry[];
  readonly #leases = new Map<string, Lease>();
  readonly #conditions: string | undefined;
  readonly #closing = new AbortController();
  readonly #loops: Promise<unknown>;

  constructor(options: TimersOptions) {
    this.#options = options;
    this.#lookMs = options.lookMs ?? LOOK_MS;
    this.#leaseMs = options.leaseMs ?? LEASE_MS;
    this.#entries = options.timers.map((timer) => ({ timer, runs: new Set(), nextAt: 0, restsUntil: 0, failures: 0 }));
    this.#conditions = conditionsOf(options.timers);
    this.#loops = Promise.all([
      this.#repeat(this.#lookMs, () => this.#look(), 'what is to be done cannot be looked up'),
      this.#repeat(this.#leaseMs / 3, () => this.#renew(), 'the leases of running timers cannot be renewed'),
    ]);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#loops;
    await Promise.all(this.#entries.flatMap(({ runs }) => [...runs]));
  }

  async #repeat(everyMs: number, step: () => Promise<void>, failed: string): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      await step().catch((error: unknown) => this.#options.log.warn({ err: error }, failed));
      await delay(everyMs, undefined, { signal }).catch(() => {});
    }
  }

  async #look(): Promise<void> {
    const due = await this.#due();
    const now = performance.now();
    const wanted = this.#entries.filter(
      ({ timer, runs, nextAt, restsUntil }) =>
        runs.size < (timer.atOnce ?? 1) && restsUntil <= now && (due.has(timer.name) || (timer.everyMs !== undefined && nextAt <= now)),
    );
    const shared = wanted.filter(({ timer }) => (timer.atOnce ?? 1) > 1);
    const alone = wanted.filter(({ timer }) => (timer.atOnce ?? 1) === 1);
    const claimed = await this.#claim(alone, due);
    if (this.#closing.signal.aborted) return;
    for (const entry of [...shared, ...claimed]) this.#begin(entry);
  }

  async #due(): Promise<Due> {
    if (this.#conditions === undefined) return new Map();
    const { pool, clock } = this.#options;
    // Planned once for each connection: planning it takes longer than answering it.
    const { rows } = await pool.query({ name: 'timers-due', text: this.#conditions, values: [new Date(clock.now())] });
    return new Map(rows.map((row) => DueRow.parse(row)).map(({ name, looked_at }) => [name, looked_at]));
  }

  /** Those of these that this process is to run now. Of the others it learns when to look again. */
  async #claim(entries: readonly Entry[], due: Due): Promise<Entry[]> {
    if (entries.length === 0) return [];
    const names = entries.map(({ timer }) => timer.name);
    const at = performance.now();
    const rows = await checkedRows(this.#options.pool, ClaimRow, CLAIM, [
      names,
      names.map((name) => due.get(name) ?? null),
      this.#runner,
      this.#leaseMs,
      entries.map(({ timer }) => timer.everyMs !== undefined),
    ]);
    const waits = new Map(rows.map(({ name, wait_ms }) => [name, wait_ms]));
    const claimed: Entry[] = [];
    for (const entry of entries) {
      const waitMs = waits.get(entry.timer.name);
      if (waitMs === undefined) continue; // Made by another process at this moment.
      if (waitMs === null) {
        this.#leases.set(entry.timer.name, { renewedAt: at, lost: new AbortController() });
        claimed.push(entry);
      } else entry.nextAt = performance.now() + Math.max(waitMs, this.#lookMs);
    }
    return claimed;
  }

  #begin(entry: Entry): void {
    const run = this.#run(entry).finally(() => entry.runs.delete(run));
    entry.runs.add(run);
  }

  async #run(entry: Entry): Promise<void> {
    const { timer } = entry;
    const lease = this.#leases.get(timer.name);
    const signal = lease ? AbortSignal.any([this.#closing.signal, lease.lost.signal]) : this.#closing.signal;
    const log = this.#options.log.child({ job: timer.name });
    let restMs = timer.everyMs ?? 0;
    try {
      await timer.run({ log, signal });
      entry.failures = 0;
      this.#options.onRun?.({ timer: timer.name, outcome: 'done' });
    } catch (failure) {
      entry.failures += 1;
      restMs = Math.min(FIRST_RETRY_MS * 2 ** (entry.failures - 1), LAST_RETRY_MS, timer.everyMs ?? LAST_RETRY_MS);
      entry.restsUntil = performance.now() + restMs;
      this.#options.onRun?.({ timer: timer.name, outcome: 'retried' });
      const facts = { err: failure, failures: entry.failures, retryMs: restMs };
      if (entry.failures % MANY_FAILURES === 0) log.error(facts, 'a job fails again and again');
      else log.warn(facts, 'a job failed and will be tried again');
    }
    entry.nextAt = performance.now() + restMs;
    // What was told to end may have left something.
    if (lease) await this.#giveBack(timer.name, signal.aborted ? 0 : restMs);
  }

  async #giveBack(name: string, restMs: number): Promise<void> {
    this.#leases.delete(name);
    await this.#options.pool
      .query(
        `update timers set leased_until = clock_timestamp(), next_at = clock_timestamp() + $3 * interval '1 millisecond'
         where name = $1 and runner = $2`,
        [name, this.#runner, restMs],
      )
      .catch((error: unknown) =>
        this.#options.log.warn({ err: error, job: name }, 'a timer could not be given back; its lease ends by itself'),
      );
  }

  /** A lease that was not renewed in time is another process's by now, whether that could be read or not. */
  async #renew(): Promise<void> {
    const names = [...this.#leases.keys()];
    if (names.length === 0) return;
    const at = performance.now();
    try {
      const rows = await rowsOf(
        this.#options.pool,
        tables
          .updateTable('timers')
          .set({ leased_until: sql<Date>`clock_timestamp() + ${this.#leaseMs} * interval '1 millisecond'` })
          .where('name', '=', anyOf(names))
          .where('runner', '=', this.#runner)
          .where('leased_until', '>', sql<Date>`clock_timestamp()`)
          .returning('name'),
      );
      for (const { name } of rows) {
        const lease = this.#leases.get(name);
        if (lease) lease.renewedAt = at;
      }
    } finally {
      for (const { renewedAt, lost } of this.#leases.values()) if (performance.now() - renewedAt > this.#leaseMs) lost.abort();
    }
  }
}

/** One statement for all conditions, or none. */
function conditionsOf(timers: readonly Timer[]): string | undefined {
  const looks = timers.flatMap(({ name, due }) =>
    due === undefined ? [] : `select '${name}' as name, statement_timestamp() as looked_at from clock where ${due}`,
  );
  return looks.length === 0 ? undefined : `with clock as (select $1::timestamptz as present) ${looks.join(' union all ')}`;
}

/**
 * In one order, so that two processes wait for each other and not for ever. `wait_ms` is null for what is this process's now. A run that ended
 * after its condition was looked up may have left nothing due.
 */
const CLAIM = `with wanted as (select * from unnest($1::text[], $2::timestamptz[], $5::boolean[]) as wanted (name, due_at, recurs)),
  claimed as (
    insert into timers (name, next_at, runner, leased_until)
    select name, clock_timestamp(), $3, clock_timestamp() + $4 * interval '1 millisecond' from wanted order by name
    on conflict (name) do update set runner = excluded.runner, leased_until = excluded.leased_until
      where timers.leased_until <= clock_timestamp()
        and exists (select from wanted where wanted.name = timers.name
          and (timers.leased_until <= due_at or recurs and timers.next_at <= clock_timestamp()))
    returning name)
  select name, null::float8 as wait_ms from claimed
  union all select name, extract(epoch from greatest(next_at, leased_until) - clock_timestamp())::float8 * 1000 from timers
    where name = any($1) and name not in (select name from claimed)`;
