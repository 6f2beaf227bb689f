import type { MarketingContentRecord } from '@tallygate/sdk';
import type { Command } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { MarketingContentRecordFields } from '../generated/fields.ts';
import { wholeNumber } from '../option-values.ts';
import type { Column } from '../print.ts';
import { MAX_PAGE, printPages } from '../print-pages.ts';

interface Options {
  readonly type?: string;
  readonly limit: number;
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
    content
      .command('list')
      .description('Drafts and published content, what was changed last first')
      .option('--type <type>', 'only this type, such as post')
      .option('--limit <n>', 'how many at most', wholeNumber(), 50),
  ).action(perform(list));

async function list(world: CommandWorld, { options: { type, limit } }: Typed<Options>): Promise<void> {
  const client = await world.connect();
  const pages = client.content.list({ type, limit: Math.min(limit, MAX_PAGE) }, { signal: world.signal });
  await printPages(world, pages, { limit, columns: COLUMNS });
}
