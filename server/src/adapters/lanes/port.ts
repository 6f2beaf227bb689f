import type { BudgetDetail, LimitKind } from '@tallygate/contract';
import type { NanoUsd, PicoUsd } from '../../kernel/money.ts';

/** Whole units of what a plan's quota counts, by meter. */
export type Units = Readonly<Record<string, bigint>>;

export type LimitSource = BudgetDetail['limit_source'];

/** A cap in money that a request passes through: an agent run, a key's month, the account's balance or invoice. */
export interface MoneyLane {
  /** Names the counter; a lane with a period carries the period in its id, so that no job ever resets it. */
  readonly id: string;
  readonly source: LimitSource;
  /** Null: counted, not capped. */
  readonly cap: NanoUsd | null;
  /**
   * `given`: the caller knows the cap, and the newest one counts. `tightening`: the first request sets it, later ones can only lower it.
   * `credited`: the store knows it (what was paid in), `cap` is ignored.
   */
  readonly capRule: 'given' | 'tightening' | 'credited';
  /** When the period ends, epoch milliseconds; null without one. */
  readonly resetsAt: number | null;
}

/** What the plan includes in the period. Drawn on before money. */
export interface QuotaLane {
  readonly id: string;
  readonly caps: Units;
  readonly resetsAt: number;
}

/** Limits on how fast and on how many at once. Counted in memory only: a lane that is not known is an empty one. Null: no such limit. */
export interface RateLane {
  readonly id: string;
  /** Whose limits these are. */
  readonly owner: 'key' | 'plan' | 'test_keys' | 'contract' | LimitKind;
  readonly requestsPerMinute: number | null;
  readonly tokensPerMinute: number | null;
  /** Holds that may run at the same time. */
  readonly concurrency: number | null;
}

/** What a request takes from its rate lanes: one request, one running hold, and these tokens. */
export interface RateDraw {
  readonly lanes: readonly RateLane[];
  /** An estimate; the settlement puts it right. */
  readonly tokens: number;
}

/** One limit as it stands, this request included. */
export interface RateWindow {
  readonly limit: number;
  /** Whole units that could be taken now. */
  readonly remaining: number;
  /** Until all of the limit could be taken, milliseconds. */
  readonly resetMs: number;
}

/** Of each kind the limit that leaves least, over all rate lanes; null where no lane has one. */
export interface RateStatus {
  readonly requests: RateWindow | null;
  readonly tokens: RateWindow | null;
}

/** Nano-USD that one hold may come to, 10 million USD: nine hundred of them at once on a lane stay within 64 bits. */
export const LARGEST_HOLD: NanoUsd = 10_000_000n * 10n ** 9n;
/** Units and tokens of one request: each has to be a plain number that a long division in Lua can take as its divisor. */
export const LARGEST_UNITS = 900_000_000_000n;

/** Beyond {@link LARGEST_HOLD} and {@link LARGEST_UNITS} a hold may be a failure rather than a refusal. */
export interface HoldRequest {
  /** Unique among all holds, for ever: one hold is settled once. Only what was released may be held again under its name. */
  readonly holdId: string;
  readonly accountId: string;
  /** Project of the key, for the metrics alone: which lanes count the project is said in `lanes`. */
  readonly projectId?: string | undefined;
  /** When it came, epoch milliseconds: for the record of a ceiling that it sets. What the store measures it measures on its own clock. */
  readonly at: number;
  /** Many draw from it until this moment at most, epoch milliseconds, and who takes their work over releases it. Absent: only its own process. */
  readonly keptUntil?: number;
  /** Worst-case cost as a function of the tokens out, so that the store itself can find the largest bound that fits. */
  readonly cost: { readonly fixed: PicoUsd; readonly perOutputToken: PicoUsd };
  /** Tokens out, over all choices: what is wanted, and the least that is worth running. Equal where the bound must not be lowered. */
  readonly outputTokens: { readonly wanted: number; readonly least: number };
  /** Worst-case units apart from the tokens out, which are added to `tokens`. */
  readonly units: Units;
  /** How many units each token out counts as: itself, and every time that it may be read again. Absent: 1. */
  readonly unitsPerOutputToken?: number;
  /** Each takes the whole cost. */
  readonly lanes: readonly MoneyLane[];
  /** Null: no quota (test mode). */
  readonly quota: QuotaLane | null;
  /** Takes what the quota does not cover. Null: nothing may go beyond the quota. */
  readonly funds: MoneyLane | null;
  /** Asked before the money, and taken together with it or not at all. Absent: no rate limits. */
  readonly rates?: RateDraw;
  /**
   * What settles it where it is taken for all the tokens that are wanted. A store that outlives its processes keeps it with the hold, so that
   * `begin` with the same asks nothing of it. Absent: the hold is not begun.
   */
  readonly inFlight?: InFlight;
  /** What was answered before is settled out of it, as debt: as it holds nothing, no cap keeps it out. Its cost has to be nothing. */
  readonly isForDebt?: true;
}

/** A lane's counters at one moment. */
export interface LaneState {
  readonly id: string;
  readonly source: LimitSource;
  readonly cap: NanoUsd | null;
  readonly spent: NanoUsd;
  /** By running requests, this one included. */
  readonly held: NanoUsd;
}

export interface Held {
  readonly held: true;
  /** The bound on tokens out that is held, over all choices. */
  readonly outputTokens: number;
  /** Worst case, on every money lane that takes the whole cost. */
  readonly amount: NanoUsd;
  readonly lanes: readonly LaneState[];
  /** Present where the request has rate limits. */
  readonly rates?: RateStatus;
}

/** The meter of a quota that leaves least of a request, as it stands. */
export interface MeterState {
  readonly meter: string;
  readonly cap: bigint;
  readonly used: bigint;
  /** By running requests. */
  readonly held: bigint;
  /** What the request may use. */
  readonly required: bigint;
}

/** Money does not suffice. Nothing was taken from any lane. */
export interface Refused {
  readonly held: false;
  /** Present where the account may not go beyond its quota: which meter refuses. */
  readonly meter?: MeterState;
  readonly lane: LaneState;
  readonly required: NanoUsd;
  readonly resetsAt: number | null;
  /** It would fit if every running request settled at nothing: worth another try soon. */
  readonly mayFitLater: boolean;
  /** The lanes that would have taken the whole cost, as they stand. */
  readonly lanes: readonly LaneState[];
  /** Present where the request has rate limits. */
  readonly rates?: RateStatus;
}

/** Too fast, or too many at once. Nothing was taken from any lane. */
export interface RateRefused {
  readonly held: false;
  readonly refusedBy: RateLane;
  readonly kind: 'requests' | 'tokens' | 'concurrency';
  readonly limit: number;
  /** Until it would fit if nothing else came, milliseconds; null when the request alone is larger than the limit. */
  readonly retryAfterMs: number | null;
  readonly rates: RateStatus;
}

export type HoldOutcome = Held | Refused | RateRefused;

export interface Settlement {
  readonly holdId: string;
  /** Actual cost at catalogue prices. */
  readonly cost: NanoUsd;
  /** Actual units. */
  readonly units: Units;
  /** The settlement record, one line of JSON: made durable in the same step, before `settle` returns. */
  readonly record: string;
  /** Tokens that were really used, for the rate lanes: what was taken and not used is given back. Absent: nothing is. */
  readonly rateTokens?: number;
}

/** What a hold is settled at should nobody ever say what came of its request: the most that its provider may bill. */
export type InFlight = Pick<Settlement, 'holdId' | 'cost' | 'units' | 'record'>;

/** How the account paid, decided where the hold was: never more than was held. */
export interface Settled {
  /** Units that the plan's quota covered: from what the hold had reserved, and from what is left of the quota by now. */
  readonly covered: Units;
  /** Money beyond the quota. */
  readonly charged: NanoUsd;
  /** The part of `charged` for which no money was held: of the hold too little was left, or the quota covers less than it had reserved. */
  readonly debt: NanoUsd;
  /** What the provider billed beyond what was held: the operator's loss, and on no lane. Absent: nothing. */
  readonly waived?: NanoUsd;
  readonly lanes: readonly LaneState[];
}

/** One settlement out of a hold that many draw from: a line of a batch. */
export interface PartSettlement {
  /** Unique for ever: a part is settled once, whichever hold it is settled from. */
  readonly partId: string;
  /** The part's own worst case. The sum over all parts is what the hold was taken for. */
  readonly reserved: { readonly amount: NanoUsd; readonly units: Units };
  /** Actual cost at catalogue prices. */
  readonly cost: NanoUsd;
  /** Actual units. */
  readonly units: Units;
  /** As in `Settlement`. */
  readonly record: string;
}

/** `settled_before`: nothing is left to do. `no_hold`: nothing has happened, and the hold has to be taken anew. */
export type PartOutcome = Settled | 'settled_before' | 'no_hold';

/**
 * What is given back of a settlement, to the lanes it was taken from, of whatever period they are: all that it had charged and covered, or, of
 * one that is corrected, the difference. An amount below zero takes more; no cap keeps that out.
 */
export interface Refund {
  /** Unique for ever: given back once. */
  readonly refundId: string;
  readonly accountId: string;
  /** Ids of the money lanes that the settlement had taken its whole cost from. */
  readonly lanes: readonly string[];
  /** Id of the quota lane that had covered a part of it, or null. */
  readonly quota: string | null;
  /** Id of the lane that had paid what the quota did not cover, or null. */
  readonly funds: string | null;
  readonly cost: NanoUsd;
  readonly charged: NanoUsd;
  readonly covered: Units;
  /** The refund's record, one line of JSON: made durable in the same step. Its entry says what is given back. */
  readonly record: string;
}

/**
 * Where caps are enforced. Every operation is atomic over all lanes it names.
 * A store that cannot be reached rejects: admission then refuses, it never waves through.
 *
 * A hold ends by its settlement or its release, never by a clock: it counts as long as the process lives that took it.
 */
export interface LaneStore {
  /**
   * Puts the worst case on every lane, or on none. Synchronous where the store is in this process and the lanes are loaded.
   *
   * @throws (or rejects) on the id of a hold that is not settled yet, and when a lane cannot be loaded; then nothing is taken
   */
  hold(request: HoldRequest): HoldOutcome | Promise<HoldOutcome>;
  /**
   * To be awaited before a provider is asked: from here on the hold is not freed when its process dies, but settled at this, once. It is
   * durable as a settlement is. What it was begun with before no longer counts.
   *
   * @throws (or rejects) when it cannot be made durable: the provider must not be asked then, and the hold is to be released
   */
  begin(inFlight: InFlight): void | Promise<void>;
  /** Replaces the hold by the actual cost, at most what was held, exactly once; undefined when the hold is settled already or was never held. */
  settle(settlement: Settlement): Settled | undefined | Promise<Settled | undefined>;
  /**
   * Replaces the part's share of the hold by its actual cost, exactly once per `partId`; the rest of the hold stands. Of the hold it frees
   * what was reserved for the part, at most what is left, and of cover and charge the like share, rounded up. The quota gives that cover and
   * what others have left. A part is never charged more than its share of the held charge, and what the share is less than its reserve: that is
   * debt. What the cost is above the reserve is waived.
   */
  settlePart(holdId: string, part: PartSettlement): PartOutcome | Promise<PartOutcome>;
  /** Frees what is left of a hold and forgets it, in flight or not. Nothing happens where there is none. */
  release(holdId: string): void | Promise<void>;
  /** Its process is gone: settles a hold that was in flight at what it was begun with, and releases any other. Resolves to whether it was settled. */
  abandon(holdId: string): boolean | Promise<boolean>;
  /** Lowers what was spent by what is given back and returns the covered units, exactly once per `refundId`; false when that was done before. */
  refund(refund: Refund): boolean | Promise<boolean>;
  /** The account's rate lanes as they stand. Nothing is taken: for the headers of what never got as far as a hold. */
  rates(accountId: string, lanes: readonly RateLane[]): RateStatus | Promise<RateStatus>;
  /** Counts a request that was refused before it was held, on each lane that has room for it, and no tokens. @returns the lanes after that */
  countRefused(accountId: string, lanes: readonly RateLane[]): RateStatus | Promise<RateStatus>;
  /** Reads the credit of a lane from the record again: to be called once a credit is committed. What is charged meanwhile is not touched. */
  refreshCredit(laneId: string): Promise<void>;
  /**
   * To be called every few seconds. Forgets what is idle. Where several processes share the store it says that this one lives, and ends the
   * holds of those that do not: frees them, or settles those that were in flight.
   * @returns how many holds of dead processes were ended
   */
  sweep(): number | Promise<number>;
  /** Counters of lanes, for status and reconciliation; lanes that are not loaded are read from their source. */
  inspect(laneIds: readonly string[]): Promise<ReadonlyMap<string, { spent: NanoUsd; held: NanoUsd; cap: NanoUsd | null }>>;
}

/** A lane that counts something else than the ledger. `meter`: of a quota; null: money. */
export type LaneCorrection = { readonly laneId: string; readonly meter: string | null; readonly from: bigint; readonly to: bigint };

/** A lane that is loaded, as it is now. `counts`: what is spent, under `nano_usd`, or what is used of a quota. `isWritten`: the ledger has all that was settled on the lane. */
export type LoadedLane = { readonly id: string; readonly counts: Units; readonly isWritten: boolean };

export interface LaneBooks {
  lanes(): Iterable<LoadedLane> | AsyncIterable<LoadedLane>;
  /** Where the lane still counts that, and the ledger has all of it. @returns whether it was so */
  correct(correction: LaneCorrection): boolean | Promise<boolean>;
}

export interface MoneyOnRecord {
  readonly spent: NanoUsd;
  readonly cap: NanoUsd | null;
  /** How many credits the cap is the sum of: of two readings, the one with more is the newer. Absent where nothing is credited. */
  readonly credits?: number;
}

/** The truth that lanes are loaded from: PostgreSQL. */
export interface LaneSource {
  /** A money lane's settled spend, with what it is credited or its tightened cap where it has one, all of one moment. */
  moneyLane(id: string): Promise<MoneyOnRecord>;
  /** Units of the quota used in the lane's period. */
  quotaLane(id: string): Promise<Units>;
}

/** One settled request on its way to the ledger: what the lanes decided, and the caller's record of it. */
export interface JournalEntry {
  readonly charged: NanoUsd;
  readonly debt: NanoUsd;
  readonly covered: Units;
  /** One line of JSON; read back as it was written, for whoever writes the ledger to parse. */
  readonly record: string;
  /** The part of the provider's bill that was more than was held, or no longer fitted a cap when it was settled: the operator's loss. Absent: none. */
  readonly waived?: NanoUsd;
  /** Caps of its lanes as the request had them, those that only requests know. Absent: none. */
  readonly caps?: Readonly<Record<string, NanoUsd>>;
}

/** A ceiling that a request has set or tightened: it has to outlive the memory of the process, whatever becomes of the request. */
export interface LaneCeiling {
  readonly laneId: string;
  readonly cap: NanoUsd;
  /** When, epoch milliseconds. */
  readonly at: number;
}

export interface JournalBatch {
  readonly entries: readonly JournalEntry[];
  readonly ceilings: readonly LaneCeiling[];
  /** To be called when the entries are safely elsewhere. */
  acknowledge(): void;
}

/** What the lane store has made durable, for the one writer of the ledger. Entries may be handed out again after a crash. */
export interface SettlementFeed {
  /** The next entries in order; none when there are none. */
  read(): Promise<JournalBatch>;
  /** Calls back after every append. */
  onAppend(callback: () => void): void;
  /**
   * Where other processes read too: remembers what is there now.
   * @returns asks whether all of it has been acknowledged, by whichever process
   */
  mark?(): Promise<() => Promise<boolean>>;
}
