import type { UserResponse } from '@tallygate/sdk';
import { Argument, type Command } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../../command.ts';
import { EXIT } from '../../exit-codes.ts';
import { Failure } from '../../failure.ts';
import { RoleValues } from '../../generated/fields.ts';
import { type Column, printRecord } from '../../print.ts';
import { USER_FIELDS } from './fields.ts';

const LINES: readonly Column<UserResponse>[] = [
  { title: 'User', of: ({ user_id }) => user_id },
  { title: 'E-mail', of: ({ email }) => email },
  { title: 'Role', of: ({ role }) => role },
];

export const setRole = (users: Command, perform: Perform): Command =>
  withJson(
    USER_FIELDS,
    users
      .command('role')
      .description('Give a user another role, from their next request on; for administrators')
      .argument('<user>', 'id or e-mail address')
      .addArgument(new Argument('<role>', 'what the user may administer').choices(RoleValues)),
  ).action(perform(give));

async function give(world: CommandWorld, { args: [user = '', wanted] }: Typed<object>): Promise<void> {
  const role = RoleValues.find((one) => one === wanted) ?? 'member';
  const client = await world.connect('session');
  const { signal } = world;
  let id = user;
  if (user.includes('@')) {
    const { data } = await client.users.list({ email: user, limit: 1 }, { signal });
    if (!data[0]) throw new Failure('not_found', `There is no user with the address ${user}.`, EXIT.failure, 'tallygate users list');
    id = data[0].user_id;
  }
  printRecord(world, await client.users.setRole(id, role, { signal }), LINES);
}
