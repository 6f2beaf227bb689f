import type { AccountResponse } from '@tallygate/sdk';
import type { Command } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { AccountResponseFields } from '../generated/fields.ts';
import type { Column } from '../print.ts';
import { type PageOptions, printPages, withPages } from '../print-pages.ts';

interface Options extends PageOptions {
  readonly email?: string;
}

const COLUMNS: readonly Column<AccountResponse>[] = [
  { title: 'id', of: ({ account_id }) => account_id },
  { title: 'name', of: ({ name }) => name, isSpare: true },
  { title: 'e-mail', of: ({ emails }) => emails.join(', ') },
  { title: 'plan', of: ({ plan_id }) => plan_id },
  { title: 'given', of: ({ given_plan }) => (given_plan ? 'yes' : 'no') },
  { title: 'since', of: ({ created_at }) => created_at, isSpare: true },
];

export const listAccounts = (accounts: Command, perform: Perform): Command =>
  withJson(
    AccountResponseFields,
    withPages(
      accounts
        .command('list')
        .description('Accounts of the gateway, the newest first')
        .option('--email <address>', 'only the user with this address'),
    ),
  ).action(perform(list));

async function list(world: CommandWorld, { options }: Typed<Options>): Promise<void> {
  const { email } = options;
  const { accounts } = await world.connect('session');
  await printPages(world, options, { columns: COLUMNS, list: (limit) => accounts.list({ email, limit }, { signal: world.signal }) });
}
