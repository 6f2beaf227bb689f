import type { Command } from 'commander';
import type { Perform } from '../command.ts';
import { logAudit } from './audit.ts';
import { logCheckpoint } from './checkpoint.ts';
import { logWatch } from './watch.ts';

export function logCommands(log: Command, perform: Perform): void {
  logCheckpoint(log, perform);
  logAudit(log, perform);
  logWatch(log, perform);
}
