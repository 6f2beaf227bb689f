import Stripe from 'stripe';
import { nanoUsdToCents, type PaymentProvider } from './port.ts';
import { orMissing } from './stripe-faults.ts';
import { invoiceOf, METADATA, StripeInvoice } from './stripe-objects.ts';

type InvoiceMethods = Pick<PaymentProvider, 'addInvoiceItem' | 'withdrawInvoiceItem' | 'issueInvoice' | 'readInvoice' | 'listInvoices'>;

const MOST_LINES = 1_000;

export function createStripeInvoices(stripe: Stripe, readPaymentMethod: PaymentProvider['readPaymentMethod']): InvoiceMethods {
  const readInvoice: PaymentProvider['readInvoice'] = async (id) => {
    const found = await orMissing(stripe.invoices.retrieve(id, { expand: ['payments'] }));
    if (!found) return undefined;
    const lines = found.lines.has_more
      ? await stripe.invoices.listLineItems(id, { limit: 100 }).autoPagingToArray({ limit: MOST_LINES })
      : found.lines.data;
    return invoiceOf(StripeInvoice.parse({ ...found, lines: { data: lines } }));
  };

  return {
    ...itemMethods(stripe),
    readInvoice,

    async issueInvoice(order) {
      const { customerId, idempotencyKey } = order;
      const draft = await drafted(stripe, order);
      const open = await readInvoice(draft.id);
      if (open?.status === 'open') {
        const method = await readPaymentMethod(customerId);
        if (method) await charge(stripe, draft, { paymentMethod: method.id, idempotencyKey: `${idempotencyKey}:pay` });
      }
      const invoice = await readInvoice(draft.id);
      if (!invoice) throw new Error(`Stripe lost the invoice ${draft.id}`);
      return invoice;
    },

    async listInvoices(customer, { limit = 24 } = {}) {
      const listed = await stripe.invoices.list({ customer, limit: Math.min(limit, 100), expand: ['data.payments'] });
      return listed.data.filter(({ status }) => status !== 'draft').map((invoice) => invoiceOf(StripeInvoice.parse(invoice)));
    },
  };
}

const itemMethods = (stripe: Stripe): Pick<InvoiceMethods, 'addInvoiceItem' | 'withdrawInvoiceItem'> => ({
  async addInvoiceItem({ amount, customerId, description, idempotencyKey, periodEndMs, periodStartMs, reference, subscriptionId }) {
    const item = await stripe.invoiceItems.create(
      {
        customer: customerId,
        subscription: subscriptionId,
        amount: nanoUsdToCents(amount),
        currency: 'usd',
        description,
        period: { start: Math.floor(periodStartMs / 1000), end: Math.floor(periodEndMs / 1000) },
        metadata: { [METADATA.reference]: reference },
      },
      { idempotencyKey },
    );
    return { id: item.id, amount };
  },

  async withdrawInvoiceItem(itemId) {
    const item = await orMissing(stripe.invoiceItems.retrieve(itemId));
    if (!item) return undefined;
    if (item.invoice) return typeof item.invoice === 'string' ? item.invoice : item.invoice.id;
    await orMissing(stripe.invoiceItems.del(itemId));
    return undefined;
  },
});

/** The invoice under this reference, finalized: begun by this order or by an earlier try of it. */
async function drafted(stripe: Stripe, order: Parameters<InvoiceMethods['issueInvoice']>[0]): Promise<Stripe.Invoice> {
  const { amount, customerId, description, idempotencyKey, periodEndMs, periodStartMs, reference } = order;
  const metadata = { [METADATA.reference]: reference };
  const draft =
    (await begun(stripe, customerId, reference)) ??
    (await stripe.invoices.create(
      { customer: customerId, auto_advance: false, pending_invoice_items_behavior: 'exclude', metadata },
      { idempotencyKey: `${idempotencyKey}:create` },
    ));
  if (draft.status !== 'draft') return draft;
  if (draft.lines.data.length === 0)
    await stripe.invoiceItems.create(
      {
        customer: customerId,
        invoice: draft.id,
        amount: nanoUsdToCents(amount),
        currency: 'usd',
        description,
        period: { start: Math.floor(periodStartMs / 1000), end: Math.floor(periodEndMs / 1000) },
        metadata,
      },
      { idempotencyKey: `${idempotencyKey}:item` },
    );
  await stripe.invoices.finalizeInvoice(draft.id, { auto_advance: true }, { idempotencyKey: `${idempotencyKey}:finalize` });
  return draft;
}

/** The key holds for a day; what was begun under this reference is found permanently. */
async function begun(stripe: Stripe, customer: string, reference: string): Promise<Stripe.Invoice | undefined> {
  for await (const invoice of stripe.invoices.list({ customer, limit: 100 }))
    if (invoice.metadata?.[METADATA.reference] === reference) return invoice;
  return undefined;
}

interface Charge {
  readonly paymentMethod: string;
  readonly idempotencyKey: string;
}

async function charge(stripe: Stripe, { id }: Stripe.Invoice, { paymentMethod, idempotencyKey }: Charge): Promise<void> {
  try {
    await stripe.invoices.pay(id, { payment_method: paymentMethod, off_session: true }, { idempotencyKey });
  } catch (thrown) {
    // It stays open, with a page to pay it on; nor is one charged that has just been paid there.
    if (!(thrown instanceof Stripe.errors.StripeCardError || thrown instanceof Stripe.errors.StripeInvalidRequestError)) throw thrown;
  }
}
