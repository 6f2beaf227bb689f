import type { UsageResponse, UsageRow } from '@tallygate/sdk';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { column } from '../bar.ts';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { UsageRowFields } from '../generated/fields.ts';
import { livemodeOf, type ModeOptions, noneIn, withMode } from '../mode.ts';
import { dayOrAgo, type Moment, timeText } from '../option-values.ts';
import { type Column, printList } from '../print.ts';

interface Options extends ModeOptions {
  readonly by?: readonly Group[];
  readonly per?: 'hour' | 'day';
  readonly from?: Moment;
  readonly to?: Moment;
  readonly csv?: true;
  readonly focus?: true;
  readonly output?: string;
}

const GROUPS = {
  project: { title: 'project', of: (row) => row.project_id },
  member: { title: 'member', of: (row) => row.user_id },
  key: { title: 'key', of: (row) => row.key_id },
  model: { title: 'model', of: (row) => row.model },
  provider: { title: 'provider', of: (row) => row.provider },
  tag: { title: 'tag', of: (row) => row.tag },
  end_user: { title: 'end user', of: (row) => row.end_user },
  run: { title: 'run', of: (row) => row.run_id },
  outcome: { title: 'outcome', of: (row) => row.outcome },
} as const satisfies Record<string, Column<UsageRow>>;
type Group = keyof typeof GROUPS;
const PERIODS = {
  day: { title: 'day', of: (row) => row.day },
  hour: { title: 'hour', of: (row) => row.hour },
} as const satisfies Record<string, Column<UsageRow>>;

const isGroup = (name: string): name is Group => Object.hasOwn(GROUPS, name);

function groupsIn(text: string): readonly Group[] {
  const names = text.split(',');
  const groups = names.filter(isGroup);
  if (groups.length < names.length || names.length > 2 || new Set(names).size < names.length)
    throw new InvalidArgumentError(`Allowed are one or two of ${Object.keys(GROUPS).join(', ')}, such as project,model.`);
  return groups;
}

const SUMS: readonly Column<UsageRow>[] = [
  { title: 'requests', of: ({ requests }) => requests, align: 'right' },
  { title: 'tokens in', of: ({ input_tokens }) => input_tokens, align: 'right' },
  { title: 'tokens out', of: ({ output_tokens }) => output_tokens, align: 'right' },
  { title: 'cost usd', of: ({ cost_usd }) => cost_usd, align: 'right' },
  { title: 'charged usd', of: ({ charged_usd }) => charged_usd, align: 'right' },
];

/** What only some requests have. */
const OTHERS = [
  { title: 'images', of: ({ images }) => images, align: 'right' },
  { title: 'audio s', of: ({ audio_seconds }) => audio_seconds, align: 'right' },
  { title: 'video s', of: ({ video_seconds }) => video_seconds, align: 'right' },
  { title: 'characters', of: ({ input_characters }) => input_characters, align: 'right' },
] as const satisfies readonly Column<UsageResponse['total']>[];

/** People see the columns in which there is anything; a script counts on each of them. */
const othersIn = ({ out }: CommandWorld, total: UsageResponse['total']) => OTHERS.filter(({ of }) => !out.isTty || of(total) > 0);

const CHART = 24;

/** For people only: each row's cost beside the largest. */
function chartOf({ out }: CommandWorld, items: readonly UsageRow[]): Column<UsageRow>[] {
  const largest = Math.max(0, ...items.map(({ cost_usd }) => Number(cost_usd)));
  if (!out.isTty || largest === 0) return [];
  const draw = ({ cost_usd }: UsageRow, width: number) => column(Number(cost_usd), largest, width);
  return [{ title: '', of: (row) => draw(row, CHART), draw, isSpare: true }];
}

export const usage = (command: Command, perform: Perform): Command =>
  withJson(
    UsageRowFields,
    withMode(
      command
        .addOption(new Option('--by <groups>', 'one group, or two such as project,model').choices(Object.keys(GROUPS)).argParser(groupsIn))
        .addOption(new Option('--per <period>', 'each day or hour by itself').choices(Object.keys(PERIODS)))
        .option('--since, --from <day>', 'first day, or how long ago it was, such as 7d', dayOrAgo)
        .option('--until, --to <day>', 'last day, or how long ago it was', dayOrAgo)
        .addOption(new Option('--csv', 'all groups as CSV').conflicts('json'))
        .addOption(new Option('--focus', 'as a FOCUS 1.2 dataset').implies({ csv: true }).conflicts(['json', 'by']))
        .addOption(new Option('-o, --output <file>', 'write to a file instead of stdout').implies({ csv: true })),
    ),
  ).action(perform(show));

async function show(world: CommandWorld, { options }: Typed<Options>): Promise<void> {
  const { by = [], per = by.length === 0 ? 'day' : undefined, from, to } = options;
  const columns = [...(per ? [PERIODS[per]] : []), ...by.map((group) => GROUPS[group])];
  const dayOf = (wanted: Moment | undefined) => wanted && timeText(wanted, world.now(), -1).slice(0, 10);
  const client = await world.connect();
  const query = { ...(by.length > 0 && { group_by: by.join() }), per, from: dayOf(from), to: dayOf(to), ...livemodeOf(options) };
  if (options.csv) {
    const { body } = await client.usage.export({ ...query, ...(options.focus && { format: 'focus' as const }) }, { signal: world.signal });
    if (body) await world.saveBytes(options.output ?? '-', body);
    return;
  }
  const response = await client.usage.get(query, { signal: world.signal });
  printUsage(world, response, { columns, options });
  if (response.omitted_groups > 0) world.err.write(`${response.omitted_groups} more of lower cost are not listed.\n`);
}

interface Shown {
  readonly columns: readonly Column<UsageRow>[];
  readonly options: Options;
}

function printUsage(world: CommandWorld, { items, total }: UsageResponse, { columns, options }: Shown): void {
  printList(world, items, [...columns, ...SUMS, ...othersIn(world, total), ...chartOf(world, items)], noneIn(options));
  // For people only: a script that adds up the lines must not count everything twice.
  if (world.out.isTty && world.jsonFields === undefined && items.length > 0) {
    world.out.write(
      `In all: ${total.requests} ${total.requests === 1 ? 'request' : 'requests'}, ${total.cost_usd} USD, charged ${total.charged_usd} USD.\n`,
    );
  }
}
