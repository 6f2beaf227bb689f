import type { Pool } from 'pg';
import { type Clock, type Month, monthEnd, monthOf, monthStart, rfc3339 } from '../../kernel/clock.ts';
import { newId } from '../../kernel/ids.ts';
import { formatUsd, type NanoUsd } from '../../kernel/money.ts';
import { queueMail } from '../../mail/index.ts';
import type { Exclusively, Unit } from './account-lock.ts';
import { mailAccount } from './tell.ts';

/** After a month's end, so that requests which began in it have settled; what settles later still is on the next invoice. */
const SETTLING_MS = 3_600_000;
const NANO_PER_CENT = 10_000_000n;

interface UsageInvoicesDeps {
  readonly pool: Pool;
  readonly exclusively: Exclusively;
  readonly clock: Clock;
  /** Writes what is settled and not yet in the ledger. */
  readonly write: () => Promise<void>;
}

interface DueRow {
  readonly account_id: string;
  /** Those with charges since the last that was invoiced, oldest first. */
  readonly months: readonly Month[];
}

/**
 * Accounts of which something is on no invoice: charges of months since the last one invoiced, however long nobody ran this; or what was
 * given back of a month that was invoiced.
 * @param before the first month that is not over
 */
export async function uninvoiced(pool: Pick<Pool, 'query'>, before: Month): Promise<DueRow[]> {
  const { rows } = await pool.query<DueRow>(
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
  return rows;
}

const monthBefore = (month: Month): Month => monthOf(monthStart(month).getTime() - 1);

/** Issues an invoice for each account and month that had charges, also for months in which no gateway ran. */
export function createUsageInvoices({ pool, exclusively, clock, write }: UsageInvoicesDeps) {
  return {
    /** @returns how many were issued */
    async issue(): Promise<number> {
      const present = monthOf(clock.now() - SETTLING_MS);
      await write();
      let issued = 0;
      for (const { account_id, months } of await uninvoiced(pool, present)) {
        // Corrections alone stand on the invoice of the last month.
        const due = months.length > 0 ? months : [monthBefore(present)];
        await exclusively(account_id, async (unit) => {
          for (const month of due) issued += await issueOne(unit, account_id, month, clock.now());
        });
      }
      return issued;
    },
  };
}

const lineOf = (description: string, amount: NanoUsd) => ({ description, quantity: null, amount_usd: formatUsd(amount) });

interface UsageRow {
  readonly model: string;
  readonly requests: bigint;
  readonly cost: string;
  readonly charged: string;
}

/**
 * Its lines are the sums of the month's receipts, less what the plan covered of them. What was given back of earlier months since their
 * invoices is a line of its own, whoever had paid it: totals of all invoices are always all charges.
 * @returns how many were issued: one, or none where it was there
 */
async function issueOne(unit: Unit, accountId: string, month: Month, now: number): Promise<number> {
  const { rows } = await unit.query<UsageRow>(
    `select model_served as model, count(*) as requests, sum(cost_nano)::text as cost, sum(charged_nano)::text as charged
       from standing_usage
      where account_id = $1 and livemode and started_at >= $2 and started_at < $3 and cost_nano > 0 and not refunded
      group by 1 order by 1`,
    [accountId, monthStart(month), monthEnd(month)],
  );
  const sum = (of: 'cost' | 'charged'): NanoUsd => rows.reduce((total, row) => total + BigInt(row[of]), 0n);
  const before = await unit.query<Record<'charged' | 'owed' | 'total' | 'invoiced' | 'carried', string>>(
    `select (select coalesce(sum(charged_nano), 0) from usage_daily where account_id = $1 and livemode and day < $3)::text as charged,
       (select coalesce(-sum(amount_nano), 0) from ledger_daily where account = any($2) and day < $3)::text as owed,
       (select coalesce(sum(total_nano), 0) from invoices where account_id = $1 and kind = 'usage')::text as total,
       (select coalesce(sum(owed_nano), 0) from invoices where account_id = $1 and kind = 'usage')::text as invoiced,
       coalesce((select carried_nano from invoices where account_id = $1 and kind = 'usage' order by period desc limit 1), 0)::text as carried`,
    [accountId, [`receivable:${accountId}`, `invoice_debt:${accountId}`], monthEnd(month)],
  );
  const nano = (name: 'charged' | 'owed' | 'total' | 'invoiced' | 'carried') => BigInt(before.rows[0]?.[name] ?? 0);
  const total = nano('charged') - nano('total');
  const owed = nano('owed') - nano('invoiced');
  const fromBalance = total - owed;
  const covered = sum('cost') - sum('charged');
  const adjustment = total - sum('charged');
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
      `${total}`,
      `${fromBalance}`,
      `${owed}`,
      `${due}`,
      `${payable - due}`,
      rfc3339(now),
    ],
  );
  if (rowCount === 0) return 0;
  const data = { number, period: month, total_usd: formatUsd(total), due_usd: formatUsd(due) };
  await mailAccount(unit, { accountId, about: `invoice:${id}` }, (execute, addressed) =>
    queueMail(execute, { ...addressed, template: 'invoice-issued', data }),
  );
  return 1;
}
