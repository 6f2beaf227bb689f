import type { Command } from 'commander';
import type { CommandWorld, Perform, Typed } from '../command.ts';
import { livemodeOf, type ModeOptions, withMode } from '../mode.ts';
import { deliver } from '../receipts/get.ts';

interface Options extends ModeOptions {
  readonly output?: string;
}

export const getInvoice = (invoices: Command, perform: Perform): Command =>
  withMode(
    invoices
      .command('get')
      .description('Fetch the invoice of a month as JSON')
      .argument('<month>', 'YYYY-MM (UTC)')
      .option('-o, --output <file>', 'write it to a file'),
  ).action(perform(get));

async function get(world: CommandWorld, { args: [month = ''], options }: Typed<Options>): Promise<void> {
  const client = await world.connect();
  await deliver(world, await client.invoices.get(month, livemodeOf(options), { signal: world.signal }), options.output);
}
