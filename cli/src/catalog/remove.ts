import type { Command } from 'commander';
import type { CommandWorld, Perform, Typed } from '../command.ts';
import { plainText } from '../print.ts';

export const removeModel = (models: Command, perform: Perform): Command =>
  models
    .command('remove')
    .description('Remove the definition of a model by an administrator; its prices stay published')
    .argument('<model>', 'its id')
    .action(perform(remove));

async function remove(world: CommandWorld, { args: [model = ''] }: Typed<object>): Promise<void> {
  const client = await world.connect('session');
  await client.models.remove(model, { signal: world.signal });
  world.err.write(plainText(`Removed the definition of ${model}.\n`));
}
