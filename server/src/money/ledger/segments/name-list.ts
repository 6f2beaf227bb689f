import { firstEquals } from './first-equals.ts';
import type { Names, NameTexts } from './packed-column.ts';
import { nameAt } from './segment.ts';

/** The names of several segments as one list. They are compared as the bytes of UTF-8, which is in the order of code points. */
export class NameList {
  readonly count: number;
  /** Of each segment, of each of its names the place in the list. */
  readonly places: readonly Uint32Array[];
  readonly #sources: readonly Names[];
  /** Of each name in the list: in which segment it is, at which place. */
  readonly #source: Uint32Array;
  readonly #place: Uint32Array;

  constructor(sources: readonly Names[]) {
    this.#sources = sources;
    const all = allOf(sources);
    const firsts = sources.length === 1 ? undefined : equalNames(sources, all);
    const placeOf = new Uint32Array(all.place.length);
    [this.#source, this.#place] = [new Uint32Array(placeOf.length), new Uint32Array(placeOf.length)];
    let count = 0;
    for (let at = 0; at < placeOf.length; at += 1) {
      const first = firsts === undefined ? at : (firsts[at] ?? 0);
      if (first < at) placeOf[at] = placeOf[first] ?? 0;
      else {
        this.#source[count] = all.source[at] ?? 0;
        this.#place[count] = all.place[at] ?? 0;
        placeOf[at] = count;
        count += 1;
      }
    }
    this.count = count;
    this.places = sources.map((names, at) => placeOf.subarray(all.starts[at], (all.starts[at] ?? 0) + names.count));
  }

  text(at: number): string {
    const names = this.#sources[this.#source[at] ?? 0];
    return names ? nameAt(names, this.#place[at] ?? 0) : '';
  }

  texts(): NameTexts {
    const offsets = new Uint32Array(this.count + 1);
    for (let at = 0; at < this.count; at += 1) offsets[at + 1] = (offsets[at] ?? 0) + this.#bytesOf(at).length;
    const bytes = new Uint8Array(offsets[this.count] ?? 0);
    for (let at = 0; at < this.count; at += 1) bytes.set(this.#bytesOf(at), offsets[at]);
    return { count: this.count, offsets, bytes };
  }

  /** In the order of the names, the empty one last. */
  compare(a: number, b: number): number {
    const [first, second] = [this.#sources[this.#source[a] ?? 0], this.#sources[this.#source[b] ?? 0]];
    if (!first || !second) return 0;
    const [placeA, placeB] = [this.#place[a] ?? 0, this.#place[b] ?? 0];
    if (isEmpty(first, placeA) || isEmpty(second, placeB)) return Number(isEmpty(first, placeA)) - Number(isEmpty(second, placeB));
    return compareNames(first, placeA, second, placeB);
  }

  #bytesOf(at: number): Uint8Array {
    const [names, place] = [this.#sources[this.#source[at] ?? 0], this.#place[at] ?? 0];
    return names ? names.bytes.subarray(names.offsets[place], names.offsets[place + 1]) : new Uint8Array();
  }
}

/** The names of all segments, one segment after the other. */
interface AllNames {
  readonly starts: readonly number[];
  readonly source: Uint32Array;
  readonly place: Uint32Array;
}

function allOf(sources: readonly Names[]): AllNames {
  const starts: number[] = [];
  let count = 0;
  for (const names of sources) {
    starts.push(count);
    count += names.count;
  }
  const [source, place] = [new Uint32Array(count), new Uint32Array(count)];
  for (const [which, names] of sources.entries()) {
    const start = starts[which] ?? 0;
    for (let at = 0; at < names.count; at += 1) {
      source[start + at] = which;
      place[start + at] = at;
    }
  }
  return { starts, source, place };
}

function equalNames(sources: readonly Names[], { starts, source, place }: AllNames): Uint32Array {
  const hashes = new Uint32Array(place.length);
  for (const [which, names] of sources.entries()) hashAll(names, hashes.subarray(starts[which]));
  return firstEquals(hashes, (a, b) => {
    const [first, second] = [sources[source[a] ?? 0], sources[source[b] ?? 0]];
    return first !== undefined && second !== undefined && compareNames(first, place[a] ?? 0, second, place[b] ?? 0) === 0;
  });
}

const isEmpty = ({ offsets }: Names, at: number): boolean => offsets[at] === offsets[at + 1];

/** As MurmurHash2 does it: four bytes at a time, then what is left. */
function hashAll({ offsets, bytes, count }: Names, into: Uint32Array): void {
  for (let at = 0; at < count; at += 1) {
    const end = offsets[at + 1] ?? 0;
    let byte = offsets[at] ?? 0;
    let hash = 0x811c9dc5 ^ (end - byte);
    for (; byte + 4 <= end; byte += 4) {
      const word = (bytes[byte] ?? 0) | ((bytes[byte + 1] ?? 0) << 8) | ((bytes[byte + 2] ?? 0) << 16) | ((bytes[byte + 3] ?? 0) << 24);
      hash = Math.imul(hash ^ word, 0x5bd1e995);
      hash ^= hash >>> 15;
    }
    for (; byte < end; byte += 1) hash = Math.imul(hash ^ (bytes[byte] ?? 0), 0x5bd1e995);
    hash = Math.imul(hash ^ (hash >>> 13), 0x85ebca6b);
    into[at] = (hash ^ (hash >>> 16)) >>> 0;
  }
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
