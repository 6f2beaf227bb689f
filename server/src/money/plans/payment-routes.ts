import type { contract } from '@tallygate/contract';
import type { Handlers } from '../../http/index.ts';
import { mapPage } from '../../kernel/page.ts';
import { firstOf } from '../../kernel/statements.ts';
import { INVOICE_PAGE_POLICY, invoicePage } from './invoice-page.ts';
import { CENT, paymentAmount } from './payment-amount.ts';
import type { PlanModes, PlanViews } from './plan-views.ts';
import { asking } from './plans.ts';
import { tables } from './tables.ts';
import { authorOf } from './tell.ts';
import { invoiceToWire, paymentToWire } from './wire.ts';

/** Invoices and payments. */
export const paymentRoutes = (
  { live, paying }: PlanModes,
  { modeOf, invoiceOf }: PlanViews,
): Pick<Handlers<typeof contract.plans>, 'listInvoices' | 'getInvoice' | 'printInvoice' | 'listPayments' | 'refundPayment'> => {
  const { refunds, livemode } = paying;
  return {
    listInvoices: async ({ principal, query }) => {
      const plans = modeOf(principal, query.livemode);
      const page = await plans.records.invoices(principal.accountId, query);
      return { status: 200, body: mapPage(page, (row) => ({ ...invoiceToWire(row), livemode: plans.livemode })) };
    },
    getInvoice: async ({ principal, params }) => ({ status: 200, body: await invoiceOf(principal, params.invoice_id) }),
    printInvoice: async ({ principal, params, setHeader }) => {
      const invoice = await invoiceOf(principal, params.invoice_id);
      const account = await firstOf(live.pool, tables.selectFrom('accounts').select('name').where('id', '=', principal.accountId));
      setHeader('content-security-policy', INVOICE_PAGE_POLICY);
      return { status: 200, body: invoicePage(invoice, account?.name ?? '') };
    },
    listPayments: async ({ principal, query }) => {
      const plans = modeOf(principal, query.livemode);
      const page = await plans.records.payments(principal.accountId, query);
      return { status: 200, body: mapPage(page, (row) => paymentToWire(row, plans.livemode)) };
    },
    refundPayment: async ({ principal, params, body, headers, ...call }) => {
      const payment = await paying.records.payment(params.payment_id);
      const amount = body.amount_usd === undefined ? undefined : paymentAmount(body.amount_usd, CENT);
      const order = { payment, amount, reason: body.reason, author: authorOf(principal, call), key: headers['idempotency-key'] };
      await asking(refunds.order(order));
      return { status: 200, body: paymentToWire(await paying.records.payment(params.payment_id), livemode) };
    },
  };
};
