import type { Run } from '@tallygate/sdk';
import { type Command, Option } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { RunFields, RunStateValues } from '../generated/fields.ts';
import { livemodeOf, type ModeOptions, noneIn, withMode } from '../mode.ts';
import type { Column } from '../print.ts';
import { type PageOptions, printPages, withPages } from '../print-pages.ts';

interface Options extends ModeOptions, PageOptions {
  readonly state?: (typeof RunStateValues)[number];
  readonly parent?: string;
}

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
    withPages(
      withMode(
        runs
          .command('list')
          .description('List agent runs, newest first')
          .addOption(new Option('--state <state>', 'only runs in this state').choices(RunStateValues))
          .option('--parent <run-id>', 'only child runs of this one'),
      ),
    ),
  ).action(perform(list));

async function list(world: CommandWorld, { options }: Typed<Options>): Promise<void> {
  const { state, parent } = options;
  const { runs } = await world.connect();
  const query = { state, parent_run_id: parent, ...livemodeOf(options) };
  await printPages(world, options, {
    columns: COLUMNS,
    list: (limit) => runs.list({ ...query, limit }, { signal: world.signal }),
    none: noneIn(options),
  });
}
