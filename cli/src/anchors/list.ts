import type { AnchorResponse } from '@tallygate/sdk';
import { type Command, Option } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { AnchorResponseFields, AnchorStateValues } from '../generated/fields.ts';
import { wholeNumber } from '../option-values.ts';
import type { Column } from '../print.ts';
import { type PageOptions, printPages, withPages } from '../print-pages.ts';

interface Options extends PageOptions {
  readonly chain?: number;
  readonly state?: (typeof AnchorStateValues)[number];
}

const COLUMNS: readonly Column<AnchorResponse>[] = [
  { title: 'chain', of: ({ chain_id }) => `${chain_id}`, align: 'right' },
  { title: 'entries', of: ({ tree_size }) => tree_size, align: 'right' },
  { title: 'state', of: ({ state }) => state },
  { title: 'block', of: ({ block_number }) => block_number, align: 'right' },
  { title: 'time', of: ({ block_time }) => block_time },
  { title: 'fee', of: ({ fee }) => fee, align: 'right' },
  { title: 'USD', of: ({ fee_usd }) => fee_usd, align: 'right' },
  { title: 'transaction', of: ({ transaction_hash }) => transaction_hash },
];

export const listAnchors = (anchors: Command, perform: Perform): Command =>
  withJson(
    AnchorResponseFields,
    withPages(
      anchors
        .command('list')
        .description('The states of the log that are on public chains, the newest first; needs no login')
        .option('--chain <id>', 'only those of this chain', wholeNumber())
        .addOption(new Option('--state <state>', 'only those in this state').choices(AnchorStateValues)),
    ),
  ).action(perform(list));

async function list(world: CommandWorld, { options }: Typed<Options>): Promise<void> {
  const { chain, state } = options;
  const { anchors } = await world.connect('none');
  await printPages(world, options, {
    columns: COLUMNS,
    list: (limit) => anchors.list({ chain_id: chain, state, limit }, { signal: world.signal }),
  });
}
