import type { Settled } from '../adapters/lanes/port.ts';
import { type Caller, holdForMany, type Share, type WorstCase } from '../inference/index.ts';
import { headersOf, outputLine } from './batch-line.ts';
import type { BatchLines, WaitingLine } from './batch-lines.ts';
import type { BatchDeps } from './deps.ts';
import type { StoredBatch } from './stored-batch.ts';

/** The lease ends by itself should nobody ever come back to the batch. */
const OUTLASTS_MS = 3_600_000;
const NOTHING: WorstCase = { amount: 0n, units: {} };
/** What was settled before tells nothing of the lanes, and nobody asks. */
const SETTLED_BEFORE: Settled = { covered: {}, charged: 0n, debt: 0n, lanes: [] };

/** The money of batches: one hold each, on the lanes that their lines would pass through one by one. */
export class BatchHolds {
  readonly #lines: BatchLines;
  readonly #deps: Pick<BatchDeps, 'inference' | 'settledOf'>;
  /** Holds that this process has taken and keeps. */
  readonly #kept = new Set<string>();

  constructor(lines: BatchLines, deps: Pick<BatchDeps, 'inference' | 'settledOf'>) {
    this.#lines = lines;
    this.#deps = deps;
  }

  /** Holds what is not done, for the first time. @throws Problem `budget_exceeded`, `budget_in_flight`, `store_unavailable` */
  async take(batch: StoredBatch, caller: Caller): Promise<void> {
    await this.#hold(batch, caller, await this.#lines.worstCase(batch.id));
  }

  /**
   * Sees to it that this process keeps the hold. Of one that another process had kept, or that died with it, nobody knows what is left: it
   * is given up, and what is not done is held anew. What was settled meanwhile stays settled.
   *
   * @throws Problem as `take` does; nothing is held then
   */
  async keep(batch: StoredBatch, caller: Caller): Promise<void> {
    if (this.#kept.has(batch.id)) return;
    await this.#markSettled(batch.id);
    await this.#deps.inference.lanes.release(batch.id);
    await this.take(batch, caller);
  }

  /** A hold of nothing, where none of what is left may be spent: what was answered before is settled out of it all the same, as debt. */
  async keepNothing(batch: StoredBatch, caller: Caller): Promise<void> {
    if (!this.#kept.has(batch.id)) await this.#hold({ ...batch, runCap: null }, { ...caller, monthlyCap: null } as Caller, NOTHING);
  }

  async release(batchId: string): Promise<void> {
    this.#kept.delete(batchId);
    await this.#deps.inference.lanes.release(batchId);
  }

  /** The share of one line. Its answer is stored before it is settled, so that whoever comes after a crash settles what was answered. */
  shareOf(batch: StoredBatch, line: WaitingLine, caller: Caller): Share {
    return {
      settle: async (settlement, { status, body }) => {
        const answer = { ...settlement, output: outputLine(line, { status, body }), isError: status >= 400 };
        if (!(await this.#lines.answered(batch.id, line.number, answer))) return SETTLED_BEFORE;
        const part = { partId: line.receiptId, reserved: line.reserved, ...settlement };
        const settled = await this.#settlePart(batch, caller, part);
        await this.#lines.settled(batch.id, line.number);
        return settled;
      },
    };
  }

  /** Settles what was answered by a process that died before it could. The batch's hold is to be kept. */
  async settleAnswered(batch: StoredBatch, caller: Caller): Promise<void> {
    await this.#markSettled(batch.id);
    for (const { number, part } of await this.#lines.unsettled(batch.id)) {
      await this.#settlePart(batch, caller, part);
      await this.#lines.settled(batch.id, number);
    }
  }

  async #settlePart(
    batch: StoredBatch,
    caller: Caller,
    part: Parameters<BatchDeps['inference']['lanes']['settlePart']>[1],
  ): Promise<Settled> {
    const { lanes } = this.#deps.inference;
    const outcome = await lanes.settlePart(batch.id, part);
    if (outcome === 'settled_before') return SETTLED_BEFORE;
    if (outcome !== 'no_hold') return outcome;
    // The store has lost it. The answer has been paid for: that it may not fit any more is no reason not to settle it.
    this.#kept.delete(batch.id);
    await this.keep(batch, caller).catch(() => this.keepNothing(batch, caller));
    const again = await lanes.settlePart(batch.id, part);
    if (again === 'no_hold') throw new Error(`The hold of ${batch.id} is lost again and again`);
    return again === 'settled_before' ? SETTLED_BEFORE : again;
  }

  /** The lanes forget in time what they have settled, the ledger never does. */
  async #markSettled(batchId: string): Promise<void> {
    const unsettled = await this.#lines.unsettled(batchId);
    if (unsettled.length === 0) return;
    const known = await this.#deps.settledOf(unsettled.map(({ requestId }) => requestId));
    for (const { number, requestId } of unsettled) if (known.has(requestId)) await this.#lines.settled(batchId, number);
  }

  async #hold(batch: StoredBatch, caller: Caller, worstCase: WorstCase): Promise<void> {
    await holdForMany(
      {
        holdId: batch.id,
        worstCase,
        expiresAt: batch.expiresAt.getTime() + OUTLASTS_MS,
        startedAt: batch.heldAt.getTime(),
        grant: { ...caller, plan: batch.heldPlan },
        headers: headersOf(batch),
      },
      this.#deps.inference,
    );
    this.#kept.add(batch.id);
  }
}
