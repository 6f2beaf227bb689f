import { verifyEd25519 } from '../ed25519.ts';
import { fromBase64, toBase64, toHex, utf8 } from '../encoding.ts';
import { sha256 } from '../sha256.ts';

/** Signed notes as C2SP specifies them (c2sp.org/signed-note), with Ed25519 and with the timestamped cosignatures of witnesses. */

const SIGNED = 0x01;
/** c2sp.org/tlog-cosignature, `cosignature/v1`. */
const COSIGNED = 0x04;
const KEY_ID_BYTES = 4;
const SIGNATURE_BYTES = 64;
const TIME_BYTES = 8;
/** c2sp.org/signed-note: a note with more signatures may be refused. */
const MOST_SIGNATURES = 100;
const MOST_BYTES = 1_000_000;
/** No control characters but the line ends. */
const TEXT = /^[^\p{Cc}]*(?:\n[^\p{Cc}]*)*\n$/u;
const SIGNATURE_LINE = /^— (\S+) (\S+)$/;
const KEY_NAME = /^[^\s+]+$/;

/** A public key that signs notes. `signature`: of the log itself; `cosignature`: of a witness, which says when it saw the note. */
export interface NoteKey {
  readonly name: string;
  readonly kind: 'signature' | 'cosignature';
  /** 32 bytes. */
  readonly publicKey: Uint8Array;
}

/** A note in its parts; nothing of it is verified. */
export interface Note {
  /** Ends in a line end. */
  readonly text: string;
  readonly signatures: readonly NoteSignature[];
}

export interface NoteSignature {
  readonly name: string;
  readonly keyId: Uint8Array;
  readonly signature: Uint8Array;
}

/** A signature that holds. */
export interface Signer {
  readonly key: NoteKey;
  /** When a witness signed, Unix seconds; null of the log's own signature. */
  readonly time: bigint | null;
}

/** First four bytes of SHA-256 over name, line end, kind and key. */
export const noteKeyId = ({ name, kind, publicKey }: NoteKey): Uint8Array =>
  sha256(concat(utf8(`${name}\n`), typed(kind, publicKey))).subarray(0, KEY_ID_BYTES);

/** `name+id+key`, as keys of notes are handed around (vkey). */
export const toVerifierKey = (key: NoteKey): string => `${key.name}+${toHex(noteKeyId(key))}+${toBase64(typed(key.kind, key.publicKey))}`;

/** Undefined for text that is no such key, or whose id is that of another. */
export function fromVerifierKey(text: string): NoteKey | undefined {
  const [, name = '', id = '', encoded = ''] = /^([^+]+)\+([0-9a-f]{8})\+(.+)$/.exec(text) ?? [];
  const bytes = fromBase64(encoded);
  if (!KEY_NAME.test(name) || bytes?.length !== 33) return undefined;
  const kind = bytes[0] === SIGNED ? 'signature' : bytes[0] === COSIGNED ? 'cosignature' : undefined;
  if (!kind) return undefined;
  const key: NoteKey = { name, kind, publicKey: bytes.subarray(1) };
  return toHex(noteKeyId(key)) === id ? key : undefined;
}

/** Undefined for text that is no signed note. */
export function parseNote(note: string): Note | undefined {
  if (note.length > MOST_BYTES) return undefined;
  const at = note.lastIndexOf('\n\n');
  if (at < 0) return undefined;
  const text = note.slice(0, at + 1);
  const lines = note.slice(at + 2).split('\n');
  if (!TEXT.test(text) || lines.pop() !== '' || lines.length === 0 || lines.length > MOST_SIGNATURES) return undefined;
  const signatures: NoteSignature[] = [];
  for (const line of lines) {
    const [, name = '', encoded = ''] = SIGNATURE_LINE.exec(line) ?? [];
    const bytes = fromBase64(encoded);
    if (!KEY_NAME.test(name) || !bytes || bytes.length <= KEY_ID_BYTES) return undefined;
    signatures.push({ name, keyId: bytes.subarray(0, KEY_ID_BYTES), signature: bytes.subarray(KEY_ID_BYTES) });
  }
  return { text, signatures };
}

/**
 * Who of these keys has signed. Signatures of other keys are passed over, as the specification asks; one of a known key that does not hold
 * makes the whole note worthless: undefined.
 */
export function signersOf({ text, signatures }: Note, keys: readonly NoteKey[]): Signer[] | undefined {
  const signers: Signer[] = [];
  for (const { name, keyId, signature } of signatures) {
    const key = keys.find((one) => one.name === name && toHex(noteKeyId(one)) === toHex(keyId));
    if (!key || signers.some((signer) => signer.key === key)) continue;
    const time = key.kind === 'signature' ? null : timeOf(signature);
    const proof = key.kind === 'signature' ? signature : signature.subarray(TIME_BYTES);
    if (proof.length !== SIGNATURE_BYTES || time === undefined) return undefined;
    const message = utf8(time === null ? text : cosignedText(text, time));
    if (!verifyEd25519(message, proof, key.publicKey)) return undefined;
    signers.push({ key, time });
  }
  return signers;
}

/** The text whose UTF-8 bytes a witness signs. */
export const cosignedText = (text: string, time: bigint): string => `cosignature/v1\ntime ${time}\n${text}`;

/** The line that a signature over the text of a note adds to it. */
export const signatureLine = (key: NoteKey, signature: Uint8Array): string =>
  `— ${key.name} ${toBase64(concat(noteKeyId(key), signature))}\n`;

/** The line of a witness, whose signature is over {@link cosignedText}. */
export function cosignatureLine(key: NoteKey, time: bigint, signature: Uint8Array): string {
  const stamp = new Uint8Array(TIME_BYTES);
  new DataView(stamp.buffer).setBigUint64(0, time);
  return signatureLine(key, concat(stamp, signature));
}

function timeOf(signature: Uint8Array): bigint | undefined {
  if (signature.length !== TIME_BYTES + SIGNATURE_BYTES) return undefined;
  return new DataView(signature.buffer, signature.byteOffset).getBigUint64(0);
}

const typed = (kind: NoteKey['kind'], publicKey: Uint8Array): Uint8Array =>
  concat(Uint8Array.of(kind === 'signature' ? SIGNED : COSIGNED), publicKey);

function concat(first: Uint8Array, second: Uint8Array): Uint8Array {
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}
