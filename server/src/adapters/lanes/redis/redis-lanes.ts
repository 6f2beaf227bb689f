import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { UntoldEnd } from '../journal-lines.ts';
import type {
  HoldOutcome,
  HoldRequest,
  InFlight,
  LaneSource,
  LaneStore,
  PartOutcome,
  PartSettlement,
  RateLane,
  RateStatus,
  Refund,
  Settled,
  Settlement,
} from '../port.ts';
import { statusAt } from '../rate-lanes.ts';
import { RedisBooks } from './books.ts';
import { declareOwn, missEpoch, type NeededAmong, salvageHolds, type UnwrittenAmong } from './declare-holds.ts';
import { inTurn, together } from './despite-failures.ts';
import type { Advance } from './epoch-record.ts';
import { insist } from './insist.ts';
import { LaneLoader, MOST_LOADS } from './lane-loader.ts';
import { LanePlaces } from './lane-places.ts';
import { LateSettlements } from './late-settlements.ts';
import { type CopyJournal, OwnHolds } from './own-holds.ts';
import { type OpenEpoch, PartitionScripts } from './partition-scripts.ts';
import { ALL_PARTITIONS, partitionOf } from './partitions.ts';
import { RELEASE } from './release-scripts.ts';
import type { RedisConnection, Script } from './run-script.ts';
import { BEGIN, COUNT_REFUSED, CREDIT, LEVELS, REFUND, RENEW, SETTLE, SETTLE_PART, SWEEP } from './scripts.ts';
import { TakenHolds } from './taken-holds.ts';
import { UnfreedHolds } from './unfreed-holds.ts';
import { NO_NOTES, type UnfreedNotes } from './unfreed-record.ts';
import {
  exactAmount,
  readInFlight,
  readLevels,
  readSettled,
  readWrittenReserve,
  type SettleAnswer,
  writtenAmounts,
  writtenInFlight,
  writtenRateLane,
  writtenUnits,
} from './wire.ts';

interface RedisLanesDeps {
  readonly redis: RedisConnection;
  /** What the names of all keys begin with. */
  readonly prefix: string;
  readonly source: LaneSource;
  readonly epochs: OpenEpoch;
  /** What this process is known by. */
  readonly gateway: string;
  /** Of this process: has what Redis has of it, should Redis lose that. */
  readonly journal: CopyJournal;
  /** Of what holds that many draw from were taken for. Default: all of them are needed. */
  readonly neededAmong?: NeededAmong;
  /** Of gateways that have ended. Default: there are none. */
  readonly notes?: UnfreedNotes;
  /** Told of every partition whose stream of settlements has grown. */
  readonly onAppend: (partition: number) => void;
  /** Which calls of `sweep` look at what other processes have left: those of one process of all, now and then. Default: every call. */
  readonly sweeps?: { readonly everyMs: number; readonly isMine: () => Promise<boolean> };
  /** For tests: the time in place of Redis's own, epoch milliseconds. */
  readonly now?: () => number;
}

const IDLE_LANE_MS = 900_000;
const IDLE_LOOK_MS = 5;

/**
 * Lanes in Redis, for any number of processes. Every operation is one script on one partition of the accounts, which is what makes it
 * atomic. `sweep` has to be called every few seconds: it is also how this process says that its holds are alive. Time is Redis's own: no clock
 * of a gateway decides over another's holds.
 */
export class RedisLanes implements LaneStore {
  readonly #deps: RedisLanesDeps;
  readonly #own: OwnHolds;
  readonly #scripts: PartitionScripts;
  readonly #loader: LaneLoader;
  readonly #taken: TakenHolds;
  readonly #unfreed: UnfreedHolds;
  readonly #notes: UnfreedNotes;
  readonly late: LateSettlements;
  readonly books: RedisBooks;
  readonly #places: LanePlaces;
  /** When it looked at all partitions, on the monotonic clock. */
  #sweptTick = Number.NEGATIVE_INFINITY;

  constructor(deps: RedisLanesDeps) {
    this.#deps = deps;
    this.#own = new OwnHolds(deps.journal);
    this.#scripts = new PartitionScripts(deps);
    this.#loader = new LaneLoader(this.#scripts, deps.source);
    this.#places = new LanePlaces({ scripts: this.#scripts, source: deps.source });
    this.#taken = new TakenHolds({
      ...{ scripts: this.#scripts, loader: this.#loader, own: this.#own, gateway: deps.gateway, onAppend: deps.onAppend },
      onPlace: (laneId, partition) => this.#places.seen(laneId, partition),
      release: (holdId) => this.release(holdId),
    });
    this.#notes = deps.notes ?? NO_NOTES;
    this.#unfreed = new UnfreedHolds({
      ...{ scripts: this.#scripts, own: this.#own, taken: this.#taken },
      ...{ gateway: deps.gateway, notes: this.#notes },
    });
    this.late = new LateSettlements({ ...deps, own: this.#own, scripts: this.#scripts, loader: this.#loader });
    this.books = new RedisBooks(this.#scripts);
  }

  hold(request: HoldRequest): Promise<HoldOutcome> {
    return this.#taken.hold(request);
  }

  /**
   * Repeats itself as `settle` does: to say it twice is as good as once. Redis is told first, with the hold itself or here: what the journal has is
   * charged at the next start, and Redis frees the holds that it does not know to be in flight.
   */
  async begin(inFlight: InFlight): Promise<void> {
    const { holdId } = inFlight;
    const own = this.#own.get(holdId);
    if (!own) throw new Error(`There is no hold ${holdId} of this process`);
    if (!own.isBegun && own.inFlight?.record === inFlight.record && own.inFlight.cost === inFlight.cost) {
      // As it was held. A process that others may have given up asks nobody before it knows what became of its holds.
      await this.#deps.epochs.current();
      if (this.#own.get(holdId) !== own || own.isLate) throw new Error(`The hold ${holdId} is lost`);
    } else {
      const isBegun = await insist(() => this.#run(BEGIN, own.partition, [holdId, writtenInFlight(inFlight)]));
      if (isBegun !== 1) throw new Error(`The hold ${holdId} is lost`);
    }
    this.#own.begun(inFlight);
  }

  /** Repeats itself for a while when the answer is lost on its way: the script knows the call again. */
  async settle(settlement: Settlement): Promise<Settled | undefined> {
    const { holdId, cost, units, record, rateTokens } = settlement;
    const own = this.#own.get(holdId);
    const unheard = own?.asked;
    const asked = unheard ?? { call: randomUUID(), at: settlement };
    const args = [holdId, asked.call, exactAmount(cost), JSON.stringify(writtenUnits(units)), record, rateTokens ?? ''];
    if (own?.uncopied) return this.#own.settled(holdId, own.uncopied.record, own.uncopied.settled);
    if (own?.isLate) return this.late.settleOwn(own, settlement);
    if (own) {
      own.asked = asked;
      return (await this.#settleIn(own.partition, own.request.lanes, args)) ?? this.late.settleGone(own, settlement, unheard?.at);
    }
    // Held by another process, or not at all.
    const found = await Promise.all(
      ALL_PARTITIONS.map(async (partition) => this.#settleIn(partition, await this.#lanesOf(partition, holdId), args)),
    );
    return found.find((settled) => settled !== undefined);
  }

  rates(accountId: string, lanes: readonly RateLane[]): Promise<RateStatus> {
    return this.#ratesBy(LEVELS, accountId, lanes);
  }

  countRefused(accountId: string, lanes: readonly RateLane[]): Promise<RateStatus> {
    return this.#ratesBy(COUNT_REFUSED, accountId, lanes);
  }

  async #ratesBy(script: Script, accountId: string, lanes: readonly RateLane[]): Promise<RateStatus> {
    const levels = this.#run(script, partitionOf(accountId), [JSON.stringify(lanes.map(writtenRateLane))]);
    return statusAt(lanes, readLevels((await levels) as string[]));
  }

  async settlePart(holdId: string, { partId, reserved, cost, units, record }: PartSettlement): Promise<PartOutcome> {
    const written = [JSON.stringify(writtenUnits(reserved.units)), exactAmount(cost), JSON.stringify(writtenUnits(units)), record];
    const args = [holdId, partId, exactAmount(reserved.amount), ...written];
    const own = this.#own.get(holdId);
    if (own) return this.#settlePartIn(own.partition, own.request.lanes, args);
    const outcomes = await Promise.all(
      ALL_PARTITIONS.map(async (partition) => this.#settlePartIn(partition, await this.#lanesOf(partition, holdId), args)),
    );
    return outcomes.find((outcome) => typeof outcome !== 'string') ?? outcomes.find((outcome) => outcome === 'settled_before') ?? 'no_hold';
  }

  async release(holdId: string): Promise<void> {
    await this.#unfreed.release(holdId);
  }

  async abandon(holdId: string): Promise<boolean> {
    const own = this.#own.get(holdId);
    const unheard = own?.asked?.at;
    if (own?.inFlight) own.asked ??= { call: randomUUID(), at: own.inFlight };
    const settled = await Promise.all((own ? [own.partition] : ALL_PARTITIONS).map((partition) => this.#abandonIn(partition, holdId)));
    if (settled.includes(true)) return true;
    await (own && unheard ? this.late.settleGone(own, unheard, unheard) : this.#own.released(holdId));
    return unheard !== undefined;
  }

  async refund({ refundId, accountId, lanes, funds, quota, cost, charged, covered, record }: Refund): Promise<boolean> {
    const partition = partitionOf(accountId);
    const named = {
      lanes: lanes.map((id) => ({ id })),
      funds: funds === null ? undefined : { id: funds },
      quota: quota === null ? undefined : { id: quota },
    };
    const given = [exactAmount(cost), exactAmount(charged), JSON.stringify(writtenAmounts(covered))];
    for (let loads = 0; loads < MOST_LOADS; loads += 1) {
      const args = [refundId, JSON.stringify(named), ...given, record, randomUUID()];
      const answer = (await this.#run(REFUND, partition, args)) as ['known' | 'refunded'] | ['missing', string, string[]];
      if (answer[0] === 'missing') {
        // Of a past month mostly: nobody else has touched it, and nobody needs it for long.
        await this.#loader.load(answer[2], quota, { partition, stamp: answer[1], isForUse: false });
        continue;
      }
      if (answer[0] === 'known') return false;
      this.#deps.onAppend(partition);
      this.#deps.journal.append({ charged, debt: 0n, covered, record });
      return true;
    }
    throw new Error('The lanes of a refund are forgotten faster than they can be loaded');
  }

  /** Asks every partition, since it is not known where the lane is; where it is not loaded, whoever is loading it reads it again. */
  async refreshCredit(laneId: string): Promise<void> {
    const { cap, credits = 0 } = await this.#deps.source.moneyLane(laneId);
    const args = [laneId, cap === null ? '' : exactAmount(cap), randomUUID(), credits];
    await Promise.all(ALL_PARTITIONS.map((partition) => this.#run(CREDIT, partition, args)));
  }

  /** Resolves when every script is answered or given up, and what follows from it is done. To be called once no epoch is open. */
  async idle(): Promise<void> {
    while (this.#scripts.running > 0) await delay(IDLE_LOOK_MS);
  }

  /** The holds of this process are put on the lanes of another epoch. */
  declare(epoch: string, unwrittenAmong: UnwrittenAmong): Promise<void> {
    const { gateway, neededAmong = async (ids) => new Set(ids) } = this.#deps;
    return declareOwn(this.#own, { scripts: this.#scripts, loader: this.#loader, epoch, gateway, neededAmong, unwrittenAmong });
  }

  /** An epoch was opened without this process: its holds are on no lane of it. */
  missed(epoch: string, unwrittenAmong: UnwrittenAmong): Promise<void> {
    return missEpoch(this.#own, { scripts: this.#scripts, epoch, gateway: this.#deps.gateway, unwrittenAmong });
  }

  /** Holds of older epochs whose gateways do not live stay counted in this one, in doubt. */
  salvage(epoch: string, { older, living, unwrittenAmong }: Advance & { readonly unwrittenAmong: UnwrittenAmong }): Promise<void> {
    const { redis, prefix } = this.#deps;
    return salvageHolds({ redis, prefix, scripts: this.#scripts, loader: this.#loader, epoch, older, living, unwrittenAmong });
  }

  /** This process ends, and asks nobody any more: what it has not begun is freed, by the next process where Redis cannot be told in time. */
  end(withinMs?: number): Promise<void> {
    return this.#unfreed.end(withinMs);
  }

  /** What an earlier process could not free is free. @param under an epoch that is not open yet */
  freeLeft(holdId: string, end: UntoldEnd, under?: string): Promise<void> {
    return this.#unfreed.freeLeft(holdId, end, under);
  }

  async sweep(): Promise<number> {
    let freed = 0;
    await inTurn([
      // First: calls are at their providers.
      () => this.#renewLeases(),
      () => this.#unfreed.retry(),
      async () => {
        freed = await this.#sweepLeft();
      },
    ]);
    return freed;
  }

  /** Looks at what other processes have left, where it is this one that does. */
  async #sweepLeft(): Promise<number> {
    const { everyMs = 0, isMine } = this.#deps.sweeps ?? {};
    if (performance.now() - this.#sweptTick < everyMs || (isMine && !(await isMine()))) return 0;
    this.#sweptTick = performance.now();
    const freed = await together(ALL_PARTITIONS.map((partition) => this.#sweep(partition)));
    return freed.reduce((sum, count) => sum + count, 0);
  }

  inspect(laneIds: readonly string[]): ReturnType<LanePlaces['inspect']> {
    return this.#places.inspect(laneIds);
  }

  #run(script: Script, partition: number, args: readonly (string | number)[]): Promise<unknown> {
    return this.#scripts.run(script, partition, args);
  }

  async #settleIn(partition: number, lanes: HoldRequest['lanes'], args: readonly (string | number)[]): Promise<Settled | undefined> {
    const answer = await insist(() => this.#run(SETTLE, partition, args));
    if (typeof answer !== 'string') return undefined;
    this.#deps.onAppend(partition);
    return this.#own.settled(String(args[0]), String(args[4]), readSettled(lanes, JSON.parse(answer) as SettleAnswer));
  }

  async #settlePartIn(partition: number, lanes: HoldRequest['lanes'], args: readonly string[]): Promise<PartOutcome> {
    const answer = (await this.#run(SETTLE_PART, partition, args)) as string;
    if (answer === 'settled_before' || answer === 'no_hold') return answer;
    this.#deps.onAppend(partition);
    const read = JSON.parse(answer) as SettleAnswer;
    const left = read.left && readWrittenReserve(read.left);
    return this.#own.partSettled(String(args[0]), String(args.at(-1)), readSettled(lanes, read), left);
  }

  async #lanesOf(partition: number, holdId: string): Promise<HoldRequest['lanes']> {
    const request = await this.#scripts.readHold(partition, holdId, 'request');
    return request ? (JSON.parse(request) as { lanes: HoldRequest['lanes'] }).lanes : [];
  }

  async #renewLeases(): Promise<void> {
    const { gateway } = this.#deps;
    await together(
      [...this.#own.byPartition()].map(async ([partition, ids]) => {
        for (const id of (await this.#run(RENEW, partition, [gateway, ...ids])) as string[]) this.#own.lostTo(id);
      }),
    );
  }

  async #sweep(partition: number): Promise<number> {
    let total = 0;
    for (;;) {
      const answer = await this.#run(SWEEP, partition, [IDLE_LANE_MS, randomUUID()]);
      const [freed, more, given, lanes, entries] = answer as [number, number, string[], number, number];
      await this.#endInDoubt(partition, given);
      total += freed + given.length;
      if (more > 0) continue;
      this.books.swept(partition, lanes);
      // Of a process that died before it could tell of them.
      if (entries > 0) this.#deps.onAppend(partition);
      return total;
    }
  }

  /** They were in doubt for long enough: those whose gateway has said that nobody was asked are free, the others are settled at their bounds. */
  async #endInDoubt(partition: number, holdIds: readonly string[]): Promise<void> {
    const owners = await this.#notes.ownersAmong(holdIds);
    for (const [holdId, owner] of owners) await this.#run(RELEASE, partition, [holdId, owner]);
    // One that another has taken under the name of a free one is still there.
    for (const holdId of holdIds) await this.#abandonIn(partition, holdId);
    await this.#notes.forget([...owners.keys()]);
  }

  async #abandonIn(partition: number, holdId: string): Promise<boolean> {
    const written = await this.#scripts.readHold(partition, holdId, 'inFlight');
    if (!written) await this.#run(RELEASE, partition, [holdId, '']);
    else {
      const args = [holdId, randomUUID(), ...readInFlight(written), ''];
      if (!(await this.#settleIn(partition, await this.#lanesOf(partition, holdId), args))) this.#own.forget(holdId);
    }
    return Boolean(written);
  }
}
