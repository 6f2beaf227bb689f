import type { MarketingContentRecord } from '@tallygate/sdk';
import type { Command } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { MarketingContentRecordFields } from '../generated/fields.ts';
import type { Column } from '../print.ts';
import { type PageOptions, printPages, withPages } from '../print-pages.ts';

interface Options extends PageOptions {
  readonly type?: string;
}

const COLUMNS: readonly Column<MarketingContentRecord>[] = [
  { title: 'id', of: ({ content_id }) => content_id },
  { title: 'type', of: ({ type }) => type },
  { title: 'status', of: ({ status }) => status },
  { title: 'slug', of: ({ slug }) => slug, isSpare: true },
  { title: 'title', of: ({ title }) => title },
  { title: 'changed', of: ({ updated_at }) => updated_at },
];

export const listContent = (content: Command, perform: Perform): Command =>
  withJson(
    MarketingContentRecordFields,
    withPages(
      content
        .command('list')
        .description('List drafts and published content, last changed first')
        .option('--type <type>', 'only this type, such as post'),
    ),
  ).action(perform(list));

async function list(world: CommandWorld, { options }: Typed<Options>): Promise<void> {
  const { type } = options;
  const client = await world.connect();
  await printPages(world, options, { columns: COLUMNS, list: (limit) => client.content.list({ type, limit }, { signal: world.signal }) });
}
