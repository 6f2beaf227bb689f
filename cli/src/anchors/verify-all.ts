import type { ConfirmOptions } from '@tallygate/receipts';
import type { AnchorResponse, Tallygate } from '@tallygate/sdk';
import type { CommandWorld } from '../command.ts';
import { keySetPath } from '../credentials.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { isAnchoredInOneHistory } from '../log/history.ts';
import { fetchCheckpoint } from '../log/kept-state.ts';
import { plainText, printList } from '../print.ts';
import { nodeFailure } from './node-failure.ts';

interface Line {
  readonly anchor: AnchorResponse;
  /** Undefined where the chain confirms it. */
  readonly fault: string | undefined;
}

/**
 * Every anchor that the gateway says to be in a block of the node's chain: that the chain holds it, and that the log from one to the next only
 * grew. The contract has checked the latter itself; here this is checked again, without trusting the contract.
 */
export async function verifyAll(world: CommandWorld, options: ConfirmOptions): Promise<ExitCode> {
  world.finishUnread();
  const client = await world.connect('none');
  const lines: Line[] = [];
  let before: AnchorResponse | undefined;
  for (const anchor of await onChain(client, options, world.signal)) {
    const fault = (await unconfirmed(anchor, options)) ?? (before && (await rewritten(client, before, anchor, world.signal)));
    lines.push({ anchor, fault });
    before = anchor;
  }
  const faults = lines.filter(({ fault }) => fault !== undefined).length;
  const isCompared = await isOfKeptLog(world, lines.findLast(({ fault }) => fault === undefined)?.anchor);
  printList(world, lines, [
    { title: 'entries', of: ({ anchor }) => anchor.tree_size, align: 'right' },
    { title: 'block', of: ({ anchor }) => anchor.block_number, align: 'right' },
    { title: 'time', of: ({ anchor }) => anchor.block_time },
    { title: 'found', of: ({ fault }) => fault ?? 'confirmed' },
  ]);
  world.err.write(plainText(`${lines.length - faults} of ${lines.length} anchors are confirmed.\n`));
  if (faults > 0) return EXIT.receiptNotValid;
  return isCompared ? EXIT.ok : EXIT.receiptNotChecked;
}

/**
 * The newest of the chain against the newest that was seen of the log: where keys of the log are stored, so that it is known which log this is.
 *
 * @throws LogForkError where the log has shown two pasts
 */
async function isOfKeptLog(world: CommandWorld, newest: AnchorResponse | undefined): Promise<boolean> {
  if (!newest || (await world.readFile(keySetPath(world, world.profile))) === undefined) return true;
  const { origin } = await fetchCheckpoint(world, { witness: [] });
  return isAnchoredInOneHistory(world, { origin, anchored: newest });
}

/** Those of the node's chain, the oldest first. */
async function onChain(client: Tallygate, { rpcUrl }: ConfirmOptions, signal: AbortSignal): Promise<AnchorResponse[]> {
  const { chainIdOf } = await import('@tallygate/receipts');
  const chain_id = await chainIdOf({ rpcUrl, signal }).catch((error: unknown) => {
    throw nodeFailure(error);
  });
  const found: AnchorResponse[] = [];
  for await (const anchor of client.anchors.list({ chain_id, limit: 200 }, { signal })) {
    if (anchor.state === 'included' || anchor.state === 'finalized') found.push(anchor);
  }
  return found.sort((a, b) => a.tree_size - b.tree_size);
}

async function unconfirmed(anchor: AnchorResponse, options: ConfirmOptions): Promise<string | undefined> {
  const { confirmAnchor } = await import('@tallygate/receipts');
  const { state, ...named } = anchor;
  const found = await confirmAnchor({ ...named, state: state === 'finalized' ? state : 'included', index: 0 }, options).catch(
    (error: unknown) => {
      throw nodeFailure(error);
    },
  );
  if (!found.confirmed) return found.reason;
  return found.block_number === anchor.block_number
    ? undefined
    : `It is on the chain since ${found.time}, and not in the block that the service names.`;
}

async function rewritten(
  client: Tallygate,
  before: AnchorResponse,
  after: AnchorResponse,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (before.contract !== after.contract) return undefined;
  const { fromBase64, fromHex, isConsistent } = await import('@tallygate/receipts');
  const none = new Uint8Array();
  const { path } = await client.receipts.consistency({ from: before.tree_size, to: after.tree_size }, { signal });
  const claim = {
    ...{ oldSize: before.tree_size, oldRoot: fromHex(before.root.slice(2)) ?? none },
    ...{ newSize: after.tree_size, newRoot: fromHex(after.root.slice(2)) ?? none },
    path: path.map((hash) => fromBase64(hash) ?? none),
  };
  return isConsistent(claim) ? undefined : `It does not begin with the state of ${before.tree_size} entries: the log was rewritten.`;
}
