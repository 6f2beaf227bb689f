import { uptime } from 'node:os';

/** How far the clock follows a reference that differs from it, of the time that passes: what quartz is off by, and no leap. */
const MOST_SLEW = 0.0005;
const LOOK_MS = 1_000;
/** A shorter suspend cannot be distinguished from rounding. */
const LEAST_SLEEP_MS = 1_500;

interface Sources {
  /** The time of day, epoch milliseconds: it may be set, and leap. */
  readonly timeOfDay: () => number;
  /** Milliseconds that only go forward; a suspended machine stops them. */
  readonly elapsed: () => number;
  /** Milliseconds since the machine started, its sleep included. */
  readonly sinceBoot: () => number;
}

const OF_THIS_PROCESS: Sources = {
  timeOfDay: () => Date.now(),
  elapsed: () => performance.now(),
  sinceBoot: () => uptime() * 1_000,
};

/**
 * The time by the reference that there was at the start, and by what has passed since: a time of day that is set, or leaps by a month, changes
 * nothing, so no month begins, and no cap of one is given out again, before its time. A difference is made up for slowly.
 */
export class SteadyClock {
  readonly #sources: Sources;
  /** What is added to the time that has elapsed. */
  #offset: number;
  /** The same by the reference: PostgreSQL's clock if it was read, else the time of day. */
  #reference: number | undefined;
  #lookedAt: number;
  #bootOffset: number;

  constructor(sources: Partial<Sources> = {}) {
    this.#sources = { ...OF_THIS_PROCESS, ...sources };
    const { timeOfDay, elapsed, sinceBoot } = this.#sources;
    this.#lookedAt = elapsed();
    this.#offset = timeOfDay() - this.#lookedAt;
    this.#bootOffset = sinceBoot() - this.#lookedAt;
  }

  /** Milliseconds since the Unix epoch. */
  now(): number {
    const elapsed = this.#sources.elapsed();
    if (elapsed - this.#lookedAt >= LOOK_MS) this.#look(elapsed);
    return Math.floor(elapsed + this.#offset);
  }

  /**
   * Goes by another clock from now on, which all gateways of a database share.
   * @param epochMs what it says
   */
  set(epochMs: number): void {
    this.#offset = epochMs - this.#sources.elapsed();
    this.#reference = this.#offset;
  }

  /** Compares with that clock again. @param epochMs what it says */
  compare(epochMs: number): void {
    this.#reference = epochMs - this.#sources.elapsed();
  }

  /** By how much the reference is ahead of this clock, milliseconds; negative where it is behind. */
  get differenceMs(): number {
    const { timeOfDay, elapsed } = this.#sources;
    return (this.#reference ?? timeOfDay() - elapsed()) - this.#offset;
  }

  #look(elapsed: number): void {
    const slept = this.#sources.sinceBoot() - elapsed - this.#bootOffset;
    if (slept >= LEAST_SLEEP_MS) {
      this.#bootOffset += slept;
      this.#offset += slept;
      if (this.#reference !== undefined) this.#reference += slept;
    }
    const most = (elapsed - this.#lookedAt) * MOST_SLEW;
    this.#offset += Math.min(Math.max(this.differenceMs, -most), most);
    this.#lookedAt = elapsed;
  }
}
