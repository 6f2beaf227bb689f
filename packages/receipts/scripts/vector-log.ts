import nacl from 'tweetnacl';
import { receiptDigest } from '../src/digest.ts';
import { toBase64, utf8 } from '../src/encoding.ts';
import { checkpointText } from '../src/log/checkpoint.ts';
import { declarationDigest } from '../src/log/declaration.ts';
import { cosignatureLine, cosignedText, signatureLine } from '../src/log/note.ts';
import { inclusionRanges, type LeafRange, leafHash, nodeHash, nodesOf, type TreeNode } from '../src/log/tree.ts';
import type { LoggedPrice, PriceDeclaration, ReceiptLog, ReceiptPayload } from '../src/receipt.ts';
import { sha256 } from '../src/sha256.ts';
import { LOG_ORIGIN, logCurrent, noteKey, payloadWith, priceDeclaration, type VectorKey, witness } from './vector-receipts.ts';

export type LoggedEntry = Extract<ReceiptLog, { state: 'logged' }>;

export const WITNESS_NAME = 'vectors.tallygate.test/witness';

/** The place of the vectors’ receipt in their log, and how large that is. */
export const INDEX = 5;
export const SIZE = 13;

/** Leaf hashes of a log that has the payload at an index, and other entries around it. */
export const leavesAround = (payload: ReceiptPayload = payloadWith(), index = INDEX, size = SIZE): Uint8Array[] =>
  Array.from({ length: size }, (_, at) =>
    leafHash(at === index ? receiptDigest(payload) : at === 0 ? declarationDigest(priceDeclaration) : sha256(utf8(`entry ${at}`))),
  );

/** Straight from the definition, without anything kept (RFC 9162, section 2.1.1). */
export function hashOfRange(leaves: readonly Uint8Array[], range: LeafRange): Uint8Array {
  const subtree = ({ level, index }: TreeNode): Uint8Array =>
    level === 0
      ? (leaves[index] ?? new Uint8Array())
      : nodeHash(subtree({ level: level - 1, index: index * 2 }), subtree({ level: level - 1, index: index * 2 + 1 }));
  return nodesOf(range)
    .map(subtree)
    .reduceRight((right, left) => nodeHash(left, right));
}

export const rootOf = (leaves: readonly Uint8Array[]): Uint8Array => hashOfRange(leaves, { start: 0, end: leaves.length });

export const pathOf = (leaves: readonly Uint8Array[], index: number): Uint8Array[] =>
  inclusionRanges(index, leaves.length).map((range) => hashOfRange(leaves, range));

/** The price of the vectors with its proof, as a receipt of a log with these leaves carries it. */
export const loggedPrice = (leaves: readonly Uint8Array[], declaration: PriceDeclaration = priceDeclaration, index = 0): LoggedPrice => ({
  declaration,
  inclusion_path: pathOf(leaves, index).map(toBase64),
});

export interface Signing {
  readonly keys?: readonly VectorKey[];
  readonly origin?: string;
  /** Adds the cosignature of the witness. */
  readonly isWitnessed?: boolean;
}

/** The state of a log, signed. */
export function checkpointNote(
  { size, root }: { size: number; root: Uint8Array },
  { keys = [logCurrent], origin = LOG_ORIGIN, isWitnessed = false }: Signing = {},
): string {
  const text = checkpointText({ origin, size, root });
  const signed = (message: string, { secretKey }: VectorKey) => nacl.sign.detached(utf8(message), secretKey);
  const lines = keys.map((key) => signatureLine(noteKey(key, origin), signed(text, key)));
  const cosigned = cosignatureLine(noteKey(witness, WITNESS_NAME, 'cosignature'), TIME, signed(cosignedText(text, TIME), witness));
  return `${text}\n${lines.join('')}${isWitnessed ? cosigned : ''}`;
}

/** 2026-11-21T08:00:05Z, seconds after the receipt. */
const TIME = 1_795_248_005n;

/** What a receipt says of its place in the log with these leaves. */
export const entryAt = (leaves: readonly Uint8Array[], index: number, signing?: Signing): LoggedEntry => ({
  state: 'logged',
  index,
  tree_size: leaves.length,
  inclusion_path: pathOf(leaves, index).map(toBase64),
  checkpoint: checkpointNote({ size: leaves.length, root: rootOf(leaves) }, signing),
});
