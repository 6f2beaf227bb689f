import type { Command } from 'commander';
import type { Perform } from '../../command.ts';
import { closeAccount } from './close.ts';
import { updateAccount } from './update.ts';

export function accountCommands(account: Command, perform: Perform): void {
  updateAccount(account, perform);
  closeAccount(account, perform);
}
