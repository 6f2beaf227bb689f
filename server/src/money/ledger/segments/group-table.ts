const FREE = -1;
const FIRST_ROOM = 1_024;
/** So many possible groups have a place of their own: 16 MB. */
const MOST_DIRECT = 4_194_304;

/** How many there are of each of the three numbers that groups are told apart by: periods, and names of either group. */
type Counts = readonly [periods: number, first: number, second: number];

/** Groups by three numbers, each at its place in the order in which they were found. */
export class GroupTable {
  #count = 0;
  /** Three numbers for each group. */
  #keys = new Uint32Array(FIRST_ROOM * 3);
  readonly #counts: Counts;
  readonly #isDirect: boolean;
  /** The places of groups: by what they are, where few are possible, otherwise by a hash of it. */
  #slots: Int32Array;

  constructor(counts: Counts) {
    this.#counts = counts;
    const possible = counts[0] * counts[1] * counts[2];
    this.#isDirect = possible <= MOST_DIRECT;
    this.#slots = new Int32Array(this.#isDirect ? possible : FIRST_ROOM * 2).fill(FREE);
  }

  get count(): number {
    return this.#count;
  }

  /** The place of a group, a new one where there is none yet. */
  placeOf(period: number, first: number, second: number): number {
    if (this.#isDirect) {
      const slot = (period * this.#counts[1] + first) * this.#counts[2] + second;
      const at = this.#slots[slot] ?? FREE;
      return at === FREE ? this.#insert(slot, period, first, second) : at;
    }
    if ((this.#count + 1) * 2 > this.#slots.length) this.#growSlots();
    const mask = this.#slots.length - 1;
    const keys = this.#keys;
    let slot = hashOf(period, first, second) & mask;
    for (let at = this.#slots[slot] ?? FREE; at !== FREE; at = this.#slots[slot] ?? FREE) {
      if (keys[at * 3 + 1] === first && keys[at * 3 + 2] === second && keys[at * 3] === period) return at;
      slot = (slot + 1) & mask;
    }
    return this.#insert(slot, period, first, second);
  }

  /** @param which 0 for the period, 1 and 2 for the groups */
  key(at: number, which: 0 | 1 | 2): number {
    return this.#keys[at * 3 + which] ?? 0;
  }

  #insert(slot: number, period: number, first: number, second: number): number {
    const at = this.#count;
    if (at * 3 === this.#keys.length) {
      const keys = new Uint32Array(this.#keys.length * 2);
      keys.set(this.#keys);
      this.#keys = keys;
    }
    this.#keys[at * 3] = period;
    this.#keys[at * 3 + 1] = first;
    this.#keys[at * 3 + 2] = second;
    this.#slots[slot] = at;
    this.#count += 1;
    return at;
  }

  #growSlots(): void {
    this.#slots = new Int32Array(this.#slots.length * 4).fill(FREE);
    const mask = this.#slots.length - 1;
    for (let at = 0; at < this.#count; at += 1) {
      let slot = hashOf(this.key(at, 0), this.key(at, 1), this.key(at, 2)) & mask;
      while (this.#slots[slot] !== FREE) slot = (slot + 1) & mask;
      this.#slots[slot] = at;
    }
  }
}

function hashOf(period: number, first: number, second: number): number {
  let hash = Math.imul(period ^ 0x9e3779b1, 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 15) ^ first, 0xc2b2ae35);
  hash = Math.imul(hash ^ (hash >>> 13) ^ second, 0x27d4eb2f);
  return (hash ^ (hash >>> 16)) >>> 0;
}
