import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Pool } from 'pg';
import * as z from 'zod';
import { checkedRow, firstOf, rowsOf } from '../../../kernel/statements.ts';
import { inTransaction } from '../../../kernel/transaction.ts';
import { tables } from '../tables.ts';

/**
 * `recovering`: nothing is admitted, and every living gateway brings its journal into the ledger. `declaring`: the lanes may be loaded, and
 * every gateway puts the holds that it has on them. `settling`: each settles what an earlier process of it had in flight, as far as it fits beside
 * those holds. `open`: requests are admitted.
 */
export type EpochState = 'recovering' | 'declaring' | 'settling' | 'open';

export interface EpochStanding {
  readonly epoch: string;
  readonly state: EpochState;
}

/** What is to be done before the epoch goes on to the next state; the row of the epoch is locked meanwhile. */
export interface Advance {
  /** Epochs that were not open for long enough to be settled: their holds may be in Redis still. Newest first. */
  readonly older: readonly string[];
  /** Processes that have done what this state asks for: whose holds they are in Redis. */
  readonly living: ReadonlySet<string>;
}

/** What came of an attempt to take the epoch to its next state. */
export interface Advanced {
  readonly hasAdvanced: boolean;
  /** Gateways that are waited for although they give no sign of life. */
  readonly absent: readonly string[];
}

interface EpochRecordDeps {
  readonly pool: Pool;
  /** Of the data directory: who comes after a process in it takes its session over. */
  readonly gateway: string;
  /** Whose holds they are in Redis. */
  readonly process: string;
  /** Without a sign of life for so long a gateway is taken for dead: an epoch is opened without it. */
  readonly absenceMs: number;
}

const Standing = z.object({
  epoch: z.string(),
  state: z.enum(['recovering', 'declaring', 'settling', 'open']),
  is_living: z.boolean(),
});

/** For so long a session counts as renewed. */
const LIVING = "interval '15 seconds'";
/** Which column says that a gateway has done what a state asks for, and what comes after that state. */
const STEPS = {
  recovering: { done: 'drained', next: 'declaring' },
  declaring: { done: 'declared', next: 'settling' },
  settling: { done: 'settled', next: 'open' },
} as const;

/**
 * The epoch of the lanes in Redis and the gateways that run on them, in PostgreSQL: what Redis has lost, it can't be asked about. Time is that
 * of PostgreSQL.
 *
 * The row of a gateway goes only when the gateway ends with an empty journal, or when an epoch is opened without it. So a gateway that finds its
 * row has missed no epoch.
 */
export class EpochRecord {
  readonly #deps: EpochRecordDeps;
  readonly #pool: Pool;
  readonly #gateway: string;
  #token: bigint | undefined;

  constructor(deps: EpochRecordDeps) {
    this.#deps = deps;
    this.#pool = deps.pool;
    this.#gateway = deps.gateway;
  }

  /**
   * Begins a session: this gateway has to do again what the epoch asks for.
   * @returns whether it may have missed an epoch, and has not settled late yet what it had from before that
   */
  async join(): Promise<boolean> {
    await this.#pool.query("insert into lane_epoch (epoch, state, older) values ($1, 'recovering', '{}') on conflict do nothing", [
      randomUUID(),
    ]);
    const session = await firstOf(
      this.#pool,
      tables
        .insertInto('gateway_sessions')
        .values({ gateway: this.#gateway, process: this.#deps.process, seen_at: sql<Date>`now()`, is_late: true })
        .onConflict((conflict) =>
          conflict.column('gateway').doUpdateSet({
            ...{ token: sql<bigint>`gateway_sessions.token + 1`, process: this.#deps.process, seen_at: sql<Date>`now()` },
            ...{ drained: null, declared: null, settled: null },
          }),
        )
        .returning(['token', 'is_late']),
    );
    this.#token = session?.token;
    return session?.is_late ?? true;
  }

  /** What this gateway had from before the epochs that it missed is settled. */
  async caughtUp(): Promise<void> {
    await this.#pool.query('update gateway_sessions set is_late = false where gateway = $1 and token = $2', [this.#gateway, this.#token]);
  }

  async leave(): Promise<void> {
    await this.#pool.query('delete from gateway_sessions where gateway = $1 and token = $2', [this.#gateway, this.#token]);
  }

  /** Says that this gateway lives. Undefined: its session has lapsed, and others may have gone on without it. */
  async beat(): Promise<EpochStanding | undefined> {
    const row = await checkedRow(
      this.#pool,
      Standing,
      `with seen as (
         update gateway_sessions set seen_at = now() where gateway = $1 and token = $2 and seen_at > now() - ${LIVING} returning gateway
       ) select epoch, state, exists (select from seen) as is_living from lane_epoch`,
      [this.#gateway, this.#token],
    );
    return row?.is_living ? { epoch: row.epoch, state: row.state } : undefined;
  }

  /** Redis has lost something of this epoch: the next one takes its place, unless it has by now. */
  async supersede(epoch: string): Promise<void> {
    await this.#pool.query(
      `update lane_epoch set epoch = $2, state = 'recovering', changed_at = now(),
         older = case when state = 'open' then array[epoch] else array_prepend(epoch, older) end
       where epoch = $1`,
      [epoch, randomUUID()],
    );
  }

  /** Whether no lane of that epoch can have been loaded yet. */
  async isRecovering(epoch: string): Promise<boolean> {
    const { rows } = await this.#pool.query("select from lane_epoch where epoch = $1 and state = 'recovering'", [epoch]);
    return rows.length > 0;
  }

  /** This gateway has done what the state asks for. */
  async done(epoch: string, state: Exclude<EpochState, 'open'>): Promise<void> {
    const { done } = STEPS[state];
    await this.#pool.query(`update gateway_sessions set ${done} = $3 where gateway = $1 and token = $2`, [
      this.#gateway,
      this.#token,
      epoch,
    ]);
  }

  /**
   * Takes the epoch to its next state once every gateway has done what this one asks for, but for those that are silent for so long that they
   * are taken for dead. One gateway does it; others look again later.
   */
  async advance({ epoch, state }: EpochStanding, work: (advance: Advance) => Promise<void>): Promise<Advanced> {
    if (state === 'open') return NOT_YET;
    const { done, next } = STEPS[state];
    return inTransaction(this.#pool, async (client) => {
      // A gateway that is stopped in the middle of it must not keep the others from going on.
      await client.query("set local idle_in_transaction_session_timeout = '10s'");
      const row = await firstOf(
        client,
        tables.selectFrom('lane_epoch').select('older').where('epoch', '=', epoch).where('state', '=', state).forUpdate().skipLocked(),
      );
      if (!row) return NOT_YET;
      const sessions = await rowsOf(
        client,
        tables
          .selectFrom('gateway_sessions')
          .select((eb) => [
            ...(['gateway', 'process'] as const),
            eb(done, 'is not distinct from', epoch).as('is_done'),
            sql<boolean>`seen_at > now() - ${sql.raw(LIVING)}`.as('is_living'),
          ])
          .where('seen_at', '>', sql<Date>`now() - ${this.#deps.absenceMs} * interval '1 millisecond'`),
      );
      const missing = sessions.filter(({ is_done }) => !is_done);
      if (missing.length > 0) return { hasAdvanced: false, absent: missing.flatMap((one) => (one.is_living ? [] : [one.gateway])) };
      await work({ older: row.older, living: new Set(sessions.map(({ process }) => process)) });
      await client.query('update lane_epoch set state = $2, changed_at = now() where epoch = $1', [epoch, next]);
      // Those that were not waited for, and one that has come back at this very moment: it joins again, and is late.
      if (next === 'open') await client.query('delete from gateway_sessions where settled is distinct from $1', [epoch]);
      return { hasAdvanced: true, absent: [] };
    });
  }
}

const NOT_YET: Advanced = { hasAdvanced: false, absent: [] };

/** The epoch that is open; undefined while none is. */
export async function openEpochOf(pool: Pool): Promise<string | undefined> {
  return (await firstOf(pool, tables.selectFrom('lane_epoch').select('epoch').where('state', '=', 'open')))?.epoch;
}
