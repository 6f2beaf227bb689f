import type { Command } from 'commander';
import type { CommandWorld, Perform, Typed } from '../command.ts';
import { plainText } from '../print.ts';

export function publishContent(content: Command, perform: Perform): void {
  content.command('publish').description('Publish it').argument('<id>', 'its id').action(perform(publish));
  content
    .command('unpublish')
    .description('Unpublish it: make it a draft again; its address is a 404 within half a minute')
    .argument('<id>', 'its id')
    .action(perform(unpublish));
}

async function publish(world: CommandWorld, { args: [id = ''] }: Typed<object>): Promise<void> {
  const client = await world.connect('session');
  const { slug } = await client.content.publish(id, { signal: world.signal });
  world.err.write(plainText(`Published: GET ${client.baseUrl}/v1/content/${slug}\n`));
}

async function unpublish(world: CommandWorld, { args: [id = ''] }: Typed<object>): Promise<void> {
  const client = await world.connect('session');
  const { slug } = await client.content.unpublish(id, { signal: world.signal });
  world.err.write(plainText(`${slug} is a draft again.\n`));
}
