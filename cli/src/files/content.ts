import type { Command } from 'commander';
import type { CommandWorld, Perform, Typed } from '../command.ts';

interface Options {
  readonly output?: string;
}

export const fileContent = (files: Command, perform: Perform): Command =>
  files
    .command('content')
    .description('Download a file')
    .argument('<file-id>')
    .option('-o, --output <file>', 'write it to a file instead of stdout')
    .action(perform(content));

async function content(world: CommandWorld, { args: [fileId = ''], options: { output } }: Typed<Options>): Promise<void> {
  const client = await world.connect();
  const { body } = await client.files.content(fileId, { signal: world.signal });
  await world.saveBytes(output ?? '-', body ?? emptiness());
  if (output !== undefined && output !== '-') world.err.write(`Wrote ${output}.\n`);
}

async function* emptiness(): AsyncGenerator<Uint8Array, void, undefined> {}
