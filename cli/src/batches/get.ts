import type { Command } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { BatchFields } from '../generated/fields.ts';
import { showBatch } from './show-batch.ts';

export const getBatch = (batches: Command, perform: Perform): Command =>
  withJson(BatchFields, batches.command('get').description('Show the progress of a batch').argument('<batch-id>')).action(perform(get));

async function get(world: CommandWorld, { args: [batchId = ''] }: Typed<object>): Promise<void> {
  const client = await world.connect();
  showBatch(world, await client.batches.get(batchId, { signal: world.signal }));
}
