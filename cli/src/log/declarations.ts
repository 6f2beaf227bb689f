import type { CommandWorld } from '../command.ts';
import { keySetPath } from '../credentials.ts';
import type { Look } from './look.ts';

const KINDS = ['key', 'key_retired', 'policy', 'price'] as const;

/**
 * Compares what the log declares with what was seen there before; where it has not grown since the look before, there is nothing new to read.
 *
 * @throws DeclarationsContradictedError where one is left out, or is another one than before
 */
export async function lookAtDeclarations(world: CommandWorld, { from, to, isFirst }: Look & { readonly isFirst: boolean }): Promise<void> {
  if (!isFirst && from?.size === to.size) return;
  const keys = await world.readFile(keySetPath(world, world.profile));
  if (keys === undefined) return;
  const { receipts } = await world.connect('none');
  await receipts.declarationsSeen(KINDS, JSON.parse(keys), { signal: world.signal });
}
