import type { KeyResponse } from '@tallygate/sdk';
import type { Command } from 'commander';
import { type CommandWorld, type Perform, withJson } from '../command.ts';
import { KeyResponseFields } from '../generated/fields.ts';
import { type Column, printList } from '../print.ts';

const COLUMNS: readonly Column<KeyResponse>[] = [
  { title: 'id', of: ({ key_id }) => key_id, isSpare: true },
  { title: 'name', of: ({ name }) => name },
  { title: 'prefix', of: ({ prefix }) => prefix, isSpare: true },
  { title: 'status', of: ({ status }) => status },
  { title: 'cap usd', of: ({ monthly_cap_usd }) => monthly_cap_usd, align: 'right' },
  { title: 'last used', of: ({ last_used_at }) => last_used_at },
];

export const listKeys = (keys: Command, perform: Perform): Command =>
  withJson(KeyResponseFields, keys.command('list').description('List API keys, revoked ones included, newest first')).action(perform(list));

async function list(world: CommandWorld): Promise<void> {
  const client = await world.connect();
  printList(world, await client.keys.list({ signal: world.signal }), COLUMNS);
}
