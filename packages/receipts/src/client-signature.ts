import { isWeakPublicKey, verifyEd25519 } from './ed25519.ts';
import { fromBase64url, utf8 } from './encoding.ts';
import { readSignatureInput, sha256OfContentDigest, signatureBase } from './message-signature.ts';
import type { ReceiptPayload } from './receipt.ts';
import { Refused } from './refusal.ts';

/** Values of covered components that no receipt states, by name: `{ '@authority': 'api.example.com' }`. */
export type RequestComponents = Readonly<Record<string, string>>;

/**
 * Checks the caller's own signature in a receipt: it covers the digest of the body that the receipt is about, and it verifies.
 * A receipt states `@method` (all that is metered is a POST), `@path` and `content-digest`; where the signature covers more than
 * what is stated or given, it is `unchecked`, and only that its digest fits is known.
 *
 * Throws `Refused` with `bad_client_signature` or `client_signature_mismatch`.
 */
export function checkClientSignature(payload: ReceiptPayload, given: RequestComponents): 'ok' | 'unchecked' | undefined {
  const claimed = payload.client_signature;
  if (claimed === null) return undefined;
  const input = readSignatureInput(claimed.signature_input);
  if (!input.components.includes('content-digest'))
    throw new Refused(
      'bad_client_signature',
      'payload.client_signature does not cover the content-digest: it could belong to any request.',
    );
  if (sha256OfContentDigest(claimed.content_digest) !== payload.request_sha256)
    throw new Refused('client_signature_mismatch', 'payload.client_signature.content_digest is not the digest payload.request_sha256.');

  const publicKey = fromBase64url(claimed.public_key, 32);
  const signature = fromBase64url(claimed.signature, 64);
  if (!publicKey || !signature || isWeakPublicKey(publicKey))
    throw new Refused('bad_client_signature', 'payload.client_signature.public_key is not a key that only its owner can sign for.');

  const stated = new Map([
    ['@method', 'POST'],
    ['@path', payload.endpoint],
    ['content-digest', claimed.content_digest],
  ]);
  const componentValue = (name: string) => stated.get(name) ?? (Object.hasOwn(given, name) ? given[name] : undefined);
  const signed = signatureBase(input, componentValue);
  if ('missing' in signed) return 'unchecked';
  if (!verifyEd25519(utf8(signed.base), signature, publicKey))
    throw new Refused('bad_client_signature', 'payload.client_signature.signature is not a signature of this request by that public key.');
  return 'ok';
}
