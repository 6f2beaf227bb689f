import { createHmac, hash, randomBytes, sign } from 'node:crypto';
import { type SigningKey, seedOf, signingKeyFromSeed } from '../signing-keys.ts';

/** The order of the group of Ed25519 (RFC 8032, section 5.1). */
export const ORDER = 2n ** 252n + 27742317777372353535851937790883648493n;

/** Of a point and of a scalar. */
export const HALF_BYTES = 32;

/** The halves of signatures that do not depend on a message. Each is used once. */
export interface Nonces {
  /** R = rB of each, {@link HALF_BYTES} long, one after the other. */
  readonly points: Uint8Array<ArrayBuffer>;
  /** r of each, little-endian, in the same order. */
  readonly scalars: Uint8Array<ArrayBuffer>;
}

/** What a {@link NonceMaker} is asked for. */
export interface NonceOrder {
  readonly count: number;
  /** What differs between two processes that one snapshot was restored to: what has been signed, and the time. */
  readonly mixed: Uint8Array;
}

const littleEndian = (bytes: Uint8Array): bigint => BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`);
const bytesOf = (scalar: bigint): Uint8Array => Buffer.from(scalar.toString(16).padStart(2 * HALF_BYTES, '0'), 'hex').reverse();

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
 *
 * Each order has a key of its own, made from the last one (HMAC, RFC 2104), fresh random bytes, the time of this process in nanoseconds, and what
 * was mixed in. A restored snapshot repeats random bytes too: the two copies sign other promises, and so part.
 */
export class NonceMaker {
  readonly #fresh: () => Buffer;
  #secret: Buffer;

  /** @param fresh 32 random bytes, and what else is of this moment */
  constructor(fresh: () => Buffer = freshBytes) {
    this.#fresh = fresh;
    this.#secret = fresh();
  }

  make({ count, mixed }: NonceOrder): Nonces {
    this.#secret = createHmac('sha256', this.#secret).update(this.#fresh()).update(mixed).digest();
    const key = signingKeyFromSeed(hash('sha256', this.#secret, 'buffer'));
    const { prefix } = expanded(key);
    const points = new Uint8Array(count * HALF_BYTES);
    const scalars = new Uint8Array(count * HALF_BYTES);
    for (let at = 0; at < count; at += 1) {
      const from = at * HALF_BYTES;
      makeNonce(at, { key, prefix, point: points.subarray(from), scalar: scalars.subarray(from) });
    }
    return { points, scalars };
  }
}

const freshBytes = (): Buffer => Buffer.concat([randomBytes(HALF_BYTES), Buffer.from(String(process.hrtime.bigint()))]);

interface Making {
  readonly key: SigningKey;
  readonly prefix: Buffer;
  /** Where R goes. */
  readonly point: Uint8Array;
  /** Where r goes. */
  readonly scalar: Uint8Array;
}

function makeNonce(at: number, { key, prefix, point, scalar }: Making): void {
  const number = Buffer.alloc(4);
  number.writeUInt32LE(at);
  point.set(sign(null, number, key.privateKey).subarray(0, HALF_BYTES));
  scalar.set(bytesOf(littleEndian(hash('sha512', Buffer.concat([prefix, number]), 'buffer')) % ORDER));
}
