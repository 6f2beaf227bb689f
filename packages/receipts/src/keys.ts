import { isPlainObject } from './canonical.ts';
import { keyThumbprint } from './digest.ts';
import { isMalleated, isWeakPublicKey, verifyEd25519 } from './ed25519.ts';
import { fromBase64url, toBase64url } from './encoding.ts';
import { fromVerifierKey, type NoteKey } from './log/note.ts';
import type { VaasKey, VaasLogKey, VaasPromiseKey } from './receipt.ts';
import { Refused } from './refusal.ts';
import { readKey, readLogKey } from './structure.ts';

/**
 * The key of that name that signs receipts, or promises of them. Other entries are not even read (RFC 7517, section 5): a set may gain keys of other
 * kinds and purposes without breaking a verifier that has no use for them.
 *
 * Throws `Refused` with `malformed_keys`, `unknown_key`, `kid_mismatch` or `weak_key`.
 */
export function keyNamed(kid: string, keySet: unknown, purpose: 'receipt' | 'promise' = 'receipt'): VaasKey | VaasPromiseKey {
  const named = entriesOf(keySet).filter(({ entry }) => isNamed(kid, entry) && isOf(purpose, entry));
  const [first, second] = named;
  if (!first) throw new Refused('unknown_key', `No ${purpose} key has the kid ${JSON.stringify(kid)}.`);
  // With two periods of validity for one key, which of them holds would depend on the reader.
  if (second) throw new Refused('malformed_keys', `${first.path} and ${second.path} have the same kid.`);

  const key = readKey(first.entry, first.path);
  checkKeyItself(key, first.path);
  return key;
}

const entriesOf = (keySet: unknown): { entry: unknown; path: string }[] => {
  const entries = isPlainObject(keySet) ? keySet['keys'] : undefined;
  if (!Array.isArray(entries)) throw new Refused('malformed_keys', 'keys must be an object with an array "keys".');
  return entries.map((entry: unknown, index) => ({ entry, path: `keys[${index}]` }));
};

const isNamed = (kid: string, entry: unknown): boolean => isPlainObject(entry) && entry['kid'] === kid;

const isOf = (purpose: string, entry: unknown): boolean =>
  isPlainObject(entry) && entry['kty'] === 'OKP' && entry['crv'] === 'Ed25519' && entry['purpose'] === purpose;

function checkKeyItself(key: VaasKey | VaasLogKey | VaasPromiseKey, path: string): void {
  if (keyThumbprint(key.x) !== key.kid) throw new Refused('kid_mismatch', `${path}.kid is not the thumbprint of the key.`);
  if (isWeakPublicKey(publicBytes(key))) throw new Refused('weak_key', `${path}.x is not a public key that only its owner can sign for.`);
}

/** A key of the log, and until when it signed. */
export interface LogKey {
  readonly key: NoteKey;
  /** Null while it is in force, and of a pinned key. */
  readonly notAfter: string | null;
}

/** The log's keys of the set. Throws `Refused` with `malformed_keys`, `kid_mismatch` or `weak_key`. */
export function logKeysOf(keySet: unknown): LogKey[] {
  return entriesOf(keySet)
    .filter(({ entry }) => isOf('checkpoint', entry))
    .map(({ entry, path }) => {
      const read = readLogKey(entry, path);
      checkKeyItself(read, path);
      const key = fromVerifierKey(read.verifier_key);
      if (key?.kind !== 'signature' || toBase64url(key.publicKey) !== read.x)
        throw new Refused('malformed_keys', `${path}.verifier_key is not of this key.`);
      return { key, notAfter: read.not_after };
    });
}

/** A key that is known from elsewhere than the key set. Throws `Refused` with `malformed_keys` or `weak_key`. */
export function pinnedKey(text: string, kind: NoteKey['kind']): NoteKey {
  const key = fromVerifierKey(text);
  if (key?.kind !== kind) throw new Refused('malformed_keys', `${JSON.stringify(text)} is no verifier key of a ${kind}.`);
  if (isWeakPublicKey(key.publicKey)) throw new Refused('weak_key', `${text} is not a public key that only its owner can sign for.`);
  return key;
}

/** Throws `Refused` with `malleable_signature` or `bad_signature`. */
export function checkSignature({ path, key, message, signature }: Signed): void {
  if (verifyEd25519(message, signature, publicBytes(key))) return;
  if (isMalleated(signature))
    throw new Refused('malleable_signature', `The signature of ${path} has an S that is not below the group order.`);
  throw new Refused('bad_signature', `${path} has no signature of this payload by the key ${key.kid}.`);
}

interface Signed {
  /** Names it in messages. */
  readonly path: string;
  readonly key: VaasKey | VaasPromiseKey;
  readonly message: Uint8Array;
  readonly signature: Uint8Array;
}

/**
 * A receipt is signed when it is read, so by a key that may be newer than it, and never by one that was retired before it. The time is the signer's
 * own word: whoever steals a retired key can date a receipt back, and only the log and the anchor show when a receipt came to be.
 *
 * Throws `Refused` with `key_retired`.
 */
export function checkPeriod(key: Pick<VaasKey, 'not_after'>, completedAt: string): void {
  // Times have one spelling of fixed width, and so sort as text.
  if (key.not_after !== null && completedAt > key.not_after)
    throw new Refused('key_retired', `It is of ${completedAt}, the key was retired at ${key.not_after}.`);
}

function publicBytes(key: VaasKey | VaasLogKey | VaasPromiseKey): Uint8Array {
  const bytes = fromBase64url(key.x, 32);
  if (!bytes) throw new Refused('malformed_keys', `The key ${key.kid} is not 32 bytes.`);
  return bytes;
}
