import type { Command } from 'commander';
import type { CommandWorld, Perform, Typed } from '../command.ts';
import { livemodeOf, type ModeOptions, withMode } from '../mode.ts';

interface Options extends ModeOptions {
  readonly month: string;
  readonly output?: string;
}

export const exportReceipts = (receipts: Command, perform: Perform): Command =>
  withMode(
    receipts
      .command('export')
      .description('Fetch all receipts of a month with their proofs, as one file that `receipts verify` checks offline')
      .requiredOption('--month <month>', 'of the requests, YYYY-MM (UTC)')
      .option('-o, --output <file>', 'write it to a file instead of stdout'),
  ).action(perform(fetchExport));

async function fetchExport(world: CommandWorld, { options }: Typed<Options>): Promise<void> {
  const { month, output } = options;
  const client = await world.connect();
  const { body } = await client.receipts.export({ month, ...livemodeOf(options) }, { signal: world.signal });
  if (body) await world.saveBytes(output ?? '-', body);
  if (output !== undefined && output !== '-') world.err.write(`Wrote ${output}.\n`);
}
