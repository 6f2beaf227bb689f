import type { Command } from 'commander';
import type { CommandWorld, Perform, Typed } from '../../command.ts';
import { askFor, askSecrets } from '../secrets.ts';

interface Options {
  readonly email?: string;
  readonly token?: string;
}

export const resetPassword = (password: Command, perform: Perform): Command =>
  password
    .command('reset')
    .description('Set a new password without the old one: first a mail is sent, then --token takes the token in it')
    .option('--email <address>', 'address for the mail')
    .option('--token <token>', 'token of the mail, `tgr_…`')
    .action(perform(reset));

async function reset(world: CommandWorld, { options: { email, token } }: Typed<Options>): Promise<void> {
  const { err, signal } = world;
  const client = await world.connect('none');
  if (token === undefined) {
    const address = await askFor(world, 'E-mail', email, '--email');
    await client.identity.requestPasswordReset(address, { signal });
    err.write(`If ${address} has an account, a mail was sent. Continue with \`tallygate password reset --token TOKEN\`.\n`);
    return;
  }
  const [new_password = ''] = await askSecrets(world, { name: 'New password', isNew: true });
  await client.identity.resetPassword({ token, new_password }, { signal });
  err.write('The password is set; every session has ended. Run `tallygate login`.\n');
}
