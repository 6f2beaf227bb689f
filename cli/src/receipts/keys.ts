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
    .description('Fetch the public keys that sign receipts, and the published prices, and store them for offline verification')
    .option('-o, --output <file>', 'write only the keys to this file instead; - for stdout')
    .option('--new-witnesses', 'replace the stored witnesses by those that the gateway lists now')
    .option('--replace', 'the stored keys are of another gateway: move them and its prices to a backup file')
    .addHelpText('after', '\nExits with 3, and does not store it, when the published data contradicts the stored data.')
    .action(perform(fetchKeys));

async function fetchKeys(world: CommandWorld, { options: { output, newWitnesses, replace = false } }: Typed<Options>): Promise<ExitCode> {
  if (output !== undefined) {
    const client = await world.connect('none');
    await deliver(world, await client.receipts.keys({ signal: world.signal }), output);
    return EXIT.ok;
  }
  const { said, isContradicted } = await keepKeySet(world, { isReplacing: replace });
  world.err.write(`${said}\n`);
  // Prices and witnesses belong to the gateway whose keys are stored: those of another one are not stored.
  if (isContradicted) return EXIT.receiptNotValid;
  const prices = await keepPrices(world);
  const hasOtherWitnesses = await keepWitnesses(world, { newWitnesses: newWitnesses === true });
  return prices.isContradicted || hasOtherWitnesses ? EXIT.receiptNotValid : EXIT.ok;
}
