import { hash, sign } from 'node:crypto';
import type { OutgoingHttpHeaders } from 'node:http';
import { jwsHeader, PROMISED_HEAD } from '@tallygate/receipts';
import type { Clock } from '../../kernel/clock.ts';
import { LOGGED_WITHIN_S } from '../log/policy.ts';
import { publicBytes, type SigningKey } from '../signing-keys.ts';
import type { NonceThread } from './nonce-thread.ts';
import { expanded, HALF_BYTES, ORDER } from './nonces.ts';

/** What is promised of a receipt before there is one. */
export interface Promised {
  readonly receiptId: string;
  /** Hex. */
  readonly requestSha256: string;
  readonly model: string;
  /** Nano-USD: what was held. */
  readonly maxCost: bigint;
  /** Whether its settlement is in the journal by now. What is still under way takes as long as it takes. */
  readonly isSettled: boolean;
  /** Of the answer; those of {@link PROMISED_HEAD} count. */
  readonly head: OutgoingHttpHeaders;
}

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
const WORD = 64n;
/** A stream, or an answer that is read on for its bill, is settled when it has ended: a day is longer than any. */
const LONGEST_ANSWER_S = 86_400;

/**
 * Signs a promise with every answer: a compact JWS (RFC 7515) by an ordinary Ed25519 signature, of which all that is dear was made ahead, on another
 * thread. What is left here is two hashes and a product, some microseconds (`decisions/2026-11-25-promises-signed-ahead.md`).
 */
export class ReceiptPromises {
  readonly #deps: PromisesDeps;
  #model = '';
  #modelJson = '""';
  readonly #scalar: bigint;
  readonly #header: string;
  /** R, the public key, and the text that is signed: what Ed25519 hashes (RFC 8032, section 5.1.6). */
  readonly #hashed = Buffer.alloc(TEXT_AT + MOST_BYTES);
  readonly #textAt: number;
  readonly #payload = Buffer.alloc(MOST_BYTES);
  readonly #digest = Buffer.alloc(2 * HALF_BYTES);
  readonly #signature = Buffer.alloc(2 * HALF_BYTES);
  readonly #words = new BigUint64Array(this.#signature.buffer, this.#signature.byteOffset, 8);

  constructor(deps: PromisesDeps) {
    this.#deps = deps;
    this.#scalar = expanded(deps.key).scalar;
    this.#header = `${jwsHeader(deps.key.kid, 'tallygate-promise')}.`;
    this.#hashed.set(publicBytes(deps.key.x), HALF_BYTES);
    this.#textAt = TEXT_AT + this.#hashed.write(this.#header, TEXT_AT, 'latin1');
  }

  /** The value of `X-Receipt-Promise`. */
  of({ receiptId, requestSha256, model, maxCost, isSettled, head }: Promised): string {
    // Canonical JSON (RFC 8785): the members in order, and no text in them but the model's name that could need an escape.
    const payload = `{"head_sha256":"${hash('sha256', headText(head), 'hex')}",${this.#times(isSettled)},"max_cost_nano_usd":"${maxCost}","model":${this.#nameOf(model)},"receipt_id":"${receiptId}","request_sha256":"${requestSha256}"}`;
    const text = this.#payload.toString('base64url', 0, this.#payload.write(payload, 0));
    return `${this.#header}${text}.${this.#sign(text)}`;
  }

  /** As JSON: of few models there are many promises. */
  #nameOf(model: string): string {
    if (model !== this.#model) [this.#model, this.#modelJson] = [model, JSON.stringify(model)];
    return this.#modelJson;
  }

  #times(isSettled: boolean): string {
    const second = Math.floor(this.#deps.clock.now() / 1000);
    return `"iat":${second},"logged_by":${second + (isSettled ? 0 : LONGEST_ANSWER_S) + LOGGED_WITHIN_S}`;
  }

  /** S = r + H(R, A, M) s, where r and R were made ahead. */
  #sign(text: string): string {
    const end = this.#textAt + this.#hashed.write(text, this.#textAt, 'latin1');
    const r = this.#deps.nonces.take(this.#hashed);
    if (r === undefined) return sign(null, this.#hashed.subarray(TEXT_AT, end), this.#deps.key.privateKey).toString('base64url');
    this.#digest.write(hash('sha512', this.#hashed.subarray(0, end), 'binary'), 0, 'latin1');
    this.#digest.reverse();
    const s = (r + BigInt(`0x${this.#digest.toString('hex')}`) * this.#scalar) % ORDER;
    this.#hashed.copy(this.#signature, 0, 0, HALF_BYTES);
    this.#words[4] = s;
    this.#words[5] = s >> WORD;
    this.#words[6] = s >> (2n * WORD);
    this.#words[7] = s >> (3n * WORD);
    return this.#signature.toString('base64url');
  }
}

function headText(head: OutgoingHttpHeaders): string {
  let text = '';
  for (const name of PROMISED_HEAD) {
    const value = head[name];
    if (value !== undefined) text += `${name}: ${value}\n`;
  }
  return text;
}
