import type { AnchoredReceipt, ConfirmedAnchor, UnconfirmedAnchor } from '@tallygate/receipts';
import { nodeFailure } from '../anchors/node-failure.ts';
import type { CommandWorld } from '../command.ts';

/** Which node is asked for anchors; without one the chain is not asked. */
export interface ChainOptions {
  readonly rpc?: string;
  readonly contract?: string;
}

export type OnChain = ConfirmedAnchor | UnconfirmedAnchor | NotAnchored;

interface NotAnchored {
  readonly confirmed: false;
  readonly code: 'not_anchored';
  readonly reason: string;
}

const NOT_ANCHORED: NotAnchored = {
  confirmed: false,
  code: 'not_anchored',
  reason: 'The receipt names no state of the log on a chain. Fetched again later it does, once the log was anchored.',
};

/**
 * Asks the node of `--rpc` for the anchors of receipts, once for every state of the log. Undefined where no node is named.
 *
 * @throws Failure where the node cannot be asked
 */
export function chainOf(world: CommandWorld, { rpc, contract }: ChainOptions) {
  if (rpc === undefined) return undefined;
  const asked = new Map<string, Promise<OnChain>>();
  return async (anchored: AnchoredReceipt | undefined): Promise<OnChain> => {
    if (!anchored) return NOT_ANCHORED;
    const state = [anchored.chain_id, anchored.contract, anchored.tree_size, anchored.root, anchored.block_number].join(' ');
    const { confirmAnchor } = await import('@tallygate/receipts');
    const options = { rpcUrl: rpc, signal: world.signal, ...(contract !== undefined && { contract }) };
    const answer =
      asked.get(state) ??
      confirmAnchor(anchored, options).catch((error: unknown) => {
        throw nodeFailure(error);
      });
    asked.set(state, answer);
    return answer;
  };
}

export type Chain = ReturnType<typeof chainOf>;

/** `chain 8453, block 41, since 2026-11-21T08:05:00.000Z (finalized)` */
export function chainText(found: OnChain): string {
  if (!found.confirmed) return `not confirmed: ${found.reason} (${found.code})`;
  const block = found.block_number === null ? 'in another block than the receipt names' : `block ${found.block_number}`;
  return `chain ${found.chain_id}, ${block}, since ${found.time} (${found.finality})`;
}
