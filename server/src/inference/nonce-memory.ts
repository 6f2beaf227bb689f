/** Longer than any signature is accepted: its time may lie five minutes ahead when it first arrives, and five behind when it comes again. */
const GENERATION_MS = 11 * 60_000;
const MOST_NONCES = 500_000;

/** Which nonces were used. */
export interface Nonces {
  /** Remembers the nonce, and says whether it is new. */
  isFirst(nonce: string, now: number): boolean | Promise<boolean>;
}

/**
 * Nonces that were used, in two generations, so that forgetting costs nothing: each is remembered for one generation at least. In this
 * process: another instance would accept a nonce once more.
 */
export class NonceMemory implements Nonces {
  #current = new Set<string>();
  #previous = new Set<string>();
  #startedAt = 0;

  isFirst(nonce: string, now: number): boolean {
    if (now - this.#startedAt >= GENERATION_MS || this.#current.size >= MOST_NONCES) {
      this.#previous = now - this.#startedAt >= 2 * GENERATION_MS ? new Set() : this.#current;
      this.#current = new Set();
      this.#startedAt = now;
    }
    if (this.#current.has(nonce) || this.#previous.has(nonce)) return false;
    this.#current.add(nonce);
    return true;
  }
}
