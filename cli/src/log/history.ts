import type { AnchoredReceipt, LoggedReceipt, Remembered } from '@tallygate/receipts';
import type { CommandWorld } from '../command.ts';
import { keySetPath } from '../credentials.ts';
import { plainText } from '../print.ts';

/** Whether the gateway may be asked for what is between two states of the log. */
export interface HistoryOptions {
  readonly offline?: true;
}

const NOT_COMPARED =
  'The state of the log could not be compared with the stored one: the gateway of that log cannot be reached. It is stored too, and compared later. --offline accepts it until then.\n';

/**
 * Compares a state of the log, whose signature holds, with those that were seen before, and keeps it.
 *
 * @returns false if the log could not be reached, which is reported on stderr
 * @throws LogForkError where the log has shown two pasts
 */
export async function isOfOneHistory(
  world: CommandWorld,
  { checkpoint }: Pick<LoggedReceipt, 'checkpoint'>,
  { offline }: HistoryOptions = {},
): Promise<boolean> {
  const client = offline ? undefined : await world.connect('none');
  if (client) return isCompared(world, await client.receipts.remember(checkpoint, { signal: world.signal }));
  const { rememberCheckpoint } = await import('@tallygate/receipts');
  await rememberCheckpoint(checkpoint, { store: await world.openLogStore() });
  return true;
}

/** The same for the state that is on a chain. @param origin of the log that the receipt is in */
export async function isAnchoredInOneHistory(
  world: CommandWorld,
  { origin, anchored }: { readonly origin: string; readonly anchored: Pick<AnchoredReceipt, 'tree_size' | 'root'> },
  { offline }: HistoryOptions = {},
): Promise<boolean> {
  const { compareState, fromHex } = await import('@tallygate/receipts');
  const client = offline ? undefined : await world.connect('none');
  const history = client ? client.receipts.history(origin, { signal: world.signal }) : { store: await world.openLogStore() };
  const state = { origin, size: anchored.tree_size, root: fromHex(anchored.root.slice(2)) ?? new Uint8Array() };
  const found = await compareState(state, JSON.stringify(anchored), history);
  return offline === true || isCompared(world, found);
}

function isCompared(world: CommandWorld, found: Remembered): boolean {
  if (found === 'unproven') world.err.write(NOT_COMPARED);
  return found !== 'unproven';
}

/**
 * What commands do with a state of the log that they come across, and that is not what they were asked to check: where keys of the log are kept
 * and its signature holds, it is compared with those that were seen before.
 *
 * @throws LogForkError where the log has shown two pasts
 */
export async function noticeCheckpoint(world: CommandWorld, note: string | null | undefined): Promise<void> {
  const kept = await world.readFile(keySetPath(world, world.profile));
  if (kept === undefined || typeof note !== 'string') return;
  const { verifyCheckpoint } = await import('@tallygate/receipts');
  const found = verifyCheckpoint(note, jsonOf(kept));
  if (found.valid) await isOfOneHistory(world, { checkpoint: note });
  else world.err.write(plainText(`The state of the log is not compared with the stored one: ${found.reason}\n`));
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
