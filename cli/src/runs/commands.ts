import type { Command } from 'commander';
import type { Perform } from '../command.ts';
import { closeRun } from './close.ts';
import { listRuns } from './list.ts';
import { showRun } from './show.ts';

export function runCommands(runs: Command, perform: Perform): void {
  listRuns(runs, perform);
  showRun(runs, perform);
  closeRun(runs, perform);
}
