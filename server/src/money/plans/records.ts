import { sql } from 'kysely';
import type { Pool } from 'pg';
import { Keyset, type Page, type PageQuery } from '../../kernel/page.ts';
import { Problem } from '../../kernel/problem.ts';
import { firstOf, rowsOf } from '../../kernel/statements.ts';
import { tables } from './tables.ts';
import type { InvoiceRow, PaymentRow } from './wire.ts';

const INVOICES = new Keyset({ name: 'invoices', columns: { issued_at: 'time', invoice_id: 'uuid' }, direction: 'desc' });
const PAYMENTS = new Keyset({ name: 'payments', columns: { created_at: 'time', payment_id: 'uuid' }, direction: 'desc' });

const disputed = sql<string>`(select coalesce(sum(d.amount_nano), 0)::text from payment_disputes d
  where d.provider_payment_id = p.provider_id and d.status in ('open', 'lost'))`;
const READ = tables.selectFrom('payments as p').selectAll('p').select(disputed.as('disputed_nano'));

/** What was invoiced and paid, as it is on record. */
export function createPaymentRecords(pool: Pool) {
  return {
    async invoices(accountId: string, query: PageQuery): Promise<Page<InvoiceRow>> {
      const invoices = tables.selectFrom('invoices').selectAll().where('account_id', '=', accountId);
      return INVOICES.page(await rowsOf(pool, INVOICES.pageIn(invoices, query)), query);
    },

    async findInvoice(accountId: string, invoiceId: string): Promise<InvoiceRow | undefined> {
      return firstOf(
        pool,
        tables.selectFrom('invoices').selectAll().where('account_id', '=', accountId).where('invoice_id', '=', invoiceId),
      );
    },

    async payments(accountId: string, query: PageQuery): Promise<Page<PaymentRow>> {
      return PAYMENTS.page(await rowsOf(pool, PAYMENTS.pageIn(READ.where('account_id', '=', accountId), query)), query);
    },

    /** Of any account. */
    async payment(paymentId: string): Promise<PaymentRow> {
      const payment = await firstOf(pool, READ.where('payment_id', '=', paymentId));
      if (!payment) throw new Problem('not_found', 'There is no such payment.');
      return payment;
    },
  };
}
