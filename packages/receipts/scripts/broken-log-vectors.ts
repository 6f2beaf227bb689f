import { receiptDigest } from '../src/digest.ts';
import { toBase64, toHex, utf8 } from '../src/encoding.ts';
import { toVerifierKey } from '../src/log/note.ts';
import { leafHash, nodeHash } from '../src/log/tree.ts';
import type { ReceiptResponse } from '../src/receipt.ts';
import type { RefusalCode } from '../src/refusal.ts';
import { sha256 } from '../src/sha256.ts';
import { type BrokenVector, broken, honest } from './broken-vector.ts';
import { checkpointNote, entryAt, hashOfRange, INDEX, type LoggedEntry, leavesAround, rootOf, SIZE, WITNESS_NAME } from './vector-log.ts';
import { current, issue, logRetired, noteKey, payloadWith, stranger, witness } from './vector-receipts.ts';

const leaves = leavesAround();
const entry = entryAt(leaves, INDEX);

const withLog = (code: RefusalCode, why: string, changes: object): BrokenVector =>
  broken(code, why, { ...honest, log: { ...entry, ...changes } });
const swapped = ([first = '', second = '', ...rest]: readonly string[]): string[] => [second, first, ...rest];

/** Bitcoin's tree: a last node without a neighbour is doubled, so that two lists of entries have one root (CVE-2012-2459). */
function doubledLastLeaf(): LoggedEntry {
  const last = leafHash(receiptDigest(honest.payload));
  const [a = last, b = last] = leavesAround(honest.payload, 2, 3);
  const left = nodeHash(a, b);
  const root = nodeHash(left, nodeHash(last, last));
  return { ...entry, index: 2, tree_size: 3, inclusion_path: [last, left].map(toBase64), checkpoint: checkpointNote({ size: 3, root }) };
}

/** A tree whose leaves and nodes are hashed alike: an inner node can be passed off as an entry. */
function withoutPrefixes(): LoggedEntry {
  const join = (left: Uint8Array, right: Uint8Array) => sha256(Uint8Array.of(...left, ...right));
  const sibling = sha256(utf8('entry 0'));
  const root = join(sibling, sha256(receiptDigest(honest.payload)));
  return { ...entry, index: 1, tree_size: 2, inclusion_path: [toBase64(sibling)], checkpoint: checkpointNote({ size: 2, root }) };
}

/** The receipt in a tree of pairs: one level of hashing is left out, as if two entries were one. */
function shortcut(): LoggedEntry {
  const pairs = Array.from({ length: (SIZE - 1) / 2 }, (_, at) => hashOfRange(leaves, { start: at * 2, end: at * 2 + 2 }));
  const { inclusion_path: path } = entryAt(pairs, (INDEX - 1) / 2);
  return {
    ...entry,
    index: (INDEX - 1) / 2,
    tree_size: pairs.length,
    inclusion_path: path,
    checkpoint: checkpointNote({ size: pairs.length, root: rootOf(pairs) }),
  };
}

/** The holder of the keys can put any time into a receipt, and not into what a witness signed. */
function postdated(): ReceiptResponse {
  const payload = payloadWith({ completed_at: '2026-11-21T09:00:00.000Z' });
  return issue(payload, current, entryAt(leavesAround(payload), INDEX, { isWitnessed: true }));
}

const positions: Record<string, BrokenVector> = {
  'log-wrong-index': withLog('not_in_log', 'The proof is genuine, the position is that of the neighbour.', { index: INDEX - 1 }),
  'log-index-beyond-size': withLog('not_in_log', 'A position that the log does not have yet.', { index: SIZE }),
  'log-proof-cut': withLog('not_in_log', 'The last hash of the path is missing.', { inclusion_path: entry.inclusion_path.slice(0, -1) }),
  'log-proof-padded': withLog('not_in_log', 'A hash more at the end of the path.', {
    inclusion_path: [...entry.inclusion_path, entry.inclusion_path[0]],
  }),
  'log-proof-empty': withLog('not_in_log', 'No path at all.', { inclusion_path: [] }),
  'log-swapped-siblings': withLog('not_in_log', 'Two hashes of the path change places.', { inclusion_path: swapped(entry.inclusion_path) }),
  'log-of-another-receipt': withLog('not_in_log', 'Place and proof of another entry of the log.', entryAt(leaves, INDEX + 1)),
  'log-second-preimage': withLog('not_in_log', 'A path that begins one level up: an inner node in the place of the entry.', shortcut()),
  'log-without-prefixes': withLog('not_in_log', 'A tree whose leaves and nodes are hashed alike, signed by the log.', withoutPrefixes()),
  'log-duplicated-last-leaf': withLog(
    'not_in_log',
    'A tree that doubles a last leaf without neighbour, signed by the log.',
    doubledLastLeaf(),
  ),
};

const checkpoints: Record<string, BrokenVector> = {
  'log-changed-size': withLog('bad_checkpoint_signature', 'Another size in the checkpoint and beside it, under the old signature.', {
    tree_size: SIZE + 1,
    checkpoint: entry.checkpoint.replace(`\n${SIZE}\n`, `\n${SIZE + 1}\n`),
  }),
  'log-size-mismatch': withLog('log_size_mismatch', 'Another size beside the checkpoint than in it.', { tree_size: SIZE + 1 }),
  'log-changed-root': withLog('bad_checkpoint_signature', 'Another root, under the old signature.', {
    checkpoint: entry.checkpoint.replace(toBase64(rootOf(leaves)), toBase64(sha256(rootOf(leaves)))),
  }),
  'log-signed-by-stranger': withLog('unknown_log_key', 'A log of the same name, signed with a key that is not in the set.', {
    ...entryAt(leaves, INDEX, { keys: [stranger] }),
  }),
  'log-signed-by-receipt-key': withLog('unknown_log_key', 'Signed with the key that signs receipts: no key does both.', {
    ...entryAt(leaves, INDEX, { keys: [current] }),
  }),
  'log-of-another-name': withLog('unknown_log_key', 'The right key, which signed under the name of another log.', {
    ...entryAt(leaves, INDEX, { origin: 'vectors.tallygate.test/other' }),
  }),
  'log-resigned-with-retired-key': withLog(
    'log_key_retired',
    'A state that holds a receipt of November, signed with a key that was retired in July.',
    entryAt(leaves, INDEX, { keys: [logRetired] }),
  ),
  'log-note-unsigned': withLog('malformed_log', 'A checkpoint without any signature.', {
    checkpoint: entry.checkpoint.slice(0, entry.checkpoint.indexOf('\n\n') + 2),
  }),
  'log-root-in-hex': withLog('malformed_log', 'The root of the checkpoint is not base64.', {
    checkpoint: entry.checkpoint.replace(toBase64(rootOf(leaves)), toHex(rootOf(leaves))),
  }),
  'log-path-in-hex': withLog('malformed_log', 'A path that is not base64.', { inclusion_path: leaves.slice(0, 4).map(toHex) }),
  'log-unknown-state': withLog('malformed_log', 'Neither pending nor logged.', { state: 'soon' }),
  'log-without-path': withLog('malformed_log', 'No path where one has to be.', { inclusion_path: undefined }),
};

const forgeries: Record<string, BrokenVector> = {
  'log-witnessed-before-completion': {
    ...broken(
      'seen_before_completed',
      'A receipt of an hour after the time at which a witness cosigned a state that holds it.',
      postdated(),
    ),
    witnesses: [toVerifierKey(noteKey(witness, WITNESS_NAME, 'cosignature'))],
  },
};

export const brokenLogVectors: Readonly<Record<string, BrokenVector>> = { ...positions, ...checkpoints, ...forgeries };
