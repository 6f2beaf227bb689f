import type { Project } from '@tallygate/sdk';
import type { Command } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { ProjectFields } from '../generated/fields.ts';
import { type Column, printRecord } from '../print.ts';
import { type PageOptions, printPages, withPages } from '../print-pages.ts';
import { projectMemberCommands } from './members.ts';

const COLUMNS: readonly Column<Project>[] = [
  { title: 'id', of: ({ project_id }) => project_id },
  { title: 'name', of: ({ name }) => name },
  { title: 'your id', of: ({ external_id }) => external_id ?? '', isSpare: true },
  { title: 'state', of: ({ archived_at }) => (archived_at === null ? 'active' : 'archived') },
];
const LINES: readonly Column<Project>[] = [
  { title: 'Project', of: ({ project_id }) => project_id },
  { title: 'Name', of: ({ name }) => name },
  { title: 'Your id', of: ({ external_id }) => external_id ?? 'none' },
  { title: 'Since', of: ({ created_at }) => created_at },
  { title: 'Archived', of: ({ archived_at }) => archived_at ?? 'no' },
];

export function projectCommands(projects: Command, perform: Perform): void {
  withJson(ProjectFields, withPages(projects.command('list').description('List projects, newest first'))).action(perform(list));
  withJson(
    ProjectFields,
    projects
      .command('create')
      .description('Create a project')
      .argument('<name>', 'name, for people')
      .option('--external-id <id>', 'your own id of it: a repeat answers with the project that has it'),
  ).action(perform(create));
  withJson(
    ProjectFields,
    projects.command('archive').description('Archive a project: its API keys are revoked within a second').argument('<project>', 'id'),
  ).action(perform(archive));
  projectMemberCommands(projects, perform);
}

async function list(world: CommandWorld, { options }: Typed<PageOptions>): Promise<void> {
  const { projects } = await world.connect();
  await printPages(world, options, { columns: COLUMNS, list: (limit) => projects.list({ limit }, { signal: world.signal }) });
}

async function create(world: CommandWorld, { args: [name = ''], options }: Typed<{ readonly externalId?: string }>): Promise<void> {
  const { projects } = await world.connect('session');
  const { externalId: external_id } = options;
  const made = await projects.create({ name, ...(external_id !== undefined && { external_id }) }, { signal: world.signal });
  printRecord(world, made, LINES);
}

async function archive(world: CommandWorld, { args: [id = ''] }: Typed<object>): Promise<void> {
  const { projects } = await world.connect('session');
  printRecord(world, await projects.update(id, { archived: true }, { signal: world.signal }), LINES);
}
