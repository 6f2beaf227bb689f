/** Pseudo-random in [0, 1), the same in every run (Lehmer's generator, minstd). */
export function randomNumbers(seed: number): () => number {
  let state = (seed % 2_147_483_646) + 1;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

/** What is drawn by lot, from a seed. */
export class Draws {
  readonly #random: () => number;

  constructor(seed: number) {
    this.#random = randomNumbers(seed);
    // The first numbers of neighbouring seeds are neighbours.
    for (let index = 0; index < 5; index += 1) this.#random();
  }

  /** Whole, both ends included. */
  between(least: number, most: number): number {
    return least + Math.floor(this.#random() * (most - least + 1));
  }

  happens(probability: number): boolean {
    return this.#random() < probability;
  }

  oneOf<T>(list: readonly T[]): T {
    const drawn = list[this.between(0, list.length - 1)];
    if (drawn === undefined) throw new Error('There is nothing to draw from');
    return drawn;
  }
}
