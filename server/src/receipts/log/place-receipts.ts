import type { PoolClient } from 'pg';
import { isCollision } from '../../kernel/collisions.ts';
import type { AppendDeps } from './append.ts';
import { type GrownLog, growLog, type HeldLog, holdLog, lockLog } from './grow-log.ts';
import { LogStop, stopLog } from './log-stops.ts';
import { signedState } from './read-log.ts';

/** Where receipts are in the log that one transaction writes. */
export interface PlacedReceipts {
  /** Of the first; null where they have to wait, since the log is stopped. */
  readonly first: number | null;
  /** To be called once the transaction is committed. */
  readonly committed: () => void;
}

/** How often a state that was signed is kept outside the database. */
const KEEP_EVERY_MS = 1_000;
const WAIT: PlacedReceipts = { first: null, committed: () => {} };

/**
 * Gives receipts their places in the log in the very transaction that writes them, by the process that has made them: nothing is read back, and
 * no row is written twice. What was altered in the database meanwhile stops the log as `appendReceipts` does; receipts then wait for that.
 */
export class LogPlacing {
  readonly #deps: AppendDeps;
  /** What this process has signed last, and what it knows of its tree. */
  #signed: GrownLog | undefined;
  #toKeep: string | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(deps: AppendDeps) {
    this.#deps = deps;
  }

  /** @param digests in the order of the receipts */
  async within(client: PoolClient, digests: readonly Buffer[]): Promise<PlacedReceipts> {
    if (digests.length === 0) return WAIT;
    await client.query('savepoint log');
    try {
      const held = await this.#held(client);
      if (!held) return WAIT;
      const grown = await growLog(client, held, digests, this.#deps);
      return { first: held.size, committed: () => this.#committed(grown) };
    } catch (error) {
      // Money comes first: receipts are written all the same, and wait.
      if (isCollision(error)) throw error;
      await client.query('rollback to savepoint log');
      await this.#say(error);
      return WAIT;
    }
  }

  /** Keeps what was signed last. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#keep();
  }

  /** Where the newest state is the one that this process has signed, its tree is known. */
  async #held(client: PoolClient): Promise<HeldLog | undefined> {
    const log = await lockLog(client);
    if (!log) return undefined;
    const signed = this.#signed;
    if (signed?.state.size === log.size && (await signedState(client))?.note === signed.note) return { ...log, state: signed.state };
    return holdLog(client, log, this.#deps);
  }

  #committed(grown: GrownLog): void {
    this.#signed = grown;
    this.#toKeep = grown.note;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#keep().catch((error: unknown) => this.#deps.log.error({ err: error }, 'the newest state of the log could not be kept'));
    }, KEEP_EVERY_MS).unref();
  }

  async #keep(): Promise<void> {
    const note = this.#toKeep;
    this.#toKeep = undefined;
    if (note !== undefined) await this.#deps.kept.keep(note);
  }

  async #say(error: unknown): Promise<void> {
    const { pool, clock, log } = this.#deps;
    if (error instanceof LogStop) await stopLog({ pool, clock, log }, [{ reason: error.message, seen: error.seen }]);
    else log.error({ err: error }, 'receipts could not be placed in the log; they wait');
  }
}
