import type { ReceiptListItem } from '@tallygate/sdk';
import { type Command, Option } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { ReceiptListItemFields } from '../generated/fields.ts';
import { livemodeOf, type ModeOptions, noneIn, withMode } from '../mode.ts';
import type { Column } from '../print.ts';
import { type PageOptions, printPages, withPages } from '../print-pages.ts';

const KINDS = ['usage', 'batch_line', 'media_job', 'refund', 'correction'] as const;

interface Options extends ModeOptions, PageOptions {
  readonly month?: string;
  readonly kind?: (typeof KINDS)[number];
  readonly model?: string;
  readonly run?: string;
}

const COLUMNS: readonly Column<ReceiptListItem>[] = [
  { title: 'id', of: ({ id }) => id },
  { title: 'kind', of: ({ kind }) => kind, isSpare: true },
  { title: 'model', of: ({ model }) => model },
  { title: 'outcome', of: ({ outcome }) => outcome, isSpare: true },
  { title: 'cost', of: ({ cost_usd }) => cost_usd, align: 'right' },
  { title: 'started', of: ({ started_at }) => started_at },
  { title: 'log', of: ({ log_index }) => log_index ?? 'pending', align: 'right', isSpare: true },
];

export const listReceipts = (receipts: Command, perform: Perform): Command =>
  withJson(
    ReceiptListItemFields,
    withPages(
      withMode(
        receipts
          .command('list')
          .description('List receipts of the account, newest request first')
          .option('--month <month>', 'only of requests of this month, YYYY-MM (UTC)')
          .addOption(new Option('--kind <kind>', 'only of this kind').choices(KINDS))
          .option('--model <model>', 'only of requests to this model')
          .option('--run <run-id>', 'only of requests of this agent run'),
      ),
    ),
  ).action(perform(list));

async function list(world: CommandWorld, { options }: Typed<Options>): Promise<void> {
  const { month, kind, model, run } = options;
  const { receipts } = await world.connect();
  const query = { month, kind, model, run_id: run, ...livemodeOf(options) };
  await printPages(world, options, {
    columns: COLUMNS,
    list: (limit) => receipts.list({ ...query, limit }, { signal: world.signal }),
    none: noneIn(options),
  });
}
