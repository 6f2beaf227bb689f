import type { Command } from 'commander';
import type { Perform } from '../../command.ts';
import { createUser } from './create.ts';
import { listUsers } from './list.ts';
import { setRole } from './role.ts';

export function userCommands(users: Command, perform: Perform): void {
  listUsers(users, perform);
  setRole(users, perform);
  createUser(users, perform);
}
