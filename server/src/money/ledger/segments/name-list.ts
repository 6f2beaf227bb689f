import type { Names } from './packed-column.ts';
import { nameAt } from './segment.ts';

const FREE = -1;

/** The names of several segments as one list. They are compared as the bytes of UTF-8, which is in the order of code points. */
export class NameList {
  readonly #sources: Names[] = [];
  #count = 0;
  /** Of each name: in which source it is, at which place, and the hash of its bytes, which names of one source alone need not have. */
  #source = new Uint32Array();
  #place = new Uint32Array();
  #hash = new Uint32Array();
  /** How many have a hash, and a slot. */
  #hashed = 0;
  #slots = new Int32Array();

  get count(): number {
    return this.#count;
  }

  /** @returns of each name of the source its place in the list */
  add(names: Names): Uint32Array {
    const source = this.#sources.push(names) - 1;
    this.#makeRoom(this.#count + names.count);
    const places = new Uint32Array(names.count);
    if (source === 0) for (let at = 0; at < names.count; at += 1) places[at] = this.#push(0, at);
    else this.#merge(names, source, places);
    return places;
  }

  text(at: number): string {
    const names = this.#sources[this.#source[at] ?? 0];
    return names ? nameAt(names, this.#place[at] ?? 0) : '';
  }

  /** In the order of the names, the empty one last. */
  compare(a: number, b: number): number {
    const [first, second] = [this.#sources[this.#source[a] ?? 0], this.#sources[this.#source[b] ?? 0]];
    if (!first || !second) return 0;
    const [placeA, placeB] = [this.#place[a] ?? 0, this.#place[b] ?? 0];
    if (isEmpty(first, placeA) || isEmpty(second, placeB)) return Number(isEmpty(first, placeA)) - Number(isEmpty(second, placeB));
    return compareNames(first, placeA, second, placeB);
  }

  #merge(names: Names, source: number, places: Uint32Array): void {
    this.#makeSlots(this.#count + names.count);
    const slots = this.#slots;
    const hashes = this.#hash;
    const mask = slots.length - 1;
    for (let at = 0; at < names.count; at += 1) {
      const hash = hashOf(names, at);
      let slot = hash & mask;
      let known = slots[slot] ?? FREE;
      while (known !== FREE && !(hashes[known] === hash && this.#isSame(known, names, at))) {
        slot = (slot + 1) & mask;
        known = slots[slot] ?? FREE;
      }
      if (known === FREE) {
        known = this.#push(source, at);
        hashes[known] = hash;
        slots[slot] = known;
        this.#hashed = this.#count;
      }
      places[at] = known;
    }
  }

  #isSame(known: number, names: Names, at: number): boolean {
    const other = this.#sources[this.#source[known] ?? 0];
    return other !== undefined && compareNames(other, this.#place[known] ?? 0, names, at) === 0;
  }

  #push(source: number, place: number): number {
    const at = this.#count;
    this.#source[at] = source;
    this.#place[at] = place;
    this.#count += 1;
    return at;
  }

  #makeRoom(names: number): void {
    if (names <= this.#place.length) return;
    const room = Math.max(names, this.#place.length * 2);
    const larger = (before: Uint32Array) => {
      const after = new Uint32Array(room);
      after.set(before);
      return after;
    };
    this.#source = larger(this.#source);
    this.#place = larger(this.#place);
    this.#hash = larger(this.#hash);
  }

  #makeSlots(names: number): void {
    const first = this.#sources[0];
    if (first && this.#hashed === 0) for (let at = 0; at < first.count; at += 1) this.#hash[at] = hashOf(first, at);
    this.#hashed = this.#count;
    if (names * 2 <= this.#slots.length) return;
    this.#slots = new Int32Array(2 ** Math.ceil(Math.log2(names * 2 + 2))).fill(FREE);
    const mask = this.#slots.length - 1;
    for (let at = 0; at < this.#count; at += 1) {
      let slot = (this.#hash[at] ?? 0) & mask;
      while (this.#slots[slot] !== FREE) slot = (slot + 1) & mask;
      this.#slots[slot] = at;
    }
  }
}

const isEmpty = ({ offsets }: Names, at: number): boolean => offsets[at] === offsets[at + 1];

/** FNV-1a of 32 bits, with its bits mixed. */
function hashOf({ offsets, bytes }: Names, at: number): number {
  let hash = 0x811c9dc5;
  const end = offsets[at + 1] ?? 0;
  for (let byte = offsets[at] ?? 0; byte < end; byte += 1) hash = Math.imul(hash ^ (bytes[byte] ?? 0), 0x01000193);
  return (hash ^ (hash >>> 15)) >>> 0;
}

function compareNames(a: Names, placeA: number, b: Names, placeB: number): number {
  const [startA, startB] = [a.offsets[placeA] ?? 0, b.offsets[placeB] ?? 0];
  const [lengthA, lengthB] = [(a.offsets[placeA + 1] ?? 0) - startA, (b.offsets[placeB + 1] ?? 0) - startB];
  const least = Math.min(lengthA, lengthB);
  for (let at = 0; at < least; at += 1) {
    const difference = (a.bytes[startA + at] ?? 0) - (b.bytes[startB + at] ?? 0);
    if (difference !== 0) return difference;
  }
  return lengthA - lengthB;
}
