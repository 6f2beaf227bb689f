import type { Command } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { RunFields } from '../generated/fields.ts';
import { livemodeOf, type ModeOptions, withMode } from '../mode.ts';
import { printRecord } from '../print.ts';
import { RUN_LINES } from './show-run.ts';

export const closeRun = (runs: Command, perform: Perform): Command =>
  withJson(
    RunFields,
    withMode(
      runs
        .command('close')
        .description('The kill switch: the run and its child runs make no further call, and their running calls are stopped')
        .argument('<run-id>'),
    ),
  ).action(perform(close));

async function close(world: CommandWorld, { args: [runId = ''], options }: Typed<ModeOptions>): Promise<void> {
  const client = await world.connect();
  printRecord(world, await client.runs.close(runId, livemodeOf(options), { signal: world.signal }), RUN_LINES);
}
