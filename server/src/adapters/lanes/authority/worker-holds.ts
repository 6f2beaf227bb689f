import type {
  HoldOutcome,
  HoldRequest,
  InFlight,
  LaneStore,
  PartOutcome,
  PartSettlement,
  RateLane,
  RateStatus,
  Refund,
  Settled,
  Settlement,
} from '../port.ts';

/** Whether a hold is begun in the step that takes it: what settles it was said, and all was held that it was said for. */
export const isBegunWith = ({ inFlight, outputTokens }: HoldRequest, outcome: HoldOutcome): boolean =>
  outcome.held && inFlight !== undefined && outcome.outputTokens === outputTokens.wanted;

/** The lanes as one worker has them: which holds are its own is remembered, so that they can be ended when it dies. */
export class WorkerHolds implements LaneStore {
  readonly #lanes: LaneStore;
  /** What it has taken and not ended, and whether many draw from it. */
  readonly #held = new Map<string, { readonly isOfMany: boolean }>();
  #isGone = false;

  constructor(lanes: LaneStore) {
    this.#lanes = lanes;
  }

  hold(request: HoldRequest): HoldOutcome | Promise<HoldOutcome> {
    const outcome = this.#lanes.hold(request);
    return outcome instanceof Promise ? outcome.then((loaded) => this.#taken(request, loaded)) : this.#taken(request, outcome);
  }

  begin(inFlight: InFlight): void | Promise<void> {
    return this.#lanes.begin(inFlight);
  }

  settle(settlement: Settlement): Settled | undefined | Promise<Settled | undefined> {
    return this.#ended(settlement.holdId, this.#lanes.settle(settlement));
  }

  settlePart(holdId: string, part: PartSettlement): PartOutcome | Promise<PartOutcome> {
    return this.#lanes.settlePart(holdId, part);
  }

  release(holdId: string): void | Promise<void> {
    return this.#ended(holdId, this.#lanes.release(holdId));
  }

  abandon(holdId: string): boolean | Promise<boolean> {
    return this.#ended(holdId, this.#lanes.abandon(holdId));
  }

  refund(refund: Refund): boolean | Promise<boolean> {
    return this.#lanes.refund(refund);
  }

  rates(accountId: string, lanes: readonly RateLane[]): RateStatus | Promise<RateStatus> {
    return this.#lanes.rates(accountId, lanes);
  }

  countRefused(accountId: string, lanes: readonly RateLane[]): RateStatus | Promise<RateStatus> {
    return this.#lanes.countRefused(accountId, lanes);
  }

  refreshCredit(laneId: string): Promise<void> {
    return this.#lanes.refreshCredit(laneId);
  }

  sweep(): number | Promise<number> {
    return this.#lanes.sweep();
  }

  inspect(laneIds: readonly string[]): ReturnType<LaneStore['inspect']> {
    return this.#lanes.inspect(laneIds);
  }

  /** The worker is gone. @returns what it held: for one request each, and what many draw from */
  leave(): { readonly own: readonly string[]; readonly ofMany: readonly string[] } {
    this.#isGone = true;
    const own: string[] = [];
    const ofMany: string[] = [];
    for (const [holdId, { isOfMany }] of this.#held) (isOfMany ? ofMany : own).push(holdId);
    this.#held.clear();
    return { own, ofMany };
  }

  /** @throws where its lanes were loaded for longer than the worker lived, and where it cannot be begun: then nothing is held */
  #taken(request: HoldRequest, outcome: HoldOutcome): HoldOutcome | Promise<HoldOutcome> {
    if (!outcome.held) return outcome;
    const { holdId, inFlight, keptUntil } = request;
    if (this.#isGone) return this.#giveUp(holdId, new Error(`The worker that asked for ${holdId} is gone`));
    this.#held.set(holdId, { isOfMany: keptUntil !== undefined });
    if (!inFlight || !isBegunWith(request, outcome)) return outcome;
    try {
      const beginning = this.#lanes.begin(inFlight);
      return beginning instanceof Promise
        ? beginning.then(
            () => outcome,
            (error: unknown) => this.#giveUp(holdId, error),
          )
        : outcome;
    } catch (error) {
      return this.#giveUp(holdId, error);
    }
  }

  async #giveUp(holdId: string, cause: unknown): Promise<never> {
    await this.release(holdId);
    throw cause;
  }

  /** It is remembered for as long as the store may still have it. */
  #ended<T>(holdId: string, result: T | Promise<T>): T | Promise<T> {
    if (!(result instanceof Promise)) {
      this.#held.delete(holdId);
      return result;
    }
    return result.then((value) => {
      this.#held.delete(holdId);
      return value;
    });
  }
}
