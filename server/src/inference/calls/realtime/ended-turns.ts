/** A provider that never makes items of what it hears is not remembered without end. */
const MOST_TURNS = 100;

/** Turns of which the provider has said that they have ended, and which have not become items yet: several at once, in any order. */
export class EndedTurns {
  /** By item, in seconds since the session began; `NaN` where the provider does not say where. */
  readonly #ends = new Map<unknown, number>();
  /** The furthest that any of them has reached. */
  #furthest = Number.NEGATIVE_INFINITY;

  /** @param endMs as the provider says it */
  ended(item: unknown, endMs: unknown): void {
    if (item === undefined) return;
    const end = typeof endMs === 'number' ? endMs / 1_000 : Number.NaN;
    this.#ends.set(item, end);
    const [oldest] = this.#ends.keys();
    if (this.#ends.size > MOST_TURNS) this.#ends.delete(oldest);
    if (end > this.#furthest) this.#furthest = end;
  }

  /**
   * An item has been made.
   * @returns undefined where it is none of these; else up to where all that was heard is in items, `unknown` as long as one of them is to come
   */
  committed(item: unknown): number | 'unknown' | undefined {
    const end = this.#ends.get(item);
    if (end === undefined || !this.#ends.delete(item)) return undefined;
    return this.#ends.size > 0 || Number.isNaN(end) ? 'unknown' : this.#furthest;
  }

  clear(): void {
    this.#ends.clear();
  }
}
