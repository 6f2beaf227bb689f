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
  readonly store?: boolean;
}

const FIELDS = ['user_id', 'email', 'name', 'stores_content'];

const LINES: readonly Column<UserResponse>[] = [
  { title: 'E-mail', of: ({ email }) => email },
  { title: 'Name', of: ({ name }) => name },
  { title: 'Stores', of: ({ stores_content }) => (stores_content ? 'prompts and answers' : 'nothing') },
];

export const updateAccount = (account: Command, perform: Perform): Command =>
  withJson(
    FIELDS,
    account
      .command('update')
      .description(
        'Change the display name, the e-mail address, or whether prompts and answers may be stored; a new address needs the password and a click on the link mailed to it',
      )
      .option('--name <name>', 'display name')
      .option('--no-name', 'remove the display name')
      .option('--email <address>', 'new e-mail address')
      .option('--store', 'allow prompts and answers to be stored when a request sets `store`')
      .option('--no-store', 'store no prompts and answers'),
  ).action(perform(update));

async function update(world: CommandWorld, { options: { name, email, store } }: Typed<Options>): Promise<void> {
  if (name === undefined && email === undefined && store === undefined)
    throw new Failure('usage', 'Give --name, --no-name, --email, --store or --no-store.', EXIT.usage);
  const client = await world.connect('session');
  const [password] = email === undefined ? [] : await askSecrets(world, { name: 'Password' });
  const user = await client.identity.update(
    {
      ...(store !== undefined && { stores_content: store }),
      ...(name !== undefined && { name: name === false ? null : name }),
      ...(email !== undefined && { email, password }),
    },
    { signal: world.signal },
  );
  printRecord(world, user, LINES);
  if (email !== undefined)
    world.err.write(`The address changes when the link is opened that is mailed to ${email}; until then all stays as it is.\n`);
}
