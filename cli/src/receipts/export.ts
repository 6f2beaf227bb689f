import type { Command } from 'commander';
import type { CommandWorld, Perform, Typed } from '../command.ts';
import { noticeCheckpoint } from '../log/history.ts';
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
  const head = new FirstLine();
  if (body) await world.saveBytes(output ?? '-', head.of(body));
  if (output !== undefined && output !== '-') world.err.write(`Wrote ${output}.\n`);
  const { checkpointOfExport } = await import('@tallygate/receipts');
  await noticeCheckpoint(world, checkpointOfExport(head.text));
}

/** Bytes on their way to a file, and the first line of them. */
class FirstLine {
  text = '';
  readonly #decoder = new TextDecoder();

  async *of(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const piece of bytes) {
      if (!this.text.includes('\n')) this.text += this.#decoder.decode(piece, { stream: true });
      yield piece;
    }
  }
}
