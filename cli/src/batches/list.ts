import type { Batch } from '@tallygate/sdk';
import type { Command } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { BatchFields } from '../generated/fields.ts';
import type { Column } from '../print.ts';
import { MAX_OPENAI_PAGE, type PageOptions, printPages, withPages } from '../print-pages.ts';
import { progressText, timeText } from './show-batch.ts';

const COLUMNS: readonly Column<Batch>[] = [
  { title: 'id', of: ({ id }) => id },
  { title: 'status', of: ({ status }) => status },
  { title: 'lines', of: progressText, align: 'right' },
  { title: 'endpoint', of: ({ endpoint }) => endpoint, isSpare: true },
  { title: 'created', of: ({ created_at }) => timeText(created_at) },
];

export const listBatches = (batches: Command, perform: Perform): Command =>
  withJson(BatchFields, withPages(batches.command('list').description('List batches, newest first'))).action(perform(list));

async function list(world: CommandWorld, { options }: Typed<PageOptions>): Promise<void> {
  const { batches } = await world.connect();
  await printPages(world, options, {
    columns: COLUMNS,
    maxPage: MAX_OPENAI_PAGE,
    list: (limit) => batches.list({ limit }, { signal: world.signal }),
  });
}
