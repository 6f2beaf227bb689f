import type { Pool } from 'pg';
import { Problem } from '../../kernel/problem.ts';
import type { InvoiceRow, PaymentRow } from './wire.ts';

interface Range {
  readonly limit: number;
  readonly offset: number;
}

const PAYMENT = `select p.*, (select coalesce(sum(d.amount_nano), 0)::text from payment_disputes d
    where d.provider_payment_id = p.provider_id and d.status in ('open', 'lost')) as disputed_nano from payments p`;

/** What was invoiced and paid, as it is on record. */
export function createPaymentRecords(pool: Pool) {
  const total = async (table: 'invoices' | 'payments', accountId: string): Promise<number> => {
    const { rows } = await pool.query<{ total: number }>(`select count(*)::int as total from ${table} where account_id = $1`, [accountId]);
    return rows[0]?.total ?? 0;
  };
  return {
    async invoices(accountId: string, { limit, offset }: Range) {
      const { rows } = await pool.query<InvoiceRow>(
        'select * from invoices where account_id = $1 order by issued_at desc, invoice_id desc limit $2 offset $3',
        [accountId, limit, offset],
      );
      return { rows, total: await total('invoices', accountId) };
    },

    async findInvoice(accountId: string, invoiceId: string): Promise<InvoiceRow | undefined> {
      const { rows } = await pool.query<InvoiceRow>('select * from invoices where account_id = $1 and invoice_id = $2', [
        accountId,
        invoiceId,
      ]);
      return rows[0];
    },

    async payments(accountId: string, { limit, offset }: Range) {
      const { rows } = await pool.query<PaymentRow>(
        `${PAYMENT} where account_id = $1 order by created_at desc, payment_id desc limit $2 offset $3`,
        [accountId, limit, offset],
      );
      return { rows, total: await total('payments', accountId) };
    },

    /** Of any account. */
    async payment(paymentId: string): Promise<PaymentRow> {
      const { rows } = await pool.query<PaymentRow>(`${PAYMENT} where payment_id = $1`, [paymentId]);
      if (!rows[0]) throw new Problem('not_found', 'There is no such payment.');
      return rows[0];
    },
  };
}
