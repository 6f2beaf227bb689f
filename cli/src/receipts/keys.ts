import type { Command } from 'commander';
import type { CommandWorld, Perform, Typed } from '../command.ts';
import { keySetPath } from '../credentials.ts';
import { deliver } from './get.ts';

interface Options {
  readonly output?: string;
}

export const receiptKeys = (receipts: Command, perform: Perform): Command =>
  receipts
    .command('keys')
    .description('Fetch the public keys that sign receipts, and keep them for offline verification; needs no login')
    .option('-o, --output <file>', 'write them to this file instead; - for stdout')
    .action(perform(fetchKeys));

async function fetchKeys(world: CommandWorld, { options: { output } }: Typed<Options>): Promise<void> {
  const client = await world.connect('none');
  const keySet = await client.receipts.keys({ signal: world.signal });
  if (output !== undefined) return deliver(world, keySet, output);
  const path = keySetPath(world, world.profile);
  await world.writeFile(path, `${JSON.stringify(keySet, null, 2)}\n`, { isPrivate: true });
  world.err.write(`Kept ${keySet.keys.length} of ${client.baseUrl} in ${path}.\n`);
}
