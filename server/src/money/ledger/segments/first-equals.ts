/** So many are told apart together: the table of a million would be read from memory for each of them, this one is in a core's cache. */
const PART = 16_384;
const FREE = -1;
const HASH_BITS = 32;

/**
 * Of each of many the first one that equals it: itself, where there is none before.
 * @param hashes of 32 bits, each of which looks random
 * @param isEqual is asked of those with the same hash
 */
export function firstEquals(hashes: Uint32Array, isEqual: (a: number, b: number) => boolean): Uint32Array {
  const { order, hashed, starts } = partsOf(hashes);
  const firsts = new Uint32Array(hashes.length);
  const slots = new Int32Array(slotsFor(largest(starts)));
  for (let part = 0; part + 1 < starts.length; part += 1) {
    const [start, end] = [starts[part] ?? 0, starts[part + 1] ?? 0];
    const mask = slotsFor(end - start) - 1;
    slots.fill(FREE, 0, mask + 1);
    for (let at = start; at < end; at += 1) {
      const [one, hash] = [order[at] ?? 0, hashed[at] ?? 0];
      let slot = hash & mask;
      let first = slots[slot] ?? FREE;
      while (first !== FREE && !(hashed[first] === hash && isEqual(order[first] ?? 0, one))) {
        slot = (slot + 1) & mask;
        first = slots[slot] ?? FREE;
      }
      if (first === FREE) slots[slot] = at;
      firsts[one] = first === FREE ? one : (order[first] ?? 0);
    }
  }
  return firsts;
}

interface Parts {
  /** All, those of a part together, each part in the order in which they were given. */
  readonly order: Uint32Array;
  /** The hash of each, in the same order. */
  readonly hashed: Uint32Array;
  /** Where each part begins in it, and at the end where the last one ends. */
  readonly starts: Uint32Array;
}

/** By the first bits of their hashes; the others find the slot in a part. */
function partsOf(hashes: Uint32Array): Parts {
  const bits = Math.max(0, Math.ceil(Math.log2(hashes.length / PART)));
  const starts = new Uint32Array(2 ** bits + 1);
  const shift = HASH_BITS - bits;
  // Of no bits there is one part: JavaScript shifts by 32 as by 0.
  const partOf = (hash: number) => (bits === 0 ? 0 : hash >>> shift);
  for (let at = 0; at < hashes.length; at += 1) {
    const next = partOf(hashes[at] ?? 0) + 1;
    starts[next] = (starts[next] ?? 0) + 1;
  }
  for (let part = 1; part < starts.length; part += 1) starts[part] = (starts[part] ?? 0) + (starts[part - 1] ?? 0);
  const [order, hashed] = [new Uint32Array(hashes.length), new Uint32Array(hashes.length)];
  const ends = starts.slice();
  for (let at = 0; at < hashes.length; at += 1) {
    const hash = hashes[at] ?? 0;
    const part = partOf(hash);
    const place = ends[part] ?? 0;
    order[place] = at;
    hashed[place] = hash;
    ends[part] = place + 1;
  }
  return { order, hashed, starts };
}

function largest(starts: Uint32Array): number {
  let most = 0;
  for (let part = 1; part < starts.length; part += 1) most = Math.max(most, (starts[part] ?? 0) - (starts[part - 1] ?? 0));
  return most;
}

const slotsFor = (count: number): number => 2 ** Math.ceil(Math.log2(count * 2 + 2));
