import type { Command } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { AccountResponseFields } from '../generated/fields.ts';
import { printRecord } from '../print.ts';
import { ACCOUNT_LINES, accountIdOf } from './find-account.ts';

export const showAccount = (accounts: Command, perform: Perform): Command =>
  withJson(
    AccountResponseFields,
    accounts
      .command('show')
      .description('Show one account: its plan, the granted plan and the paid one')
      .argument('<account>', 'id or e-mail address'),
  ).action(perform(show));

async function show(world: CommandWorld, { args: [account = ''] }: Typed<object>): Promise<void> {
  const client = await world.connect('session');
  const id = await accountIdOf(world, client, account);
  printRecord(world, await client.accounts.get(id, { signal: world.signal }), ACCOUNT_LINES);
}
