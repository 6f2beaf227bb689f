import type { UserResponse } from '@tallygate/sdk';
import type { Command } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../../command.ts';
import { EXIT } from '../../exit-codes.ts';
import { Failure } from '../../failure.ts';
import { type Column, printRecord } from '../../print.ts';
import { askSecrets } from '../secrets.ts';

interface Options {
  /** False: the name is removed. */
  readonly name?: string | false;
  readonly email?: string;
}

const FIELDS = ['user_id', 'email', 'name'];

const LINES: readonly Column<UserResponse>[] = [
  { title: 'E-mail', of: ({ email }) => email },
  { title: 'Name', of: ({ name }) => name },
];

export const updateAccount = (account: Command, perform: Perform): Command =>
  withJson(
    FIELDS,
    account
      .command('update')
      .description('Change the display name or the e-mail address; a new address takes the password, and the link that is mailed to it')
      .option('--name <name>', 'display name')
      .option('--no-name', 'remove the display name')
      .option('--email <address>', 'new e-mail address'),
  ).action(perform(update));

async function update(world: CommandWorld, { options: { name, email } }: Typed<Options>): Promise<void> {
  if (name === undefined && email === undefined) throw new Failure('usage', 'Give --name, --no-name or --email.', EXIT.usage);
  const client = await world.connect('session');
  const [password] = email === undefined ? [] : await askSecrets(world, { name: 'Password' });
  const user = await client.identity.update(
    { ...(name !== undefined && { name: name === false ? null : name }), ...(email !== undefined && { email, password }) },
    { signal: world.signal },
  );
  printRecord(world, user, LINES);
  if (email !== undefined)
    world.err.write(`The address changes when the link is opened that is mailed to ${email}; until then all stays as it is.\n`);
}
