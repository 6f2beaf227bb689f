import type { InvoiceListItem } from '@tallygate/sdk';
import type { Command } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { InvoiceListItemFields } from '../generated/fields.ts';
import { livemodeOf, type ModeOptions, noneIn, withMode } from '../mode.ts';
import type { Column } from '../print.ts';
import { type PageOptions, printPages, withPages } from '../print-pages.ts';

interface Options extends ModeOptions, PageOptions {}

const COLUMNS: readonly Column<InvoiceListItem>[] = [
  { title: 'month', of: ({ month }) => month },
  { title: 'id', of: ({ id }) => id, isSpare: true },
  { title: 'receipts', of: ({ receipts }) => receipts, align: 'right' },
  { title: 'cost usd', of: ({ cost_usd }) => cost_usd, align: 'right' },
  { title: 'covered usd', of: ({ covered_usd }) => covered_usd, align: 'right' },
  { title: 'total usd', of: ({ total_usd }) => total_usd, align: 'right' },
  { title: 'due usd', of: ({ due_usd }) => due_usd, align: 'right' },
  { title: 'log', of: ({ log_index }) => log_index ?? 'pending', align: 'right', isSpare: true },
];

export const listInvoices = (invoices: Command, perform: Perform): Command =>
  withJson(
    InvoiceListItemFields,
    withPages(withMode(invoices.command('list').description('List the monthly invoices of the account, newest first'))),
  ).action(perform(list));

async function list(world: CommandWorld, { options }: Typed<Options>): Promise<void> {
  const { invoices } = await world.connect();
  await printPages(world, options, {
    columns: COLUMNS,
    list: (limit) => invoices.list({ ...livemodeOf(options), limit }, { signal: world.signal }),
    none: noneIn(options),
  });
}
