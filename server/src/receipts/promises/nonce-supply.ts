import { HALF_BYTES, type NonceOrder, type Nonces } from './nonces.ts';

/** Nonces that are thrown away unused are older than this, by either clock. */
const LIFE_MS = 2_000;
const LEAST_ORDER = 16;
const MOST_ORDER = 1_024;
const WINDOW_MS = 500;

interface Clocks {
  /** Milliseconds that only go forward. */
  readonly elapsed: () => number;
  /** The time of day: what is set anew on a machine whose snapshot was restored. */
  readonly timeOfDay: () => number;
}

interface Batch extends Nonces {
  readonly elapsed: number;
  readonly timeOfDay: number;
}

/**
 * Gives each nonce once, and none that is older than two seconds: a process that waited in a snapshot finds the time of day moved on, and signs
 * without them. Asks for as many as half a second needs; where few are needed, for none.
 */
export class NonceSupply {
  readonly #order: (order: NonceOrder) => void;
  readonly #clocks: Clocks;
  #current: Batch | undefined;
  #next: Batch | undefined;
  /** Bytes of the current points, and of the scalars. */
  #used = 0;
  #isAsked = false;
  #windowEnd = 0;
  #wanted = 0;
  #wantedBefore = 0;

  constructor(order: (order: NonceOrder) => void, clocks: Clocks = { elapsed: () => performance.now(), timeOfDay: () => Date.now() }) {
    this.#order = order;
    this.#clocks = clocks;
  }

  add(made: Nonces): void {
    this.#isAsked = false;
    const batch = { ...made, elapsed: this.#clocks.elapsed(), timeOfDay: this.#clocks.timeOfDay() };
    if (this.#current) this.#next = batch;
    else this.#current = batch;
  }

  /** As `NonceThread.take`. */
  take(point: Uint8Array, scalar: Uint8Array): boolean {
    const elapsed = this.#clocks.elapsed();
    this.#count(elapsed);
    if (this.#isShort()) this.#ask(elapsed, point);
    const timeOfDay = this.#clocks.timeOfDay();
    while (this.#current && isOld(this.#current, elapsed, timeOfDay)) this.#shift();
    const batch = this.#current;
    if (!batch) return false;
    for (let at = 0; at < HALF_BYTES; at += 1) {
      point[at] = batch.points[this.#used + at] ?? 0;
      scalar[at] = batch.scalars[this.#used + at] ?? 0;
    }
    this.#used += HALF_BYTES;
    if (this.#used === batch.points.length) this.#shift();
    return true;
  }

  #shift(): void {
    [this.#current, this.#next, this.#used] = [this.#next, undefined, 0];
  }

  #count(elapsed: number): void {
    if (elapsed >= this.#windowEnd) {
      this.#wantedBefore = elapsed < this.#windowEnd + WINDOW_MS ? this.#wanted : 0;
      this.#wanted = 0;
      this.#windowEnd = elapsed + WINDOW_MS;
    }
    this.#wanted += 1;
  }

  /** Half of what is at hand is used. */
  #isShort(): boolean {
    return !this.#isAsked && !this.#next && (!this.#current || this.#used * 2 >= this.#current.points.length);
  }

  #ask(elapsed: number, signed: Uint8Array): void {
    const count = Math.min(Math.max(this.#wanted, this.#wantedBefore), MOST_ORDER);
    if (count < LEAST_ORDER) return;
    this.#isAsked = true;
    this.#order({ count, mixed: Buffer.concat([signed, Buffer.from(`${elapsed} ${this.#clocks.timeOfDay()}`)]) });
  }
}

const isOld = (batch: Batch, elapsed: number, timeOfDay: number): boolean =>
  elapsed - batch.elapsed > LIFE_MS || Math.abs(timeOfDay - batch.timeOfDay) > LIFE_MS;
