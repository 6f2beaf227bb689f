import type { PlanInvoiceResponse, PlanInvoiceSummary } from '@tallygate/sdk';
import type { Command } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { PlanInvoiceResponseFields } from '../generated/fields.ts';
import { type Column, printList, printRecord } from '../print.ts';
import { type PageOptions, printPages, withPages } from '../print-pages.ts';

interface Options extends PageOptions {
  readonly html?: string;
}

const COLUMNS: readonly Column<PlanInvoiceSummary>[] = [
  { title: 'id', of: ({ invoice_id }) => invoice_id },
  { title: 'number', of: ({ number }) => number },
  { title: 'kind', of: ({ kind }) => kind, isSpare: true },
  { title: 'month', of: ({ period }) => period },
  { title: 'status', of: ({ status }) => status },
  { title: 'total usd', of: ({ total_usd }) => total_usd, align: 'right' },
  { title: 'due usd', of: ({ due_usd }) => due_usd, align: 'right' },
];

const ITEMS: readonly Column<PlanInvoiceResponse['lines'][number]>[] = [
  { title: 'what', of: ({ description }) => description },
  { title: 'requests', of: ({ quantity }) => quantity, align: 'right' },
  { title: 'usd', of: ({ amount_usd }) => amount_usd, align: 'right' },
];

export const invoices = (plans: Command, perform: Perform): Command =>
  withJson(
    PlanInvoiceResponseFields,
    withPages(
      plans
        .command('invoices')
        .description('The newest invoices, or one with its lines')
        .argument('[invoice-id]')
        .option('--html <file>', 'write the invoice as a page to print; - for stdout'),
    ),
  ).action(perform(show));

async function show(world: CommandWorld, { args: [invoiceId], options }: Typed<Options>): Promise<void> {
  const { signal } = world;
  const client = await world.connect();
  if (invoiceId === undefined)
    return printPages(world, options, { columns: COLUMNS, list: (limit) => client.plans.invoices({ limit }, { signal }) });
  const { html } = options;
  if (html !== undefined) {
    const { body } = await client.plans.printInvoice(invoiceId, { signal });
    if (body) await world.saveBytes(html, body);
    return;
  }
  const invoice = await client.plans.getInvoice(invoiceId, { signal });
  printRecord(world, invoice, [...COLUMNS, { title: 'from balance usd', of: ({ from_balance_usd }) => from_balance_usd }]);
  if (world.jsonFields === undefined && world.out.isTty) printList(world, invoice.lines, ITEMS);
}
