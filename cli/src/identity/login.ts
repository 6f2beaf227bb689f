import type { LoginMfaRequiredResponse, Tallygate, UserResponse } from '@tallygate/sdk';
import type { Command } from 'commander';
import type { CommandWorld, Perform, Typed } from '../command.ts';
import { readKeptLogin, saveLogin } from '../credentials.ts';
import { EXIT } from '../exit-codes.ts';
import { AdvisedError, Failure, reportOf } from '../failure.ts';
import { keepWitnesses } from '../log/witnesses.ts';
import { keepKeySet, keepPrices } from '../receipts/keep.ts';
import { withCode } from './codes.ts';
import { logInByBrowser } from './device-login.ts';
import { logInByDirectory } from './directory-login.ts';
import { askFor, askSecrets } from './secrets.ts';

interface Options {
  readonly email?: string;
  readonly code?: string;
  readonly password?: boolean;
  readonly device?: boolean;
  readonly sso?: boolean;
  readonly browser: boolean;
  readonly keyring: boolean;
}

const ABOUT = `Log in

At a terminal this shows a code and opens the page where you approve it, there or on your phone. With --email or --password, and where nobody is at the terminal, it takes e-mail address and password instead; the password comes from a prompt, or from stdin when piped.`;

export const login = (command: Command, perform: Perform): Command =>
  command
    .summary(command.description())
    .description(ABOUT)
    .option('--email <address>', 'e-mail address; the password is asked for here')
    .option('--code <code>', 'second factor: six digits from the app, or a recovery code')
    .option('--password', 'with e-mail address and password, here')
    .option('--sso', 'with the company’s directory, in a browser on this computer')
    .option('--device', 'with a code to approve in a browser, also without a terminal')
    .option('--no-browser', 'open no page; show its address')
    .option('--no-keyring', 'keep the session in a file, not in the keyring')
    .action(perform(logIn));

/** Stores the session for the profile, and the gateway's public keys and prices beside it so that receipts verify offline. */
async function logIn(world: CommandWorld, { options }: Typed<Options>): Promise<void> {
  const { err, env, input, profile } = world;
  const client = await world.connect('none');
  const isByBrowser = options.device ?? (input.isTty && options.password === undefined && options.email === undefined);
  const opens = options.browser && input.isTty;
  const user = options.sso
    ? await logInByDirectory(world, client, { opens })
    : isByBrowser
      ? await logInByBrowser(world, client, { opens })
      : await logInHere(world, client, options);
  const { session, email } = user;
  if (session === undefined) throw new Failure('unexpected_response', 'The service returned no session.', EXIT.failure);
  const { baseUrl } = client;
  const before = await readKeptLogin(world, profile);
  const kept = { base_url: baseUrl, session_token: session.token, email, expires_at: session.expires_at };
  await saveLogin(world, profile, kept, { usesKeyring: options.keyring });
  err.write(`Logged in to ${baseUrl} as ${email}.\n`);
  if (before !== undefined && (before.base_url !== baseUrl || before.email !== email)) {
    err.write(`It replaces the login to ${before.base_url} as ${before.email}; \`--profile NAME\` keeps both.\n`);
  }
  await tryToKeepKeySet(world);
  await keepPrices(world);
  await keepWitnesses(world);
  if (env.apiKey !== undefined) err.write('TALLYGATE_API_KEY is set and has precedence over this login, except for changes of keys.\n');
}

/** With e-mail address and password. */
async function logInHere(world: CommandWorld, client: Tallygate, options: Options): Promise<UserResponse> {
  const email = await askFor(world, 'E-mail', options.email, '--email, or have a person approve it in a browser: --device');
  const [password = ''] = await askSecrets(world, { name: 'Password' });
  const answer = await client.identity.login({ email, password }, { signal: world.signal }).catch(adviseOnPassword);
  return 'mfa_required' in answer ? secondStep(world, client, answer, options.code) : answer;
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
    await keepKeySet(world, { isReplacing: true });
  } catch (error) {
    const { message } = await reportOf(error);
    world.err.write(`The receipt keys could not be stored (${message}); \`tallygate receipts keys\` fetches them later.\n`);
  }
}
