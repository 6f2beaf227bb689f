import { canonicalJson } from '../src/canonical.ts';
import { receiptDigest } from '../src/digest.ts';
import { fromBase64url, toBase64url, toHex, utf8 } from '../src/encoding.ts';
import type { PublishedPrices } from '../src/prices.ts';
import type { ReceiptPayload, ReceiptResponse } from '../src/receipt.ts';
import type { RefusalCode } from '../src/refusal.ts';
import { sha256 } from '../src/sha256.ts';
import {
  clientSignature,
  current,
  future,
  issue,
  keySet,
  noUsage,
  payloadWith,
  refundWith,
  retired,
  sign,
  stranger,
} from './vector-receipts.ts';

export interface BrokenVector {
  readonly why: string;
  readonly expected_code: RefusalCode;
  readonly receipt?: unknown;
  readonly text?: string;
  /** Takes the place of keys.json. */
  readonly keys?: unknown;
  readonly prices?: PublishedPrices;
}

const broken = (expected_code: RefusalCode, why: string, receipt: unknown): BrokenVector => ({ why, expected_code, receipt });
const brokenText = (expected_code: RefusalCode, why: string, text: string): BrokenVector => ({ why, expected_code, text });

const honest = issue(payloadWith());
const honestText = JSON.stringify(honest);
const zeroPrices = { input_tokens: '0', cached_input_tokens: '0', output_tokens: '0' };

/** The honest receipt with its payload changed and nothing else. */
const altered = (changes: object): unknown => ({ ...honest, payload: { ...honest.payload, ...changes } });

/** As `altered`, with the digest made to fit: only the signature can still tell. */
const redigested = (changes: Partial<ReceiptPayload>): ReceiptResponse => {
  const payload = payloadWith(changes);
  return { ...honest, payload, digest: toHex(receiptDigest(payload)) };
};

const withSignature = (value: string): ReceiptResponse => ({ ...honest, signature: { ...honest.signature, value } });

const signatureBytes = fromBase64url(honest.signature.value, 64) ?? new Uint8Array(64);

/** The order of the group of Ed25519, little-endian. */
const ORDER = Uint8Array.from({ length: 32 }, (_, at) =>
  Number(((2n ** 252n + 27742317777372353535851937790883648493n) >> BigInt(8 * at)) & 255n),
);

/** R and S + L: satisfies the same equation as R and S. */
function malleated(signature: Uint8Array): Uint8Array {
  const twin = Uint8Array.from(signature);
  let carry = 0;
  ORDER.forEach((byte, at) => {
    const sum = (twin[32 + at] ?? 0) + byte + carry;
    twin[32 + at] = sum & 255;
    carry = sum >> 8;
  });
  return twin;
}

const { usage } = payloadWith();

const tampered: Record<string, BrokenVector> = {
  'changed-cost': broken('bad_digest', 'The cost was lowered after signing.', altered({ cost_nano_usd: '1' })),
  'changed-usage': broken('bad_digest', 'The output was raised after signing.', altered({ usage: { ...usage, output_tokens: 341 } })),
  'changed-price': broken('bad_digest', 'All prices were set to zero after signing.', altered({ unit_prices_pico_usd: zeroPrices })),
  'changed-livemode': broken('bad_digest', 'A test receipt passed off as a live one, or the reverse.', altered({ livemode: false })),
  'changed-factor': broken('bad_digest', 'The factor on the prices was lowered after signing.', altered({ price_factor: '0.1' })),
  'consistent-forgery': broken(
    'bad_signature',
    'Usage, cost and digest were all changed to fit each other; the signature is the old one.',
    redigested({ usage: { ...usage, output_tokens: 0 }, cost_nano_usd: '180000' }),
  ),
  'swapped-digest': broken('bad_digest', 'Digest and signature of another honest receipt under this payload.', {
    ...issue(payloadWith({ request_id: 'req_of_another_call' })),
    payload: honest.payload,
  }),
  'swapped-signature': broken(
    'bad_signature',
    'The signature of another honest receipt.',
    withSignature(issue(payloadWith({ request_id: 'req_of_another_call' })).signature.value),
  ),
  'id-mismatch': broken('id_mismatch', 'An honest receipt under the id of another.', {
    ...honest,
    id: '00000000-0000-4000-8000-000000000000',
  }),
};

const keys: Record<string, BrokenVector> = {
  'unknown-key': broken('unknown_key', 'Signed with a key that is not in the set.', issue(payloadWith(), stranger)),
  'impersonated-key': broken(
    'bad_signature',
    'Signed with a key that is not in the set, under the name of one that is.',
    withSignature(issue(payloadWith(), stranger).signature.value),
  ),
  'retired-key': broken(
    'key_retired',
    'Signed with a key that had been retired when the request completed.',
    issue(payloadWith(), retired),
  ),
  'future-key': broken('key_not_yet_valid', 'Signed with a key that was not yet in use.', issue(payloadWith(), future)),
  'key-under-wrong-kid': {
    ...broken(
      'kid_mismatch',
      'The key set lists a stranger’s key under the name of ours.',
      withSignature(issue(payloadWith(), stranger).signature.value),
    ),
    keys: { keys: keySet.keys.map((key) => (key.kid === current.kid ? { ...key, x: stranger.x } : key)) },
  },
  'key-listed-twice': {
    ...broken('malformed_keys', 'Two periods for one key: readers would differ on which one holds.', issue(payloadWith(), retired)),
    keys: { keys: [...keySet.keys, ...keySet.keys.map((key) => ({ ...key, not_after: null }))] },
  },
  ...smallOrderKey(),
};

/** A key of order one: R = the neutral point and S = 0 is its signature for every message. */
function smallOrderKey(): Record<string, BrokenVector> {
  const neutral = Uint8Array.of(1, ...new Uint8Array(31));
  const x = toBase64url(neutral);
  const kid = toBase64url(sha256(utf8(`{"crv":"Ed25519","kty":"OKP","x":"${x}"}`)));
  const value = toBase64url(Uint8Array.of(...neutral, ...new Uint8Array(32)));
  return {
    'small-order-key': {
      ...broken('weak_key', 'A public key of small order: this signature fits every receipt.', {
        ...honest,
        signature: { alg: 'Ed25519', kid, value },
      }),
      keys: { keys: [{ ...keySet.keys[0], x, kid }] },
    },
  };
}

const signatures: Record<string, BrokenVector> = {
  'no-domain-separation': broken(
    'bad_signature',
    'Signed over the digest of the canonical payload without the prefix "tallygate-receipt/v1\\n".',
    withSignature(sign(sha256(utf8(canonicalJson(honest.payload))), current)),
  ),
  'signed-text-not-digest': broken(
    'bad_signature',
    'Signed over the hex of the digest and not over its 32 bytes.',
    withSignature(sign(utf8(honest.digest), current)),
  ),
  'malleable-signature': broken(
    'malleable_signature',
    'S + L in place of S: many libraries accept it (RFC 8032, 5.1.7 does not).',
    withSignature(toBase64url(malleated(signatureBytes))),
  ),
  'truncated-signature': broken(
    'malformed',
    'The last byte of the signature is missing.',
    withSignature(toBase64url(signatureBytes.subarray(0, 63))),
  ),
  'signature-trailing-bits': broken(
    'malformed',
    'The last letter holds bits that belong to no byte: the same bytes in a second spelling (RFC 4648, 3.5).',
    withSignature(`${honest.signature.value.slice(0, -1)}${{ A: 'B', Q: 'R', g: 'h', w: 'x' }[honest.signature.value.slice(-1)]}`),
  ),
  'signature-padded': broken('malformed', 'Base64url with padding.', withSignature(`${honest.signature.value}==`)),
  'algorithm-none': broken('unknown_algorithm', 'The receipt asks for another algorithm.', {
    ...honest,
    signature: { ...honest.signature, alg: 'none' },
  }),
};

const dishonest: Record<string, BrokenVector> = {
  overcharged: broken(
    'cost_mismatch',
    'Signed by the right key, yet one nano-USD too much.',
    issue(payloadWith({ cost_nano_usd: '384001' })),
  ),
  'cached-charged-as-fresh': broken(
    'cost_mismatch',
    'Cached tokens were charged at the price of fresh ones although they have their own.',
    issue(payloadWith({ usage: { ...usage, cached_input_tokens: 1000 } })),
  ),
  'reasoning-charged-twice': broken(
    'cost_mismatch',
    'Reasoning tokens were added to the output of which they are a part.',
    issue(payloadWith({ usage: { ...usage, reasoning_tokens: 100 }, cost_nano_usd: '444000' })),
  ),
  'charged-failure': broken('charged_failure', 'A request without an answer was charged.', issue(payloadWith({ outcome: 'failed' }))),
  'price-missing': broken(
    'price_missing',
    'Output was charged at a price that the receipt does not state.',
    issue(payloadWith({ unit_prices_pico_usd: { input_tokens: '150000' } })),
  ),
  'cached-beyond-input': broken(
    'usage_inconsistent',
    'More cached tokens than input tokens: the fresh input would be negative.',
    issue(payloadWith({ usage: { ...usage, cached_input_tokens: 1201 } })),
  ),
  'reasoning-beyond-output': broken(
    'usage_inconsistent',
    'More reasoning tokens than output tokens.',
    issue(payloadWith({ usage: { ...usage, reasoning_tokens: 341 } })),
  ),
  'tier-not-reached': broken(
    'tier_mismatch',
    'The tier above 272,000 input tokens, applied to 1,200.',
    issue(payloadWith({ price_tier_above_input_tokens: 272000 })),
  ),
  'unpublished-price': {
    ...broken('price_mismatch', 'Signed and consistent, yet the published output price is another.', honest),
    prices: {
      'gpt-4o-mini': {
        '2026-07-24': { unit_prices_pico_usd: { input_tokens: '150000', cached_input_tokens: '75000', output_tokens: '500000' } },
      },
    },
  },
  'unpublished-version': {
    ...broken('price_unpublished', 'Signed and consistent, yet this price version was never published.', honest),
    prices: { 'gpt-4o-mini': { '2026-01-01': { unit_prices_pico_usd: honest.payload.unit_prices_pico_usd } } },
  },
};

const batchLine = payloadWith({ kind: 'batch_line', price_factor: '0.5', cost_nano_usd: '192000' });
const publishedAt = (batch_factor: string | undefined): PublishedPrices => ({
  'gpt-4o-mini': {
    '2026-07-24': { unit_prices_pico_usd: honest.payload.unit_prices_pico_usd, ...(batch_factor !== undefined && { batch_factor }) },
  },
});

const factors: Record<string, BrokenVector> = {
  'factor-not-applied': broken(
    'cost_mismatch',
    'A line of a batch that states half the price and was charged all of it.',
    issue({ ...batchLine, cost_nano_usd: '384000' }),
  ),
  'factor-outside-batch': broken(
    'factor_mismatch',
    'A factor on a request that was no line of a batch.',
    issue(payloadWith({ price_factor: '2', cost_nano_usd: '768000' })),
  ),
  'factor-second-spelling': broken('malformed', '0.50 is the factor 0.5 in a second spelling.', altered({ price_factor: '0.50' })),
  'factor-negative': broken('malformed', 'A negative factor.', altered({ price_factor: '-1' })),
  'unpublished-factor': {
    ...broken('factor_mismatch', 'Signed and consistent, yet the published batch factor is another.', issue(batchLine)),
    prices: publishedAt('0.4'),
  },
  'unpublished-factor-of-none': {
    ...broken('factor_mismatch', 'Signed and consistent, yet no batch factor was published.', issue(batchLine)),
    prices: publishedAt(undefined),
  },
  'batch-line-at-full-price': {
    ...broken(
      'factor_mismatch',
      'A line of a batch was charged in full although a batch factor is published.',
      issue(payloadWith({ kind: 'batch_line' })),
    ),
    prices: publishedAt('0.5'),
  },
};

const refunds: Record<string, BrokenVector> = {
  'refund-of-nothing': broken(
    'refund_inconsistent',
    'A refund that does not say of which receipt.',
    issue(refundWith({ refund_of: null })),
  ),
  'refund-without-reason': broken('refund_inconsistent', 'A refund without a reason.', issue(refundWith({ refund_reason: null }))),
  'refund-of-itself': broken(
    'refund_inconsistent',
    'A refund that names itself.',
    issue(refundWith({ refund_of: refundWith().receipt_id })),
  ),
  'refund-larger-than-cost': broken(
    'refund_exceeds_cost',
    'One nano-USD more is given back than the request cost.',
    issue(refundWith({ cost_nano_usd: '384001' })),
  ),
  'refund-larger-than-factor': broken(
    'refund_exceeds_cost',
    'A line of a batch is given back at its full price.',
    issue(refundWith({ price_factor: '0.5' })),
  ),
  'refund-as-usage': broken('refund_inconsistent', 'A charge that looks like a refund.', issue(payloadWith({ outcome: 'refunded' }))),
  'usage-as-refund': broken('refund_inconsistent', 'A refund that looks like a charge.', issue(refundWith({ outcome: 'completed' }))),
  'usage-names-refund': broken(
    'refund_inconsistent',
    'A charge that names another receipt.',
    issue(payloadWith({ refund_of: refundWith().receipt_id })),
  ),
  'correction-of-nothing': broken(
    'refund_inconsistent',
    'A correction that does not say of which receipt.',
    issue(payloadWith({ kind: 'correction' })),
  ),
};

const video = {
  kind: 'media_job',
  usage: { ...noUsage, video_seconds: 8 },
  unit_prices_pico_usd: { video_seconds: '100000000000' },
} as const;

const modalities: Record<string, BrokenVector> = {
  'parts-beyond-input': broken(
    'usage_inconsistent',
    'Cached, audio and image tokens are together more than the input: the fresh input would be negative.',
    issue(payloadWith({ usage: { ...usage, cached_input_tokens: 400, audio_input_tokens: 400, image_input_tokens: 401 } })),
  ),
  'cached-image-beyond-image': broken(
    'usage_inconsistent',
    'More cached image tokens than image tokens in.',
    issue(payloadWith({ usage: { ...usage, image_input_tokens: 10, cached_image_input_tokens: 11 } })),
  ),
  'image-output-beyond-output': broken(
    'usage_inconsistent',
    'More image tokens out than tokens out.',
    issue(payloadWith({ usage: { ...usage, image_output_tokens: 341 } })),
  ),
  'video-second-too-much': broken(
    'cost_mismatch',
    'Nine seconds of video charged where eight were made.',
    issue(payloadWith({ ...video, cost_nano_usd: '900000000' })),
  ),
  'characters-without-price': broken(
    'price_missing',
    'Characters were charged at a price that the receipt does not state.',
    issue(payloadWith({ usage: { ...noUsage, input_characters: 250 }, unit_prices_pico_usd: {}, cost_nano_usd: '3750000' })),
  ),
  'zero-count': broken(
    'malformed',
    'A count of zero that has to be absent: a second spelling.',
    altered({ usage: { ...usage, images: 0 } }),
  ),
  'negative-seconds': broken('malformed', 'Negative seconds lower the cost.', altered({ usage: { ...usage, video_seconds: -8 } })),
  'unknown-price-meter': broken(
    'unknown_field',
    'A price of something that this version cannot count.',
    altered({ unit_prices_pico_usd: { ...honest.payload.unit_prices_pico_usd, embedding_dimensions: '1' } }),
  ),
};

const ofClient = (expected_code: RefusalCode, why: string, changes: object, of = clientSignature()): BrokenVector =>
  broken(expected_code, why, issue(payloadWith({ client_signature: { ...of, ...changes } })));

const clients: Record<string, BrokenVector> = {
  'client-signature-of-another-body': ofClient(
    'client_signature_mismatch',
    'The caller’s signature is genuine, but of another body than the one that was billed.',
    {},
    clientSignature({ body: '{"model":"gpt-5.6-sol"}' }),
  ),
  'client-signature-moved': broken(
    'bad_client_signature',
    'The caller’s signature was made for another endpoint.',
    issue(payloadWith({ endpoint: '/v1/responses', client_signature: clientSignature() })),
  ),
  'client-signature-by-another-key': ofClient(
    'bad_client_signature',
    'Another key made the caller’s signature than the one that is named.',
    {
      public_key: stranger.x,
    },
  ),
  'client-signature-other-parameters': ofClient('bad_client_signature', 'The nonce was changed after the caller had signed.', {
    signature_input: clientSignature().signature_input.replace('b3k2Z1', 'b3k2Z2'),
  }),
  'client-signature-without-digest': ofClient(
    'bad_client_signature',
    'The caller’s signature does not cover the body: it would fit every request.',
    {},
    clientSignature({ input: '("@method" "@path");created=1795248000' }),
  ),
  'client-signature-input-malformed': ofClient('bad_client_signature', 'What was covered is no list of components.', {
    signature_input: '"@method" "@path" "content-digest"',
  }),
  'client-signature-weak-key': ofClient('bad_client_signature', 'A public key of small order, for which anybody can sign.', {
    public_key: toBase64url(Uint8Array.of(1, ...new Uint8Array(31))),
  }),
  'client-signature-other-algorithm': ofClient('malformed', 'Another algorithm for the caller’s signature.', { alg: 'hmac-sha256' }),
  'client-signature-extra-field': ofClient('unknown_field', 'A field more in the caller’s signature.', { verified: true }),
};

const forms: Record<string, BrokenVector> = {
  'wrong-version': broken('unknown_version', 'A version that this one does not know, although honestly signed.', {
    ...honest,
    payload: { ...honest.payload, version: 'tallygate-receipt/v2' },
  }),
  'wrong-kind': broken('unknown_kind', 'A kind that this version does not know.', altered({ kind: 'gift' })),
  'extra-payload-field': broken('unknown_field', 'A field more in the payload.', altered({ discount_nano_usd: '384000' })),
  'extra-usage-field': broken('unknown_field', 'A meter more in the usage.', altered({ usage: { ...usage, image_tokens: 1 } })),
  'missing-field': broken('malformed', 'No nonce.', { ...honest, payload: { ...honest.payload, nonce: undefined } }),
  'upper-case-hash': broken(
    'malformed',
    'Hex in upper case: a second spelling.',
    altered({ request_sha256: honest.payload.request_sha256.toUpperCase() }),
  ),
  'leading-zero-cost': broken('malformed', 'Money with a leading zero.', altered({ cost_nano_usd: '0384000' })),
  'negative-usage': broken('malformed', 'Negative tokens lower the cost.', altered({ usage: { ...usage, output_tokens: -1 } })),
  'impossible-date': broken('malformed', '30 February.', altered({ completed_at: '2026-02-30T08:00:00.000Z' })),
  'local-time': broken('malformed', 'A time that is not in UTC.', altered({ completed_at: '2026-11-21T09:00:01.250+01:00' })),
  'number-with-fraction': brokenText('bad_number', '340.0 is the number 340 in a second spelling.', honestText.replace('340', '340.0')),
  'number-with-exponent': brokenText('bad_number', '12e2 is the number 1200 in a second spelling.', honestText.replace('1200', '12e2')),
  'number-too-large': brokenText('bad_number', '2^53 + 1: most readers round it to 2^53.', honestText.replace('1200', '9007199254740993')),
  'number-negative-zero': brokenText(
    'bad_number',
    '-0 is the number 0 in a second spelling.',
    honestText.replace('"reasoning_tokens":0', '"reasoning_tokens":-0'),
  ),
  'duplicate-member': brokenText(
    'duplicate_member',
    'Two costs: the verifier would check the last, another reader might show the first.',
    honestText.replace('"cost_nano_usd":', '"cost_nano_usd":"1","cost_nano_usd":'),
  ),
  'duplicate-member-escaped': brokenText(
    'duplicate_member',
    'Two costs, one of them with an escape in its name.',
    honestText.replace('"cost_nano_usd":', '"cost_nano\\u005fusd":"1","cost_nano_usd":'),
  ),
  'lone-surrogate': brokenText(
    'malformed_json',
    'Half of a surrogate pair has no UTF-8 form.',
    honestText.replace('"openai"', '"\\ud83d"'),
  ),
  'trailing-text': brokenText('malformed_json', 'A second value after the receipt.', `${honestText}{}`),
  'byte-order-mark': brokenText('malformed_json', 'A byte order mark (RFC 8259, 8.1).', `\ufeff${honestText}`),
};

export const brokenVectors: Readonly<Record<string, BrokenVector>> = {
  ...tampered,
  ...keys,
  ...signatures,
  ...dishonest,
  ...factors,
  ...refunds,
  ...modalities,
  ...clients,
  ...forms,
};
