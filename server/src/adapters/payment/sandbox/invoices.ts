import { nanoUsdToCents, type PaymentProvider } from '../port.ts';
import { invoiceOf, METADATA, StripeInvoice } from '../stripe-objects.ts';
import { behaviourOf, collect, draw, line } from './billing.ts';
import { newSandboxId } from './store.ts';
import type { Turns } from './turns.ts';

export const invoiceItemMethods = ({ turn, command }: Turns): Pick<PaymentProvider, 'addInvoiceItem' | 'withdrawInvoiceItem'> => ({
  addInvoiceItem: command('addInvoiceItem', async ({ books }, item) => {
    const id = newSandboxId('ii');
    await books.put('invoice_item', {
      id,
      customer: item.customerId,
      subscription: item.subscriptionId,
      amount: nanoUsdToCents(item.amount),
      description: item.description,
      period: { start: Math.floor(item.periodStartMs / 1000), end: Math.floor(item.periodEndMs / 1000) },
      metadata: { [METADATA.reference]: item.reference },
      parent: { subscription_item_details: { proration: false } },
      invoice: null,
    });
    return { id, amount: item.amount };
  }),

  withdrawInvoiceItem: (id) =>
    turn(async ({ books }) => {
      const item = await books.find('invoice_item', id);
      if (item?.invoice === null) await books.remove('invoice_item', id);
      return item?.invoice ?? undefined;
    }),
});

export const invoiceMethods = ({ look, turn }: Turns): Pick<PaymentProvider, 'issueInvoice' | 'readInvoice' | 'listInvoices'> => ({
  issueInvoice: (order) =>
    turn(async (now) => {
      const { amount, customerId, description, periodEndMs, periodStartMs, reference } = order;
      const metadata = { [METADATA.reference]: reference };
      const there = (await now.books.list('invoice', customerId)).find((one) => one.metadata[METADATA.reference] === reference);
      if (there) return invoiceOf(StripeInvoice.parse(there));
      const period = { start: Math.floor(periodStartMs / 1000), end: Math.floor(periodEndMs / 1000) };
      const lines = [{ ...line(nanoUsdToCents(amount), description, period), metadata }];
      const drawn = await draw(now, customerId, { reason: 'manual', lines, parent: null, metadata });
      const { card } = (await now.books.find('customer', customerId)) ?? { card: null };
      const made = card === null ? drawn : await collect(now, drawn, await behaviourOf(now.books, customerId));
      return invoiceOf(StripeInvoice.parse(made));
    }),

  readInvoice: (id) =>
    look(async ({ books }) => {
      const found = await books.find('invoice', id);
      return found && invoiceOf(StripeInvoice.parse(found));
    }),
  listInvoices: (customerId, { limit = 24 } = {}) =>
    look(async ({ books }) => {
      const all = await books.list('invoice', customerId);
      return all
        .reverse()
        .slice(0, limit)
        .map((one) => invoiceOf(StripeInvoice.parse(one)));
    }),
});
