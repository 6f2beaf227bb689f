import type { Command } from 'commander';
import type { Perform } from '../command.ts';
import { cancelBatch } from './cancel.ts';
import { createBatch } from './create.ts';
import { getBatch } from './get.ts';
import { listBatches } from './list.ts';
import { batchOutput } from './output.ts';
import { waitForBatch } from './wait.ts';

export function batchCommands(batches: Command, perform: Perform): void {
  createBatch(batches, perform);
  listBatches(batches, perform);
  getBatch(batches, perform);
  cancelBatch(batches, perform);
  waitForBatch(batches, perform);
  batchOutput(batches, perform);
}
