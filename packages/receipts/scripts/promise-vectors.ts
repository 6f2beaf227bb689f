import { canonicalJson } from '../src/canonical.ts';
import { toBase64url, toHex, utf8 } from '../src/encoding.ts';
import { jwsHeader } from '../src/jws.ts';
import type { ReceiptPromise } from '../src/promise.ts';
import { sha256 } from '../src/sha256.ts';
import { keySet, payloadWith, promiser, sign, type VectorKey } from './vector-receipts.ts';

const { receipt_id, request_sha256, cost_nano_usd } = payloadWith();

/** Of the request of `good/plain.json`. */
export const promise: ReceiptPromise = {
  head_sha256: toHex(sha256(utf8(`x-request-id: req_1\nx-receipt-id: ${receipt_id}\n`))),
  iat: 1_795_248_000,
  logged_by: 1_795_248_300,
  model: 'gpt-4o-mini',
  receipt_id,
  request_sha256,
  worst_cost_nano_usd: cost_nano_usd,
};

/** Signed as the service does it, with some fields changed. */
export function signedPromise(changes: object = {}, key: VectorKey = promiser): string {
  const text = `${jwsHeader(key.kid, 'tallygate-promise')}.${toBase64url(utf8(canonicalJson({ ...promise, ...changes })))}`;
  return `${text}.${sign(utf8(text), key)}`;
}

/** What `X-Receipt-Promise` was, and what of `good/plain.json`, still pending, and `good/logged.json` keeps it after its time. */
export const promiseVectors = {
  promise: {
    why: 'The promise of good/plain.json and good/logged.json, which are one receipt.',
    jws: signedPromise(),
    promise,
    keys: keySet,
    now: promise.logged_by,
    states: { logged: 'kept', plain: 'pending' },
  },
  overdue: {
    why: 'The receipt was promised to be in the log by 07:48:20 of the day.',
    jws: signedPromise({ iat: 1_795_247_000, logged_by: 1_795_247_300 }),
    keys: keySet,
    now: 1_795_247_301,
    states: { logged: 'kept', plain: 'broken' },
  },
  dearer: {
    why: 'It promised less than the receipt costs.',
    jws: signedPromise({ worst_cost_nano_usd: '383999' }),
    keys: keySet,
    now: promise.iat,
    states: { logged: 'broken', plain: 'broken' },
  },
};
