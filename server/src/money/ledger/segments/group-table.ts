import { firstEquals } from './first-equals.ts';

/** So many possible groups have a place of their own: 128 MB, of which the system gives only the pages that have groups in them. */
const MOST_DIRECT = 33_554_432;

/** What groups are told apart by, of each row that counts: its period, and its names of either group. */
export interface GroupKeys {
  readonly periods: Uint32Array;
  readonly first: Uint32Array;
  readonly second: Uint32Array;
}

/** How many periods there are, and names of either group. */
type Counts = readonly [periods: number, first: number, second: number];

/** The groups of rows, in the order in which they are found. */
export class GroupTable {
  readonly count: number;
  /** Of each row its group. */
  readonly groups: Uint32Array;
  readonly #keys: GroupKeys;
  /** Of each group its first row. */
  readonly #firstRow: Uint32Array;

  constructor(counts: Counts, keys: GroupKeys) {
    this.#keys = keys;
    const rows = keys.first.length;
    const possible = counts[0] * counts[1] * counts[2];
    this.groups = new Uint32Array(rows);
    this.#firstRow = new Uint32Array(Math.min(possible, rows));
    this.count = possible <= MOST_DIRECT ? this.#placeDirectly(counts, possible) : this.#placeByHash();
  }

  period(group: number): number {
    return this.#keys.periods[this.#firstRow[group] ?? 0] ?? 0;
  }

  first(group: number): number {
    return this.#keys.first[this.#firstRow[group] ?? 0] ?? 0;
  }

  second(group: number): number {
    return this.#keys.second[this.#firstRow[group] ?? 0] ?? 0;
  }

  #placeDirectly([, firsts, seconds]: Counts, possible: number): number {
    const { periods, first, second } = this.#keys;
    const [groups, firstRow] = [this.groups, this.#firstRow];
    // Of each possible group its place, counted from 1: 0 where it was not found yet.
    const places = new Uint32Array(possible);
    let count = 0;
    for (let row = 0; row < groups.length; row += 1) {
      const slot = ((periods[row] ?? 0) * firsts + (first[row] ?? 0)) * seconds + (second[row] ?? 0);
      let place = places[slot] ?? 0;
      if (place === 0) {
        firstRow[count] = row;
        count += 1;
        place = count;
        places[slot] = place;
      }
      groups[row] = place - 1;
    }
    return count;
  }

  #placeByHash(): number {
    const { periods, first, second } = this.#keys;
    const [groups, firstRow] = [this.groups, this.#firstRow];
    const firsts = firstEquals(
      hashesOf(this.#keys),
      (a, b) => first[a] === first[b] && second[a] === second[b] && periods[a] === periods[b],
    );
    let count = 0;
    for (let row = 0; row < groups.length; row += 1) {
      const before = firsts[row] ?? 0;
      if (before < row) groups[row] = groups[before] ?? 0;
      else {
        firstRow[count] = row;
        groups[row] = count;
        count += 1;
      }
    }
    return count;
  }
}

function hashesOf({ periods, first, second }: GroupKeys): Uint32Array {
  const hashes = new Uint32Array(first.length);
  for (let row = 0; row < hashes.length; row += 1) {
    let hash = Math.imul((periods[row] ?? 0) ^ 0x9e3779b1, 0x85ebca6b);
    hash = Math.imul(hash ^ (hash >>> 15) ^ (first[row] ?? 0), 0xc2b2ae35);
    hash = Math.imul(hash ^ (hash >>> 13) ^ (second[row] ?? 0), 0x27d4eb2f);
    hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b);
    hashes[row] = (hash ^ (hash >>> 13)) >>> 0;
  }
  return hashes;
}
