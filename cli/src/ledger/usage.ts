import type { UsageResponse, UsageRow } from '@tallygate/sdk';
import { type Command, Option } from 'commander';
import { column } from '../bar.ts';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { csvRow } from '../csv.ts';
import { UsageRowFields } from '../generated/fields.ts';
import { livemodeOf, type ModeOptions, noneIn, withMode } from '../mode.ts';
import { dayOrAgo, type Moment, timeText } from '../option-values.ts';
import { type Column, printList } from '../print.ts';

interface Options extends ModeOptions {
  readonly by: UsageResponse['group_by'];
  readonly from?: Moment;
  readonly to?: Moment;
  readonly csv?: true;
}

const group = (title: string): Column<UsageRow> => ({ title, of: (row) => row.group });

const GROUPS: Record<Options['by'], Column<UsageRow>> = {
  day: { title: 'day', of: (row) => row.day },
  model: { title: 'model', of: (row) => row.model },
  key: { title: 'key', of: (row) => row.key_id },
  run: { title: 'run', of: (row) => row.run_id },
  ...{ project: group('project'), member: group('member'), provider: group('provider') },
  ...{ end_user: group('end user'), tag: group('tag'), outcome: group('outcome') },
};

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
        .addOption(new Option('--by <group>', 'the grouping').choices(Object.keys(GROUPS)).default('day'))
        .option('--since, --from <day>', 'first day, UTC, or how long ago it was, such as 7d', dayOrAgo)
        .option('--until, --to <day>', 'last day, UTC, or how long ago it was', dayOrAgo)
        .addOption(new Option('--csv', 'comma-separated values with a header, for spreadsheets').conflicts('json')),
    ),
  ).action(perform(show));

async function show(world: CommandWorld, { options }: Typed<Options>): Promise<void> {
  const { by, from, to } = options;
  const dayOf = (wanted: Moment | undefined) => wanted && timeText(wanted, world.now(), -1).slice(0, 10);
  const client = await world.connect();
  const query = { group_by: by, from: dayOf(from), to: dayOf(to), ...livemodeOf(options) };
  const response = await client.usage.get(query, { signal: world.signal });
  if (options.csv) world.out.write(csvOf(by, response));
  else printUsage(world, response, options);
  if (response.omitted_groups > 0) world.err.write(`${response.omitted_groups} more of lower cost are not listed.\n`);
}

function printUsage(world: CommandWorld, { items, total }: UsageResponse, options: Options): void {
  printList(world, items, [GROUPS[options.by], ...SUMS, ...othersIn(world, total), ...chartOf(world, items)], noneIn(options));
  // For people only: a script that adds up the lines must not count everything twice.
  if (world.out.isTty && world.jsonFields === undefined && items.length > 0) {
    world.out.write(
      `In all: ${total.requests} ${total.requests === 1 ? 'request' : 'requests'}, ${total.cost_usd} USD, charged ${total.charged_usd} USD.\n`,
    );
  }
}

/** Every figure under its name in the API; amounts to the nano-dollar. */
function csvOf(by: Options['by'], { from, to, items, total }: UsageResponse): string {
  const named = ['requests', 'input_tokens', 'cached_input_tokens', 'output_tokens', 'input_characters'] as const;
  const figures = [
    ...named,
    'audio_seconds',
    'video_seconds',
    'images',
    'cost_usd',
    'charged_usd',
  ] as const satisfies (keyof typeof total)[];
  const group = GROUPS[by].of;
  const rows = items.map((row) => csvRow([from, to, groupText(group(row)), ...figures.map((figure) => row[figure])]));
  return [csvRow(['from', 'to', by, ...figures]), ...rows].join('');
}

const groupText = (group: ReturnType<Column<UsageRow>['of']>): string | null =>
  group === null || group === undefined ? null : String(group);
