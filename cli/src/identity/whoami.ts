import type { UserResponse } from '@tallygate/sdk';
import type { Command } from 'commander';
import { type CommandWorld, type Perform, withJson } from '../command.ts';
import { type Column, printRecord } from '../print.ts';

const FIELDS = ['user_id', 'account_id', 'email', 'name', 'role', 'email_verified', 'mfa_enabled', 'plan', 'created_at', 'base_url'];

const LINES: readonly Column<UserResponse & { base_url: string }>[] = [
  { title: 'E-mail', of: ({ email, email_verified }) => (email_verified ? email : `${email} (not confirmed)`) },
  { title: 'Name', of: ({ name }) => name },
  { title: 'Role', of: ({ role }) => role },
  { title: 'Plan', of: ({ plan }) => plan },
  { title: 'MFA', of: ({ mfa_enabled }) => (mfa_enabled ? 'on' : 'off') },
  { title: 'Account', of: ({ account_id }) => account_id },
  { title: 'Gateway', of: ({ base_url }) => base_url },
];

export const whoami = (command: Command, perform: Perform): Command => withJson(FIELDS, command).action(perform(showMe));

async function showMe(world: CommandWorld): Promise<void> {
  const client = await world.connect();
  const me = await client.identity.me({ signal: world.signal });
  printRecord(world, { ...me, base_url: client.baseUrl }, LINES);
}
