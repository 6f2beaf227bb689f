import { canonicalJson, isPlainObject } from './canonical.ts';
import { fromBase64url, toBase64url, utf8 } from './encoding.ts';
import { readJson } from './json.ts';
import type { ReceiptPayload } from './receipt.ts';
import { Refused, refusalAsValue } from './refusal.ts';

/** Keeps these signatures apart from all others by the same key (RFC 8725, section 3.11). */
const TYP = 'tallygate-receipt';

const headerOf = (kid: string): string => toBase64url(utf8(canonicalJson({ alg: 'EdDSA', kid, typ: TYP })));

/** The bytes that Ed25519 signs (RFC 7515, section 5.1): protected header and canonical payload, both in base64url, with a dot between. */
export const jwsSigningInput = (kid: string, canonicalPayload: Uint8Array): Uint8Array =>
  utf8(`${headerOf(kid)}.${toBase64url(canonicalPayload)}`);

/** The compact form with detached payload (RFC 7515, appendix F): the payload stands beside it, as JSON. @param signature base64url */
export const detachedJws = (kid: string, signature: string): string => `${headerOf(kid)}..${signature}`;

/** A detached JWS as far as it can be told by looking at it. */
export interface ReadJws {
  readonly kid: string;
  readonly signature: Uint8Array;
}

/** Throws `Refused` with `malformed` or `unknown_algorithm`. */
export function readJws(text: string): ReadJws {
  const [header = '', payload, signatureText = '', ...more] = text.split('.');
  if (payload !== '' || more.length > 0) throw malformed('must be <header>..<signature>');
  const { alg, kid } = memberOf(header);
  // The verifier never lets the receipt choose the algorithm: that is how "alg": "none" once got in.
  if (alg !== 'EdDSA') throw new Refused('unknown_algorithm', 'The header of receipt.jws does not have the alg EdDSA.');
  // One spelling of every header: nothing can be in it that a verifier passes over.
  if (typeof kid !== 'string' || header !== headerOf(kid)) throw malformed('must have alg, kid and typ for its header, in canonical JSON');
  const signature = fromBase64url(signatureText, 64);
  if (!signature) throw malformed('must end in 64 bytes, base64url');
  return { kid, signature };
}

function memberOf(header: string): Readonly<Record<string, unknown>> {
  const read = refusalAsValue(() => ({ valid: true as const, value: readJson(new TextDecoder().decode(fromBase64url(header))) }));
  if (!read.valid || !isPlainObject(read.value)) throw malformed('must begin with a header');
  return read.value;
}

const malformed = (what: string): Refused => new Refused('malformed', `receipt.jws ${what}.`);

/** The bytes that stand for a payload, in the log's digest and in the signature: its canonical JSON (RFC 8785). */
export const canonicalBytes = (payload: ReceiptPayload): Uint8Array => utf8(canonicalJson(payload));
