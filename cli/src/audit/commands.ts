import type { Command } from 'commander';
import type { Perform } from '../command.ts';
import { listAudit } from './list.ts';

export function auditCommands(audit: Command, perform: Perform): void {
  listAudit(audit, perform);
}
