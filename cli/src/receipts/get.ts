import type { ReceiptPayload } from '@tallygate/receipts';
import type { Command } from 'commander';
import type { CommandWorld, Perform, Typed } from '../command.ts';
import { noticeCheckpoint } from '../log/history.ts';
import { plainText } from '../print.ts';
import { calculation } from './calculation.ts';
import { keepPriceOf } from './keep.ts';

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
  await keepPriceOf(world, receipt.payload);
  await deliver(world, receipt, output);
  await noticeCheckpoint(world, receipt.log.state === 'logged' ? receipt.log.checkpoint : undefined);
  // For people, and beside the JSON: what is piped on stays the receipt alone.
  if (world.err.isTty) world.err.write(await calculationText(receipt.payload));
}

/** Not verified: that the figures hold is for `receipts verify` to say. */
async function calculationText(payload: ReceiptPayload): Promise<string> {
  try {
    const lines = await calculation(payload);
    return plainText(lines.map(({ title, of }) => `${title.trim()}: ${of(payload)}\n`).join(''));
  } catch {
    return 'The figures of this receipt contradict each other: see `tallygate receipts verify`.\n';
  }
}

/** Writes JSON to the file that was asked for, or to stdout. */
export async function deliver(world: CommandWorld, value: object, file: string | undefined): Promise<void> {
  const text = `${JSON.stringify(value, null, 2)}\n`;
  if (file === undefined || file === '-') return world.out.write(text);
  await world.writeFile(file, text);
  world.err.write(`Wrote ${file}.\n`);
}
