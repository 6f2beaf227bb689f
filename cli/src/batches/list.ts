import type { Batch } from '@tallygate/sdk';
import type { Command } from 'commander';
import { type CommandWorld, type Perform, withJson } from '../command.ts';
import { BatchFields } from '../generated/fields.ts';
import { type Column, printList } from '../print.ts';
import { progressText, timeText } from './show-batch.ts';

const COLUMNS: readonly Column<Batch>[] = [
  { title: 'id', of: ({ id }) => id },
  { title: 'status', of: ({ status }) => status },
  { title: 'lines', of: progressText, align: 'right' },
  { title: 'endpoint', of: ({ endpoint }) => endpoint, isSpare: true },
  { title: 'created', of: ({ created_at }) => timeText(created_at) },
];

export const listBatches = (batches: Command, perform: Perform): Command =>
  withJson(BatchFields, batches.command('list').description('List batches, newest first')).action(perform(list));

async function list(world: CommandWorld): Promise<void> {
  const client = await world.connect();
  const found: Batch[] = [];
  for await (const batch of client.batches.list({ limit: 100 }, { signal: world.signal })) found.push(batch);
  printList(world, found, COLUMNS);
}
