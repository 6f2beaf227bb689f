import { type KeyObject, verify } from 'node:crypto';
import { type Checkpoint, type NoteKey, noteKeyId, parseCheckpoint, parseNote } from '@tallygate/receipts';
import { publicBytes, publicKeyOf } from '../signing-keys.ts';

/** A log signs under its own name. */
export const logKeyOf = (origin: string, x: string): NoteKey => ({ name: origin, kind: 'signature', publicKey: publicBytes(x) });

const keys = new Map<string, KeyObject>();

/**
 * Whether the note says exactly this of the log, and is signed by one of these keys. One of their signatures that does not hold makes it
 * worthless. A node, a root, a column can be altered by whoever writes to the database; this cannot.
 *
 * @param trusted public keys, base64url
 */
export function isSignedState(note: string, { origin, size, root }: Checkpoint, trusted: readonly string[]): boolean {
  const parsed = parseNote(note);
  const said = parsed && parseCheckpoint(parsed.text);
  if (!said || said.origin !== origin || said.size !== size || !Buffer.from(root).equals(said.root)) return false;
  const text = Buffer.from(parsed.text);
  const checked = trusted.flatMap((x) => {
    const id = Buffer.from(noteKeyId(logKeyOf(origin, x)));
    const found = parsed.signatures.filter(({ name, keyId }) => name === origin && id.equals(keyId));
    const key = keys.get(x) ?? publicKeyOf(x);
    keys.set(x, key);
    return found.map(({ signature }) => verify(null, text, key, signature));
  });
  return checked.length > 0 && checked.every((holds) => holds);
}
