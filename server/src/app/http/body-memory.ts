import type { IncomingMessage } from 'node:http';
import type { Arrival, MemoryReservation } from '../../kernel/memory-reservation.ts';
import { Problem } from '../../kernel/problem.ts';
import { RecentMap } from '../../kernel/recent-map.ts';

/** What is no longer reserves none: so many bytes of every request that is served at a time are there anyway. */
export const SMALL_BYTES = 1024 * 1024;
/** Whether its length is above that, or not told. */
export const mayBeLarge = ({ headers }: IncomingMessage): boolean =>
  headers['content-encoding'] !== undefined || Number(headers['content-length'] ?? Number.POSITIVE_INFINITY) > SMALL_BYTES;

/** One account may have three quarters: the rest is for others. */
const PART_OF_ONE = 0.75;
const MOST_WAIT_MS = 10_000;
const RETRY_SECONDS = 5;
/** So often one that is slow gives way, as long as others wait. */
const LOOK_MS = 250;
/** So long nothing of it needs to come: a connection may stumble. */
const GRACE_MS = 2_000;
/** Of so many accounts it is known who had some last. */
const KNOWN_ACCOUNTS = 10_000;

/** What has memory, or waits for it. */
interface Holder {
  readonly account: string;
  readonly arrival: Arrival;
  bytes: number;
  begin(): void;
}

/**
 * Memory for large bodies: all that are there at a time share it, from their second megabyte to the end of their call. A body for which there
 * is not enough is not read on until there is, which stops its client from sending: accounts take turns, and the bodies of one come in their
 * order. What a body may become is reserved at once, so that none stops halfway. So a sender may not dawdle: while others wait, one
 * that would not be there in time gives way.
 */
export class BodyMemory {
  readonly #bytes: number;
  #taken = 0;
  readonly #byAccount = new Map<string, number>();
  readonly #waiting = new Set<Holder>();
  /** Since when, in milliseconds, and how much of it had come by then. */
  readonly #arriving = new Map<Holder, { readonly since: number; readonly come: number }>();
  /** Higher is later. */
  readonly #lastTurn = new RecentMap<string, number>(KNOWN_ACCOUNTS);
  #turns = 0;
  #look: NodeJS.Timeout | undefined;
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
    let held: { complete(bytes: number): void; release(): void } | undefined;
    let isOver = false;
    return {
      acquire: (arrival) =>
        new Promise((resolve, reject) => {
          if (isOver) return reject(new Error('A request that is over reserves no memory'));
          held = this.#wait(account, arrival, resolve, reject);
        }),
      complete: (bytes) => held?.complete(bytes),
      release() {
        isOver = true;
        held?.release();
      },
    };
  }

  /** @returns what keeps less of it, and what ends waiting or gives back what was taken */
  #wait(account: string, arrival: Arrival, resolve: () => void, refuse: (problem: Problem) => void) {
    let isThere = false;
    const begin = () => {
      clearTimeout(timer);
      this.#waiting.delete(holder);
      this.#add(account, holder.bytes);
      this.#arriving.set(holder, { since: performance.now(), come: arrival.come() });
      isThere = true;
      resolve();
    };
    const keep = (bytes: number) => {
      this.#arriving.delete(holder);
      if (isThere && bytes < holder.bytes) {
        this.#add(account, bytes - holder.bytes);
        holder.bytes = bytes;
      }
      this.#beginWaiting();
    };
    const release = () => {
      clearTimeout(timer);
      // Others may have waited behind it.
      this.#waiting.delete(holder);
      keep(0);
    };
    const holder: Holder = { account, arrival, bytes: Math.min(arrival.most, this.#bytes), begin };
    const timer = setTimeout(() => {
      release();
      refuse(this.#full());
    }, this.#mostWaitMs);
    this.#waiting.add(holder);
    this.#beginWaiting();
    return { complete: keep, release };
  }

  /** Who waits for more than there is lets nobody by, but those who wait for others of their account do. */
  #beginWaiting(): void {
    const lacking = this.#beginThoseThatFit();
    if (!lacking) {
      clearInterval(this.#look);
      this.#look = undefined;
    } else this.#look ??= setInterval(() => this.#slowest()?.arrival.giveWay(), LOOK_MS).unref();
  }

  /** @returns for whom there is not enough */
  #beginThoseThatFit(): Holder | undefined {
    for (;;) {
      const next = this.#next();
      if (!next || this.#taken + next.bytes > this.#bytes) return next;
      this.#turns += 1;
      this.#lastTurn.set(next.account, this.#turns);
      next.begin();
    }
  }

  /** Of the account whose last turn is the longest ago: however many of one account wait, another one has its turn. */
  #next(): Holder | undefined {
    let [first, least]: [Holder | undefined, number] = [undefined, Number.POSITIVE_INFINITY];
    for (const one of this.#waiting) {
      const turn = this.#lastTurn.get(one.account) ?? 0;
      if (turn < least && this.#isWithinShare(one)) [first, least] = [one, turn];
    }
    return first;
  }

  /** The furthest behind of those that would not be there in time. */
  #slowest(): Holder | undefined {
    const now = performance.now();
    let [slowest, most]: [Holder | undefined, number] = [undefined, 0];
    for (const [holder, { since, come }] of this.#arriving) {
      const { arrival, bytes } = holder;
      const due = ((bytes - come) * (now - since - GRACE_MS)) / arrival.withinMs;
      const behind = due - (arrival.come() - come);
      if (behind > most) [slowest, most] = [holder, behind];
    }
    return slowest;
  }

  /** One body may always be there, however large its part is. */
  #isWithinShare({ account, bytes }: Holder): boolean {
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
