import type { MarketingClientRequestRecord } from '@tallygate/sdk';
import type { Command } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { MarketingClientRequestRecordFields } from '../generated/fields.ts';
import { wholeNumber } from '../option-values.ts';
import type { Column } from '../print.ts';
import { MAX_PAGE, printPages } from '../print-pages.ts';

interface Options {
  readonly status?: string;
  readonly type?: string;
  readonly limit: number;
}

const COLUMNS: readonly Column<MarketingClientRequestRecord>[] = [
  { title: 'id', of: ({ request_id }) => request_id },
  { title: 'received', of: ({ created_at }) => created_at },
  { title: 'type', of: ({ type }) => type, isSpare: true },
  { title: 'status', of: ({ status }) => status },
  { title: 'from', of: ({ name, email }) => `${name} <${email}>` },
  { title: 'message', of: ({ message }) => (message.length > 60 ? `${message.slice(0, 59)}…` : message) },
];

export const listRequests = (requests: Command, perform: Perform): Command =>
  withJson(
    MarketingClientRequestRecordFields,
    requests
      .command('list')
      .description('What clients have asked for, the newest first')
      .option('--status <status>', 'new, in_progress, waiting, done or declined')
      .option('--type <type>', 'sales, enterprise, support, partnership, press or other')
      .option('--limit <n>', 'how many at most', wholeNumber(), 50),
  ).action(perform(list));

async function list(world: CommandWorld, { options: { limit, ...filter } }: Typed<Options>): Promise<void> {
  const client = await world.connect();
  const pages = client.clientRequests.list({ ...filter, limit: Math.min(limit, MAX_PAGE) }, { signal: world.signal });
  await printPages(world, pages, { limit, columns: COLUMNS });
}
