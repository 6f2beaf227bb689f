import { fromBase64, toHex } from '../encoding.ts';
import { type LogKey, logKeysOf, pinnedKey } from '../keys.ts';
import type { ReceiptLog } from '../receipt.ts';
import { type Refusal, Refused, refusalAsValue } from '../refusal.ts';
import { checkSeenAfter } from '../times.ts';
import { type Checkpoint, parseCheckpoint } from './checkpoint.ts';
import { type NoteKey, parseNote, type Signer, signersOf } from './note.ts';
import { isIncluded } from './proofs.ts';
import { leafHash } from './tree.ts';

/** Whom to believe of a log's state, beside what its key set says. */
export interface LogTrust {
  /** Keys of the log (`verifier_key`) that were had in a safe way; they take the place of those in the key set. */
  readonly logKeys?: readonly string[];
  /** Witnesses (`verifier_key` of a cosignature), and how many of them have to have cosigned: without `quorum`, none. */
  readonly witnesses?: { readonly keys: readonly string[]; readonly quorum?: number };
}

/** What the log's proof has shown. */
export interface LoggedReceipt {
  /** Which log. */
  readonly origin: string;
  readonly index: number;
  readonly tree_size: number;
  /** Root of that state, hex. */
  readonly root: string;
  /** Witnesses that saw this state, and when: RFC 3339, by their own clocks. */
  readonly witnesses: readonly { readonly name: string; readonly time: string }[];
  /** That state as the log signed it, for `rememberCheckpoint`. */
  readonly checkpoint: string;
}

/** A checkpoint with the signatures that hold under it. */
interface CheckedNote {
  readonly checkpoint: Checkpoint;
  readonly signers: readonly Signer[];
}

/** What was found of notes that many receipts share, by their text: of a file of thousands, each is checked once. */
export type CheckedNotes = Map<string, CheckedNote>;

/** Throws `Refused`. */
function checkNote(note: string, logKeys: readonly LogKey[], { witnesses }: LogTrust): CheckedNote {
  const parsed = parseNote(note);
  const checkpoint = parsed && parseCheckpoint(parsed.text);
  if (!checkpoint) throw new Refused('malformed_log', 'The checkpoint is none in a signed note.');
  const cosigners = witnesses?.keys.map((text) => pinnedKey(text, 'cosignature')) ?? [];
  const signers = signersOf(parsed, [...logKeys.map(({ key }) => key), ...cosigners]);
  if (!signers) throw new Refused('bad_checkpoint_signature', 'A signature of a known key under the checkpoint does not hold.');
  return { checkpoint, signers };
}

const trustedKeys = (keySet: unknown, { logKeys: pinned }: LogTrust): LogKey[] =>
  pinned?.map((text) => ({ key: pinnedKey(text, 'signature'), notAfter: null })) ?? logKeysOf(keySet);

const witnessesOf = (signers: readonly Signer[]): LoggedReceipt['witnesses'] =>
  signers.flatMap(({ key, time }) => (time === null ? [] : [{ name: key.name, time: timeText(time) }]));

function checkQuorum(found: number, { witnesses: { quorum = 0 } = { keys: [] } }: LogTrust): void {
  if (found < quorum)
    throw new Refused('too_few_witnesses', `${found} of the named witnesses have cosigned the checkpoint, demanded are ${quorum}.`);
}

/** What is to be shown to stand in the log. */
export interface LogEntry {
  readonly digest: Uint8Array;
  /** When it was made, by its own word: RFC 3339. */
  readonly madeAt: string;
}

/**
 * Checks that a receipt, or an invoice, is an entry of the log. Undefined where no key of the log is at hand: then nothing is shown.
 *
 * A checkpoint has no date. But it holds the entry, so it was signed no earlier than that was made: a key that was retired by then did not
 * sign it in its time.
 *
 * Throws `Refused`.
 */
export function checkLog(
  { digest, madeAt }: LogEntry,
  log: Extract<ReceiptLog, { state: 'logged' }>,
  keySet: unknown,
  { trust, notes }: { readonly trust: LogTrust; readonly notes: CheckedNotes },
): LoggedReceipt | undefined {
  const logKeys = trustedKeys(keySet, trust);
  if (logKeys.length === 0) return undefined;
  const note = notes.get(log.checkpoint) ?? checkNote(log.checkpoint, logKeys, trust);
  notes.set(log.checkpoint, note);
  const { origin, size, root } = note.checkpoint;
  // The number beside the checkpoint is for the reader's eye; two of them must not be able to disagree.
  if (size !== log.tree_size)
    throw new Refused('log_size_mismatch', `log.tree_size is ${log.tree_size}, the checkpoint is of ${size} entries.`);
  checkPeriodOfSigner(madeAt, note, logKeys);

  const path = log.inclusion_path.map((hash) => fromBase64(hash) ?? new Uint8Array());
  if (!isIncluded({ index: log.index, size, leafHash: leafHash(digest), root, path }))
    throw new Refused('not_in_log', `log.inclusion_path does not lead from the digest as entry ${log.index} to the checkpoint's root.`);

  const witnesses = witnessesOf(note.signers);
  checkQuorum(witnesses.length, trust);
  for (const { name, time } of witnesses) checkSeenAfter(madeAt, `the witness ${name}`, time);
  return { origin, index: log.index, tree_size: size, root: toHex(root), witnesses, checkpoint: log.checkpoint };
}

/** A state of the log that holds. */
export interface VerifiedCheckpoint {
  readonly valid: true;
  readonly checkpoint: Checkpoint;
  /** Names of the keys that have signed: the log's own, which is the log's name, and those of witnesses. */
  readonly signers: readonly string[];
}

/**
 * Checks a state of the log, a signed note, by itself. It has no date: a key that has been retired since may have signed it in its time.
 */
export const verifyCheckpoint = (note: string, keySet: unknown, trust: LogTrust = {}): VerifiedCheckpoint | Refusal =>
  refusalAsValue(() => {
    const logKeys = trustedKeys(keySet, trust);
    const checked = checkNote(note, logKeys, trust);
    ownSigners(checked, logKeys);
    checkQuorum(witnessesOf(checked.signers).length, trust);
    return { valid: true, checkpoint: checked.checkpoint, signers: [...new Set(checked.signers.map(({ key }) => key.name))] };
  });

/** A log signs under its own name: the key of another log says nothing of this one. */
function ownSigners({ checkpoint: { origin }, signers }: CheckedNote, logKeys: readonly LogKey[]): LogKey[] {
  const signed = logKeys.filter(
    ({ key }) => key.name === origin && signers.some((signer) => signer.key.name === origin && areSame(signer.key, key)),
  );
  if (signed.length === 0) throw new Refused('unknown_log_key', `No known key of ${JSON.stringify(origin)} has signed the checkpoint.`);
  return signed;
}

const areSame = (a: NoteKey, b: NoteKey): boolean => a.kind === b.kind && toHex(a.publicKey) === toHex(b.publicKey);

function checkPeriodOfSigner(madeAt: string, note: CheckedNote, logKeys: readonly LogKey[]): void {
  const signed = ownSigners(note, logKeys);
  // Times have one spelling of fixed width, and so sort as text.
  if (signed.every(({ notAfter }) => notAfter !== null && madeAt > notAfter))
    throw new Refused('log_key_retired', `The log's key was retired at ${signed[0]?.notAfter}, the entry is of ${madeAt}.`);
}

/** The last second that a `Date` has. */
const LATEST_S = 8_640_000_000_000n;

const timeText = (seconds: bigint): string => new Date(Number(seconds < LATEST_S ? seconds : LATEST_S) * 1000).toISOString();
