import type { IncomingMessage } from 'node:http';
import type { MemoryReservation } from '../../kernel/memory-reservation.ts';
import { Problem } from '../../kernel/problem.ts';

/** What is no longer reserves none: so many bytes of every request that is served at a time are there anyway. */
export const SMALL_BYTES = 1024 * 1024;
/** Whether its length is above that, or not told. */
export const mayBeLarge = ({ headers }: IncomingMessage): boolean =>
  headers['content-encoding'] !== undefined || Number(headers['content-length'] ?? Number.POSITIVE_INFINITY) > SMALL_BYTES;

/** One account may have three quarters: the rest is for others. */
const PART_OF_ONE = 0.75;
const MOST_WAIT_MS = 10_000;
const RETRY_SECONDS = 5;

interface Waiting {
  readonly account: string;
  readonly bytes: number;
  begin(): void;
}

/**
 * Memory for large bodies: all that are there at a time share it, from their second megabyte to the end of their call. A body for which there
 * is not enough is not read on until there is, in the order in which they came, which stops its client from sending.
 */
export class BodyMemory {
  readonly #bytes: number;
  #taken = 0;
  readonly #byAccount = new Map<string, number>();
  readonly #waiting = new Set<Waiting>();
  readonly #mostWaitMs: number;

  constructor(bytes: number, mostWaitMs = MOST_WAIT_MS) {
    this.#bytes = bytes;
    this.#mostWaitMs = mostWaitMs;
  }

  /** By all of them, bytes. */
  get taken(): number {
    return this.#taken;
  }

  reservationOf(account: string): MemoryReservation {
    let release: (() => void) | undefined;
    let isOver = false;
    return {
      acquire: (most) =>
        new Promise((resolve, reject) => {
          if (isOver) return reject(new Error('A request that is over reserves no memory'));
          release = this.#wait(account, Math.min(most, this.#bytes), resolve, reject);
        }),
      release() {
        isOver = true;
        release?.();
      },
    };
  }

  /** @returns ends waiting, or gives back what was taken */
  #wait(account: string, bytes: number, resolve: () => void, refuse: (problem: Problem) => void): () => void {
    let isThere = false;
    const begin = () => {
      clearTimeout(timer);
      this.#waiting.delete(waiting);
      this.#add(account, bytes);
      isThere = true;
      resolve();
    };
    const release = () => {
      clearTimeout(timer);
      this.#waiting.delete(waiting);
      if (isThere) this.#add(account, -bytes);
      isThere = false;
      // Others may have waited behind it.
      this.#beginWaiting();
    };
    const waiting: Waiting = { account, bytes, begin };
    const timer = setTimeout(() => {
      release();
      refuse(this.#full());
    }, this.#mostWaitMs);
    this.#waiting.add(waiting);
    this.#beginWaiting();
    return release;
  }

  /** Who waits for more than there is lets nobody by, but those who wait for others of their account do. */
  #beginWaiting(): void {
    for (const one of this.#waiting) {
      if (!this.#isWithinShare(one)) continue;
      if (this.#taken + one.bytes > this.#bytes) return;
      one.begin();
    }
  }

  /** One body may always be there, however large its part is. */
  #isWithinShare({ account, bytes }: Waiting): boolean {
    const own = this.#byAccount.get(account) ?? 0;
    return own === 0 || own + bytes <= this.#bytes * PART_OF_ONE;
  }

  #add(account: string, bytes: number): void {
    this.#taken += bytes;
    const own = (this.#byAccount.get(account) ?? 0) + bytes;
    if (own === 0) this.#byAccount.delete(account);
    else this.#byAccount.set(account, own);
  }

  #full(): Problem {
    return new Problem(
      'shared_capacity_full',
      `This gateway has ${this.#bytes} bytes of memory for large bodies, all taken: repeat the request in ${RETRY_SECONDS} seconds.`,
      { retryAfterSeconds: RETRY_SECONDS },
    );
  }
}
