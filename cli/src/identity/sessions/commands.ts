import type { Command } from 'commander';
import type { Perform } from '../../command.ts';
import { listSessions } from './list.ts';
import { revokeSession } from './revoke.ts';

export function sessionCommands(sessions: Command, perform: Perform): void {
  listSessions(sessions, perform);
  revokeSession(sessions, perform);
}
