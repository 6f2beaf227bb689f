import type { PartSettlement, Settled } from '../../adapters/lanes/port.ts';
import { newReceiptId } from '../../kernel/ids.ts';
import type { NanoUsd } from '../../kernel/money.ts';
import { Problem } from '../../kernel/problem.ts';
import { asStep, type Caller, holdForMany, type Share, type WorstCase } from '../calls/index.ts';
import { headersOf, outputLine } from './batch-line.ts';
import type { BatchLines, WaitingLine } from './batch-lines.ts';
import type { BatchDeps } from './deps.ts';
import type { StoredBatch } from './stored-batch.ts';

/** The hold ends by itself should nobody ever come back to the batch. */
const OUTLASTS_MS = 3_600_000;
const NOTHING: WorstCase = { amount: 0n, units: {} };
/** What was settled before tells nothing of the lanes, and nobody asks. */
const SETTLED_BEFORE: Settled = { covered: {}, charged: 0n, debt: 0n, lanes: [] };
const NEVER = new AbortController().signal;

/** The lanes have lost the hold of a batch: until it is held anew, no line may run. */
export class HoldLost extends Error {}

/** Under what a hold was taken: the cap of the key, and the limits of the account. */
interface Kept {
  readonly cap: NanoUsd | null;
  readonly limits: string | undefined;
}

/** The money of batches: one hold each, on the lanes that their lines would pass through one by one. */
export class BatchHolds {
  readonly #lines: BatchLines;
  readonly #deps: Pick<BatchDeps, 'inference' | 'settledOf'>;
  /** Holds that this process has taken and keeps, with what they were taken under. */
  readonly #kept = new Map<string, Kept>();

  constructor(lines: BatchLines, deps: Pick<BatchDeps, 'inference' | 'settledOf'>) {
    this.#lines = lines;
    this.#deps = deps;
  }

  /**
   * Holds what is not done. Of an earlier hold, of another process or of one that died with it, nobody knows what is left: it is given up.
   * What was settled out of it stays settled.
   *
   * @throws Problem `budget_exceeded`, `budget_in_flight`, `run_closed`, `run_exhausted`, `store_unavailable`; nothing is held then
   */
  async take(batch: StoredBatch, caller: Caller): Promise<void> {
    await this.release(batch.id).catch(outOfReach);
    await this.#hold(batch, caller, await this.#lines.worstCase(batch.id));
  }

  /** Sees to it that this process keeps the hold, under the caps as they are by now. @throws Problem as {@link take} */
  async keep(batch: StoredBatch, caller: Caller): Promise<void> {
    const hasLost = (await this.#lines.lost(batch.id)).length > 0;
    // A line whose call was lost is run again, and held for both.
    if (this.isKept(batch.id, caller) && !hasLost) return;
    await this.#markSettled(batch.id);
    await this.take(batch, caller);
  }

  /** False where it has to be taken anew: what was held under a higher cap may be more than what the key may spend. */
  isKept(batchId: string, { monthlyCap, spending }: Caller): boolean {
    const kept = this.#kept.get(batchId);
    // Its lines are settled on the lanes that it was taken on.
    if (!kept || kept.limits !== spending?.edition) return false;
    return monthlyCap === null || (kept.cap !== null && kept.cap <= monthlyCap);
  }

  /** A hold of nothing, where none of what is left may be spent: what was answered before is settled out of it all the same, as debt. */
  async keepNothing(batch: StoredBatch, caller: Caller): Promise<void> {
    await this.release(batch.id);
    const grant = 'limits' in caller || caller.monthlyCap !== null ? { ...caller, monthlyCap: null } : caller;
    // Debt may have carried a lane above its cap.
    await holdForMany({ ...sharedHold({ ...batch, runCap: null }, grant), worstCase: NOTHING, isForDebt: true }, this.#deps.inference);
    this.#kept.set(batch.id, { cap: null, limits: caller.spending?.edition });
  }

  async release(batchId: string): Promise<void> {
    this.#kept.delete(batchId);
    await this.#deps.inference.lanes.release(batchId);
  }

  /**
   * The share of one line. What settles it should its call be lost is with the line before a provider is asked: only of the batch do the lanes
   * know. Its answer is stored before it is settled, so that the next process after a crash settles what was answered.
   */
  shareOf(batch: StoredBatch, line: WaitingLine): Share {
    return {
      begin: (inFlight) => this.#lines.begun(batch.id, line.number, inFlight),
      end: async (attempts) => {
        line.attemptsBefore += attempts;
        await this.#lines.ended(batch.id, line);
      },
      settle: async (settlement, kept) => {
        const answer = { ...settlement, output: outputLine(line, kept), isError: kept.status >= 400 };
        if (!(await this.#lines.answered(batch.id, line.number, answer))) return SETTLED_BEFORE;
        const { usage: _, ...rest } = settlement;
        const settled = await this.#settlePart(batch.id, { partId: line.receiptId, reserved: line.reserved, ...rest });
        await this.#lines.settled(batch.id, line.number);
        return settled;
      },
    };
  }

  /** Settles what was answered by a process that died before it could. The batch's hold is to be kept. @throws HoldLost */
  async settleAnswered(batchId: string): Promise<void> {
    await this.#markSettled(batchId);
    for (const { number, part } of await this.#lines.unsettled(batchId)) {
      await this.#settlePart(batchId, part);
      await this.#lines.settled(batchId, number);
    }
    await this.#lines.markSettled(batchId);
  }

  /**
   * Settles at its hold every call of a line of which nobody has said what came of it. The line may then be run again, as another call that is
   * charged. Nobody may be running a line of the batch. @throws HoldLost
   */
  async settleLost(batchId: string): Promise<void> {
    for (const call of await this.#lines.lost(batchId)) {
      await this.#settlePart(batchId, call.part);
      await this.#lines.lostSettled(batchId, call, newReceiptId());
    }
  }

  async #settlePart(batchId: string, part: PartSettlement): Promise<Settled> {
    const outcome = await this.#deps.inference.lanes.settlePart(batchId, part);
    if (outcome === 'settled_before') return SETTLED_BEFORE;
    if (outcome !== 'no_hold') return outcome;
    // The answer is kept: it is settled when the batch is held again.
    this.#kept.delete(batchId);
    throw new HoldLost(`The hold of ${batchId} is lost`);
  }

  /** The lanes forget in time what they have settled, the ledger never does. */
  async #markSettled(batchId: string): Promise<void> {
    const [unsettled, lost] = [await this.#lines.unsettled(batchId), await this.#lines.lost(batchId)];
    if (unsettled.length + lost.length === 0) return;
    const known = await this.#deps.settledOf([...unsettled, ...lost].map(({ part }) => part.partId));
    for (const { number, part } of unsettled) if (known.has(part.partId)) await this.#lines.settled(batchId, number);
    for (const call of lost) if (known.has(call.part.partId)) await this.#lines.lostSettled(batchId, call, newReceiptId());
    await this.#lines.markSettled(batchId);
  }

  async #hold(batch: StoredBatch, caller: Caller, worstCase: WorstCase): Promise<void> {
    const { inference } = this.#deps;
    const shared = sharedHold(batch, caller);
    // A run that is over lets nothing in, and the runs above it pay too. That it is held is no call of the run: each line will be one.
    if (batch.runId === null) await holdForMany({ ...shared, worstCase }, inference);
    else await asStep({ ...shared, signal: NEVER }, inference, (inRun) => holdForMany({ ...inRun, worstCase }, inference));
    this.#kept.set(batch.id, { cap: caller.monthlyCap, limits: caller.spending?.edition });
  }
}

function outOfReach(cause: unknown): never {
  throw new Problem(
    'store_unavailable',
    'Budgets cannot be read at the moment, so nothing may be spent. Repeat the request in a few seconds.',
    {
      retryAfterSeconds: 2,
      cause,
    },
  );
}

const sharedHold = (batch: StoredBatch, caller: Caller) => ({
  holdId: batch.id,
  keptUntil: batch.expiresAt.getTime() + OUTLASTS_MS,
  startedAt: batch.heldAt.getTime(),
  grant: { ...caller, plan: batch.heldPlan },
  headers: headersOf(batch),
  kind: 'batch_line' as const,
});
