import type { Pool } from 'pg';
import type { PaymentProvider } from '../adapters/payment/port.ts';
import { queueMail } from '../identity/index.ts';
import { type Clock, type Month, monthEnd, monthOf, monthStart, rfc3339 } from '../kernel/clock.ts';
import { newId } from '../kernel/ids.ts';
import { formatUsd, type NanoUsd } from '../kernel/money.ts';
import type { Exclusively, Unit } from './account-lock.ts';
import { USAGE_REFERENCE } from './sync-payment.ts';
import { mailAccount } from './tell.ts';

/** After a month's end, so that requests which began in it have settled; what settles later still is on the next invoice. */
const SETTLING_MS = 3_600_000;
const NANO_PER_CENT = 10_000_000n;

interface UsageInvoicesDeps {
  readonly pool: Pool;
  readonly exclusively: Exclusively;
  readonly provider: Pick<PaymentProvider, 'addInvoiceItem'>;
  readonly clock: Clock;
  /** Writes what is settled and not yet in the ledger. */
  readonly write: () => Promise<void>;
}

/** Issues an invoice for each account and month that had charges, and puts what is owed on the next invoice of the subscription. */
export function createUsageInvoices({ pool, exclusively, provider, clock, write }: UsageInvoicesDeps) {
  /** @returns how many were issued */
  const issue = async (): Promise<number> => {
    const month = monthOf(monthStart(monthOf(clock.now() - SETTLING_MS)).getTime() - 1);
    await write();
    const { rows } = await pool.query<{ account_id: string }>(
      `select distinct account_id from usage_daily u where livemode and day >= $1 and day < $2 and charged_nano > 0
         and not exists (select from invoices i where i.account_id = u.account_id and i.kind = 'usage' and i.period = $3)`,
      [monthStart(month), monthEnd(month), month],
    );
    for (const { account_id } of rows) await exclusively(account_id, (unit) => issueOne(unit, account_id, month, clock.now()));
    return rows.length;
  };

  /** Asked again after a crash, it is the same line: the invoice it is for does not change. */
  const bill = async (): Promise<void> => {
    const { rows } = await pool.query<BillableRow>(
      `select i.invoice_id, i.account_id, i.period, i.due_nano::text as due, s.customer_id, s.subscription_id
         from invoices i join subscriptions s using (account_id)
        where i.kind = 'usage' and i.status = 'open' and i.provider_item_id is null and s.subscription_id is not null`,
    );
    for (const one of rows) {
      const item = await provider.addInvoiceItem({
        customerId: one.customer_id,
        subscriptionId: one.subscription_id,
        amount: BigInt(one.due),
        description: `Usage beyond the plan's quota, ${one.period}`,
        reference: `${USAGE_REFERENCE}${one.invoice_id}`,
        periodStartMs: monthStart(one.period).getTime(),
        periodEndMs: monthEnd(one.period).getTime(),
        idempotencyKey: `usage:${one.invoice_id}`,
      });
      await pool.query('update invoices set provider_item_id = $2 where invoice_id = $1', [one.invoice_id, item.id]);
    }
  };

  return {
    run: async (): Promise<number> => {
      const issued = await issue();
      await bill();
      return issued;
    },
  };
}

interface BillableRow {
  readonly invoice_id: string;
  readonly account_id: string;
  readonly period: Month;
  readonly due: string;
  readonly customer_id: string;
  readonly subscription_id: string;
}

const lineOf = (description: string, amount: NanoUsd) => ({ description, quantity: null, amount_usd: formatUsd(amount) });

interface UsageRow {
  readonly model: string;
  readonly requests: bigint;
  readonly cost: string;
  readonly charged: string;
  /** The part of what was charged that no balance paid. */
  readonly by_invoice: string;
}

/**
 * Its lines are the sums of the month's receipts, less what the plan covered of them; what was given back since counts for the month it was
 * spent in.
 */
async function issueOne(unit: Unit, accountId: string, month: Month, now: number): Promise<void> {
  const { rows } = await unit.query<UsageRow>(
    `select model_served as model, count(*) as requests, sum(cost_nano)::text as cost, sum(charged_nano)::text as charged,
            coalesce(sum(charged_nano) filter (where funding = 'invoice'), 0)::text as by_invoice
       from usage_records u left join refunds r using (request_id, attempt)
      where u.account_id = $1 and livemode and started_at >= $2 and started_at < $3 and cost_nano > 0 and r.posted_at is null
      group by 1 order by 1`,
    [accountId, monthStart(month), monthEnd(month)],
  );
  const sum = (of: 'cost' | 'charged' | 'by_invoice'): NanoUsd => rows.reduce((total, row) => total + BigInt(row[of]), 0n);
  const byInvoice = sum('by_invoice');
  const fromBalance = sum('charged') - byInvoice;
  const covered = sum('cost') - sum('charged');
  const before = await unit.query<{ owed: string; invoiced: string; carried: string }>(
    `select (select coalesce(-sum(amount_nano), 0) from ledger_daily where account = any($2) and day < $3)::text as owed,
       (select coalesce(sum(owed_nano), 0) from invoices where account_id = $1 and kind = 'usage')::text as invoiced,
       coalesce((select carried_nano from invoices where account_id = $1 and kind = 'usage' order by period desc limit 1), 0)::text as carried`,
    [accountId, [`receivable:${accountId}`, `invoice_debt:${accountId}`], monthEnd(month)],
  );
  const nano = (name: 'owed' | 'invoiced' | 'carried') => BigInt(before.rows[0]?.[name] ?? 0);
  const owed = nano('owed') - nano('invoiced');
  const adjustment = owed - byInvoice;
  const payable = owed + nano('carried');
  const due = payable > 0n ? payable - (payable % NANO_PER_CENT) : 0n;
  const lines = [
    ...rows.map(({ model, requests, cost }) => ({ description: model, quantity: Number(requests), amount_usd: formatUsd(BigInt(cost)) })),
    ...(covered === 0n ? [] : [lineOf('Included in the plan', -covered)]),
    ...(adjustment === 0n ? [] : [lineOf('Corrections of earlier months', adjustment)]),
  ];
  const id = newId();
  const number = `TG-${month}-${id.slice(-6)}`;
  const { rowCount } = await unit.query(
    `insert into invoices (invoice_id, account_id, kind, number, status, period, lines, total_nano, from_balance_nano, owed_nano, due_nano,
       carried_nano, issued_at)
     values ($1, $2, 'usage', $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) on conflict do nothing`,
    [
      id,
      accountId,
      number,
      due === 0n ? 'paid' : 'open',
      month,
      JSON.stringify(lines),
      `${fromBalance + owed}`,
      `${fromBalance}`,
      `${owed}`,
      `${due}`,
      `${payable - due}`,
      rfc3339(now),
    ],
  );
  if (rowCount === 0) return;
  const data = { number, period: month, total_usd: formatUsd(fromBalance + owed), due_usd: formatUsd(due) };
  await mailAccount(unit, { accountId, about: `invoice:${id}` }, (execute, addressed) =>
    queueMail(execute, { ...addressed, template: 'invoice-issued', data }),
  );
}
