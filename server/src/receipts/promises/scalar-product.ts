import { HALF_BYTES, ORDER } from './nonces.ts';

const LIMB_BITS = 24;
const LIMB = 2 ** LIMB_BITS;
const LIMB_BYTES = 3;
/** Of a scalar, which has 253 bits. */
const LIMBS = 11;
/** Of a SHA-512. */
const HASH_LIMBS = 22;
const HASH_BYTES = 64;
/** The order of the group is 2²⁵² and this: the last limb has twelve bits of the power. */
const TOP = 2 ** 12;
const REST = limbsOf(ORDER - 2n ** 252n);
const ORDER_LIMBS = limbsOf(ORDER);

/**
 * S = r + h s modulo the order of Ed25519 (RFC 8032, section 5.1.6), without big integers: these took a third of a promise's time, most of it garbage.
 *
 * Limbs have 24 bits, so that each product has at most 48, and the sum of all 22 fits a double exactly. Each limb of the hash is multiplied by a
 * multiple of s that was reduced before, so there is one short reduction at the end. Nothing branches on s but the last correction, which depends on S.
 */
export class ScalarProduct {
  /** 2²⁴ⁱ s modulo the order for each limb i of a hash: the first limbs of all, then the second ones. */
  readonly #multiples = new Float64Array(HASH_LIMBS * LIMBS);
  readonly #limbs = new Float64Array(HASH_LIMBS);
  readonly #sum = new Float64Array(LIMBS);

  /** @param scalar s */
  constructor(scalar: bigint) {
    for (let at = 0; at < HASH_LIMBS; at += 1)
      for (const [to, limb] of limbsOf((scalar << BigInt(at * LIMB_BITS)) % ORDER).entries()) this.#multiples[to * HASH_LIMBS + at] = limb;
  }

  /**
   * @param nonce r, little-endian, below the order
   * @param hash a character for each of its 64 bytes
   * @param into where S goes, behind R: 64 bytes
   */
  write(nonce: Uint8Array, hash: string, into: Uint8Array): void {
    const sum = this.#sum;
    const limbs = this.#limbs;
    const multiples = this.#multiples;
    readLimbs(nonce, sum);
    for (let at = 0; at < HASH_LIMBS - 1; at += 1) {
      const from = at * LIMB_BYTES;
      limbs[at] = hash.charCodeAt(from) | (hash.charCodeAt(from + 1) << 8) | (hash.charCodeAt(from + 2) << 16);
    }
    limbs[HASH_LIMBS - 1] = hash.charCodeAt(HASH_BYTES - 1);
    for (let to = 0; to < LIMBS; to += 1) {
      // In two sums, since each addition waits for the one before it.
      let even = sum[to] ?? 0;
      let odd = 0;
      const from = to * HASH_LIMBS;
      for (let at = 0; at < HASH_LIMBS; at += 2) {
        even += (limbs[at] ?? 0) * (multiples[from + at] ?? 0);
        odd += (limbs[at + 1] ?? 0) * (multiples[from + at + 1] ?? 0);
      }
      sum[to] = even + odd;
    }
    reduce(sum);
    writeLimbs(sum, into);
  }
}

function writeLimbs(limbs: Float64Array, into: Uint8Array): void {
  let to = HALF_BYTES;
  for (let at = 0; at < LIMBS; at += 1) {
    const limb = limbs[at] ?? 0;
    into[to] = limb & 255;
    into[to + 1] = (limb >> 8) & 255;
    // A scalar has 32 bytes: the last limb has two. Nothing is behind the end of the signature.
    into[to + 2] = limb >> 16;
    to += LIMB_BYTES;
  }
}

function readLimbs(bytes: Uint8Array, into: Float64Array): void {
  for (let at = 0; at < LIMBS; at += 1) {
    const from = at * LIMB_BYTES;
    into[at] = (bytes[from] ?? 0) | ((bytes[from + 1] ?? 0) << 8) | ((bytes[from + 2] ?? 0) << 16);
  }
}

/** From below 2²⁸¹ to below the order. */
function reduce(sum: Float64Array): void {
  carry(sum);
  const times = Math.floor((sum[LIMBS - 1] ?? 0) / TOP);
  sum[LIMBS - 1] = (sum[LIMBS - 1] ?? 0) - times * TOP;
  for (let at = 0; at < LIMBS; at += 1) sum[at] = (sum[at] ?? 0) - times * (REST[at] ?? 0);
  carry(sum);
  if ((sum[LIMBS - 1] ?? 0) >= 0) return;
  for (let at = 0; at < LIMBS; at += 1) sum[at] = (sum[at] ?? 0) + (ORDER_LIMBS[at] ?? 0);
  carry(sum);
}

/** Leaves each limb but the last between 0 and 2²⁴. */
function carry(sum: Float64Array): void {
  for (let at = 0; at < LIMBS - 1; at += 1) {
    const over = Math.floor((sum[at] ?? 0) / LIMB);
    sum[at] = (sum[at] ?? 0) - over * LIMB;
    sum[at + 1] = (sum[at + 1] ?? 0) + over;
  }
}

function limbsOf(value: bigint): Float64Array {
  return Float64Array.from({ length: LIMBS }, (_, at) => Number((value >> BigInt(at * LIMB_BITS)) & BigInt(LIMB - 1)));
}
