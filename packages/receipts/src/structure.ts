import { isPlainObject } from './canonical.ts';
import { fromBase64, fromBase64url } from './encoding.ts';
import { HASH_BYTES } from './log/tree.ts';
import { PRICE_METERS } from './prices.ts';
import type {
  ClientSignature,
  ReceiptLog,
  ReceiptPayload,
  ReceiptPayment,
  ReceiptUsage,
  VaasKey,
  VaasLogKey,
  VaasPromiseKey,
} from './receipt.ts';
import { Refused } from './refusal.ts';
import {
  boolean,
  count,
  listOf,
  matching,
  moreThanNone,
  nullable,
  object,
  oneOf,
  ordinal,
  record,
  type Shape,
  strictObject,
  strictObjectWith,
  string,
  timestamp,
} from './shape.ts';

const VERSION = 'tallygate-receipt/v1';
const KINDS = ['usage', 'batch_line', 'media_job', 'refund', 'correction'] as const;

export const sha256Hex = matching(/^[0-9a-f]{64}$/, '64 lower-case hex digits');
export const uuid = matching(/^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/, 'a UUID in lower case');
/** Thirty digits are more than all the money there is, and few enough that nobody can make the verifier sweat. */
const moreThanZero = matching(/^[1-9]\d{0,29}$/, 'an integer as a string of at most 30 digits, absent when it is zero');
export const integerString = matching(
  /^(?:0|[1-9]\d{0,29})$/,
  'an integer as a string of at most 30 digits, without sign or leading zeros',
);
/** One spelling for every factor, with few enough digits. */
export const factor = matching(
  /^(?:0|[1-9]\d{0,3})(?:\.\d{0,17}[1-9])?$/,
  'a decimal such as 0.5, without sign, leading or trailing zeros',
);
/** The path of a leaf in a tree of 2^53 leaves. */
const LONGEST_PATH = 53;
const METER = /^[a-z][a-z0-9_]{0,63}$/;

/** By meter. A price of something that this version cannot count could hide anything. */
export const unitPrices: Shape<Record<string, string>> = (value, at) => {
  const prices = record(METER, integerString)(value, at);
  const unknown = Object.keys(prices).find((meter) => !PRICE_METERS.some((known) => known === meter));
  if (unknown !== undefined) throw new Refused('unknown_field', `${at.path}.${unknown} is not a meter of this version.`);
  return prices;
};

const bytes =
  (length: number): Shape<string> =>
  (value, at) => {
    if (typeof value === 'string' && fromBase64url(value, length)) return value;
    throw new Refused(at.code, `${at.path} must be ${length} bytes in canonical base64url without padding.`);
  };

/** A public key of Ed25519. */
export const publicBytesText = bytes(32);

const usage: Shape<ReceiptUsage> = strictObjectWith(
  {
    input_tokens: count,
    cached_input_tokens: count,
    cache_write_tokens: count,
    output_tokens: count,
    reasoning_tokens: count,
  },
  {
    cache_write_1h_tokens: moreThanNone,
    audio_input_tokens: moreThanNone,
    cached_audio_input_tokens: moreThanNone,
    image_input_tokens: moreThanNone,
    cached_image_input_tokens: moreThanNone,
    image_output_tokens: moreThanNone,
    input_characters: moreThanNone,
    audio_seconds: moreThanNone,
    video_seconds: moreThanNone,
    images: moreThanNone,
    audio_output_tokens: moreThanNone,
    web_searches: moreThanNone,
    web_search_previews: moreThanNone,
    file_searches: moreThanNone,
    container_gigabytes: moreThanNone,
    image_tool_text_input_tokens: moreThanNone,
    image_tool_image_input_tokens: moreThanNone,
    image_tool_text_output_tokens: moreThanNone,
    image_tool_image_output_tokens: moreThanNone,
    search_units: moreThanNone,
  },
);

/** Printable ASCII, as header fields are, and no longer than one may be. */
const fieldText = matching(/^[\x20-\x7e]{1,2048}$/, 'printable ASCII, at most 2,048 characters');

const clientSignature = strictObject<ClientSignature>({
  alg: oneOf('ed25519'),
  public_key: publicBytesText,
  signature_input: fieldText,
  signature: bytes(64),
  content_digest: fieldText,
});

export const nonce = matching(/^[0-9a-f]{32}$/, '32 lower-case hex digits');
export const planVersion = matching(/^[a-z][a-z0-9_-]{0,39}@[1-9]\d{0,8}$/, 'a version of a plan such as pro@1');

const payment = strictObject<ReceiptPayment>({
  plan: nullable(planVersion),
  funding: oneOf('balance', 'invoice', 'none', 'test'),
  covered: strictObjectWith<object, ReceiptPayment['covered']>(
    {},
    { requests: moreThanNone, tokens: moreThanNone, images: moreThanNone, audio_seconds: moreThanNone, video_seconds: moreThanNone },
  ),
  charged_nano_usd: integerString,
});

/** Far more than a request may have. */
const MOST_TAGS = 100;
const tagList = listOf(sha256Hex, MOST_TAGS);

/** In one order, since any other would be a second spelling; absent rather than empty. */
const tagHashes: Shape<string[]> = (value, at) => {
  const read = tagList(value, at);
  const isRising = read.every((hash, index) => index === 0 || hash > (read[index - 1] ?? ''));
  if (read.length === 0 || !isRising)
    throw new Refused(at.code, `${at.path} must be sorted hashes, each once, and absent when there are none.`);
  return read;
};

const payload: Shape<ReceiptPayload> = strictObjectWith(
  {
    version: oneOf(VERSION),
    kind: oneOf(...KINDS),
    receipt_id: uuid,
    nonce,
    request_id: string,
    account_hash: sha256Hex,
    key_hash: nullable(sha256Hex),
    livemode: boolean,
    account_sequence: ordinal,
    endpoint: string,
    run_id: nullable(string),
    model_requested: string,
    model_served: string,
    provider: string,
    fallback: oneOf('none', 'deployment', 'model'),
    outcome: oneOf('completed', 'cancelled', 'abandoned', 'cut', 'failed', 'cached', 'refunded'),
    request_sha256: sha256Hex,
    response_sha256: sha256Hex,
    usage,
    estimated: boolean,
    price_version: string,
    price_entry: nullable(strictObject({ index: count, digest: sha256Hex })),
    price_tier_above_input_tokens: nullable(count),
    unit_prices_pico_usd: unitPrices,
    price_factor: factor,
    cost_nano_usd: integerString,
    payment,
    refund_of: nullable(uuid),
    refund_reason: nullable(string),
    started_at: timestamp,
    completed_at: timestamp,
    client_signature: nullable(clientSignature),
  },
  { waived_nano_usd: moreThanZero, project_hash: sha256Hex, end_user_hash: sha256Hex, tag_hashes: tagHashes },
);

/** Version and kind come first: of another version, any other complaint would mislead. */
const anyPayload: Shape<ReceiptPayload> = (value, at) => {
  if (isPlainObject(value)) {
    if (typeof value['version'] === 'string' && value['version'] !== VERSION)
      throw new Refused('unknown_version', `payload.version is not ${VERSION}: a newer verifier is needed.`);
    if (typeof value['kind'] === 'string' && !KINDS.some((known) => known === value['kind']))
      throw new Refused('unknown_kind', `payload.kind is none of ${KINDS.join(', ')}: a newer verifier is needed.`);
  }
  return payload(value, at);
};

const anything: Shape<unknown> = (value) => value;

/** A receipt as far as it can be told by looking at it. `log`, `price` and `anchor` are what the text holds, unread. */
export interface ReadReceipt {
  id: string;
  payload: ReceiptPayload;
  digest: string;
  jws: string;
  log: unknown;
  price: unknown;
  anchor: unknown;
}

/** Unknown fields beside the payload are left unread: they are not signed, and no caller ever sees them. */
const receipt = object<ReadReceipt & { object: 'receipt' }>({
  object: oneOf('receipt'),
  id: uuid,
  payload: (value, at) => anyPayload(value, { ...at, path: 'payload' }),
  digest: sha256Hex,
  jws: string,
  log: anything,
  price: anything,
  anchor: anything,
});

/** Reads the parts of a receipt into a copy, or refuses with the name of the field at fault. */
export const readReceipt = (value: unknown): ReadReceipt => receipt(value, { path: 'receipt', code: 'malformed' });

export const hashes: Shape<string[]> = (value, at) => {
  if (!Array.isArray(value) || value.length > LONGEST_PATH)
    throw new Refused(at.code, `${at.path} must be a list of at most ${LONGEST_PATH} hashes.`);
  return value.map((hash: unknown, index) => {
    if (typeof hash === 'string' && fromBase64(hash, HASH_BYTES)) return hash;
    throw new Refused(at.code, `${at.path}[${index}] must be ${HASH_BYTES} bytes in canonical base64.`);
  });
};

const logged = object<Extract<ReceiptLog, { state: 'logged' }>>({
  state: oneOf('logged'),
  index: count,
  tree_size: count,
  inclusion_path: hashes,
  checkpoint: string,
});

/** What a receipt says of its place in the log; undefined where it says that there is none yet. */
export function readLog(value: unknown): Extract<ReceiptLog, { state: 'logged' }> | undefined {
  if (value === null || (isPlainObject(value) && value['state'] === 'pending')) return undefined;
  return logged(value, { path: 'receipt.log', code: 'malformed_log' });
}

/** As RFC 7517, section 4 asks, members that are not known here are ignored. */
const publicKey = {
  kty: oneOf('OKP'),
  crv: oneOf('Ed25519'),
  x: publicBytesText,
  kid: string,
  use: oneOf('sig'),
  alg: oneOf('EdDSA'),
  not_before: timestamp,
  not_after: nullable(timestamp),
};
const receiptKey = object<VaasKey>({ ...publicKey, purpose: oneOf('receipt') });
const promiseKey = object<VaasPromiseKey>({ ...publicKey, purpose: oneOf('promise') });
const logKey = object<VaasLogKey>({ ...publicKey, purpose: oneOf('checkpoint'), verifier_key: string });

/** Reads one key of a set; `path` names it in messages. */
export const readKey = (value: unknown, path: string): VaasKey | VaasPromiseKey =>
  (isPlainObject(value) && value['purpose'] === 'promise' ? promiseKey : receiptKey)(value, { path, code: 'malformed_keys' });

/** As {@link readKey}, of the log. */
export const readLogKey = (value: unknown, path: string): VaasLogKey => logKey(value, { path, code: 'malformed_keys' });
