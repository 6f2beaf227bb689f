import type { Command } from 'commander';
import type { Perform } from '../../command.ts';
import { changePassword } from './change.ts';
import { resetPassword } from './reset.ts';

export function passwordCommands(password: Command, perform: Perform): void {
  changePassword(password, perform);
  resetPassword(password, perform);
}
