import type { Command } from 'commander';
import type { CommandWorld, Perform, Typed } from '../command.ts';
import { plainText } from '../print.ts';
import { KEY_ARGUMENT, meantKey } from './meant.ts';

export const revokeKey = (keys: Command, perform: Perform): Command =>
  keys
    .command('revoke')
    .description('Revoke an API key, for good and within a second')
    .argument(...KEY_ARGUMENT)
    .action(perform(revoke));

async function revoke(world: CommandWorld, { args: [text = ''] }: Typed<object>): Promise<void> {
  const client = await world.connect('session');
  const { keyId, label } = await meantKey(world, client, text);
  await client.keys.revoke(keyId, { signal: world.signal });
  world.err.write(plainText(`Revoked ${label}.\n`));
}
