import { canonicalJson } from './canonical.ts';
import { fromBase64url, toBase64url, toHex, utf8 } from './encoding.ts';
import type { InvoicePayload } from './invoice/invoice.ts';
import type { ReceiptPayload } from './receipt.ts';
import { sha256 } from './sha256.ts';

/** Keeps every hash apart from every other: bytes made for one purpose never pass for those of another. */
const DOMAIN = {
  receipt: 'tallygate-receipt/v1\n',
  invoice: 'tallygate-invoice/v1\n',
  account: 'tallygate-account/v1\n',
  key: 'tallygate-key/v1\n',
  project: 'tallygate-project/v1\n',
  endUser: 'tallygate-end-user/v1\n',
  tag: 'tallygate-tag/v1\n',
} as const;

/** The text whose UTF-8 bytes are hashed: `"tallygate-receipt/v1\n"` and the canonical JSON of the payload. */
export const digestInput = (payload: ReceiptPayload): string => `${DOMAIN.receipt}${canonicalJson(payload)}`;

/** The 32 bytes that are the receipt's entry in the log: SHA-256 of the digest input. */
export const receiptDigest = (payload: ReceiptPayload): Uint8Array => sha256(utf8(digestInput(payload)));

/** The 32 bytes that are the entry of an invoice: SHA-256 of `"tallygate-invoice/v1\n"` and the canonical JSON of its payload. */
export const invoiceDigest = (payload: InvoicePayload): Uint8Array => sha256(utf8(`${DOMAIN.invoice}${canonicalJson(payload)}`));

/**
 * `account_hash` of a receipt, hex. The account itself is not named in it: the nonce makes the hashes of one account
 * differ from receipt to receipt, and only who knows the account's id can tell that a receipt is theirs.
 */
export const accountHash = (nonceHex: string, accountId: string): string => saltedHash(accountHashInput(nonceHex, accountId));

/** The text whose UTF-8 bytes are hashed for `account_hash`, for who has a faster SHA-256 than this package. */
export const accountHashInput = (nonceHex: string, accountId: string): string => saltedInput(DOMAIN.account, nonceHex, accountId);

/** `key_hash` of a receipt, hex: as `accountHash`, for the id of the API key. */
export const keyHash = (nonceHex: string, keyId: string): string => saltedHash(keyHashInput(nonceHex, keyId));

/** The text whose UTF-8 bytes are hashed for `key_hash`. */
export const keyHashInput = (nonceHex: string, keyId: string): string => saltedInput(DOMAIN.key, nonceHex, keyId);

/** `project_hash` of a receipt, hex: as `accountHash`, for the id of the project. */
export const projectHash = (nonceHex: string, projectId: string): string => saltedHash(projectHashInput(nonceHex, projectId));

/** The text whose UTF-8 bytes are hashed for `project_hash`. */
export const projectHashInput = (nonceHex: string, projectId: string): string => saltedInput(DOMAIN.project, nonceHex, projectId);

/** `end_user_hash` of a receipt, hex: as `accountHash`, for the end user as the request named them. */
export const endUserHash = (nonceHex: string, endUser: string): string => saltedHash(endUserHashInput(nonceHex, endUser));

/** The text whose UTF-8 bytes are hashed for `end_user_hash`. */
export const endUserHashInput = (nonceHex: string, endUser: string): string => saltedInput(DOMAIN.endUser, nonceHex, endUser);

/** One of the `tag_hashes` of a receipt, hex: as `accountHash`, for a tag. */
export const tagHash = (nonceHex: string, tag: string): string => saltedHash(tagHashInput(nonceHex, tag));

/** The text whose UTF-8 bytes are hashed for a tag. */
export const tagHashInput = (nonceHex: string, tag: string): string => saltedInput(DOMAIN.tag, nonceHex, tag);

const saltedInput = (domain: string, nonceHex: string, id: string): string => `${domain}${nonceHex}\n${id}`;
const saltedHash = (input: string): string => toHex(sha256(utf8(input)));

/**
 * The RFC 7638 thumbprint of an Ed25519 public key (RFC 8037, appendix A.3), base64url: its `kid`.
 * `x` is the key as base64url of 32 bytes; anything else throws a `TypeError`.
 */
export function keyThumbprint(x: string): string {
  if (!fromBase64url(x, 32)) throw new TypeError('x must be 32 bytes in base64url');
  return toBase64url(sha256(utf8(canonicalJson({ crv: 'Ed25519', kty: 'OKP', x }))));
}
