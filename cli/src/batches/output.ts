import type { Command } from 'commander';
import type { CommandWorld, Perform, Typed } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { Failure } from '../failure.ts';

interface Options {
  readonly output?: string;
  readonly errors?: true;
}

export const batchOutput = (batches: Command, perform: Perform): Command =>
  batches
    .command('output')
    .description('Download the answers of a batch, one JSON object a line')
    .argument('<batch-id>')
    .option('--errors', 'the lines that failed instead')
    .option('-o, --output <file>', 'write them to a file instead of stdout')
    .action(perform(output));

async function output(world: CommandWorld, { args: [batchId = ''], options }: Typed<Options>): Promise<void> {
  const { signal } = world;
  const client = await world.connect();
  const { status, output_file_id, error_file_id } = await client.batches.get(batchId, { signal });
  const fileId = options.errors ? error_file_id : output_file_id;
  if (fileId === undefined) {
    const what = options.errors ? 'error file' : 'output file';
    throw new Failure('no_output', `The batch is ${status} and has no ${what}.`, EXIT.failure, `Run \`tallygate batches get ${batchId}\`.`);
  }
  const { body } = await client.files.content(fileId, { signal });
  await world.saveBytes(options.output ?? '-', body ?? emptiness());
  if (options.output !== undefined && options.output !== '-') world.err.write(`Wrote ${options.output}.\n`);
}

async function* emptiness(): AsyncGenerator<Uint8Array, void, undefined> {}
