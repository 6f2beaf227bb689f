import type { LoginSession, UserResponse } from '@tallygate/sdk';
import type { Command } from 'commander';
import type { CommandWorld, Perform, Typed } from '../command.ts';
import { addressOf } from '../connect.ts';
import { keySetPath, readLogin, saveLogin } from '../credentials.ts';
import { EXIT } from '../exit-codes.ts';
import { Failure, reportOf } from '../failure.ts';

interface Options {
  readonly email?: string;
}

export const login = (program: Command, perform: Perform): Command =>
  program
    .command('login')
    .description('Log in with e-mail address and password; the password comes from a prompt, or from stdin when piped')
    .option('--email <address>', 'e-mail address')
    .action(perform(logIn));

/** Stores the session for the profile, and the gateway's public keys beside it so that receipts verify offline. */
async function logIn(world: CommandWorld, { options }: Typed<Options>): Promise<void> {
  const { err, env, profile, signal } = world;
  const email = options.email ?? (await emailFrom(world));
  const password = await passwordFrom(world);
  const client = await world.connect('none');
  const answer = await client.identity.login({ email, password }, { signal });
  const { session, email: address } = sessionOf(answer);
  const baseUrl = addressOf(world, await readLogin(world, profile));
  await saveLogin(world, profile, { base_url: baseUrl, session_token: session.token, email: address, expires_at: session.expires_at });
  err.write(`Logged in to ${baseUrl} as ${address}.\n`);
  await keepKeySet(world);
  if (env.apiKey !== undefined) err.write('TALLYGATE_API_KEY is set and wins over this login, except where keys are changed.\n');
}

async function emailFrom({ input }: CommandWorld): Promise<string> {
  if (input.isTty) return input.ask('E-mail: ');
  throw new Failure('usage', 'There is nobody to ask for the e-mail address.', EXIT.usage, 'Give it with --email.');
}

async function passwordFrom({ input }: CommandWorld): Promise<string> {
  if (input.isTty) return input.askSecret('Password: ');
  // `echo` adds the line end, which no password has.
  return (await input.readAll()).replace(/\r?\n$/, '');
}

function sessionOf(answer: UserResponse | { mfa_required: true }): UserResponse & { session: LoginSession } {
  if (!('mfa_required' in answer) && answer.session !== undefined) return { ...answer, session: answer.session };
  const nextStep = 'Create an API key in the web front end and set TALLYGATE_API_KEY.';
  throw new Failure(
    'mfa_required',
    'This account needs a second factor, which this command cannot ask for.',
    EXIT.authenticationNeeded,
    nextStep,
  );
}

/** The login has succeeded by now: keys that cannot be fetched are a remark, not a failure. */
async function keepKeySet(world: CommandWorld): Promise<void> {
  try {
    const keySet = await (await world.connect('none')).receipts.keys({ signal: world.signal });
    await world.writeFile(keySetPath(world, world.profile), `${JSON.stringify(keySet, null, 2)}\n`, { isPrivate: true });
  } catch (error) {
    const { message } = await reportOf(error);
    world.err.write(`The receipt keys could not be kept (${message}); \`tallygate receipts keys\` fetches them later.\n`);
  }
}
