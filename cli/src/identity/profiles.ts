import type { Command } from 'commander';
import { alsoAsList, type CommandWorld, type Perform, withJson } from '../command.ts';
import { type KeptLogin, readLogins } from '../credentials.ts';
import { type Column, printList } from '../print.ts';

type Row = Pick<KeptLogin, 'base_url' | 'email' | 'expires_at'> & { readonly profile: string; readonly selected: boolean };

const COLUMNS: readonly Column<Row>[] = [
  { title: 'profile', of: ({ profile }) => profile },
  { title: 'in use', of: ({ selected }) => (selected ? 'yes' : '') },
  { title: 'gateway', of: ({ base_url }) => base_url },
  { title: 'e-mail', of: ({ email }) => email },
  { title: 'expires', of: ({ expires_at }) => expires_at },
];

export const profiles = (command: Command, perform: Perform): Command =>
  alsoAsList(withJson(['profile', 'selected', 'base_url', 'email', 'expires_at'], command), perform(list));

async function list(world: CommandWorld): Promise<void> {
  const logins = Object.entries(await readLogins(world));
  const rows = logins.map(([profile, { base_url, email, expires_at }]) => ({
    profile,
    selected: profile === world.profile,
    base_url,
    email,
    expires_at,
  }));
  printList(world, rows, COLUMNS);
}
