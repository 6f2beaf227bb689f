import type { Command } from 'commander';
import type { Perform } from '../command.ts';
import { listAccounts } from './list.ts';
import { setPlan } from './plan.ts';
import { reserveCapacity } from './reserve.ts';
import { showAccount } from './show.ts';

export function accountsCommands(accounts: Command, perform: Perform): void {
  listAccounts(accounts, perform);
  showAccount(accounts, perform);
  setPlan(accounts, perform);
  reserveCapacity(accounts, perform);
}
