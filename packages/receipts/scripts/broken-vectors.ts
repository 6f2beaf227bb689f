import { canonicalJson } from '../src/canonical.ts';
import { receiptDigest } from '../src/digest.ts';
import { fromBase64url, toBase64url, toHex, utf8 } from '../src/encoding.ts';
import { canonicalBytes, detachedJws, jwsSigningInput } from '../src/jws.ts';
import type { ReceiptPayload, ReceiptResponse } from '../src/receipt.ts';
import type { RefusalCode } from '../src/refusal.ts';
import { sha256 } from '../src/sha256.ts';
import { brokenAnchorVectors } from './anchor-vectors.ts';
import { brokenLogVectors } from './broken-log-vectors.ts';
import { brokenMoneyVectors } from './broken-money-vectors.ts';
import { brokenPriceEntryVectors } from './broken-price-entry-vectors.ts';
import { altered, type BrokenVector, broken, honest, usage } from './broken-vector.ts';
import { brokenPayments } from './payment-vectors.ts';
import { clientSignature, current, hashesOfNames, issue, keySet, payloadWith, retired, sign, stranger } from './vector-receipts.ts';

const brokenText = (expected_code: RefusalCode, why: string, text: string): BrokenVector => ({ why, expected_code, text });

const honestText = JSON.stringify(honest);
const { nonce: _, ...withoutNonce } = honest.payload;
const zeroPrices = { input_tokens: '0', cached_input_tokens: '0', output_tokens: '0' };

/** As `altered`, with the digest made to fit: only the signature can still tell. */
const redigested = (changes: Partial<ReceiptPayload>): ReceiptResponse => {
  const payload = payloadWith(changes);
  return { ...honest, payload, digest: toHex(receiptDigest(payload)) };
};

const signatureOf = ({ jws }: ReceiptResponse): string => jws.split('.')[2] ?? '';

const honestSignature = signatureOf(honest);

const withSignature = (value: string): ReceiptResponse => ({ ...honest, jws: detachedJws(current.kid, value) });

/** Signed with the header that it has. */
function withHeader(header: unknown): ReceiptResponse {
  const first = toBase64url(utf8(JSON.stringify(header)));
  return { ...honest, jws: `${first}..${sign(utf8(`${first}.${toBase64url(canonicalBytes(honest.payload))}`), current)}` };
}

const signatureBytes = fromBase64url(honestSignature, 64) ?? new Uint8Array(64);

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

const tampered: Record<string, BrokenVector> = {
  'tags-out-of-order': broken(
    'malformed',
    'The hashes of its tags are not sorted.',
    altered({ tag_hashes: hashesOfNames.tag_hashes.toReversed() }),
  ),
  'tag-twice': broken(
    'malformed',
    'It has one tag twice.',
    altered({ tag_hashes: [hashesOfNames.tag_hashes[0], hashesOfNames.tag_hashes[0]] }),
  ),
  'tags-of-none': broken('malformed', 'It has a list of tags with none in it.', altered({ tag_hashes: [] })),
  'end-user-null': broken('malformed', 'Where there is no end user, the field is absent.', altered({ end_user_hash: null })),
  'changed-price': broken(
    'bad_signature',
    'All prices were set to zero after signing, and cost and digest made to fit.',
    redigested({ unit_prices_pico_usd: zeroPrices, cost_nano_usd: '0' }),
  ),
  'changed-livemode': broken('bad_signature', 'A test receipt passed off as a live one, or the reverse.', redigested({ livemode: false })),
  'changed-factor': broken(
    'bad_signature',
    'It was made a line of a batch after signing, at a tenth of the prices, and cost and digest made to fit.',
    redigested({ kind: 'batch_line', price_factor: '0.1', cost_nano_usd: '38400' }),
  ),
  'consistent-forgery': broken(
    'bad_signature',
    'Usage, cost and digest were all changed to fit each other; the signature is the old one.',
    redigested({ usage: { ...usage, output_tokens: 0 }, cost_nano_usd: '180000' }),
  ),
  'swapped-digest': broken('bad_digest', 'The digest of another honest receipt.', {
    ...honest,
    digest: issue(payloadWith({ request_id: 'req_of_another_call' })).digest,
  }),
  'swapped-signature': broken(
    'bad_signature',
    'The signature of another honest receipt.',
    withSignature(signatureOf(issue(payloadWith({ request_id: 'req_of_another_call' })))),
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
    withSignature(signatureOf(issue(payloadWith(), stranger))),
  ),
  'retired-key': broken(
    'key_retired',
    'Signed with a key that had been retired when the request completed.',
    issue(payloadWith(), retired),
  ),
  'key-under-wrong-kid': {
    ...broken(
      'kid_mismatch',
      'The key set lists a stranger’s key under the name of ours.',
      withSignature(signatureOf(issue(payloadWith(), stranger))),
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
        jws: detachedJws(kid, value),
      }),
      keys: { keys: [{ ...keySet.keys[0], x, kid }] },
    },
  };
}

const signatures: Record<string, BrokenVector> = {
  'signed-without-header': broken(
    'bad_signature',
    'Signed over the canonical payload alone and not over header and payload.',
    withSignature(sign(utf8(canonicalJson(honest.payload)), current)),
  ),
  'signed-digest': broken(
    'bad_signature',
    'Signed over the digest in the place of the payload.',
    withSignature(sign(jwsSigningInput(current.kid, receiptDigest(honest.payload)), current)),
  ),
  'signed-as-other-type': broken(
    'malformed',
    'A signature of the same key for another use of it (RFC 8725, 3.11).',
    withHeader({ alg: 'EdDSA', kid: current.kid, typ: 'JWT' }),
  ),
  'header-with-more': broken(
    'malformed',
    'The header has a member that not every verifier knows (RFC 7515, 4.1.11).',
    withHeader({ alg: 'EdDSA', b64: false, crit: ['b64'], kid: current.kid, typ: 'tallygate-receipt' }),
  ),
  'header-second-spelling': broken(
    'malformed',
    'The members of the header in another order: the same header in a second spelling.',
    withHeader({ kid: current.kid, alg: 'EdDSA', typ: 'tallygate-receipt' }),
  ),
  'payload-attached': broken('malformed', 'The JWS has a payload of its own: which of the two is meant?', {
    ...honest,
    jws: honest.jws.replace('..', `.${toBase64url(utf8(canonicalJson(honest.payload)))}.`),
  }),
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
    withSignature(`${honestSignature.slice(0, -1)}${{ A: 'B', Q: 'R', g: 'h', w: 'x' }[honestSignature.slice(-1)]}`),
  ),
  'signature-padded': broken('malformed', 'Base64url with padding.', withSignature(`${honestSignature}==`)),
  'algorithm-none': broken(
    'unknown_algorithm',
    'The receipt asks for another algorithm.',
    withHeader({ alg: 'none', kid: current.kid, typ: 'tallygate-receipt' }),
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
  'wrong-version': broken(
    'unknown_version',
    'A version that this one does not know, although honestly signed.',
    altered({ version: 'tallygate-receipt/v2' }),
  ),
  'wrong-kind': broken('unknown_kind', 'A kind that this version does not know.', altered({ kind: 'gift' })),
  'extra-payload-field': broken('unknown_field', 'A field more in the payload.', altered({ discount_nano_usd: '384000' })),
  'extra-usage-field': broken('unknown_field', 'A meter more in the usage.', altered({ usage: { ...usage, image_tokens: 1 } })),
  'missing-field': broken('malformed', 'No nonce.', issue(withoutNonce as ReceiptPayload)),
  'upper-case-hash': broken(
    'malformed',
    'Hex in upper case: a second spelling.',
    altered({ request_sha256: honest.payload.request_sha256.toUpperCase() }),
  ),
  'leading-zero-cost': broken('malformed', 'Money with a leading zero.', altered({ cost_nano_usd: '0384000' })),
  'negative-usage': broken('malformed', 'Negative tokens lower the cost.', altered({ usage: { ...usage, output_tokens: -1 } })),
  'impossible-date': broken('malformed', '30 February.', altered({ completed_at: '2026-02-30T08:00:00.000Z' })),
  'completed-before-started': broken(
    'completed_before_started',
    'Honestly signed, and over a millisecond before it began.',
    issue(payloadWith({ completed_at: '2026-11-21T07:59:59.999Z' })),
  ),
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
  'number-with-leading-zero': brokenText('malformed_json', '01200 is no JSON.', honestText.replace('1200', '01200')),
  'nested-too-deep': brokenText(
    'malformed_json',
    'A number within 33 arrays and objects: the receipt and 32 arrays.',
    honestText.replace('{', `{"note":${'['.repeat(32)}1${']'.repeat(32)},`),
  ),
  'trailing-text': brokenText('malformed_json', 'A second value after the receipt.', `${honestText}{}`),
  'byte-order-mark': brokenText('malformed_json', 'A byte order mark (RFC 8259, 8.1).', `\ufeff${honestText}`),
};

export const brokenVectors: Readonly<Record<string, BrokenVector>> = {
  ...tampered,
  ...keys,
  ...signatures,
  ...brokenPayments,
  ...brokenMoneyVectors,
  ...brokenPriceEntryVectors,
  ...clients,
  ...forms,
  ...brokenLogVectors,
  ...brokenAnchorVectors,
};
