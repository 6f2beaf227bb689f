import type { MadeAnchor } from '../src/anchor/read-anchor.ts';
import { toHex } from '../src/encoding.ts';
import type { RefusalCode } from '../src/refusal.ts';
import { type BrokenVector, broken, honest } from './broken-vector.ts';
import { entryAt, INDEX, leavesAround, pathOf, rootOf, SIZE } from './vector-log.ts';
import { payloadWith } from './vector-receipts.ts';

/** How far the log was when it was anchored again. */
export const LATER_SIZE = 20;

const CONTRACT = `0x${'5a'.repeat(20)}`;
const CHAIN_ID = 8_453;
const BLOCK = 41;
/** 2026-11-21T08:05:00Z. */
const TIME = 1_795_248_300;

const leaves = leavesAround();
const entry = entryAt(leaves, INDEX);
const hex = (bytes: Uint8Array): string => `0x${toHex(bytes)}`;

/** What a receipt says of the state of the log with these leaves, on a chain. */
export const anchorAt = (of: readonly Uint8Array[], index = INDEX): MadeAnchor => ({
  state: 'finalized',
  id: '019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77',
  chain_id: CHAIN_ID,
  contract: CONTRACT,
  tree_size: of.length,
  root: hex(rootOf(of)),
  transaction_hash: `0x${'7b'.repeat(32)}`,
  block_number: BLOCK,
  block_time: '2026-11-21T08:05:00.000Z',
  index,
  path: pathOf(of, index).map(hex),
});

const anchor = anchorAt(leaves);
const withAnchor = (changes: object): unknown => ({ ...honest, log: entry, anchor: { ...anchor, ...changes } });
const refused = (code: RefusalCode, why: string, changes: object): BrokenVector => broken(code, why, withAnchor(changes));

/** The same receipt at the same place among other entries: a log with another past. */
const rewritten = leaves.map((leaf, at) => (at === 0 ? (leavesAround(payloadWith(), INDEX, LATER_SIZE)[LATER_SIZE - 1] ?? leaf) : leaf));

export const brokenAnchorVectors: Readonly<Record<string, BrokenVector>> = {
  'anchor-wrong-root': refused('not_in_anchor', 'The root of a later state beside the path to an earlier one.', {
    root: anchorAt(leavesAround(payloadWith(), INDEX, LATER_SIZE)).root,
  }),
  'anchor-later-size': refused('not_in_anchor', 'The size of a later state beside root and path of an earlier one.', {
    tree_size: LATER_SIZE,
  }),
  'anchor-earlier-size': refused('not_in_anchor', 'The size of a state that did not have the receipt yet.', { tree_size: INDEX }),
  'anchor-wrong-index': refused('not_in_anchor', 'The position of the neighbour.', { index: INDEX - 1 }),
  'anchor-path-cut': refused('not_in_anchor', 'The last hash of the path is missing.', { path: anchor.path.slice(0, -1) }),
  'anchor-path-padded': refused('not_in_anchor', 'A hash more at the end of the path.', { path: [...anchor.path, anchor.root] }),
  'anchor-path-empty': refused('not_in_anchor', 'No path at all.', { path: [] }),
  'anchor-of-rewritten-log': refused(
    'anchor_of_another_log',
    'The chain holds a state of the same size with another past: two logs were shown.',
    anchorAt(rewritten),
  ),
  'anchor-at-another-place': refused(
    'anchor_of_another_log',
    'The receipt is at another place in the log on the chain than in the one that was signed.',
    anchorAt(leavesAround(payloadWith(), 2), 2),
  ),
  'anchor-root-in-upper-case': refused('malformed_anchor', 'A second spelling of the root.', {
    root: `0x${anchor.root.slice(2).toUpperCase()}`,
  }),
  'anchor-before-completion': refused('seen_before_completed', 'A block of an hour before the request.', {
    block_time: '2026-11-21T07:00:01.250Z',
  }),
  'anchor-without-contract': refused('malformed_anchor', 'No address where one has to be.', { contract: undefined }),
  'anchor-path-in-base64': refused('malformed_anchor', 'Hashes as the log writes them.', { path: entry.inclusion_path }),
};

/** What a chain answers, in the place of a node. */
export interface ChainVector {
  readonly why: string;
  readonly receipt: unknown;
  readonly chain: {
    readonly chain_id: number;
    /** By contract and root. Times are seconds since 1970. */
    readonly contracts: Readonly<Record<string, Readonly<Record<string, { readonly size: number; readonly time: number }>>>>;
  };
  /** The contract as the reader knows it from elsewhere. */
  readonly contract?: string;
  /** `confirmed`, or why not. */
  readonly expected: 'confirmed' | 'other_chain' | 'other_contract' | 'no_contract' | 'not_on_chain' | 'other_size';
}

const held = { chain_id: CHAIN_ID, contracts: { [CONTRACT]: { [anchor.root]: { size: SIZE, time: TIME } } } };
const onChain = (expected: ChainVector['expected'], why: string, more: Partial<ChainVector> = {}): ChainVector => ({
  ...{ why, expected, receipt: withAnchor({}), chain: held },
  ...more,
});

export const chainVectors: Readonly<Record<string, ChainVector>> = {
  confirmed: onChain('confirmed', 'The contract holds the root, with the size that the receipt names.'),
  'known-contract': onChain('confirmed', 'The contract is the one that the reader knows, in another spelling.', {
    contract: `0x${'5A'.repeat(20)}`,
  }),
  'wrong-chain': onChain('other_chain', 'The node is of another chain, which has the same contract with the same state.', {
    chain: { ...held, chain_id: 1 },
  }),
  'wrong-chain-named': onChain('other_chain', 'The receipt names a chain that the node is not of.', {
    receipt: withAnchor({ chain_id: 10 }),
  }),
  'wrong-contract': onChain('other_contract', 'A contract that the reader does not know, made by the one who made the receipt.', {
    contract: `0x${'11'.repeat(20)}`,
  }),
  'no-contract': onChain('no_contract', 'There is nothing at the address.', { chain: { ...held, contracts: {} } }),
  'not-on-chain': onChain('not_on_chain', 'The contract never had this root.', { chain: { ...held, contracts: { [CONTRACT]: {} } } }),
  'wrong-size': onChain('other_size', 'The contract holds this root for another number of entries.', {
    chain: { ...held, contracts: { [CONTRACT]: { [anchor.root]: { size: LATER_SIZE, time: TIME } } } },
  }),
};
