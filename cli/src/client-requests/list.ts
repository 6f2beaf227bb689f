import type { MarketingClientRequestRecord } from '@tallygate/sdk';
import type { Command } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { MarketingClientRequestRecordFields } from '../generated/fields.ts';
import type { Column } from '../print.ts';
import { type PageOptions, printPages, withPages } from '../print-pages.ts';

interface Options extends PageOptions {
  readonly status?: string;
  readonly type?: string;
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
    withPages(
      requests
        .command('list')
        .description('List requests of clients, newest first')
        .option('--status <status>', 'new, in_progress, waiting, done or declined')
        .option('--type <type>', 'sales, enterprise, support, partnership, press or other'),
    ),
  ).action(perform(list));

async function list(world: CommandWorld, { options }: Typed<Options>): Promise<void> {
  const { status, type } = options;
  const client = await world.connect();
  await printPages(world, options, {
    columns: COLUMNS,
    list: (limit) => client.clientRequests.list({ status, type, limit }, { signal: world.signal }),
  });
}
