import type { Command } from 'commander';
import type { CommandWorld, Perform, Typed } from '../command.ts';
import { keepWitnesses } from '../log/witnesses.ts';
import { deliver } from './get.ts';
import { keepKeySet, keepPrices } from './keep.ts';

interface Options {
  readonly output?: string;
  readonly newWitnesses?: true;
}

export const receiptKeys = (receipts: Command, perform: Perform): Command =>
  receipts
    .command('keys')
    .description('Fetch the public keys that sign receipts, and the published prices, and keep them for offline verification')
    .option('-o, --output <file>', 'write the keys alone to this file instead; - for stdout')
    .option('--new-witnesses', 'take over the witnesses that the gateway lists now, in the place of those that are kept')
    .action(perform(fetchKeys));

async function fetchKeys(world: CommandWorld, { options: { output, newWitnesses } }: Typed<Options>): Promise<void> {
  if (output !== undefined) {
    const client = await world.connect('none');
    return deliver(world, await client.receipts.keys({ signal: world.signal }), output);
  }
  world.err.write(`${await keepKeySet(world)}\n`);
  await keepPrices(world);
  await keepWitnesses(world, { newWitnesses: newWitnesses === true });
}
