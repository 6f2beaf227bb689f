import { canonicalJson, isPlainObject } from './canonical.ts';
import { fromBase64url, toBase64url, utf8 } from './encoding.ts';
import type { InvoicePayload } from './invoice/invoice.ts';
import { readJson } from './json.ts';
import type { ReceiptPayload } from './receipt.ts';
import { type RefusalCode, Refused, refusalAsValue } from './refusal.ts';

/** Keeps the signatures of one purpose apart from all others by the same key (RFC 8725, section 3.11). */
export type JwsType = 'tallygate-receipt' | 'tallygate-invoice' | 'tallygate-key' | 'tallygate-promise';

/** The protected header, base64url. */
export const jwsHeader = (kid: string, typ: JwsType): string => toBase64url(utf8(canonicalJson({ alg: 'EdDSA', kid, typ })));

/** The bytes that Ed25519 signs (RFC 7515, section 5.1): protected header and canonical payload, both in base64url, with a dot between. */
export const jwsSigningInput = (kid: string, canonicalPayload: Uint8Array, typ: JwsType = 'tallygate-receipt'): Uint8Array =>
  utf8(`${jwsHeader(kid, typ)}.${toBase64url(canonicalPayload)}`);

/** The compact form with detached payload (RFC 7515, appendix F): the payload stands beside it, as JSON. @param signature base64url */
export const detachedJws = (kid: string, signature: string, typ: JwsType = 'tallygate-receipt'): string =>
  `${jwsHeader(kid, typ)}..${signature}`;

/** A JWS as far as it can be told by looking at it. */
export interface ReadJws {
  readonly kid: string;
  readonly signature: Uint8Array;
  /** Base64url; empty where it is detached. */
  readonly payload: string;
}

/** Where a JWS stands, for messages, and what it has to be. */
interface Expected {
  readonly path: string;
  readonly typ: JwsType;
  readonly code: RefusalCode;
}

/** Throws `Refused` with the code of what is expected, or with `unknown_algorithm`. */
export function readJws(text: string, { path, typ, code }: Expected): ReadJws {
  const malformed = (what: string): Refused => new Refused(code, `${path} ${what}.`);
  const [header = '', payload = '', signatureText = '', ...more] = text.split('.');
  if (more.length > 0) throw malformed('must be <header>.<payload>.<signature>');
  const member = memberOf(header);
  if (!member) throw malformed('must begin with a header');
  const { alg, kid } = member;
  // The verifier never lets the receipt choose the algorithm: that is how "alg": "none" once got in.
  if (alg !== 'EdDSA') throw new Refused('unknown_algorithm', `The header of ${path} does not have the alg EdDSA.`);
  // One spelling of every header: nothing can be in it that a verifier passes over.
  if (typeof kid !== 'string' || header !== jwsHeader(kid, typ))
    throw malformed(`must have alg, kid and the typ ${typ} for its header, in canonical JSON`);
  const signature = fromBase64url(signatureText, 64);
  if (!signature) throw malformed('must end in 64 bytes, base64url');
  return { kid, signature, payload };
}

/** The JWS of a receipt or an invoice, whose payload stands beside it. Throws `Refused` with `malformed` or `unknown_algorithm`. */
export function readDetachedJws(text: string, typ: 'tallygate-receipt' | 'tallygate-invoice'): ReadJws {
  const path = typ === 'tallygate-receipt' ? 'receipt.jws' : 'invoice.jws';
  const read = readJws(text, { path, typ, code: 'malformed' });
  if (read.payload !== '') throw new Refused('malformed', `${path} must be <header>..<signature>.`);
  return read;
}

function memberOf(header: string): Readonly<Record<string, unknown>> | undefined {
  const read = refusalAsValue(() => ({ valid: true as const, value: readJson(new TextDecoder().decode(fromBase64url(header))) }));
  return read.valid && isPlainObject(read.value) ? read.value : undefined;
}

/** The bytes that stand for a payload, in the log's digest and in the signature: its canonical JSON (RFC 8785). */
export const canonicalBytes = (payload: ReceiptPayload | InvoicePayload): Uint8Array => utf8(canonicalJson(payload));
