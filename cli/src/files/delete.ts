import type { Command } from 'commander';
import type { CommandWorld, Perform, Typed } from '../command.ts';
import { plainText } from '../print.ts';

export const deleteFile = (files: Command, perform: Perform): Command =>
  files.command('delete').description('Delete a file with its bytes, permanently').argument('<file-id>').action(perform(remove));

async function remove(world: CommandWorld, { args: [fileId = ''] }: Typed<object>): Promise<void> {
  const client = await world.connect();
  await client.files.delete(fileId, { signal: world.signal });
  world.err.write(plainText(`Deleted ${fileId}.\n`));
}
