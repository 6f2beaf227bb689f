import type { SessionResponse } from '@tallygate/sdk';
import type { Command } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../../command.ts';
import { SessionResponseFields } from '../../generated/fields.ts';
import type { Column } from '../../print.ts';
import { type PageOptions, printPages, withPages } from '../../print-pages.ts';

const COLUMNS: readonly Column<SessionResponse>[] = [
  { title: 'id', of: ({ session_id }) => session_id },
  { title: 'this', of: ({ current }) => (current ? 'yes' : '') },
  { title: 'last used', of: ({ last_used_at }) => last_used_at },
  { title: 'expires', of: ({ expires_at }) => expires_at, isSpare: true },
  { title: 'from', of: ({ ip_address }) => ip_address },
  { title: 'with', of: ({ user_agent }) => user_agent },
];

export const listSessions = (sessions: Command, perform: Perform): Command =>
  withJson(SessionResponseFields, withPages(sessions.command('list').description('List the sessions of the user, last used first'))).action(
    perform(list),
  );

async function list(world: CommandWorld, { options }: Typed<PageOptions>): Promise<void> {
  const { sessions } = await world.connect('session');
  await printPages(world, options, { columns: COLUMNS, list: (limit) => sessions.list({ limit }, { signal: world.signal }) });
}
