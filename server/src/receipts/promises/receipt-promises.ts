import { hash, sign } from 'node:crypto';
import { jwsHeader } from '@tallygate/receipts';
import type { Clock } from '../../kernel/clock.ts';
import { publicBytes, type SigningKey } from '../signing-keys.ts';
import type { NonceThread } from './nonce-thread.ts';
import { expanded, HALF_BYTES } from './nonces.ts';
import { type Promised, PromiseText } from './promise-text.ts';
import { ScalarProduct } from './scalar-product.ts';

interface PromisesDeps {
  /** Signs promises, and nothing else. */
  readonly key: SigningKey;
  readonly nonces: Pick<NonceThread, 'take'>;
  readonly clock: Clock;
}

/** Longer than any promise: names of models have at most 200 characters. */
const MOST_BYTES = 8_192;
/** Behind R and the public key. */
const TEXT_AT = 2 * HALF_BYTES;

/**
 * Signs a promise with every answer: a compact JWS (RFC 7515) by an ordinary Ed25519 signature, of which all that is dear was made ahead, on another
 * thread. What is left here is two hashes and a product, some microseconds (`decisions/2026-11-25-promises-signed-ahead.md`).
 */
export class ReceiptPromises {
  readonly #deps: PromisesDeps;
  readonly #text = new PromiseText();
  readonly #product: ScalarProduct;
  readonly #header: string;
  /** R, the public key, and the text that is signed: what Ed25519 hashes (RFC 8032, section 5.1.6). */
  readonly #hashed = Buffer.alloc(TEXT_AT + MOST_BYTES);
  readonly #textAt: number;
  /** Of what is hashed, up to its end: most promises are as long as the last one. */
  #ended = this.#hashed;
  /** r. */
  readonly #scalar = Buffer.alloc(HALF_BYTES);
  readonly #signature = Buffer.alloc(2 * HALF_BYTES);

  constructor(deps: PromisesDeps) {
    this.#deps = deps;
    this.#product = new ScalarProduct(expanded(deps.key).scalar);
    this.#header = `${jwsHeader(deps.key.kid, 'tallygate-promise')}.`;
    this.#hashed.set(publicBytes(deps.key.x), HALF_BYTES);
    this.#textAt = TEXT_AT + this.#hashed.write(this.#header, TEXT_AT, 'latin1');
  }

  /** The value of `X-Receipt-Promise`. */
  of(promised: Promised): string {
    const text = this.#text.payload(promised, Math.floor(this.#deps.clock.now() / 1000));
    return `${this.#header}${text}.${this.#sign(text)}`;
  }

  /** S = r + H(R, A, M) s, where r and R were made ahead. */
  #sign(text: string): string {
    const end = this.#textAt + this.#hashed.write(text, this.#textAt, 'latin1');
    if (!this.#deps.nonces.take(this.#hashed, this.#scalar))
      return sign(null, this.#hashed.subarray(TEXT_AT, end), this.#deps.key.privateKey).toString('base64url');
    if (this.#ended.length !== end) this.#ended = this.#hashed.subarray(0, end);
    for (let at = 0; at < HALF_BYTES; at += 1) this.#signature[at] = this.#hashed[at] ?? 0;
    this.#product.write(this.#scalar, hash('sha512', this.#ended, 'binary'), this.#signature);
    return this.#signature.toString('base64url');
  }
}
