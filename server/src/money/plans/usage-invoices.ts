import type { InvoicePayload } from '@tallygate/contract';
import type { PlanQuota } from '@tallygate/receipts';
import type { Pool } from 'pg';
import * as z from 'zod';
import { type Clock, type Month, monthEnd, monthOf, monthStart } from '../../kernel/clock.ts';
import { formatUsd, type NanoUsd } from '../../kernel/money.ts';
import { checkedRows, type Queryable } from '../../kernel/statements.ts';
import { queueMail } from '../../mail/index.ts';
import { type DueInvoices, dueInvoices, issueInvoice } from '../../receipts/index.ts';
import type { Exclusively, Unit } from './account-lock.ts';
import { METERS } from './offer.ts';
import type { PlanBook } from './plan-book.ts';
import { mailAccount } from './tell.ts';
import type { Meter } from './tiers.ts';

/** After a month's end, so that requests which began in it have settled; what settles later still is on the next invoice. */
const SETTLING_MS = 3_600_000;

interface UsageInvoicesDeps {
  readonly pool: Pool;
  readonly exclusively: Exclusively;
  readonly clock: Clock;
  /** Writes what is settled and not yet in the ledger. */
  readonly write: () => Promise<void>;
  readonly book: Pick<PlanBook, 'of'>;
  readonly sealKey: Buffer;
}

const DueRow = z.object({
  account_id: z.string(),
  /** Those with charges since the last that was invoiced, oldest first. */
  months: z.array(z.custom<Month>((month) => typeof month === 'string')),
});
type DueRow = z.infer<typeof DueRow>;

/**
 * Accounts of which something is on no invoice: charges of months since the last one invoiced, however long nobody ran this; or what was
 * given back of a month that was invoiced.
 * @param before the first month that is not over
 */
export async function uninvoiced(pool: Queryable, before: Month): Promise<DueRow[]> {
  return checkedRows(
    pool,
    DueRow,
    `with charged as (
       select account_id, to_char(day, 'YYYY-MM') as month, sum(charged_nano) as charged
         from usage_daily where livemode and day < $1 group by 1, 2),
     invoiced as (
       select account_id, max(period) as through, sum(total_nano) as total from invoices where kind = 'usage' group by 1)
     select account_id, coalesce(array_agg(month order by month) filter (where charged > 0 and month > coalesce(through, '')), '{}') as months
       from charged left join invoiced using (account_id)
      group by account_id, through, total
     having coalesce(through, '') < $2 and (sum(charged) <> coalesce(total, 0)
         or count(*) filter (where charged > 0 and month > coalesce(through, '')) > 0)`,
    [monthStart(before), monthBefore(before)],
  );
}

const monthBefore = (month: Month): Month => monthOf(monthStart(month).getTime() - 1);

/**
 * Issues the invoice of each account and month that had receipts, also for months in which no gateway ran; and where something of it was charged,
 * the invoice that is to be paid, with the same id.
 */
export function createUsageInvoices({ pool, exclusively, clock, write, book, sealKey }: UsageInvoicesDeps) {
  const quotaOf = (plan: string): PlanQuota => {
    const { quota } = book.of(plan);
    const units = (meter: Meter) => (quota[meter] === null ? null : Number(quota[meter]));
    return Object.fromEntries(METERS.map((meter) => [meter, units(meter)])) as Record<Meter, number | null>;
  };
  return {
    /** @returns how many were issued that are to be paid */
    async issue(): Promise<number> {
      const present = monthOf(clock.now() - SETTLING_MS);
      await write();
      let issued = 0;
      const failures: unknown[] = [];
      const issueOne = ({ accountId, livemode, months }: DueInvoices) =>
        exclusively(accountId, async (unit) => {
          let payable = 0;
          for (const month of months) {
            const invoice = await issueInvoice(unit, { accountId, livemode }, month, { clock, sealKey, quotaOf });
            if (invoice?.livemode && isCharged(invoice)) payable += await issuePayable(unit, accountId, invoice);
          }
          return payable;
        });
      for (const due of await dueInvoices(pool, present)) {
        try {
          issued += await issueOne(due);
        } catch (failure) {
          // An account whose invoice cannot be issued keeps nobody else waiting.
          failures.push(failure);
        }
      }
      if (failures.length > 0) throw new AggregateError(failures, `${failures.length} accounts have invoices that could not be issued`);
      return issued;
    },
  };
}

const isCharged = ({ months }: InvoicePayload): boolean =>
  months.some((one) => one.from_balance_nano_usd !== '0' || one.by_invoice_nano_usd !== '0');

const lineOf = (description: string, amount: NanoUsd) => ({ description, quantity: null, amount_usd: formatUsd(amount) });

const UsageRow = z.object({ model: z.string(), requests: z.bigint(), cost: z.string(), charged: z.string() });

/**
 * Its lines are the sums of the month's receipts, less what the plan covered of them. What was given back of earlier months since their
 * invoices is a line of its own, whoever had paid it: totals of all invoices are always all charges.
 * @returns how many were issued: one, or none where it was there
 */
async function issuePayable(unit: Unit, accountId: string, invoice: InvoicePayload): Promise<number> {
  const { invoice_id: id, month, issued_at: issuedAt } = invoice;
  const rows = await checkedRows(
    unit,
    UsageRow,
    `select model_served as model, count(*) as requests, sum(cost_nano)::text as cost, sum(charged_nano)::text as charged
       from standing_usage
      where account_id = $1 and livemode and started_at >= $2 and started_at < $3 and cost_nano > 0 and not refunded
      group by 1 order by 1`,
    [accountId, monthStart(month), monthEnd(month)],
  );
  const sum = (of: 'cost' | 'charged'): NanoUsd => rows.reduce((total, row) => total + BigInt(row[of]), 0n);
  const [total, due] = [BigInt(invoice.total_nano_usd), BigInt(invoice.due_nano_usd)];
  const covered = sum('cost') - sum('charged');
  const adjustment = total - sum('charged');
  const lines = [
    ...rows.map(({ model, requests, cost }) => ({ description: model, quantity: Number(requests), amount_usd: formatUsd(BigInt(cost)) })),
    ...(covered === 0n ? [] : [lineOf('Included in the plan', -covered)]),
    ...(adjustment === 0n ? [] : [lineOf('Corrections of earlier months', adjustment)]),
  ];
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
      invoice.total_nano_usd,
      invoice.from_balance_nano_usd,
      invoice.by_invoice_nano_usd,
      invoice.due_nano_usd,
      invoice.carried_nano_usd,
      issuedAt,
    ],
  );
  if (rowCount === 0) return 0;
  const data = { number, period: month, total_usd: formatUsd(total), due_usd: formatUsd(due) };
  await mailAccount(unit, { accountId, about: `invoice:${id}` }, (db, addressed) =>
    queueMail(db, { ...addressed, template: 'invoice-issued', data }),
  );
  return 1;
}
