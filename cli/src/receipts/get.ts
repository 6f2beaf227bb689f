import type { Command } from 'commander';
import type { CommandWorld, Perform, Typed } from '../command.ts';

interface Options {
  readonly output?: string;
}

export const getReceipt = (receipts: Command, perform: Perform): Command =>
  receipts
    .command('get')
    .description('Fetch a receipt as JSON; needs no login')
    .argument('<receipt-id>')
    .option('-o, --output <file>', 'write it to a file')
    .action(perform(get));

async function get(world: CommandWorld, { args: [receiptId = ''], options: { output } }: Typed<Options>): Promise<void> {
  const client = await world.connect('none');
  const receipt = await client.receipts.get(receiptId, { signal: world.signal });
  await deliver(world, receipt, output);
}

/** Writes JSON to the file that was asked for, or to stdout. */
export async function deliver(world: CommandWorld, value: object, file: string | undefined): Promise<void> {
  const text = `${JSON.stringify(value, null, 2)}\n`;
  if (file === undefined || file === '-') return world.out.write(text);
  await world.writeFile(file, text);
  world.err.write(`Wrote ${file}.\n`);
}
