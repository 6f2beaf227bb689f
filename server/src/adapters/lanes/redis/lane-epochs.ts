import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from 'pg';
import { steadyMs } from '../../../kernel/clock.ts';
import type { Log } from '../../../kernel/log.ts';
import { type Advance, type Advanced, EpochRecord, type EpochStanding } from './epoch-record.ts';
import type { OpenEpoch } from './partition-scripts.ts';

interface LaneEpochsDeps {
  readonly pool: Pool;
  /** What the data directory of this process is known by. */
  readonly gateway: string;
  /** What this process is known by. */
  readonly process: string;
  /** For how long a gateway without a sign of life is waited for when Redis has lost something. */
  readonly absenceMs: number;
  readonly log: Log;
}

/** What a gateway does when an epoch begins. Each may be asked for again. */
export interface Recovery {
  /** Resolves when what was asked of the lanes is answered or given up, and what was read of the streams is in the ledger. */
  idle(): Promise<void>;
  /** Whether the journal of this gateway has settlements that the ledger may lack. */
  hasUndrained(): boolean;
  /** Brings what the journal of this gateway has into the ledger. The lanes are loaded after that. */
  drainJournal(): Promise<void>;
  /** Whether the journal of this gateway says nothing any more. */
  isSettled(): boolean;
  /** Makes the partitions of that epoch, and brings into the ledger what is in their streams: nothing comes from an older epoch any more. */
  openPartitions(epoch: string): Promise<void>;
  declare(epoch: string): Promise<void>;
  /** Every gateway has declared: what an earlier process of this one had in flight is settled as far as it fits. */
  settleLeft(epoch: string): Promise<void>;
  /** That epoch was opened without this gateway. */
  missed(epoch: string): Promise<void>;
  /** Declares holds of gateways that do not live. */
  salvage(epoch: string, advance: Advance): Promise<void>;
  /** Told when an epoch is open: what Redis has of older ones is of no use any more. */
  forget(older: readonly string[]): Promise<void>;
}

/** While no epoch of the lanes is open, or this gateway cannot say that it lives. */
class LanesClosed extends Error {
  override readonly name = 'LanesClosed';
}

const BEAT_MS = 1_000;
/** While an epoch is not open. */
const LOOK_MS = 50;
const RETRY_MS = 500;
/**
 * For how long this gateway asks anything of the lanes without having said that it lives, on its monotonic clock, from before it said so. Others
 * wait longer for it, by more than a command takes.
 */
const FENCE_MS = 8_000;

/**
 * Follows the epoch of the lanes in Redis. When Redis is not what it was, every gateway stops admitting, brings its journal into the ledger and
 * declares the holds that it has; only then the next epoch opens.
 */
export class LaneEpochs implements OpenEpoch {
  readonly #deps: LaneEpochsDeps;
  readonly #record: EpochRecord;
  #recovery: Recovery | undefined;
  /** The epoch that is open, and in which this gateway has declared its holds. */
  #epoch: string | undefined;
  #validUntil = Number.NEGATIVE_INFINITY;
  #suspect: string | undefined;
  #drained: string | undefined;
  #declared: string | undefined;
  #settled: string | undefined;
  /** The session of this gateway has lapsed, and it has not heard of the epoch since. */
  #isLapsed = false;
  #isLate = false;
  /** Absent gateways that were last complained of. */
  #complaint = '';
  #isStopped = false;
  #wake: () => void = () => {};
  #following: Promise<void> = Promise.resolve();
  #beating: NodeJS.Timeout | undefined;
  #beats: Promise<unknown> = Promise.resolve();
  #waitingBeats = 0;
  #standing: EpochStanding | undefined;

  constructor(deps: LaneEpochsDeps) {
    this.#deps = deps;
    this.#record = new EpochRecord(deps);
  }

  /** Resolves when an epoch is open for this gateway. @throws when PostgreSQL does not answer */
  async join(recovery: Recovery): Promise<void> {
    this.#recovery = recovery;
    this.#isLate = await this.#record.join();
    await this.#beat();
    this.#beating = setInterval(() => {
      if (this.#waitingBeats > 0) return;
      this.#beat().catch((error: unknown) => this.#deps.log.debug({ err: error }, 'the session of this gateway could not be renewed'));
    }, BEAT_MS).unref();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#following = this.#follow(resolve);
    await promise;
  }

  /** An epoch was opened without this gateway, and what it had from before that is not all settled. */
  get isLate(): boolean {
    return this.#isLate;
  }

  /** Resolves when PostgreSQL says that the epoch of this gateway is open, and that it has missed none. @throws otherwise */
  async confirm(): Promise<void> {
    await this.#beat();
    this.current();
  }

  /** All of that is settled. */
  async caughtUp(): Promise<void> {
    await this.#record.caughtUp();
    this.#isLate = false;
  }

  current(): string {
    if (this.#epoch === undefined) throw new LanesClosed('The lanes are loaded anew');
    if (steadyMs() > this.#validUntil) throw new LanesClosed('This gateway cannot say that it lives');
    return this.#epoch;
  }

  lost(epoch: string, why: string): void {
    if (this.#suspect === epoch || (this.#epoch !== undefined && this.#epoch !== epoch)) return;
    this.#deps.log.warn({ epoch, why }, 'Redis has lost something: the lanes are loaded from the ledger and the journals');
    this.#epoch = undefined;
    this.#suspect = epoch;
    this.#wake();
  }

  async close(): Promise<void> {
    this.#isStopped = true;
    this.#epoch = undefined;
    clearInterval(this.#beating);
    this.#wake();
    await Promise.all([this.#following, this.#beats]);
    // What its journal still has is not counted on lanes that others load: then they go on waiting for it.
    if (this.#recovery?.isSettled()) await this.#record.leave();
  }

  /** One after the other: a session that has lapsed is begun again once, and nothing is said under it before that is known. */
  #beat(): Promise<void> {
    this.#waitingBeats += 1;
    const beat = this.#beats
      .then(() => this.#beatOnce())
      .finally(() => {
        this.#waitingBeats -= 1;
      });
    this.#beats = beat.catch(() => {});
    return beat;
  }

  async #beatOnce(): Promise<void> {
    this.#refuseAtTheEnd();
    const saidAt = steadyMs();
    const standing = await this.#record.beat();
    this.#refuseAtTheEnd();
    if (!standing) {
      // Others may have gone on without this gateway.
      this.#epoch = undefined;
      this.#standing = undefined;
      this.#isLapsed = true;
      this.#isLate = await this.#record.join();
      this.#wake();
      return;
    }
    if (this.#isLapsed) this.#rejoined(standing);
    this.#validUntil = saidAt + FENCE_MS;
    this.#standing = standing;
    if (this.#epoch !== undefined && (standing.epoch !== this.#epoch || standing.state !== 'open')) this.#epoch = undefined;
    if (this.#epoch === undefined) this.#wake();
  }

  /** A session that a gateway begins again although it ends would be waited for. */
  #refuseAtTheEnd(): void {
    if (this.#isStopped) throw new LanesClosed('This gateway ends');
  }

  /**
   * In an epoch that is still open Redis has lost nothing, and has the holds of this gateway, or has ended them: they are not declared again.
   * One that Redis has settled meanwhile would be held, and settled, a second time.
   */
  #rejoined({ epoch, state }: EpochStanding): void {
    this.#isLapsed = false;
    if (state === 'open' && this.#declared === epoch) return;
    this.#drained = undefined;
    this.#declared = undefined;
    this.#settled = undefined;
  }

  async #follow(opened: () => void): Promise<void> {
    while (!this.#isStopped) {
      try {
        await this.#step();
      } catch (error) {
        if (this.#isStopped) break;
        this.#deps.log.warn({ err: error }, 'the lanes cannot be loaded anew yet');
        await delay(RETRY_MS);
      }
      if (this.#epoch !== undefined) {
        opened();
        await this.#sleep();
      } else if (!this.#isStopped) await delay(LOOK_MS);
    }
    opened();
  }

  /** Until something is to be done. */
  #sleep(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    if (this.#epoch === undefined || this.#isStopped) resolve();
    return promise;
  }

  async #step(): Promise<void> {
    if (this.#epoch !== undefined || this.#isStopped) return;
    if (this.#suspect !== undefined) {
      await this.#record.supersede(this.#suspect);
      this.#suspect = undefined;
    }
    await this.#beat();
    const standing = this.#standing;
    const recovery = this.#recovery;
    if (!standing || !recovery) return;
    const { epoch, state } = standing;
    if (this.#drained !== epoch && !(await this.#drain(standing, recovery))) return;
    if (state !== 'recovering' && this.#declared !== epoch) {
      await (state === 'open' ? recovery.missed(epoch) : recovery.declare(epoch));
      await this.#record.done(epoch, 'declaring');
      this.#declared = epoch;
    }
    if (state === 'settling' && this.#settled !== epoch) {
      await recovery.settleLeft(epoch);
      await this.#record.done(epoch, 'settling');
      this.#settled = epoch;
    }
    this.#drained = epoch;
    if (state === 'open') this.#open(epoch);
    else await this.#advance(standing, recovery);
  }

  /** @returns false where lanes of this epoch may have been loaded without what the journal of this gateway has: the next one begins */
  async #drain({ epoch, state }: EpochStanding, recovery: Recovery): Promise<boolean> {
    await recovery.idle();
    if (!this.#isLate && state !== 'open') {
      const hasUndrained = recovery.hasUndrained();
      if (state === 'recovering') await recovery.drainJournal();
      // Who joined at the moment that the epoch went on was not waited for.
      if (hasUndrained && !(await this.#record.isRecovering(epoch))) {
        await this.#record.supersede(epoch);
        return false;
      }
    }
    if (state === 'recovering') await this.#record.done(epoch, 'recovering');
    return true;
  }

  async #advance(standing: EpochStanding, recovery: Recovery): Promise<void> {
    const { epoch, state } = standing;
    if (state === 'recovering') {
      this.#complainOf(await this.#record.advance(standing, () => recovery.openPartitions(epoch)));
      return;
    }
    let older: readonly string[] = [];
    const advanced = await this.#record.advance(standing, async (advance) => {
      older = advance.older;
      if (state === 'declaring') await recovery.salvage(epoch, advance);
    });
    this.#complainOf(advanced);
    if (!advanced.hasAdvanced || state === 'declaring') return;
    this.#deps.log.info({ epoch }, 'the lanes are loaded anew');
    recovery.forget(older).catch((error: unknown) => this.#deps.log.warn({ err: error }, 'keys of older epochs are left in Redis'));
  }

  #complainOf({ absent }: Advanced): void {
    const complaint = absent.toSorted().join(' ');
    if (complaint !== '' && complaint !== this.#complaint)
      this.#deps.log.warn(
        { absent, absenceMs: this.#deps.absenceMs },
        'nothing is admitted until these gateways are back, or silent for so long that they are taken for dead',
      );
    this.#complaint = complaint;
  }

  #open(epoch: string): void {
    const { epoch: newest, state } = this.#standing ?? {};
    if (this.#suspect === undefined && newest === epoch && state === 'open') this.#epoch = epoch;
  }
}
