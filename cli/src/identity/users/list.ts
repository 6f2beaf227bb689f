import type { Role, UserResponse } from '@tallygate/sdk';
import { type Command, Option } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../../command.ts';
import { RoleValues } from '../../generated/fields.ts';
import { type Column, printList } from '../../print.ts';
import { USER_FIELDS } from './fields.ts';

interface Options {
  readonly role?: Role;
  readonly email?: string;
}

const COLUMNS: readonly Column<UserResponse>[] = [
  { title: 'id', of: ({ user_id }) => user_id },
  { title: 'e-mail', of: ({ email }) => email },
  { title: 'role', of: ({ role }) => role },
  { title: 'confirmed', of: ({ email_verified }) => (email_verified ? 'yes' : 'no'), isSpare: true },
  { title: 'plan', of: ({ plan }) => plan },
  { title: 'since', of: ({ created_at }) => created_at },
];

export const listUsers = (users: Command, perform: Perform): Command =>
  withJson(
    USER_FIELDS,
    users
      .command('list')
      .description('Users of the gateway, the newest first; for administrators')
      .addOption(new Option('--role <role>', 'only who has it').choices(RoleValues))
      .option('--email <address>', 'whose address this is'),
  ).action(perform(list));

async function list(world: CommandWorld, { options: { role, email } }: Typed<Options>): Promise<void> {
  const client = await world.connect('session');
  const found: UserResponse[] = [];
  const query = { limit: 200, ...(role && { role }), ...(email !== undefined && { email }) };
  for await (const user of client.users.list(query, { signal: world.signal })) found.push(user);
  printList(world, found, COLUMNS);
}
