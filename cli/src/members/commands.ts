import type { Member, MemberInvitation, Tallygate } from '@tallygate/sdk';
import { type Command, Option } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { Failure } from '../failure.ts';
import { AccountRoleValues, MemberFields, MemberInvitationFields } from '../generated/fields.ts';
import { type Column, plainText, printRecord } from '../print.ts';
import { type PageOptions, printPages, withPages } from '../print-pages.ts';

type Role = Member['account_role'];

const COLUMNS: readonly Column<Member>[] = [
  { title: 'id', of: ({ user_id }) => user_id },
  { title: 'e-mail', of: ({ email }) => email },
  { title: 'name', of: ({ name }) => name ?? '', isSpare: true },
  { title: 'role', of: ({ account_role }) => account_role },
];
const LINES: readonly Column<Member>[] = [
  { title: 'Member', of: ({ user_id }) => user_id },
  { title: 'E-mail', of: ({ email }) => email },
  { title: 'Role', of: ({ account_role }) => account_role },
];
const INVITATION: readonly Column<MemberInvitation>[] = [
  { title: 'Invitation', of: ({ invitation_id }) => invitation_id },
  { title: 'E-mail', of: ({ email }) => email },
  { title: 'Role', of: ({ account_role }) => account_role },
  { title: 'Open until', of: ({ expires_at }) => expires_at },
];

export function memberCommands(members: Command, perform: Perform): void {
  withJson(MemberFields, withPages(members.command('list').description('List members, newest first'))).action(perform(list));
  withJson(
    MemberInvitationFields,
    members
      .command('invite')
      .description('Invite somebody to the account, by mail')
      .argument('<email>', 'their address')
      .addOption(new Option('--role <role>', 'what they may do').choices(AccountRoleValues).default('developer')),
  ).action(perform(invite));
  withJson(
    MemberFields,
    members
      .command('role')
      .description('Change the role of a member')
      .argument('<member>', 'id or e-mail address')
      .argument('<role>', AccountRoleValues.join(', ')),
  ).action(perform(setRole));
  members
    .command('remove')
    .description('Remove a member, with their sessions and API keys')
    .argument('<member>', 'id or e-mail address')
    .action(perform(remove));
}

async function list(world: CommandWorld, { options }: Typed<PageOptions>): Promise<void> {
  const { members } = await world.connect();
  await printPages(world, options, { columns: COLUMNS, list: (limit) => members.list({ limit }, { signal: world.signal }) });
}

async function invite(world: CommandWorld, { args: [email = ''], options }: Typed<{ readonly role?: Role }>): Promise<void> {
  const { members } = await world.connect('session');
  printRecord(world, await members.invite({ email, account_role: options.role }, { signal: world.signal }), INVITATION);
}

async function setRole(world: CommandWorld, { args: [member = '', wanted = ''] }: Typed<object>): Promise<void> {
  const role = AccountRoleValues.find((one) => one === wanted);
  if (role === undefined) throw new Failure('usage', `The roles are ${AccountRoleValues.join(', ')}.`, EXIT.usage);
  const client = await world.connect('session');
  const id = await memberIdOf(world, client, member);
  printRecord(world, await client.members.update(id, { account_role: role }, { signal: world.signal }), LINES);
}

async function remove(world: CommandWorld, { args: [member = ''] }: Typed<object>): Promise<void> {
  const client = await world.connect('session');
  await client.members.remove(await memberIdOf(world, client, member), { signal: world.signal });
  world.err.write(plainText(`Removed ${member}.\n`));
}

/** Of an id, or of an e-mail address. */
export async function memberIdOf({ signal }: CommandWorld, client: Tallygate, member: string): Promise<string> {
  if (!member.includes('@')) return member;
  for await (const { user_id, email } of client.members.list({}, { signal }))
    if (email.toLowerCase() === member.toLowerCase()) return user_id;
  throw new Failure('not_found', `The account has no member ${member}.`, EXIT.failure, 'tallygate members list');
}
