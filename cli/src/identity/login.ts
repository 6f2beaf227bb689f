import type { LoginMfaRequiredResponse, Tallygate, UserResponse } from '@tallygate/sdk';
import type { Command } from 'commander';
import type { CommandWorld, Perform, Typed } from '../command.ts';
import { saveLogin } from '../credentials.ts';
import { EXIT } from '../exit-codes.ts';
import { AdvisedError, Failure, reportOf } from '../failure.ts';
import { keepKeySet, keepPrices } from '../receipts/keep.ts';
import { withCode } from './codes.ts';
import { askFor, askSecrets } from './secrets.ts';

interface Options {
  readonly email?: string;
  readonly code?: string;
}

export const login = (program: Command, perform: Perform): Command =>
  program
    .command('login')
    .description('Log in with e-mail address and password; the password comes from a prompt, or from stdin when piped')
    .option('--email <address>', 'e-mail address')
    .option('--code <code>', 'second factor: six digits from the app, or a recovery code')
    .action(perform(logIn));

/** Stores the session for the profile, and the gateway's public keys and prices beside it so that receipts verify offline. */
async function logIn(world: CommandWorld, { options }: Typed<Options>): Promise<void> {
  const { err, env, profile, signal } = world;
  const email = await askFor(world, 'E-mail', options.email, '--email');
  const [password = ''] = await askSecrets(world, { name: 'Password' });
  const client = await world.connect('none');
  const answer = await client.identity.login({ email, password }, { signal }).catch(adviseOnPassword);
  const { session, email: address } = 'mfa_required' in answer ? await secondStep(world, client, answer, options.code) : answer;
  if (session === undefined) throw new Failure('unexpected_response', 'The service gave no session.', EXIT.failure);
  const { baseUrl } = client;
  await saveLogin(world, profile, { base_url: baseUrl, session_token: session.token, email: address, expires_at: session.expires_at });
  err.write(`Logged in to ${baseUrl} as ${address}.\n`);
  await tryToKeepKeySet(world);
  await keepPrices(world);
  if (env.apiKey !== undefined) err.write('TALLYGATE_API_KEY is set and wins over this login, except where keys are changed.\n');
}

const secondStep = (
  world: CommandWorld,
  client: Tallygate,
  { challenge_token }: LoginMfaRequiredResponse,
  given: string | undefined,
): Promise<UserResponse> =>
  withCode(world, { given, question: 'Code from the authenticator app, or a recovery code' }, (code) =>
    client.identity.loginMfa({ challenge_token, code }, { signal: world.signal }),
  );

/** "Log in" would be strange advice to someone who is just doing so. */
async function adviseOnPassword(error: unknown): Promise<never> {
  const { code } = await reportOf(error);
  if (code !== 'invalid_credentials') throw error;
  throw new AdvisedError(error, 'Check both, or set a new password with `tallygate password reset`.');
}

/** The login has succeeded by now: keys that cannot be fetched are a remark, not a failure. */
async function tryToKeepKeySet(world: CommandWorld): Promise<void> {
  try {
    await keepKeySet(world);
  } catch (error) {
    const { message } = await reportOf(error);
    world.err.write(`The receipt keys could not be kept (${message}); \`tallygate receipts keys\` fetches them later.\n`);
  }
}
