import { type Command, InvalidArgumentError } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { BatchFields } from '../generated/fields.ts';
import { progressText, showBatch } from './show-batch.ts';

interface Options {
  readonly every: number;
}

const MS_PER_SECOND = 1000;

export const waitForBatch = (batches: Command, perform: Perform): Command =>
  withJson(
    BatchFields,
    batches
      .command('wait')
      .description('Wait until a batch has ended; exit code 1 unless it is completed')
      .argument('<batch-id>')
      .option('--every <seconds>', 'polling interval', seconds, 5),
  ).action(perform(wait));

async function wait(world: CommandWorld, { args: [batchId = ''], options: { every } }: Typed<Options>): Promise<ExitCode> {
  const client = await world.connect();
  let told = '';
  const batch = await client.batches.wait(batchId, {
    signal: world.signal,
    pollMs: every * MS_PER_SECOND,
    onProgress: (present) => {
      const progress = `${present.status} ${progressText(present)}\n`;
      if (progress !== told) world.err.write(progress);
      told = progress;
    },
  });
  showBatch(world, batch);
  return batch.status === 'completed' ? EXIT.ok : EXIT.failure;
}

function seconds(text: string): number {
  const value = Number(text);
  if (value > 0 && value <= 3_600) return value;
  throw new InvalidArgumentError('Expected up to 3600 seconds.');
}
