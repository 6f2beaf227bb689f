import type { Run } from '@tallygate/sdk';
import { type Command, Option } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { RunFields, RunStateValues } from '../generated/fields.ts';
import { livemodeOf, type ModeOptions, noneIn, withMode } from '../mode.ts';
import { wholeNumber } from '../option-values.ts';
import { type Column, printList } from '../print.ts';

interface Options extends ModeOptions {
  readonly state?: (typeof RunStateValues)[number];
  readonly parent?: string;
  readonly limit: number;
}

const MAX_PAGE = 200;

const COLUMNS: readonly Column<Run>[] = [
  { title: 'id', of: ({ run_id }) => run_id },
  { title: 'state', of: ({ state }) => state },
  { title: 'spent', of: ({ spent_usd }) => spent_usd, align: 'right' },
  { title: 'ceiling', of: ({ ceiling_usd }) => ceiling_usd, align: 'right' },
  { title: 'requests', of: ({ requests }) => requests, align: 'right' },
  { title: 'started', of: ({ started_at }) => started_at },
];

export const listRuns = (runs: Command, perform: Perform): Command =>
  withJson(
    RunFields,
    withMode(
      runs
        .command('list')
        .description('List agent runs, newest first')
        .addOption(new Option('--state <state>', 'only runs in this state').choices(RunStateValues))
        .option('--parent <run-id>', 'only child runs of this one')
        .option('--limit <n>', 'how many at most', wholeNumber(), 50),
    ),
  ).action(perform(list));

async function list(world: CommandWorld, { options }: Typed<Options>): Promise<void> {
  const { state, parent, limit } = options;
  const client = await world.connect();
  const query = { state, parent_run_id: parent, limit: Math.min(limit, MAX_PAGE), ...livemodeOf(options) };
  const found: Run[] = [];
  for await (const run of client.runs.list(query, { signal: world.signal })) {
    found.push(run);
    if (found.length === limit) break;
  }
  printList(world, found, COLUMNS, noneIn(options));
}
