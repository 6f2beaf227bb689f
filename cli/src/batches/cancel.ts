import type { Command } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { BatchFields } from '../generated/fields.ts';
import { showBatch } from './show-batch.ts';

export const cancelBatch = (batches: Command, perform: Perform): Command =>
  withJson(
    BatchFields,
    batches
      .command('cancel')
      .description('Cancel a batch: start no further line; what is answered can still be read')
      .argument('<batch-id>'),
  ).action(perform(cancel));

async function cancel(world: CommandWorld, { args: [batchId = ''] }: Typed<object>): Promise<void> {
  const client = await world.connect();
  showBatch(world, await client.batches.cancel(batchId, { signal: world.signal }));
}
