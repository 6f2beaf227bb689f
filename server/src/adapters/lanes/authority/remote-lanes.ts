import type { Calls } from '../../../kernel/process-calls.ts';
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
import { isBegunWith } from './worker-holds.ts';

/** What the authority does for a worker. */
export type LaneOperations = Pick<LaneStore, keyof LaneStore>;

/** What a worker may ask of these lanes. */
export const laneOperations = (lanes: LaneStore): LaneOperations => ({
  hold: (request) => lanes.hold(request),
  begin: (inFlight) => lanes.begin(inFlight),
  settle: (settlement) => lanes.settle(settlement),
  settlePart: (holdId, part) => lanes.settlePart(holdId, part),
  release: (holdId) => lanes.release(holdId),
  abandon: (holdId) => lanes.abandon(holdId),
  refund: (refund) => lanes.refund(refund),
  rates: (accountId, rateLanes) => lanes.rates(accountId, rateLanes),
  countRefused: (accountId, rateLanes) => lanes.countRefused(accountId, rateLanes),
  refreshCredit: (laneId) => lanes.refreshCredit(laneId),
  sweep: () => lanes.sweep(),
  inspect: (laneIds) => lanes.inspect(laneIds),
});

/**
 * Lanes in the process that has started this one. A hold and its settlement are a question each; what settles the hold should this process die goes
 * with the first, and is durable there before it is answered.
 */
export class RemoteLanes implements LaneStore {
  readonly #authority: Calls<LaneOperations>;
  /** Holds that were begun as they were taken, with what, until `begin` is asked or they end. */
  readonly #begun = new Map<string, InFlight>();

  constructor(authority: Calls<LaneOperations>) {
    this.#authority = authority;
  }

  async hold(request: HoldRequest): Promise<HoldOutcome> {
    const outcome = await this.#authority.call('hold', request);
    if (request.inFlight && isBegunWith(request, outcome)) this.#begun.set(request.holdId, request.inFlight);
    return outcome;
  }

  begin(inFlight: InFlight): void | Promise<void> {
    const begunWith = this.#begun.get(inFlight.holdId);
    this.#begun.delete(inFlight.holdId);
    if (begunWith !== inFlight) return this.#authority.call('begin', inFlight);
  }

  settle(settlement: Settlement): Promise<Settled | undefined> {
    this.#begun.delete(settlement.holdId);
    return this.#authority.call('settle', settlement);
  }

  settlePart(holdId: string, part: PartSettlement): Promise<PartOutcome> {
    return this.#authority.call('settlePart', holdId, part);
  }

  release(holdId: string): Promise<void> {
    this.#begun.delete(holdId);
    return this.#authority.call('release', holdId);
  }

  abandon(holdId: string): Promise<boolean> {
    this.#begun.delete(holdId);
    return this.#authority.call('abandon', holdId);
  }

  refund(refund: Refund): Promise<boolean> {
    return this.#authority.call('refund', refund);
  }

  rates(accountId: string, lanes: readonly RateLane[]): Promise<RateStatus> {
    return this.#authority.call('rates', accountId, lanes);
  }

  countRefused(accountId: string, lanes: readonly RateLane[]): Promise<RateStatus> {
    return this.#authority.call('countRefused', accountId, lanes);
  }

  refreshCredit(laneId: string): Promise<void> {
    return this.#authority.call('refreshCredit', laneId);
  }

  sweep(): Promise<number> {
    return this.#authority.call('sweep');
  }

  inspect(laneIds: readonly string[]): Promise<Awaited<ReturnType<LaneStore['inspect']>>> {
    return this.#authority.call('inspect', laneIds);
  }
}
