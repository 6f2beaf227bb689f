import { canonicalJson } from './canonical.ts';
import { fromBase64url, toHex, utf8 } from './encoding.ts';
import { readJson } from './json.ts';
import { readJws } from './jws.ts';
import { checkSignature, keyNamed } from './keys.ts';
import type { ReceiptPayload } from './receipt.ts';
import { type Refusal, Refused, refusalAsValue } from './refusal.ts';
import { sha256 } from './sha256.ts';
import { count, type Shape, strictObject, string } from './shape.ts';
import { integerString, sha256Hex, uuid } from './structure.ts';
import type { Verification } from './verify.ts';

/** Headers of an answer that its promise covers, in this order; those that are absent are left out. */
export const PROMISED_HEAD = ['x-request-id', 'x-receipt-id', 'x-model-served', 'x-provider', 'x-fallback'] as const;

/** What `X-Receipt-Promise` says: the payload of a compact JWS (RFC 7515, EdDSA). Times are seconds since 1970 (RFC 7519, NumericDate). */
export interface ReceiptPromise {
  /** SHA-256 of the answer's headers: see `promisedHead`; hex. */
  head_sha256: string;
  /** When it was promised. */
  iat: number;
  /** When the receipt is in the log at the latest. */
  logged_by: number;
  /** The model that was about to answer. */
  model: string;
  receipt_id: string;
  /** SHA-256 of the request body as received, hex. */
  request_sha256: string;
  /** Nano-USD: the cost is at most this. */
  worst_cost_nano_usd: string;
}

const shape: Shape<ReceiptPromise> = strictObject<ReceiptPromise>({
  head_sha256: sha256Hex,
  iat: count,
  logged_by: count,
  model: string,
  receipt_id: uuid,
  request_sha256: sha256Hex,
  worst_cost_nano_usd: integerString,
});

export interface PromiseOptions {
  /** The verdict on the receipt, where there is one: of `verifyReceipt`, with the keys and demands of the reader who checks. */
  readonly receipt?: Verification;
  /** Of the answer: then it has to be the one that was promised. */
  readonly headers?: Iterable<readonly [string, string]>;
  /** Of the request: then it has to be the one that was promised. */
  readonly requestBody?: Uint8Array;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** A promise that the service has signed, and what became of it. */
export interface VerifiedPromise {
  readonly valid: true;
  readonly promise: ReceiptPromise;
  /** `kept`: the receipt is in the log. `pending`: there is time left. `broken`: proof of misbehaviour. */
  readonly state: 'kept' | 'pending' | 'broken';
  /** Why it is broken. */
  readonly reason?: string;
}

export type PromiseVerification = VerifiedPromise | Refusal;

/** The text that is hashed for `head_sha256`: a line `name: value` for each of `PROMISED_HEAD` that is there, each ended by a line feed. */
export function promisedHead(headers: Iterable<readonly [string, string]>): string {
  const values = new Map([...headers].map(([name, value]) => [name.toLowerCase(), value]));
  return PROMISED_HEAD.flatMap((name) => (values.has(name) ? [`${name}: ${values.get(name)}\n`] : [])).join('');
}

/**
 * Verifies a promise without asking anybody: that the service has signed it, and whether the receipt keeps it. `keys` is the key set that was kept. A
 * promise whose receipt is not shown to be in the log by its time is broken, and with its signature the proof of that.
 */
export const verifyPromise = (jws: string, keys: unknown, options: PromiseOptions): PromiseVerification =>
  refusalAsValue(() => {
    const promise = signedPromise(jws, keys);
    const { headers, requestBody, receipt, now } = options;
    if (headers) mustBe('head_sha256', promise.head_sha256, sha256(utf8(promisedHead(headers))));
    if (requestBody) mustBe('request_sha256', promise.request_sha256, sha256(requestBody));
    const broken = receipt && whyBroken(promise, receipt);
    if (broken !== undefined) return { valid: true, promise, state: 'broken', reason: broken };
    if (receipt?.valid && receipt.checks.log === 'ok') return { valid: true, promise, state: 'kept' };
    if (now <= promise.logged_by * 1000) return { valid: true, promise, state: 'pending' };
    const reason = `The receipt ${promise.receipt_id} was promised to be in the log by ${new Date(promise.logged_by * 1000).toISOString()}, and is not shown to be there.`;
    return { valid: true, promise, state: 'broken', reason };
  });

/** Throws `Refused`. */
function signedPromise(jws: string, keys: unknown): ReceiptPromise {
  const { kid, signature, payload } = readJws(jws, { path: 'promise', typ: 'tallygate-promise', code: 'malformed_promise' });
  const bytes = fromBase64url(payload);
  if (!bytes) throw new Refused('malformed_promise', 'The payload of the promise is not base64url.');
  const text = new TextDecoder().decode(bytes);
  const promise = shape(readJson(text), { path: 'promise', code: 'malformed_promise' });
  if (canonicalJson(promise) !== text) throw new Refused('malformed_promise', 'The payload of the promise is not canonical JSON.');
  const key = keyNamed(kid, keys, 'promise');
  checkSignature({ path: 'promise', key, message: utf8(jws.slice(0, jws.lastIndexOf('.'))), signature });
  if (key.not_after !== null && promise.iat * 1000 > Date.parse(key.not_after))
    throw new Refused(
      'key_retired',
      `The promise is of ${new Date(promise.iat * 1000).toISOString()}, the key was retired at ${key.not_after}.`,
    );
  return promise;
}

function mustBe(name: string, promised: string, found: Uint8Array): void {
  if (promised !== toHex(found))
    throw new Refused('promise_mismatch', `The promise has the ${name} ${promised}, that of what was given is ${toHex(found)}.`);
}

/** What the receipt says other than was promised; undefined where it is as promised. Throws `Refused` where it is no receipt of the promise. */
function whyBroken(promise: ReceiptPromise, receipt: Verification): string | undefined {
  // A receipt that does not hold proves nothing: the one who shows it may have altered it.
  if (!receipt.valid) throw new Refused(receipt.code, receipt.reason);
  const { payload } = receipt;
  if (payload.receipt_id !== promise.receipt_id)
    throw new Refused('promise_mismatch', `The promise is of the receipt ${promise.receipt_id}, given is ${payload.receipt_id}.`);
  if (payload.request_sha256 !== promise.request_sha256)
    return `The promise has the request_sha256 ${promise.request_sha256}, the receipt ${payload.request_sha256}.`;
  if (isDearer(payload, promise))
    return `It was promised to cost at most ${promise.worst_cost_nano_usd} nano-USD, and cost ${payload.cost_nano_usd}.`;
  return undefined;
}

const isDearer = ({ cost_nano_usd: cost }: ReceiptPayload, { worst_cost_nano_usd: worst }: ReceiptPromise): boolean =>
  BigInt(cost) > BigInt(worst);
