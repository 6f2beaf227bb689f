import type { BatchError } from '@tallygate/contract';
import { BATCH_ENDPOINTS } from '@tallygate/contract';
import type { Pool } from 'pg';
import { Problem } from '../../kernel/problem.ts';
import { anyOf, firstOf, rowsOf } from '../../kernel/statements.ts';
import type { Caller, CallerStatus, Operation } from '../calls/index.ts';
import { Backoff } from './backoff.ts';
import { BatchHolds } from './batch-hold.ts';
import { BatchLines } from './batch-lines.ts';
import type { BatchLocks } from './batch-locks.ts';
import { checkLines } from './check.ts';
import type { BatchDeps } from './deps.ts';
import { finish } from './finish.ts';
import { runLines } from './run-lines.ts';
import { SELECT_BATCHES } from './select-batches.ts';
import { Stop, type StopReason } from './stop.ts';
import { batchOf, type Ending, type StoredBatch, UNFINISHED } from './stored-batch.ts';
import { tables } from './tables.ts';

const WATCH_MS = 1_000;
/** What running lines have to end when the process is asked to stop. */
const GRACE_MS = 5_000;

/** Why a batch is over before all of its lines are done. */
type Over = Exclude<StopReason, 'shutdown' | 'cap_lowered'>;

/** What the lines are told that were not run; of those that expired in OpenAI's words. */
const UNDONE: Readonly<Record<Over, { readonly code: string; readonly message: string }>> = {
  cancelled: { code: 'batch_cancelled', message: 'The batch was cancelled before this request was run.' },
  expired: { code: 'batch_expired', message: 'This request could not be executed before the completion window expired.' },
  ended: { code: 'invalid_credentials', message: 'Who created the batch may run models no longer: the API key or the role has ended.' },
  gone: { code: 'invalid_credentials', message: 'The account of the batch was closed.' },
};

interface WorkDeps extends BatchDeps {
  readonly locks: BatchLocks;
}

/** SQL: whether there is a batch to go on with. */
export const BATCHES_DUE = `exists (select from batches where status in (${UNFINISHED.map((status) => `'${status}'`).join(', ')}))`;

/** Of which of these batches lines may still be run, so that what is held for them is needed. */
export async function unfinishedAmong(pool: Pool, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const unfinished = tables
    .selectFrom('batches')
    .select('id')
    .where('id', '=', anyOf(ids))
    .where('ending', 'is', null)
    .where('status', '=', anyOf(UNFINISHED));
  const rows = await rowsOf(pool, unfinished);
  return new Set(rows.map(({ id }) => id));
}

/** What is done about batches, whoever asked for them is waiting or not. Whatever dies in between, taking a batch up again ends what was begun. */
export class BatchWork {
  readonly #deps: WorkDeps;
  readonly #lines: BatchLines;
  readonly #holds: BatchHolds;
  readonly #backoff: Backoff;

  constructor(deps: WorkDeps) {
    this.#deps = deps;
    this.#lines = new BatchLines(deps.pool, deps.content);
    this.#holds = new BatchHolds(this.#lines, deps);
    this.#backoff = new Backoff(deps.inference.clock);
  }

  /** Takes the holds of a process that is gone, before anybody else can spend what they held. */
  async resume(): Promise<void> {
    const { locks, inference, callerStatusOf } = this.#deps;
    for (const id of await this.#unfinished(['in_progress', 'cancelling'])) {
      await locks
        .under(id, async () => {
          const batch = await this.#load(id);
          if (batch.moments.in_progress) await this.#holds.keep(batch, (await callerStatusOf(batch)).caller);
        })
        .catch((error: unknown) => inference.log.warn({ err: error, batchId: id }, 'what was held for a batch cannot be held again'));
    }
  }

  /** Goes through all batches that have something to do, as far as nobody else is at it. One that cannot go on stands in no other's way. */
  async goOn(signal: AbortSignal): Promise<void> {
    const { locks, inference } = this.#deps;
    for (const id of await this.#unfinished(UNFINISHED)) {
      if (signal.aborted) return;
      if (this.#backoff.isResting(id)) continue;
      await locks
        .under(id, async (lost) => {
          await this.#workOn(id, signal, lost);
          this.#backoff.forget(id);
        })
        .catch((error: unknown) => {
          const forMs = this.#backoff.begin(id);
          inference.log.warn({ err: error, batchId: id, forMs }, 'a batch cannot go on for now');
        });
    }
  }

  /**
   * Checks the input and holds the worst case: then the batch is in progress, or it has failed. To be called under its lock.
   * @throws Problem `budget_exceeded`, `budget_in_flight`, `store_unavailable`
   */
  async begin(batchId: string): Promise<void> {
    const batch = await this.#load(batchId);
    const { caller } = await this.#deps.callerStatusOf(batch);
    if (batch.total === 0 && !(await this.#check(batch, caller))) return;
    await this.#holds.take(batch, caller);
    await this.#deps.pool.query("update batches set status = 'in_progress', in_progress_at = $2 where id = $1 and status = 'validating'", [
      batchId,
      new Date(this.#deps.inference.clock.now()),
    ]);
  }

  /**
   * A batch that was refused leaves nothing behind. While the lanes are out of reach nobody knows whether it was held: then it is cancelled,
   * which frees what is held as soon as they are back. To be called under its lock.
   */
  async forget(batchId: string): Promise<void> {
    const { pool, inference } = this.#deps;
    try {
      await this.#holds.release(batchId);
    } catch (error) {
      inference.log.warn({ err: error, batchId }, 'what was held for a refused batch cannot be freed yet');
      await pool.query("update batches set status = 'cancelling', cancelling_at = $2 where id = $1 and status = 'validating'", [
        batchId,
        new Date(inference.clock.now()),
      ]);
      return;
    }
    await this.#lines.deleteAll(batchId);
    await pool.query("delete from batches where id = $1 and status in ('validating', 'cancelling')", [batchId]);
  }

  /** False when the batch has failed over its input. */
  async #check(batch: StoredBatch, caller: Caller): Promise<boolean> {
    const { files, pool } = this.#deps;
    // Another process may have died in the middle of it.
    await this.#lines.deleteAll(batch.id);
    const checking = { batch, caller, operation: this.#operationOf(batch) };
    const input = await files.open(batch, batch.inputFileId).catch((thrown: unknown) => {
      if (thrown instanceof Problem && thrown.code === 'not_found') return undefined;
      throw thrown;
    });
    if (!input) {
      await this.#fail(batch.id, [{ code: 'file_not_found', message: 'The input file is gone.', param: 'input_file_id', line: null }]);
      return false;
    }
    const { errors, total, model } = await checkLines(await input.read(), checking, this.#lines, this.#deps);
    if (errors.length > 0) await this.#fail(batch.id, errors);
    else await pool.query('update batches set total = $2, model = $3 where id = $1', [batch.id, total, model]);
    return errors.length === 0;
  }

  async #workOn(batchId: string, signal: AbortSignal, lost: AbortSignal): Promise<void> {
    const batch = await this.#load(batchId);
    if (!UNFINISHED.includes(batch.status)) return;
    const callerStatus = await this.#deps.callerStatusOf(batch);
    if (batch.ending) return this.#finish(batch, batch.ending, callerStatus);
    if (!batch.moments.in_progress) {
      const over = this.#overBecause(batch, callerStatus);
      if (over) return this.#endUnbegun(batch, over, callerStatus);
      await this.begin(batchId).catch((thrown: unknown) => this.#refused(batchId, thrown));
    }
    const begun = await this.#load(batchId);
    if (begun.moments.in_progress && UNFINISHED.includes(begun.status)) await this.#run(begun, callerStatus, signal, lost);
  }

  #overBecause({ status, expiresAt }: StoredBatch, { state }: CallerStatus): Over | undefined {
    if (expiresAt.getTime() <= this.#deps.inference.clock.now()) return 'expired';
    if (status === 'cancelling') return 'cancelled';
    return state === 'good' ? undefined : state;
  }

  /** Of a batch whose lines are known each of them is told of; one that was not even read has none. */
  async #endUnbegun(batch: StoredBatch, over: Over, callerStatus: CallerStatus): Promise<void> {
    if (over === 'ended' || over === 'gone') return this.#fail(batch.id, [{ ...UNDONE[over], param: null, line: null }]);
    if (batch.total === 0) await this.#lines.deleteAll(batch.id);
    else await this.#lines.giveUp(batch.id, UNDONE[over]);
    await this.#end(batch, over, callerStatus);
  }

  /** What running requests hold may be free a moment later; what does not fit at all is the end of the batch. */
  async #refused(batchId: string, thrown: unknown): Promise<void> {
    if (!isFinal(thrown)) throw thrown;
    await this.#fail(batchId, [{ code: thrown.code, message: thrown.message, param: null, line: null }]);
  }

  async #run(batch: StoredBatch, callerStatus: CallerStatus, signal: AbortSignal, lost: AbortSignal): Promise<void> {
    const over = this.#overBecause(batch, callerStatus);
    const refusal = await this.#keep(batch, callerStatus, over);
    await this.#holds.settleAnswered(batch.id);
    await this.#holds.settleLost(batch.id);
    const undone = over ? UNDONE[over] : refusal;
    if (undone) {
      await this.#lines.giveUp(batch.id, undone);
      return this.#end(batch, endingOf(over), callerStatus);
    }
    const stop = new Stop();
    const watch = await this.#watch(batch, callerStatus, stop, signal, lost);
    try {
      const caller = () => watch.callerStatus.caller;
      const running = { batch, operation: this.#operationOf(batch), caller, stop };
      await runLines(running, { ...this.#deps, lines: this.#lines, holds: this.#holds });
    } finally {
      watch.end();
    }
    const { reason } = stop;
    // Whoever takes it up next goes on with what is left.
    if (reason === 'shutdown' || reason === 'cap_lowered') return;
    await this.#holds.settleLost(batch.id);
    if (reason) await this.#lines.giveUp(batch.id, UNDONE[reason]);
    await this.#end(batch, endingOf(reason), watch.callerStatus);
  }

  /** Holds what is not done. Where that may not be spent, the answer says why; what is answered can be settled all the same. */
  async #keep(
    batch: StoredBatch,
    { caller }: CallerStatus,
    over: Over | undefined,
  ): Promise<Pick<Problem, 'code' | 'message'> | undefined> {
    try {
      await this.#holds.keep(batch, caller);
      return undefined;
    } catch (thrown) {
      if (!isFinal(thrown) && !over) throw thrown;
      await this.#holds.keepNothing(batch, caller);
      return isFinal(thrown) ? { code: thrown.code, message: thrown.message } : undefined;
    }
  }

  /** Looks every second whether the batch may go on. */
  async #watch(batch: StoredBatch, callerStatus: CallerStatus, stop: Stop, signal: AbortSignal, lost: AbortSignal) {
    const { callerStatusOf, inference, pool } = this.#deps;
    const seen = { callerStatus };
    const look = async () => {
      // Before anything is asked that may not answer.
      if (batch.expiresAt.getTime() <= inference.clock.now()) stop.now('expired');
      seen.callerStatus = await callerStatusOf(batch);
      const present = await firstOf(pool, tables.selectFrom('batches').select('status').where('id', '=', batch.id));
      const over = this.#overBecause({ ...batch, ...present }, seen.callerStatus);
      if (over) stop.begin(over);
      else if (!this.#holds.isKept(batch.id, seen.callerStatus.caller)) stop.begin('cap_lowered');
    };
    await look();
    const timer = setInterval(() => {
      look().catch((error: unknown) => inference.log.warn({ err: error, batchId: batch.id }, 'a batch cannot be watched'));
    }, WATCH_MS);
    let grace: NodeJS.Timeout | undefined;
    const shutDown = () => {
      stop.begin('shutdown');
      grace = setTimeout(() => stop.now('shutdown'), GRACE_MS);
    };
    const lose = () => stop.now('shutdown');
    signal.addEventListener('abort', shutDown, { once: true });
    lost.addEventListener('abort', lose, { once: true });
    if (signal.aborted) shutDown();
    return {
      get callerStatus() {
        return seen.callerStatus;
      },
      end: () => {
        clearInterval(timer);
        clearTimeout(grace);
        signal.removeEventListener('abort', shutDown);
        lost.removeEventListener('abort', lose);
      },
    };
  }

  /** From here on no line is run, whatever happens. */
  async #end(batch: StoredBatch, ending: Ending, callerStatus: CallerStatus): Promise<void> {
    await this.#deps.pool.query(
      `update batches set ending = $2, finalizing_at = $3, status = case when status = 'cancelling' then status else 'finalizing' end where id = $1`,
      [batch.id, ending, new Date(this.#deps.inference.clock.now())],
    );
    await this.#finish(await this.#load(batch.id), ending, callerStatus);
  }

  async #finish(batch: StoredBatch, ending: Ending, callerStatus: CallerStatus): Promise<void> {
    await this.#holds.release(batch.id);
    if (callerStatus.state === 'gone') await this.#fail(batch.id, [{ ...UNDONE.gone, param: null, line: null }]);
    else await finish(batch, ending, this.#lines, this.#deps);
  }

  async #fail(batchId: string, errors: readonly BatchError[]): Promise<void> {
    await this.#holds.release(batchId);
    await this.#lines.deleteAll(batchId);
    await this.#deps.pool.query(
      "update batches set status = 'failed', failed_at = $2, errors = $3, completed = 0, failed = 0, total = 0 where id = $1",
      [batchId, new Date(this.#deps.inference.clock.now()), JSON.stringify(errors)],
    );
  }

  #operationOf({ endpoint }: StoredBatch): Operation {
    const operation = this.#deps.operations.find(({ path }) => path === endpoint);
    if (!operation || !BATCH_ENDPOINTS.includes(endpoint)) throw new Error(`No batch can ask for ${endpoint}`);
    return operation;
  }

  async #unfinished(statuses: readonly StoredBatch['status'][]): Promise<string[]> {
    const rows = await rowsOf(
      this.#deps.pool,
      tables.selectFrom('batches').select('id').where('status', '=', anyOf(statuses)).orderBy('id'),
    );
    return rows.map(({ id }) => id);
  }

  async #load(batchId: string): Promise<StoredBatch> {
    const row = await firstOf(this.#deps.pool, SELECT_BATCHES.where('batches.id', '=', batchId));
    if (!row) throw new Error(`There is no batch ${batchId} any more`);
    return batchOf(row);
  }
}

const endingOf = (reason: Over | undefined): Ending => (reason === 'cancelled' || reason === 'expired' ? reason : 'completed');

/** Whether trying again would not help. */
const isFinal = (thrown: unknown): thrown is Problem => thrown instanceof Problem && thrown.status < 500 && thrown.status !== 429;
