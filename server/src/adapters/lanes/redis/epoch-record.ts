import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Pool } from 'pg';
import * as z from 'zod';
import { checkedRow, firstOf, rowsOf } from '../../../kernel/statements.ts';
import { inTransaction } from '../../../kernel/transaction.ts';
import { tables } from '../tables.ts';

/**
 * `recovering`: nothing is admitted, and every living gateway brings its journal into the ledger. `declaring`: the lanes may be loaded, and
 * every living gateway puts the holds that it has on them. `open`: requests are admitted.
 */
export type EpochState = 'recovering' | 'declaring' | 'open';

export interface EpochStanding {
  readonly epoch: string;
  readonly state: EpochState;
}

/** What is to be done before the epoch goes on to the next state; the row of the epoch is locked meanwhile. */
export interface Advance {
  /** Epochs that were not open for long enough to be settled: their holds may be in Redis still. Newest first. */
  readonly older: readonly string[];
  /** Gateways that have done what this state asks for, and live. */
  readonly living: ReadonlySet<string>;
}

const Standing = z.object({ epoch: z.string(), state: z.enum(['recovering', 'declaring', 'open']), is_living: z.boolean() });

/** Without a sign of life for so long a gateway is not waited for. */
const LIVING = "interval '15 seconds'";
/** Which column says that a gateway has done what a state asks for, and what comes after that state. */
const STEPS = {
  recovering: { done: 'drained', next: 'declaring' },
  declaring: { done: 'declared', next: 'open' },
} as const;

/**
 * The epoch of the lanes in Redis and the gateways that run on them, in PostgreSQL: what Redis has lost, it can't be asked about. Time is that
 * of PostgreSQL.
 */
export class EpochRecord {
  readonly #pool: Pool;
  readonly #gateway: string;
  #token: bigint | undefined;

  constructor(pool: Pool, gateway: string) {
    this.#pool = pool;
    this.#gateway = gateway;
  }

  /** Begins a session: this gateway has to do again what the epoch asks for. */
  async join(): Promise<void> {
    await this.#pool.query("insert into lane_epoch (epoch, state, older) values ($1, 'recovering', '{}') on conflict do nothing", [
      randomUUID(),
    ]);
    const session = await firstOf(
      this.#pool,
      tables
        .insertInto('gateway_sessions')
        .values({ gateway: this.#gateway, seen_at: sql<Date>`now()` })
        .onConflict((conflict) =>
          conflict.column('gateway').doUpdateSet({
            ...{ token: sql<bigint>`gateway_sessions.token + 1`, seen_at: sql<Date>`now()`, drained: null, declared: null },
          }),
        )
        .returning('token'),
    );
    this.#token = session?.token;
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
  async done(epoch: string, state: 'recovering' | 'declaring'): Promise<void> {
    const { done } = STEPS[state];
    await this.#pool.query(`update gateway_sessions set ${done} = $3 where gateway = $1 and token = $2`, [
      this.#gateway,
      this.#token,
      epoch,
    ]);
  }

  /**
   * Takes the epoch to its next state once every living gateway has done what this one asks for. One gateway does it; others look again later.
   * @returns whether this one did
   */
  async advance({ epoch, state }: EpochStanding, work: (advance: Advance) => Promise<void>): Promise<boolean> {
    if (state === 'open') return false;
    const { done, next } = STEPS[state];
    return inTransaction(this.#pool, async (client) => {
      // A gateway that is stopped in the middle of it must not keep the others from going on.
      await client.query("set local idle_in_transaction_session_timeout = '10s'");
      const row = await firstOf(
        client,
        tables.selectFrom('lane_epoch').select('older').where('epoch', '=', epoch).where('state', '=', state).forUpdate().skipLocked(),
      );
      if (!row) return false;
      const sessions = await rowsOf(
        client,
        tables
          .selectFrom('gateway_sessions')
          .select((eb) => ['gateway' as const, eb(done, 'is not distinct from', epoch).as('is_done')])
          .where('seen_at', '>', sql<Date>`now() - ${sql.raw(LIVING)}`),
      );
      if (sessions.some(({ is_done }) => !is_done)) return false;
      await work({ older: row.older, living: new Set(sessions.map(({ gateway }) => gateway)) });
      await client.query('update lane_epoch set state = $2, changed_at = now() where epoch = $1', [epoch, next]);
      if (next === 'open') await client.query(`delete from gateway_sessions where seen_at < now() - 2 * ${LIVING}`);
      return true;
    });
  }
}

/** The epoch that is open; undefined while none is. */
export async function openEpochOf(pool: Pool): Promise<string | undefined> {
  return (await firstOf(pool, tables.selectFrom('lane_epoch').select('epoch').where('state', '=', 'open')))?.epoch;
}
