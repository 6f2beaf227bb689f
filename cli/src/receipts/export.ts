import type { Command } from 'commander';
import type { CommandWorld, Perform, Typed } from '../command.ts';

interface Options {
  readonly month: string;
  readonly output?: string;
  readonly test?: boolean;
}

export const exportReceipts = (receipts: Command, perform: Perform): Command =>
  receipts
    .command('export')
    .description('Fetch all receipts of a month with their proofs, as one file that `receipts verify` checks offline')
    .requiredOption('--month <month>', 'of the requests, YYYY-MM (UTC)')
    .option('-o, --output <file>', 'write it to a file instead of stdout')
    .option('--test', 'those of test mode')
    .action(perform(fetchExport));

async function fetchExport(world: CommandWorld, { options: { month, output, test } }: Typed<Options>): Promise<void> {
  const client = await world.connect();
  const { body } = await client.receipts.export({ month, ...(test && { livemode: false }) }, { signal: world.signal });
  if (body) await world.saveBytes(output ?? '-', body);
  if (output !== undefined && output !== '-') world.err.write(`Wrote ${output}.\n`);
}
