import type { FileObject } from '@tallygate/sdk';
import type { Command } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { FileObjectFields } from '../generated/fields.ts';
import { type Column, printList } from '../print.ts';
import { timeText } from './show-file.ts';

interface Options {
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
    files.command('list').description('List stored files, newest first').option('--purpose <purpose>', 'only files for this'),
  ).action(perform(list));

async function list(world: CommandWorld, { options: { purpose } }: Typed<Options>): Promise<void> {
  const client = await world.connect();
  const found: FileObject[] = [];
  for await (const file of client.files.list({ purpose }, { signal: world.signal })) found.push(file);
  printList(world, found, COLUMNS);
}
