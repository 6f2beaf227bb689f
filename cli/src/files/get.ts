import type { Command } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { FileObjectFields } from '../generated/fields.ts';
import { showFile } from './show-file.ts';

export const getFile = (files: Command, perform: Perform): Command =>
  withJson(FileObjectFields, files.command('get').description('Show a file').argument('<file-id>')).action(perform(get));

async function get(world: CommandWorld, { args: [fileId = ''] }: Typed<object>): Promise<void> {
  const client = await world.connect();
  showFile(world, await client.files.get(fileId, { signal: world.signal }));
}
