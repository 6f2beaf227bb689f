import { type KeyObject, verify as verifySignature } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import type { ClientSignature } from '@tallygate/contract';
import {
  keyThumbprint,
  parseDictionary,
  Refused,
  readSignatureInput,
  type SignatureInput,
  sha256OfContentDigest,
  signatureBase,
} from '@tallygate/receipts';
import type { SigningRequirement } from '../../access/keys/index.ts';
import type { Clock } from '../../kernel/clock.ts';
import { Problem } from '../../kernel/problem.ts';
import { limitsOf } from './call.ts';
import type { Caller } from './call-context.ts';
import { componentOf, type MessageHead } from './message-components.ts';
import type { Nonces } from './nonce-memory.ts';

/** How far a signature's time may lie from ours, either way. */
const SKEW_SECONDS = 300;
/** The label that counts where a request has several signatures, such as those of proxies. */
const LABEL = 'tallygate';
const SIGNATURE_BYTES = 64;
const LONGEST_FIELD = 2048;

/** Verifies the caller's own signature; null, at once, where there is none to verify. */
export type SignatureCheck = (req: SignedMessage, bodySha256: () => string, grant: Caller) => Promise<ClientSignature> | null;
type SignedMessage = MessageHead & Pick<IncomingMessage, 'headers'>;

interface SignatureCheckDeps {
  readonly clock: Clock;
  /** Where this service is reached from outside: its scheme is part of what callers may sign. */
  readonly publicUrl: () => string;
  readonly nonces: Nonces;
}

const verifyInPool = promisify<null, Buffer, KeyObject, Uint8Array, boolean>(verifySignature);

/**
 * The check of requests by keys that have a public key. Without one there is nothing to verify a signature with, and it is left unread.
 * The check throws Problem `signature_required` or `invalid_signature`.
 */
export function createSignatureCheck({ clock, publicUrl, nonces }: SignatureCheckDeps): SignatureCheck {
  return (req, bodySha256, grant) => {
    const signing = limitsOf(grant)?.signing;
    if (!signing || grant.principal.kind !== 'key') return null;
    const { signature, 'signature-input': input } = req.headers;
    if (signature === undefined && input === undefined) {
      if (!signing.isRequired) return null;
      const detail = 'This API key accepts signed requests only: send Content-Digest, Signature-Input and Signature.';
      throw new Problem('signature_required', detail);
    }
    const scheme = publicUrl().startsWith('https:') ? 'https' : 'http';
    const ofComponent = (component: string) => componentOf(req, component, scheme);
    const verified = verify({ signature: String(signature ?? ''), input: String(input ?? '') }, bodySha256, ofComponent, {
      ...signing,
      keyId: grant.principal.keyId,
      now: clock.now(),
      nonces,
    });
    return verified.catch((error: unknown) => {
      throw error instanceof Refused ? new Problem('invalid_signature', error.message) : error;
    });
  };
}

interface Expected extends SigningRequirement {
  readonly keyId: string;
  /** Epoch milliseconds. */
  readonly now: number;
  readonly nonces: Nonces;
}

/** @throws Refused saying what is wrong */
async function verify(
  fields: { readonly signature: string; readonly input: string },
  bodySha256: () => string,
  componentValue: (name: string) => string | undefined,
  { publicKey, verifier, keyId, now, nonces }: Expected,
): Promise<ClientSignature> {
  const { signature, member } = only(fields);
  const input = readSignatureInput(member);
  requireCoverage(input);
  requireFresh(input, now / 1000);
  if (input.keyid !== null && input.keyid !== keyId && input.keyid !== keyThumbprint(publicKey))
    refuse('The parameter keyid is neither the id of this API key nor the thumbprint of its public key.');
  const contentDigest = componentValue('content-digest') ?? refuse('The field Content-Digest is missing.');
  if (sha256OfContentDigest(contentDigest) !== bodySha256()) refuse('Content-Digest is not the digest of the body received.');
  // A receipt has room for no more.
  if (input.text.length > LONGEST_FIELD || contentDigest.length > LONGEST_FIELD) refuse('The fields of the signature are too long.');

  const signed = signatureBase(input, componentValue);
  if ('missing' in signed) return refuse(`The covered component "${signed.missing}" is not in the request, or is not supported.`);
  if (!(await verifyInPool(null, Buffer.from(signed.base, 'latin1'), verifier, signature)))
    refuse('The signature does not fit the request: what was signed differs from what arrived, or another key made it.');
  // Last, so that nobody but the owner of the signing key can use up a nonce. Ed25519 signatures are unique (RFC 8032, 5.1.7 checks S), so a
  // signature is as good as a nonce.
  const used = input.nonce === null ? `signature ${Buffer.from(signature).toString('base64url')}` : `nonce ${input.nonce}`;
  if (!(await nonces.isFirst(`${keyId} ${used}`, now)))
    refuse(`The ${input.nonce === null ? 'signature' : 'nonce'} was used before: sign every attempt anew, with a nonce.`);
  return {
    alg: 'ed25519',
    public_key: publicKey,
    signature_input: input.text,
    signature: Buffer.from(signature).toString('base64url'),
    content_digest: contentDigest,
  };
}

const refuse = (reason: string): never => {
  throw new Refused('bad_client_signature', reason);
};

/** The signature that is meant: the only one, or the one with our label. */
function only({ signature: given, input: described }: { readonly signature: string; readonly input: string }) {
  if (given === '' || described === '') return refuse('Signature-Input and Signature belong together: one of them is missing.');
  const inputs = parseDictionary(described) ?? refuse('Signature-Input is not a dictionary (RFC 9651).');
  const signatures = parseDictionary(given) ?? refuse('Signature is not a dictionary (RFC 9651).');
  const [first, second] = inputs.keys();
  const label = inputs.has(LABEL) || first === undefined || second !== undefined ? LABEL : first;
  const member = inputs.get(label) ?? refuse(`There are several signatures: label the one that counts "${LABEL}".`);
  const signature = signatures.get(label) ?? refuse(`Signature has no member "${label}".`);
  if (!('items' in member)) return refuse(`Signature-Input: "${label}" is not a list of components.`);
  if (!('item' in signature) || signature.item.type !== 'bytes' || signature.item.value.length !== SIGNATURE_BYTES)
    return refuse(`Signature: "${label}" is not ${SIGNATURE_BYTES} bytes in base64 between colons.`);
  return { signature: signature.item.value, member };
}

/** Less would let a signature be moved to another endpoint or another body. */
function requireCoverage({ components }: SignatureInput): void {
  const covers = (...names: string[]) => names.some((name) => components.includes(name));
  if (!covers('@method')) refuse('The signature does not cover "@method".');
  if (!covers('@path', '@target-uri', '@request-target')) refuse('The signature covers none of "@path", "@target-uri", "@request-target".');
  if (!covers('content-digest')) refuse('The signature does not cover "content-digest".');
}

const LONGEST_NONCE = 128;

function requireFresh({ created, expires, nonce }: SignatureInput, nowSeconds: number): void {
  if (created === null) refuse('The parameter created is missing.');
  else if (Math.abs(nowSeconds - created) > SKEW_SECONDS)
    refuse(`The parameter created lies more than ${SKEW_SECONDS} seconds from the time here, ${Math.floor(nowSeconds)}.`);
  if (expires !== null && expires <= nowSeconds) refuse('The signature has expired.');
  if (nonce !== null && (nonce.length === 0 || nonce.length > LONGEST_NONCE))
    refuse(`The nonce must have 1 to ${LONGEST_NONCE} characters.`);
}
