import { receiptDigest } from '../digest.ts';
import { fromHex, toHex } from '../encoding.ts';
import { isIncluded } from '../log/proofs.ts';
import type { LoggedReceipt } from '../log/receipt-log.ts';
import { leafHash } from '../log/tree.ts';
import type { ReceiptPayload } from '../receipt.ts';
import { Refused } from '../refusal.ts';
import { checkSeenAfter } from '../times.ts';
import type { MadeAnchor } from './read-anchor.ts';

/** What an anchor names: a state of the log that holds the receipt. That it is on the chain is for the chain to say. */
export type AnchoredReceipt = Omit<MadeAnchor, 'path'>;

/**
 * Checks that the receipt is an entry of the state that its anchor names, and, where that is the very state of the log's proof, that both are
 * the same. Asks no chain: see `confirmAnchor`.
 *
 * Throws `Refused`.
 */
export function checkAnchor(payload: ReceiptPayload, { path, ...anchor }: MadeAnchor, logged: LoggedReceipt | undefined): AnchoredReceipt {
  const { index, tree_size: size } = anchor;
  const root = bytesOf(anchor.root);
  if (!isIncluded({ index, size, leafHash: leafHash(receiptDigest(payload)), root, path: path.map(bytesOf) }))
    throw new Refused('not_in_anchor', `receipt.anchor.path does not lead from the receipt as entry ${index} to the anchor's root.`);
  const isOtherPlace = logged !== undefined && logged.index !== index;
  const isOtherState = logged?.tree_size === size && logged.root !== toHex(root);
  if (isOtherPlace || isOtherState)
    throw new Refused('anchor_of_another_log', 'receipt.anchor and receipt.log place the receipt differently: they are not of one log.');
  if (anchor.block_time !== null) checkSeenAfter(payload.completed_at, "the anchor's block", anchor.block_time);
  return anchor;
}

const bytesOf = (hex: string): Uint8Array => fromHex(hex.slice(2)) ?? new Uint8Array();
