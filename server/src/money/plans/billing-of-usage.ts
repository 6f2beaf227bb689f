import { type InferResult, sql } from 'kysely';
import type { Pool } from 'pg';
import type { PaymentProvider } from '../../adapters/payment/port.ts';
import { type Clock, monthEnd, monthStart } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import { rowsOf } from '../../kernel/statements.ts';
import type { Exclusively } from './account-lock.ts';
import { syncInvoice, syncPayment, USAGE_REFERENCE } from './sync-payment.ts';
import { tables } from './tables.ts';

interface BillingDeps {
  readonly pool: Pool;
  readonly exclusively: Exclusively;
  readonly provider: PaymentProvider;
  readonly clock: Clock;
  readonly log: Log;
}

/** A subscription that ends with its period has no further invoice, and those of an unpaid one are never charged. */
export const RENEWING = `case when not cancels_at_period_end and s.status in ('active', 'trialing', 'past_due') then subscription_id end`;

const OWED = tables
  .selectFrom('invoices as i')
  .innerJoin('subscriptions as s', 's.account_id', 'i.account_id')
  .select([
    'i.invoice_id',
    'i.account_id',
    'i.period',
    'i.due_nano as due',
    'i.provider_item_id',
    'i.item_subscription_id',
    'i.bills_alone',
  ])
  .select((eb) => eb.ref('s.customer_id').$notNull().as('customer_id'))
  // Of a subscription that will have another invoice; null where there is none.
  .select(sql<string | null>`${sql.raw(RENEWING)}`.as('renewing_id'))
  .where('i.kind', '=', 'usage')
  .where('i.status', '=', 'open')
  .where('i.billed_on', 'is', null)
  .where('s.customer_id', 'is not', null)
  .orderBy('i.issued_at');
type OwedRow = InferResult<typeof OWED>[number];

/**
 * Gets what is owed by invoice paid: on the next invoice of the subscription while there will be one, else on an invoice of its own, which
 * is charged to the saved card at once and has a page to be paid on.
 */
export function createBillingOfUsage({ pool, exclusively, provider, clock, log }: BillingDeps) {
  const commandFor = ({ customer_id, due, invoice_id, period }: OwedRow) => ({
    customerId: customer_id,
    amount: BigInt(due),
    description: `Usage beyond the plan's quota, ${period}`,
    reference: `${USAGE_REFERENCE}${invoice_id}`,
    periodStartMs: monthStart(period).getTime(),
    periodEndMs: monthEnd(period).getTime(),
  });

  const mirror = (accountId: string, providerInvoiceId: string) =>
    exclusively(accountId, async (unit) => {
      for (const id of await syncInvoice({ provider, clock }, unit, accountId, providerInvoiceId))
        await syncPayment({ provider, clock }, unit, accountId, id);
    });

  /** Decided once and on record first: what was taken from one invoice must not come to stand on two. */
  const detach = async ({ account_id, invoice_id, provider_item_id }: OwedRow): Promise<boolean> => {
    await pool.query('update invoices set bills_alone = true where invoice_id = $1', [invoice_id]);
    const invoiceId = provider_item_id === null ? undefined : await provider.withdrawInvoiceItem(provider_item_id);
    if (invoiceId === undefined) return true;
    await mirror(account_id, invoiceId);
    return false;
  };

  const bill = async (one: OwedRow): Promise<void> => {
    const isOnNext = one.provider_item_id !== null && one.item_subscription_id === one.renewing_id && !one.bills_alone;
    if (isOnNext && one.renewing_id !== null) return;
    if (one.renewing_id !== null && one.provider_item_id === null && !one.bills_alone) {
      const item = await provider.addInvoiceItem({
        ...commandFor(one),
        subscriptionId: one.renewing_id,
        idempotencyKey: `usage:${one.invoice_id}`,
      });
      await pool.query('update invoices set provider_item_id = $2, item_subscription_id = $3 where invoice_id = $1', [
        ...[one.invoice_id, item.id, one.renewing_id],
      ]);
      return;
    }
    if (!(await detach(one))) return;
    const invoice = await provider.issueInvoice({ ...commandFor(one), idempotencyKey: `bill:${one.invoice_id}` });
    await mirror(one.account_id, invoice.id);
  };

  return {
    /** Asked again after a crash, it is the same line or the same invoice. One that cannot be billed keeps nobody else waiting. */
    async run(signal?: AbortSignal): Promise<void> {
      const rows = await rowsOf(pool, OWED);
      for (const one of rows) {
        if (signal?.aborted) return;
        await bill(one).catch((failure: unknown) =>
          log.error({ err: failure, invoiceId: one.invoice_id }, 'what is owed could not be billed and will be tried again'),
        );
      }
    },
  };
}
