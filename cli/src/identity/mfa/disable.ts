import type { Command } from 'commander';
import type { CommandWorld, Perform, Typed } from '../../command.ts';
import { withCode } from '../codes.ts';
import { askSecrets } from '../secrets.ts';

interface Options {
  readonly code?: string;
}

export const mfaDisable = (mfa: Command, perform: Perform): Command =>
  mfa
    .command('disable')
    .description('Switch the second factor off; takes the password and a code')
    .option('--code <code>', 'six digits from the app, or a recovery code')
    .action(perform(disable));

async function disable(world: CommandWorld, { options }: Typed<Options>): Promise<void> {
  const client = await world.connect('session');
  const [password = ''] = await askSecrets(world, { name: 'Password' });
  await withCode(world, { given: options.code, question: 'Code from the authenticator app, or a recovery code' }, (code) =>
    client.mfa.disable({ password, code }, { signal: world.signal }),
  );
  world.err.write('The second factor is off; its recovery codes are worthless now.\n');
}
