import type { Command } from 'commander';
import type { CommandWorld, Perform } from '../../command.ts';
import { askSecrets } from '../secrets.ts';

export const changePassword = (password: Command, perform: Perform): Command =>
  password.command('change').description('Change the password; in a pipe the old one and the new one, a line each').action(perform(change));

async function change(world: CommandWorld): Promise<void> {
  const client = await world.connect('session');
  const [current_password = '', new_password = ''] = await askSecrets(
    world,
    { name: 'Current password' },
    { name: 'New password', isNew: true },
  );
  await client.identity.changePassword({ current_password, new_password }, { signal: world.signal });
  world.err.write('The password is changed; every other session has ended.\n');
}
