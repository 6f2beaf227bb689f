import type { Pool } from 'pg';
import { type Keyed, Keyset, type Page, type PageQuery } from '../../kernel/page.ts';
import { Problem } from '../../kernel/problem.ts';
import type { InvoiceRow, PaymentRow } from './wire.ts';

const INVOICES = new Keyset({ name: 'invoices', columns: { issued_at: 'time', invoice_id: 'uuid' }, direction: 'desc' });
const PAYMENTS = new Keyset({ name: 'payments', columns: { created_at: 'time', payment_id: 'uuid' }, direction: 'desc' });

const PAYMENT = `p.*, (select coalesce(sum(d.amount_nano), 0)::text from payment_disputes d
    where d.provider_payment_id = p.provider_id and d.status in ('open', 'lost')) as disputed_nano`;

/** What was invoiced and paid, as it is on record. */
export function createPaymentRecords(pool: Pool) {
  return {
    async invoices(accountId: string, query: PageQuery): Promise<Page<InvoiceRow>> {
      const { rows } = await pool.query<InvoiceRow & Keyed>(
        `select *, ${INVOICES.key} from invoices where account_id = $1 and ${INVOICES.after('$2')} order by ${INVOICES.order} limit $3`,
        [accountId, ...INVOICES.values(query)],
      );
      return INVOICES.page(rows, query);
    },

    async findInvoice(accountId: string, invoiceId: string): Promise<InvoiceRow | undefined> {
      const { rows } = await pool.query<InvoiceRow>('select * from invoices where account_id = $1 and invoice_id = $2', [
        accountId,
        invoiceId,
      ]);
      return rows[0];
    },

    async payments(accountId: string, query: PageQuery): Promise<Page<PaymentRow>> {
      const { rows } = await pool.query<PaymentRow & Keyed>(
        `select ${PAYMENT}, ${PAYMENTS.key} from payments p
          where account_id = $1 and ${PAYMENTS.after('$2')} order by ${PAYMENTS.order} limit $3`,
        [accountId, ...PAYMENTS.values(query)],
      );
      return PAYMENTS.page(rows, query);
    },

    /** Of any account. */
    async payment(paymentId: string): Promise<PaymentRow> {
      const { rows } = await pool.query<PaymentRow>(`select ${PAYMENT} from payments p where payment_id = $1`, [paymentId]);
      if (!rows[0]) throw new Problem('not_found', 'There is no such payment.');
      return rows[0];
    },
  };
}
