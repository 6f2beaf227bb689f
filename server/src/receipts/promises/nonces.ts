import { hash, randomBytes, sign } from 'node:crypto';
import { type SigningKey, seedOf, signingKeyFromSeed } from '../signing-keys.ts';

/** The order of the group of Ed25519 (RFC 8032, section 5.1). */
export const ORDER = 2n ** 252n + 27742317777372353535851937790883648493n;

/** Of a point and of a scalar. */
export const HALF_BYTES = 32;

/** The halves of signatures that do not depend on a message. Each is used once. */
export interface Nonces {
  /** R = rB of each, {@link HALF_BYTES} long, one after the other. */
  readonly points: Uint8Array<ArrayBuffer>;
  /** r of each. */
  readonly scalars: readonly bigint[];
}

const littleEndian = (bytes: Uint8Array): bigint => BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`);

/** What RFC 8032, section 5.1.5 makes of a secret key: its scalar, and the prefix that nonces are made from. */
export function expanded(key: SigningKey): { readonly scalar: bigint; readonly prefix: Buffer } {
  const both = hash('sha512', seedOf(key), 'buffer');
  const [first = 0, last = 0] = [both[0], both[HALF_BYTES - 1]];
  both[0] = first & 248;
  both[HALF_BYTES - 1] = (last & 63) | 64;
  return { scalar: littleEndian(both.subarray(0, HALF_BYTES)), prefix: both.subarray(HALF_BYTES) };
}

/**
 * Makes nonces as Ed25519 does: a key that is used for nothing else signs a number. Its signature begins with R, and r follows from its prefix; so
 * both are of OpenSSL's making, and r is as evenly spread as in any signature.
 */
export class NonceMaker {
  readonly #key = signingKeyFromSeed(randomBytes(HALF_BYTES));
  readonly #prefix = expanded(this.#key).prefix;
  #made = 0n;

  make(count: number): Nonces {
    const points = new Uint8Array(count * HALF_BYTES);
    const scalars = Array.from({ length: count }, (_, at) => this.#one(points.subarray(at * HALF_BYTES)));
    return { points, scalars };
  }

  #one(point: Uint8Array): bigint {
    const number = Buffer.alloc(8);
    number.writeBigUInt64LE(this.#made);
    this.#made += 1n;
    point.set(sign(null, number, this.#key.privateKey).subarray(0, HALF_BYTES));
    return littleEndian(hash('sha512', Buffer.concat([this.#prefix, number]), 'buffer')) % ORDER;
  }
}
