import type { UserResponse } from '@tallygate/sdk';
import type { Command } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../../command.ts';
import { EXIT } from '../../exit-codes.ts';
import { Failure } from '../../failure.ts';
import { type Column, printRecord } from '../../print.ts';
import { askFor, askSecrets } from '../secrets.ts';
import { USER_FIELDS } from './fields.ts';

interface Options {
  readonly email?: string;
  readonly name?: string;
  readonly news?: boolean;
  readonly internalSecretEnv: string;
}

const LINES: readonly Column<UserResponse>[] = [
  { title: 'User', of: ({ user_id }) => user_id },
  { title: 'Account', of: ({ account_id }) => account_id },
  { title: 'E-mail', of: ({ email }) => email },
  { title: 'Plan', of: ({ plan }) => plan },
];

export const createUser = (users: Command, perform: Perform): Command =>
  withJson(
    USER_FIELDS,
    users
      .command('create')
      .description('Register a user, as the web front end does; for operators')
      .option('--email <address>', 'e-mail address')
      .option('--name <name>', 'display name')
      .option('--news', 'consent to news by mail; a mail asks them to confirm it')
      .option('--internal-secret-env <name>', 'environment variable with the internal secret', 'TALLYGATE_INTERNAL_SECRET'),
  ).action(perform(create));

async function create(world: CommandWorld, { options }: Typed<Options>): Promise<void> {
  const { name, news, internalSecretEnv } = options;
  const internalSecret = world.env.variable(internalSecretEnv);
  if (internalSecret === undefined) {
    const nextStep = 'It is the gateway’s INTERNAL_SECRET, or in DATA_DIR/bootstrap.json.';
    throw new Failure('internal_secret_missing', `${internalSecretEnv} is not set.`, EXIT.authenticationNeeded, nextStep);
  }
  const email = await askFor(world, 'E-mail', options.email, '--email');
  const [password = ''] = await askSecrets(world, { name: 'Password', isNew: true });
  const client = await world.connect('none');
  const request = { email, password, name, marketing_consent: news };
  printRecord(world, await client.identity.createUser(request, { internalSecret, signal: world.signal }), LINES);
}
