import { randomUUID } from 'node:crypto';
import type { HoldOutcome, HoldRequest } from '../port.ts';
import { together } from './despite-failures.ts';
import { type LaneLoader, MOST_LOADS } from './lane-loader.ts';
import type { OwnHolds } from './own-holds.ts';
import type { PartitionScripts } from './partition-scripts.ts';
import { partitionOf } from './partitions.ts';
import { CANCEL } from './release-scripts.ts';
import { HOLD } from './scripts.ts';
import { type HoldAnswer, readOutcome, readReserve, writtenInFlight, writtenRequest } from './wire.ts';

interface TakenHoldsDeps {
  readonly scripts: PartitionScripts;
  readonly loader: LaneLoader;
  readonly own: OwnHolds;
  /** What this process is known by. */
  readonly gateway: string;
  /** Told of every partition whose stream of settlements has grown. */
  readonly onAppend: (partition: number) => void;
  /** Told where lanes are. */
  readonly onPlace: (laneId: string, partition: number) => void;
  readonly release: (holdId: string) => Promise<void>;
}

interface LostHold {
  readonly holdId: string;
  readonly partition: number;
  /** Many draw from it: who takes their work over ends it. */
  readonly isKept: boolean;
}

const CANCELLED_AT_ONCE = 100;

/** Takes holds for this process, in one round trip with what settles them should it die. */
export class TakenHolds {
  readonly #deps: TakenHoldsDeps;
  /** Calls whose answer was lost: what they hold, now or when they arrive, belongs to nobody. */
  readonly #lost = new Map<string, LostHold>();

  constructor(deps: TakenHoldsDeps) {
    this.#deps = deps;
  }

  async hold(request: HoldRequest): Promise<HoldOutcome> {
    const { scripts, loader, own, gateway, onAppend, onPlace } = this.#deps;
    const partition = partitionOf(request.accountId);
    const hold = { holdId: request.holdId, partition, isKept: request.keptUntil !== undefined };
    const [written, inFlight] = [writtenRequest(request), request.inFlight ? writtenInFlight(request.inFlight) : ''];
    for (let loads = 0; loads < MOST_LOADS; loads += 1) {
      const call = randomUUID();
      // Where none is open nothing is sent, so nothing can be held.
      const epoch = await scripts.openEpoch();
      const answer = (await this.#whileKnown(call, hold, () => scripts.run(HOLD, partition, [written, call, gateway, inFlight], epoch))) as
        | HoldAnswer
        | ['missing', string, string[]];
      if (answer[0] === 'missing') {
        const [, stamp, missing] = answer;
        await loader.load(missing, request.quota?.id, { partition, stamp, isForUse: true });
        continue;
      }
      const outcome = readOutcome(request, answer);
      for (const { id } of request.lanes) onPlace(id, partition);
      if (request.funds) onPlace(request.funds.id, partition);
      const reserve = readReserve(request, answer);
      if (reserve && outcome.held) own.taken(request, { partition, reserve, tokens: outcome.outputTokens });
      if (request.lanes.some(({ capRule }) => capRule === 'tightening')) onAppend(partition);
      await this.#copyCeilings(request, outcome);
      return outcome;
    }
    throw new Error('The lanes of a request are forgotten faster than they can be loaded');
  }

  /** Takes back what was held by calls whose answer was lost, many in one round trip: while Redis does not answer there are some each millisecond. */
  async cancelLost(): Promise<void> {
    const byPartition = Map.groupBy(this.#lost, ([, { partition }]) => partition);
    await together(
      [...byPartition].map(async ([partition, lost]) => {
        for (let from = 0; from < lost.length; from += CANCELLED_AT_ONCE) {
          const some = lost.slice(from, from + CANCELLED_AT_ONCE);
          const args = some.flatMap(([call, { holdId }]) => [holdId, call]);
          await this.#deps.scripts.run(CANCEL, partition, args);
          for (const [call] of some) this.#lost.delete(call);
        }
      }),
    );
  }

  /** Holds of one request each that Redis may have by those calls, with their partitions. */
  lost(): ReadonlyMap<string, number> {
    return new Map([...this.#lost.values()].flatMap(({ holdId, partition, isKept }) => (isKept ? [] : [[holdId, partition] as const])));
  }

  async #whileKnown<Answer>(call: string, hold: LostHold, asked: () => Promise<Answer>): Promise<Answer> {
    try {
      return await asked();
    } catch (error) {
      this.#lost.set(call, hold);
      throw error;
    }
  }

  async #copyCeilings(request: HoldRequest, outcome: HoldOutcome): Promise<void> {
    try {
      this.#deps.own.tightened(request, outcome);
    } catch (error) {
      if (outcome.held) await this.#deps.release(request.holdId).catch(() => {});
      throw error;
    }
  }
}
