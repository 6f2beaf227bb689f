import nacl from 'tweetnacl';
import { accountHash, endUserHash, keyHash, keyThumbprint, projectHash, receiptDigest, tagHash } from '../src/digest.ts';
import { fromBase64url, toBase64url, toHex, utf8 } from '../src/encoding.ts';
import { canonicalBytes, detachedJws, jwsSigningInput } from '../src/jws.ts';
import { declarationDigest } from '../src/log/declaration.ts';
import { type NoteKey, toVerifierKey } from '../src/log/note.ts';
import { readSignatureInput, signatureBase } from '../src/message-signature.ts';
import type {
  ClientSignature,
  LoggedPrice,
  PriceDeclaration,
  PriceEntry,
  ReceiptLog,
  ReceiptPayload,
  ReceiptResponse,
  VaasKey,
  VaasKeySet,
  VaasLogKey,
} from '../src/receipt.ts';
import { sha256 } from '../src/sha256.ts';

/** Keys from fixed seeds: their secrets are public, which is what makes the vectors reproducible and the keys worthless. */
export interface VectorKey {
  readonly kid: string;
  readonly x: string;
  readonly secretKey: Uint8Array;
}

function keyFrom(name: string): VectorKey {
  const { publicKey, secretKey } = nacl.sign.keyPair.fromSeed(sha256(utf8(`tallygate test vectors: ${name}`)));
  const x = toBase64url(publicKey);
  return { x, kid: keyThumbprint(x), secretKey };
}

export const current = keyFrom('current key');
export const retired = keyFrom('retired key');
export const future = keyFrom('future key');
export const stranger = keyFrom('key of somebody else');
export const logCurrent = keyFrom('current key of the log');
export const logRetired = keyFrom('retired key of the log');
export const promiser = keyFrom('key of promises');
export const witness = keyFrom('key of the witness');
/** The key with which the caller signed their request. */
const client = keyFrom('key of the client');

const published = ({ x, kid }: VectorKey, not_before: string, not_after: string | null): VaasKey => ({
  kty: 'OKP',
  crv: 'Ed25519',
  x,
  kid,
  use: 'sig',
  alg: 'EdDSA',
  purpose: 'receipt',
  not_before,
  not_after,
});

export const LOG_ORIGIN = 'vectors.tallygate.test/receipts';

/** A key as signed notes know it. */
export const noteKey = ({ x }: VectorKey, name = LOG_ORIGIN, kind: NoteKey['kind'] = 'signature'): NoteKey => ({
  name,
  kind,
  publicKey: fromBase64url(x, 32) ?? new Uint8Array(),
});

const publishedOfLog = (key: VectorKey, not_before: string, not_after: string | null): VaasLogKey => ({
  ...published(key, not_before, not_after),
  purpose: 'checkpoint',
  verifier_key: toVerifierKey(noteKey(key)),
});

export const keySet: VaasKeySet = {
  keys: [
    published(current, '2026-07-01T00:00:00.000Z', null),
    published(retired, '2026-01-01T00:00:00.000Z', '2026-07-01T00:00:00.000Z'),
    published(future, '2027-01-01T00:00:00.000Z', null),
    publishedOfLog(logCurrent, '2026-07-01T00:00:00.000Z', null),
    { ...published(promiser, '2026-07-01T00:00:00.000Z', null), purpose: 'promise' },
    publishedOfLog(logRetired, '2026-01-01T00:00:00.000Z', '2026-07-01T00:00:00.000Z'),
  ],
};

export const accountId = '019aa2f1-0000-7000-8000-00000000aaaa';
export const apiKeyId = '019aa2f1-0000-7000-8000-00000000bbbb';
const nonce = '000102030405060708090a0b0c0d0e0f';

/** Whom and what a request is for. */
export const names = { project: '019aa2f1-0000-7000-8000-00000000cccc', end_user: 'marie@example.com', tags: ['nightly', 'été'] };
export const hashesOfNames = {
  project_hash: projectHash(nonce, names.project),
  end_user_hash: endUserHash(nonce, names.end_user),
  tag_hashes: names.tags.map((tag) => tagHash(nonce, tag)).sort(),
};

/** What the requests of the vectors are charged at: the first entry of their log. */
export const priceDeclaration: PriceDeclaration = {
  version: 'tallygate-declaration/v1',
  number: 1,
  previous: null,
  kind: 'price',
  declared_at: '2026-07-24T08:00:00.000Z',
  model: 'gpt-4o-mini',
  price_version: '2026-07-24',
  effective_from: '2026-07-24T08:00:00.000Z',
  unit_prices_pico_usd: { input_tokens: '150000', cached_input_tokens: '75000', output_tokens: '600000' },
  tiers: [],
  batch_factor: '0.5',
};

export const priceEntryOf = (declaration: PriceDeclaration, index = 0): PriceEntry => ({
  index,
  digest: toHex(declarationDigest(declaration)),
});

/** 1,200 × 150,000 + 340 × 600,000 pico-USD = 384,000 nano-USD. */
const plain: ReceiptPayload = {
  version: 'tallygate-receipt/v1',
  kind: 'usage',
  receipt_id: '5f0c1a52-7d3b-4e0f-9a86-2b1f6c3d4e5f',
  nonce,
  request_id: 'req_019aa2f1c2d37b6e8c4d1f00aa55ee77',
  account_hash: accountHash(nonce, accountId),
  key_hash: keyHash(nonce, apiKeyId),
  livemode: true,
  account_sequence: 1,
  endpoint: '/v1/chat/completions',
  run_id: null,
  model_requested: 'gpt-4o-mini',
  model_served: 'gpt-4o-mini',
  provider: 'openai',
  fallback: 'none',
  outcome: 'completed',
  request_sha256: toHex(sha256(utf8('{"model":"gpt-4o-mini"}'))),
  response_sha256: toHex(sha256(utf8('{"object":"chat.completion"}'))),
  usage: { input_tokens: 1200, cached_input_tokens: 0, cache_write_tokens: 0, output_tokens: 340, reasoning_tokens: 0 },
  estimated: false,
  price_version: '2026-07-24',
  price_entry: priceEntryOf(priceDeclaration),
  price_tier_above_input_tokens: null,
  unit_prices_pico_usd: { input_tokens: '150000', cached_input_tokens: '75000', output_tokens: '600000' },
  price_factor: '1',
  cost_nano_usd: '384000',
  payment: { plan: 'pro@1', funding: 'balance', covered: {}, charged_nano_usd: '384000' },
  refund_of: null,
  refund_reason: null,
  started_at: '2026-11-21T08:00:00.000Z',
  completed_at: '2026-11-21T08:00:01.250Z',
  client_signature: null,
};

const REQUEST_BODY = '{"model":"gpt-4o-mini"}';
const SIGNATURE_INPUT = '("@method" "@path" "content-digest");created=1795248000;keyid="client";nonce="b3k2Z1"';

/** `Content-Digest` (RFC 9530) of a body. */
const contentDigest = (body: string): string => `sha-256=:${Buffer.from(sha256(utf8(body))).toString('base64')}:`;

/** What the client signs, signed; `components` are those beside `@method`, `@path` and `content-digest`. */
export function clientSignature(
  {
    input = SIGNATURE_INPUT,
    body = REQUEST_BODY,
    components = {},
  }: { input?: string; body?: string; components?: Record<string, string> } = {},
  key: VectorKey = client,
): ClientSignature {
  const known: Record<string, string> = {
    '@method': 'POST',
    '@path': plain.endpoint,
    'content-digest': contentDigest(body),
    ...components,
  };
  const signed = signatureBase(readSignatureInput(input), (name) => known[name]);
  if ('missing' in signed) throw new Error(`No value for ${signed.missing}`);
  return {
    alg: 'ed25519',
    public_key: key.x,
    signature_input: input,
    signature: sign(utf8(signed.base), key),
    content_digest: contentDigest(body),
  };
}

/** Nothing of anything: what usage of other kinds starts from. */
export const noUsage = { input_tokens: 0, cached_input_tokens: 0, cache_write_tokens: 0, output_tokens: 0, reasoning_tokens: 0 };

/** All of the plain request's cost given back. */
export const refundWith = (changes: Partial<ReceiptPayload> = {}): ReceiptPayload =>
  payloadWith({
    kind: 'refund',
    receipt_id: '6a1d2b63-8e4c-4f1a-8b97-3c2a7d4e5f60',
    outcome: 'refunded',
    refund_of: plain.receipt_id,
    refund_reason: 'The provider made nothing of it.',
    completed_at: '2026-11-22T09:00:00.000Z',
    ...changes,
  });

/** The plain payload with some fields changed, paid for as a request is of which no quota covers anything. */
export const payloadWith = (changes: Partial<ReceiptPayload> = {}): ReceiptPayload => paid({ ...plain, ...changes }, changes);

function paid(payload: ReceiptPayload, { payment }: Partial<ReceiptPayload>): ReceiptPayload {
  if (payment) return payload;
  if (!payload.livemode) return { ...payload, payment: { plan: null, funding: 'test', covered: {}, charged_nano_usd: '0' } };
  return { ...payload, payment: { ...plain.payment, charged_nano_usd: payload.cost_nano_usd } };
}

export const sign = (bytes: Uint8Array, key: VectorKey): string => toBase64url(nacl.sign.detached(bytes, key.secretKey));

/** A receipt of the payload as the service would issue it with that key. */
export function issue(
  payload: ReceiptPayload,
  key: VectorKey = current,
  log: ReceiptLog = { state: 'pending' },
  price: LoggedPrice | null = null,
): ReceiptResponse {
  const digest = receiptDigest(payload);
  return {
    object: 'receipt',
    id: payload.receipt_id,
    payload,
    digest: toHex(digest),
    jws: detachedJws(key.kid, sign(jwsSigningInput(key.kid, canonicalBytes(payload)), key)),
    log,
    price,
    anchor: null,
  };
}
