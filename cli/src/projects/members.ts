import type { ProjectMember } from '@tallygate/sdk';
import { type Command, Option } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { ProjectMemberFields, ProjectRoleValues } from '../generated/fields.ts';
import { memberIdOf } from '../members/commands.ts';
import { type Column, plainText, printRecord } from '../print.ts';
import { type PageOptions, printPages, withPages } from '../print-pages.ts';

const COLUMNS: readonly Column<ProjectMember>[] = [
  { title: 'id', of: ({ user_id }) => user_id },
  { title: 'e-mail', of: ({ email }) => email },
  { title: 'role', of: ({ project_role }) => project_role },
  { title: 'by', of: ({ by_directory }) => (by_directory ? 'directory' : '') },
];

export function projectMemberCommands(projects: Command, perform: Perform): void {
  const members = projects.command('members').description('Members of a project');
  const of = (name: string, description: string) => members.command(name).description(description).argument('<project>', 'id');
  const ofOne = (name: string, description: string) => of(name, description).argument('<member>', 'id or e-mail address');
  withJson(ProjectMemberFields, withPages(of('list', 'List members of a project'))).action(perform(list));
  withJson(
    ProjectMemberFields,
    ofOne('add', 'Add a member of the account to a project, or change their role in it').addOption(
      new Option('--role <role>', 'what they are in it').choices(ProjectRoleValues).default('member'),
    ),
  ).action(perform(add));
  ofOne('remove', 'Remove a member from a project, with their API keys of it').action(perform(remove));
}

async function list(world: CommandWorld, { args: [project = ''], options }: Typed<PageOptions>): Promise<void> {
  const { projects } = await world.connect('session');
  await printPages(world, options, { columns: COLUMNS, list: (limit) => projects.members(project, { limit }, { signal: world.signal }) });
}

async function add(
  world: CommandWorld,
  { args: [project = '', member = ''], options }: Typed<{ readonly role?: ProjectMember['project_role'] }>,
): Promise<void> {
  const client = await world.connect('session');
  const id = await memberIdOf(world, client, member);
  const added = await client.projects.putMember(project, id, { project_role: options.role }, { signal: world.signal });
  printRecord(world, added, COLUMNS);
}

async function remove(world: CommandWorld, { args: [project = '', member = ''] }: Typed<object>): Promise<void> {
  const client = await world.connect('session');
  await client.projects.removeMember(project, await memberIdOf(world, client, member), { signal: world.signal });
  world.err.write(plainText(`Removed ${member} from the project.\n`));
}
