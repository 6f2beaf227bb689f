import type { Tallygate } from '@tallygate/sdk';
import type { Command } from 'commander';
import type { CommandWorld, Perform, Typed } from '../../command.ts';
import { forgetLogin, readLogin } from '../../credentials.ts';
import { EXIT } from '../../exit-codes.ts';
import { Failure } from '../../failure.ts';
import { withCode } from '../codes.ts';
import { askSecrets } from '../secrets.ts';

interface Options {
  readonly code?: string;
  readonly yes?: true;
}

export const closeAccount = (account: Command, perform: Perform): Command =>
  account
    .command('close')
    .description(
      'Close the account permanently: every key and session ends, usage and receipts stay; takes the password, and a code where MFA is on',
    )
    .option('--code <code>', 'six digits from the app, or a recovery code')
    .option('--yes', 'do not ask for confirmation')
    .action(perform(close));

async function close(world: CommandWorld, { options: { code: given, yes } }: Typed<Options>): Promise<void> {
  const { err, profile, signal, env } = world;
  const client = await world.connect('session');
  const { email, mfa_enabled: hasSecondFactor } = await client.identity.me({ signal });
  if (!yes) await requireMeant(world, client, email);
  const [password = ''] = await askSecrets(world, { name: 'Password' });
  if (hasSecondFactor) {
    const question = 'Code from the authenticator app, or a recovery code';
    await withCode(world, { given, question }, (code) => client.identity.close({ password, code }, { signal }));
  } else await client.identity.close({ password }, { signal });
  // The stored session has ended, if it was the one that was used.
  if (env.sessionToken === undefined && (await readLogin(world, profile))?.email === email) await forgetLogin(world, profile);
  err.write(`The account of ${email} is closed; its keys and sessions have ended.\n`);
}

/** What cannot be undone is typed out, as it is on the web. */
async function requireMeant({ input, err }: CommandWorld, { baseUrl }: Tallygate, email: string): Promise<void> {
  if (!input.isTty)
    throw new Failure('usage', 'Closing an account cannot be undone, and there is no terminal to confirm it.', EXIT.usage, 'Give --yes.');
  err.write(`This closes the account of ${email} at ${baseUrl}. It cannot be undone.\n`);
  if ((await input.ask('Type the e-mail address to go on: ')) !== email)
    throw new Failure('usage', 'The address does not match: nothing was changed.', EXIT.usage);
}
