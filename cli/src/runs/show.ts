import type { RunStep } from '@tallygate/sdk';
import type { Command } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { RunFields } from '../generated/fields.ts';
import { livemodeOf, type ModeOptions, withMode } from '../mode.ts';
import { type Column, printList, printRecord } from '../print.ts';
import { RUN_LINES } from './show-run.ts';

const MOST_STEPS = 200;

const STEPS: readonly Column<RunStep>[] = [
  { title: 'step', of: ({ request_id }) => request_id },
  { title: 'endpoint', of: ({ endpoint }) => endpoint },
  { title: 'model', of: ({ model_served }) => model_served },
  { title: 'outcome', of: ({ outcome }) => outcome },
  { title: 'cost', of: ({ cost_usd }) => cost_usd, align: 'right' },
  { title: 'began', of: ({ started_at }) => started_at },
];

export const showRun = (runs: Command, perform: Perform): Command =>
  withJson(
    [...RunFields, 'held_usd', 'steps', 'children'],
    withMode(runs.command('show').description('Show the state of an agent run, and the cost of its steps').argument('<run-id>')),
  ).action(perform(show));

async function show(world: CommandWorld, { args: [runId = ''], options }: Typed<ModeOptions>): Promise<void> {
  const client = await world.connect();
  const run = await client.runs.get(runId, { limit: MOST_STEPS, ...livemodeOf(options) }, { signal: world.signal });
  printRecord(world, run, [
    ...RUN_LINES,
    { title: 'Held', of: () => run.held_usd },
    { title: 'Children', of: () => run.children.map(({ run_id }) => run_id).join(', ') },
  ]);
  const { data, has_more } = run.steps;
  if (world.jsonFields !== undefined || data.length === 0) return;
  world.out.write('\n');
  printList(world, data, STEPS);
  if (has_more) world.err.write(`The first ${data.length} steps.\n`);
}
