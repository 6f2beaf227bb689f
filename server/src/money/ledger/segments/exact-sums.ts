/** Numbers below it, and the sum of two of them, are exact. */
const CARRY = 2 ** 52;

/** Sums of whole numbers, exact however large they become. What is added is at most 2^52 in size. */
export class ExactSums {
  readonly #low: Float64Array;
  /** How often {@link CARRY} was taken off; there from the first time on. */
  #carried: Float64Array | undefined;

  constructor(count: number) {
    this.#low = new Float64Array(count);
  }

  /** @param places for each value which sum it is added to; undefined: the first one */
  addAll(values: Float64Array, rows: Uint32Array, places: Uint32Array | undefined): void {
    const low = this.#low;
    for (let at = 0; at < rows.length; at += 1) {
      const place = places === undefined ? 0 : (places[at] ?? 0);
      const sum = (low[place] ?? 0) + (values[rows[at] ?? 0] ?? 0);
      low[place] = sum;
      if (sum >= CARRY || sum <= -CARRY) this.#carry(place, sum);
    }
  }

  at(at: number): bigint {
    return BigInt(this.#low[at] ?? 0) + BigInt(this.#carried?.[at] ?? 0) * BigInt(CARRY);
  }

  isZero(at: number): boolean {
    return this.#low[at] === 0 && (this.#carried === undefined || this.#carried[at] === 0);
  }

  /** Below 0 where the first is smaller. */
  compare(a: number, b: number): number {
    if (this.#carried) return Number(this.at(a) - this.at(b));
    return (this.#low[a] ?? 0) - (this.#low[b] ?? 0);
  }

  #carry(at: number, sum: number): void {
    this.#carried ??= new Float64Array(this.#low.length);
    const times = Math.trunc(sum / CARRY);
    this.#carried[at] = (this.#carried[at] ?? 0) + times;
    this.#low[at] = sum - times * CARRY;
  }
}
