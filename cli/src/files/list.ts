import type { FileObject } from '@tallygate/sdk';
import type { Command } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { FileObjectFields } from '../generated/fields.ts';
import type { Column } from '../print.ts';
import { MAX_OPENAI_PAGE, type PageOptions, printPages, withPages } from '../print-pages.ts';
import { timeText } from './show-file.ts';

interface Options extends PageOptions {
  readonly purpose?: string;
}

const COLUMNS: readonly Column<FileObject>[] = [
  { title: 'id', of: ({ id }) => id },
  { title: 'name', of: ({ filename }) => filename },
  { title: 'bytes', of: ({ bytes }) => bytes, align: 'right' },
  { title: 'purpose', of: ({ purpose }) => purpose },
  { title: 'created', of: ({ created_at }) => timeText(created_at) },
];

export const listFiles = (files: Command, perform: Perform): Command =>
  withJson(
    FileObjectFields,
    withPages(files.command('list').description('List stored files, newest first').option('--purpose <purpose>', 'only files for this')),
  ).action(perform(list));

async function list(world: CommandWorld, { options }: Typed<Options>): Promise<void> {
  const { purpose } = options;
  const { files } = await world.connect();
  await printPages(world, options, {
    columns: COLUMNS,
    maxPage: MAX_OPENAI_PAGE,
    list: (limit) => files.list({ purpose, limit }, { signal: world.signal }),
  });
}
