import type { Command } from 'commander';
import type { CommandWorld, Perform, Typed } from '../command.ts';
import { deliver } from './get.ts';
import { keepKeySet, keepPrices } from './keep.ts';

interface Options {
  readonly output?: string;
}

export const receiptKeys = (receipts: Command, perform: Perform): Command =>
  receipts
    .command('keys')
    .description('Fetch the public keys that sign receipts, and the published prices, and keep them for offline verification')
    .option('-o, --output <file>', 'write the keys alone to this file instead; - for stdout')
    .action(perform(fetchKeys));

async function fetchKeys(world: CommandWorld, { options: { output } }: Typed<Options>): Promise<void> {
  if (output !== undefined) {
    const client = await world.connect('none');
    return deliver(world, await client.receipts.keys({ signal: world.signal }), output);
  }
  world.err.write(`${await keepKeySet(world)}\n`);
  await keepPrices(world);
}
