import { signingInput } from '../digest.ts';
import { fromBase64, toHex, utf8 } from '../encoding.ts';
import { type LogKey, logKeysOf, pinnedKey } from '../keys.ts';
import type { ReceiptLog, ReceiptPayload } from '../receipt.ts';
import { Refused } from '../refusal.ts';
import { parseCheckpoint } from './checkpoint.ts';
import { parseNote, type Signer, signersOf } from './note.ts';
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
}

/**
 * Checks that the receipt is an entry of the log. Undefined where no key of the log is at hand: then nothing is shown.
 *
 * A checkpoint has no date. But it holds the receipt, so it was signed no earlier than the receipt's completion: a key that was retired by
 * then did not sign it in its time.
 *
 * Throws `Refused`.
 */
export function checkLog(
  payload: ReceiptPayload,
  log: Extract<ReceiptLog, { state: 'logged' }>,
  keySet: unknown,
  { logKeys: pinned, witnesses: { keys: named, quorum = 0 } = { keys: [] } }: LogTrust,
): LoggedReceipt | undefined {
  const logKeys: LogKey[] = pinned?.map((text) => ({ key: pinnedKey(text, 'signature'), notAfter: null })) ?? logKeysOf(keySet);
  if (logKeys.length === 0) return undefined;

  const note = parseNote(log.checkpoint);
  const checkpoint = note && parseCheckpoint(note.text);
  if (!checkpoint) throw new Refused('malformed_log', 'receipt.log.checkpoint is no checkpoint in a signed note.');
  const { origin, size, root } = checkpoint;
  // The number beside the checkpoint is for the reader's eye; two of them must not be able to disagree.
  if (size !== log.tree_size)
    throw new Refused('log_size_mismatch', `receipt.log.tree_size is ${log.tree_size}, the checkpoint is of ${size} entries.`);

  const cosigners = named.map((text) => pinnedKey(text, 'cosignature'));
  const signers = signersOf(note, [...logKeys.map(({ key }) => key), ...cosigners]);
  if (!signers) throw new Refused('bad_checkpoint_signature', 'A signature of a known key under receipt.log.checkpoint does not hold.');
  checkSigner(payload, origin, signers, logKeys);

  const path = log.inclusion_path.map((hash) => fromBase64(hash) ?? new Uint8Array());
  if (!isIncluded({ index: log.index, size, leafHash: leafHash(utf8(signingInput(payload))), root, path }))
    throw new Refused(
      'not_in_log',
      `receipt.log.inclusion_path does not lead from the receipt as entry ${log.index} to the checkpoint's root.`,
    );

  const witnesses = signers.flatMap(({ key, time }) => (time === null ? [] : [{ name: key.name, time: timeText(time) }]));
  if (witnesses.length < quorum)
    throw new Refused(
      'too_few_witnesses',
      `${witnesses.length} of the named witnesses have cosigned the checkpoint, demanded are ${quorum}.`,
    );
  return { origin, index: log.index, tree_size: size, root: toHex(root), witnesses };
}

/** A log signs under its own name: the key of another log says nothing of this one. */
function checkSigner(
  { completed_at: completedAt }: ReceiptPayload,
  origin: string,
  signers: readonly Signer[],
  logKeys: readonly LogKey[],
) {
  const signed = logKeys.filter(({ key }) => key.name === origin && signers.some((signer) => signer.key === key));
  if (signed.length === 0)
    throw new Refused('unknown_log_key', `No known key of ${JSON.stringify(origin)} has signed receipt.log.checkpoint.`);
  // Times have one spelling of fixed width, and so sort as text.
  if (signed.every(({ notAfter }) => notAfter !== null && completedAt > notAfter))
    throw new Refused('log_key_retired', `The log's key was retired at ${signed[0]?.notAfter}, the receipt is of ${completedAt}.`);
}

/** The last second that a `Date` has. */
const LATEST_S = 8_640_000_000_000n;

const timeText = (seconds: bigint): string => new Date(Number(seconds < LATEST_S ? seconds : LATEST_S) * 1000).toISOString();
