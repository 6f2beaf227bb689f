import { fromBase64, toBase64 } from '../encoding.ts';
import { type Checkpoint, parseCheckpoint } from './checkpoint.ts';
import { type NoteKey, parseNote, type Signer, signersOf } from './note.ts';
import { isIncluded } from './proofs.ts';
import { HASH_BYTES, isSize, leafHash } from './tree.ts';

/** A `.tlog-proof` file (c2sp.org/tlog-proof): all that is needed to check, without asking anybody, that an entry stands in a log. */
export interface TlogProof {
  readonly index: number;
  readonly path: readonly Uint8Array[];
  /** The signed note. */
  readonly checkpoint: string;
}

const MAGIC = 'c2sp.org/tlog-proof@v1';
const INDEX = /^index (0|[1-9]\d{0,15})$/;
/** The path of a leaf in a tree of 2^53 leaves. */
const LONGEST_PATH = 53;

export const formatTlogProof = ({ index, path, checkpoint }: TlogProof): string =>
  `${MAGIC}\nindex ${index}\n${path.map((hash) => `${toBase64(hash)}\n`).join('')}\n${checkpoint}`;

/** Undefined for text that is no such file. */
export function parseTlogProof(text: string): TlogProof | undefined {
  const at = text.indexOf('\n\n');
  if (at < 0) return undefined;
  const [magic, ...lines] = text.slice(0, at).split('\n');
  // Whatever an application says there is not part of the proof.
  if (lines[0]?.startsWith('extra ')) lines.shift();
  const [indexLine = '', ...hashes] = lines;
  const index = Number(INDEX.exec(indexLine)?.[1] ?? Number.NaN);
  const path = hashes.map((line) => fromBase64(line));
  if (magic !== MAGIC || !isSize(index) || path.length > LONGEST_PATH || !path.every(isHash)) return undefined;
  return { index, path, checkpoint: text.slice(at + 2) };
}

const isHash = (bytes: Uint8Array | undefined): bytes is Uint8Array => bytes?.length === HASH_BYTES;

/** What a proof has shown. */
export interface Logged {
  readonly index: number;
  readonly checkpoint: Checkpoint;
  /** The keys of the log that have signed; at least one. */
  readonly signers: readonly Signer[];
}

/** Why a proof shows nothing. */
export type LogFault = 'malformed_proof' | 'malformed_checkpoint' | 'other_log' | 'bad_note_signature' | 'unknown_log_key' | 'not_included';

export interface LogOf {
  readonly origin: string;
  /** Of the log, and of witnesses. */
  readonly keys: readonly NoteKey[];
}

/** Checks that the entry stands in the log, by one of the log's own keys. */
export function checkTlogProof(text: string, entry: Uint8Array, { origin, keys }: LogOf): Logged | LogFault {
  const proof = parseTlogProof(text);
  if (!proof) return 'malformed_proof';
  const note = parseNote(proof.checkpoint);
  const checkpoint = note && parseCheckpoint(note.text);
  if (!checkpoint) return 'malformed_checkpoint';
  if (checkpoint.origin !== origin) return 'other_log';
  const signers = signersOf(note, keys);
  if (!signers) return 'bad_note_signature';
  if (!signers.some(({ key }) => key.kind === 'signature')) return 'unknown_log_key';
  const { index, path } = proof;
  const { size, root } = checkpoint;
  if (!isIncluded({ index, size, leafHash: leafHash(entry), root, path })) return 'not_included';
  return { index, checkpoint, signers };
}
