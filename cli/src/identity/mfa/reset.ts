import type { Command } from 'commander';
import type { CommandWorld, Perform, Typed } from '../../command.ts';
import { plainText } from '../../print.ts';

export const mfaReset = (mfa: Command, perform: Perform): Command =>
  mfa
    .command('reset')
    .description('Remove the second factor of another user who has lost app and recovery codes, and end their sessions; for administrators')
    .argument('<user-id>', 'id of the user, as `tallygate whoami` or the audit log shows it')
    .action(perform(reset));

async function reset(world: CommandWorld, { args: [userId = ''] }: Typed<object>): Promise<void> {
  const client = await world.connect('session');
  await client.mfa.reset(userId, { signal: world.signal });
  world.err.write(plainText(`The second factor of ${userId} is off and their sessions have ended; a mail tells them.\n`));
}
