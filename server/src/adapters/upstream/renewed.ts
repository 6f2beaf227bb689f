import { type Clock, systemClock } from '../../kernel/clock.ts';

/** Something that expires, for credentials. */
export interface Expiring<T> {
  readonly value: T;
  /** Unix time, milliseconds; undefined: never. */
  readonly expiresAtMs: number | undefined;
}

export interface RenewedOptions<T> {
  fetch(): Promise<Expiring<T>>;
  readonly clock?: Clock | undefined;
}

/** So long before its end it is fetched anew. */
const AHEAD_MS = 5 * 60_000;
/** Between two attempts that follow a failed one. */
const AGAIN_MS = 15_000;
/** A longer timer would be due at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Credentials that are fetched anew ahead of their end, beside the requests: none waits for them but the first. */
export class Renewed<T> {
  readonly #options: RenewedOptions<T>;
  readonly #clock: Clock;
  #current: Expiring<T> | undefined;
  #fetching: Promise<T> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: RenewedOptions<T>) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  /** At once where there are valid ones. Rejects where none can be had. */
  get(): T | Promise<T> {
    const { value, expiresAtMs = Infinity } = this.#current ?? { value: undefined, expiresAtMs: 0 };
    return value !== undefined && expiresAtMs > this.#clock.now() ? value : this.#fetch();
  }

  /** The other end refuses them: the next request gets others. */
  discard(): void {
    this.#current = undefined;
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  #fetch(): Promise<T> {
    this.#fetching ??= this.#fetched().finally(() => {
      this.#fetching = undefined;
    });
    return this.#fetching;
  }

  async #fetched(): Promise<T> {
    try {
      this.#current = await this.#options.fetch();
    } catch (error) {
      // Without any, the next request asks.
      if (this.#current) this.#renewIn(AGAIN_MS);
      throw error;
    }
    const { value, expiresAtMs } = this.#current;
    if (expiresAtMs !== undefined) this.#renewIn(Math.max(AGAIN_MS, expiresAtMs - this.#clock.now() - AHEAD_MS));
    return value;
  }

  #renewIn(ms: number): void {
    clearTimeout(this.#timer);
    if (this.#isClosed) return;
    // Those that there are stay until their end; a request that finds them expired says what is wrong.
    this.#timer = setTimeout(() => void this.#fetch().catch(() => {}), Math.min(ms, LONGEST_TIMER_MS)).unref();
  }
}
