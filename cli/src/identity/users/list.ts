import type { Role, UserResponse } from '@tallygate/sdk';
import { type Command, Option } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../../command.ts';
import { RoleValues } from '../../generated/fields.ts';
import type { Column } from '../../print.ts';
import { type PageOptions, printPages, withPages } from '../../print-pages.ts';
import { USER_FIELDS } from './fields.ts';

interface Options extends PageOptions {
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
    withPages(
      users
        .command('list')
        .description('Users of the gateway, the newest first; for administrators')
        .addOption(new Option('--role <role>', 'only users with this role').choices(RoleValues))
        .option('--email <address>', 'only the user with this address'),
    ),
  ).action(perform(list));

async function list(world: CommandWorld, { options }: Typed<Options>): Promise<void> {
  const { role, email } = options;
  const { users } = await world.connect('session');
  await printPages(world, options, { columns: COLUMNS, list: (limit) => users.list({ role, email, limit }, { signal: world.signal }) });
}
