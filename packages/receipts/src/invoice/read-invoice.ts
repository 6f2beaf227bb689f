import { isPlainObject } from '../canonical.ts';
import type { QuotaMeter } from '../receipt.ts';
import { Refused } from '../refusal.ts';
import {
  boolean,
  count,
  listOf,
  matching,
  nullable,
  object,
  oneOf,
  ordinal,
  type Shape,
  strictObject,
  strictObjectWith,
  string,
  timestamp,
} from '../shape.ts';
import { integerString, nonce, planVersion, sha256Hex, uuid } from '../structure.ts';
import type { InvoiceMonth, InvoicePayload, PlanQuota } from './invoice.ts';

const VERSION = 'tallygate-invoice/v1';
/** More than a lifetime of months. */
const MOST_MONTHS = 1_200;
const MOST_PLANS = 1_000;

const month = matching(/^\d{4}-(?:0[1-9]|1[0-2])$/, 'a month such as 2026-11');
const signedString = matching(/^(?:0|-?[1-9]\d{0,29})$/, 'an integer as a string of at most 30 digits, without leading zeros');

/** Units less those given back: below zero where an earlier month is given back more than it still took. */
const difference: Shape<number> = (value, at) => {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value !== 0) return value;
  throw new Refused(at.code, `${at.path} must be an integer below 2^53, and absent when it is zero.`);
};

const quota = strictObject<PlanQuota>({
  requests: nullable(count),
  tokens: nullable(count),
  images: nullable(count),
  audio_seconds: nullable(count),
  video_seconds: nullable(count),
});

const invoiceMonth = strictObject<InvoiceMonth>({
  month,
  first_number: ordinal,
  last_number: count,
  charges: count,
  corrections: count,
  refunds: count,
  used_nano_usd: integerString,
  corrected_nano_usd: signedString,
  refunded_nano_usd: integerString,
  cost_nano_usd: signedString,
  covered_nano_usd: signedString,
  from_balance_nano_usd: signedString,
  by_invoice_nano_usd: signedString,
  covered: strictObjectWith<object, { [Meter in QuotaMeter]: number }>(
    {},
    { requests: difference, tokens: difference, images: difference, audio_seconds: difference, video_seconds: difference },
  ),
});

const payload = strictObject<InvoicePayload>({
  version: oneOf(VERSION),
  invoice_id: uuid,
  nonce,
  account_hash: sha256Hex,
  livemode: boolean,
  month,
  sequence: ordinal,
  previous: nullable(sha256Hex),
  plans: listOf(strictObject({ plan: planVersion, quota }), MOST_PLANS),
  months: listOf(invoiceMonth, MOST_MONTHS),
  total_nano_usd: signedString,
  from_balance_nano_usd: signedString,
  by_invoice_nano_usd: signedString,
  carried_before_nano_usd: signedString,
  due_nano_usd: integerString,
  carried_nano_usd: signedString,
  issued_at: timestamp,
});

/** Of another version, any other complaint would mislead. */
const anyPayload: Shape<InvoicePayload> = (value, at) => {
  if (isPlainObject(value) && typeof value['version'] === 'string' && value['version'] !== VERSION)
    throw new Refused('unknown_version', `payload.version is not ${VERSION}: a newer verifier is needed.`);
  return payload(value, at);
};

/** An invoice as far as it can be told by looking at it. */
export interface ReadInvoice {
  object: 'invoice';
  id: string;
  payload: InvoicePayload;
  digest: string;
  jws: string;
  log: unknown;
}

const invoice = object<ReadInvoice>({
  object: oneOf('invoice'),
  id: uuid,
  payload: (value, at) => anyPayload(value, { ...at, path: 'payload' }),
  digest: sha256Hex,
  jws: string,
  log: (value) => value,
});

/** Throws `Refused` with `malformed`, `unknown_field` or `unknown_version`. */
export const readInvoice = (value: unknown): ReadInvoice => invoice(value, { path: 'invoice', code: 'malformed' });
