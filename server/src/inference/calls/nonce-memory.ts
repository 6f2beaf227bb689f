import { hash } from 'node:crypto';

/** Longer than any signature is accepted: its time may lie five minutes ahead when it first arrives, and five behind when it comes again. */
export const GENERATION_MS = 11 * 60_000;
const MOST_NONCES = 500_000;

/** Which nonces, and which signatures without one, were used. */
export interface Nonces {
  /** Remembers the nonce, and says whether it is new. */
  isFirst(nonce: string, now: number): boolean | Promise<boolean>;
}

/** Where used nonces outlive the process: a restart must not make a recorded request good once more. */
export interface NonceJournal {
  /** What was appended before, in the generation that was begun last and in the one before it. */
  readonly current: readonly Used[];
  readonly previous: readonly Used[];
  /** Returns once a killed process cannot lose it any more. */
  append(used: Used): void;
  /** From now on a new generation is appended to; the one before the last is forgotten. */
  rotate(): void;
}

export interface Used {
  /** 16 bytes of SHA-256, as latin1. */
  readonly digest: string;
  readonly atMs: number;
}

/**
 * Nonces that were used, in two generations, so that forgetting costs nothing: each is remembered for one generation at least. In this
 * process: another instance would accept a nonce once more.
 */
export class NonceMemory implements Nonces {
  #current = new Set<string>();
  #previous = new Set<string>();
  #startedAt = 0;
  readonly #journal: NonceJournal | undefined;

  constructor(journal?: NonceJournal) {
    this.#journal = journal;
    if (!journal) return;
    this.#current = new Set(journal.current.map(({ digest }) => digest));
    this.#previous = new Set(journal.previous.map(({ digest }) => digest));
    this.#startedAt = journal.current[0]?.atMs ?? journal.previous.at(-1)?.atMs ?? 0;
  }

  isFirst(nonce: string, now: number): boolean {
    if (now - this.#startedAt >= GENERATION_MS || this.#current.size >= MOST_NONCES) {
      this.#previous = now - this.#startedAt >= 2 * GENERATION_MS ? new Set() : this.#current;
      this.#current = new Set();
      this.#startedAt = now;
      this.#journal?.rotate();
    }
    const digest = hash('sha256', nonce, 'buffer').toString('latin1', 0, 16);
    if (this.#current.has(digest) || this.#previous.has(digest)) return false;
    this.#current.add(digest);
    this.#journal?.append({ digest, atMs: now });
    return true;
  }
}
