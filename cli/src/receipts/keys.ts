import type { Command } from 'commander';
import type { CommandWorld, Perform, Typed } from '../command.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { keepWitnesses } from '../log/witnesses.ts';
import { deliver } from './get.ts';
import { keepKeySet, keepPrices } from './keep.ts';

interface Options {
  readonly output?: string;
  readonly newWitnesses?: true;
  readonly replace?: boolean;
}

export const receiptKeys = (receipts: Command, perform: Perform): Command =>
  receipts
    .command('keys')
    .description('Fetch the public keys that sign receipts, and the published prices, and keep them for offline verification')
    .option('-o, --output <file>', 'write the keys alone to this file instead; - for stdout')
    .option('--new-witnesses', 'take over the witnesses that the gateway lists now, in the place of those that are kept')
    .option('--replace', 'the kept keys are of another gateway: put them aside, and its prices with them')
    .addHelpText('after', '\nExits with 3 where what is published contradicts what was kept before, and does not take that over.')
    .action(perform(fetchKeys));

async function fetchKeys(world: CommandWorld, { options: { output, newWitnesses, replace = false } }: Typed<Options>): Promise<ExitCode> {
  if (output !== undefined) {
    const client = await world.connect('none');
    await deliver(world, await client.receipts.keys({ signal: world.signal }), output);
    return EXIT.ok;
  }
  const { said, isContradicted } = await keepKeySet(world, { isReplacing: replace });
  world.err.write(`${said}\n`);
  // Prices and witnesses are those of the gateway whose keys are kept: of another one, none are taken over.
  if (isContradicted) return EXIT.receiptNotValid;
  const prices = await keepPrices(world);
  await keepWitnesses(world, { newWitnesses: newWitnesses === true });
  return prices.isContradicted ? EXIT.receiptNotValid : EXIT.ok;
}
