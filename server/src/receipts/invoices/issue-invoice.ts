import { hash, randomBytes } from 'node:crypto';
import type { InvoicePayload } from '@tallygate/contract';
import { accountHashInput, canonicalJson, dueOf, figuresOf, type PlanQuota, QUOTA_METERS } from '@tallygate/receipts';
import * as z from 'zod';
import { type Clock, type Month, monthOf, monthStart, rfc3339 } from '../../kernel/clock.ts';
import { newId } from '../../kernel/ids.ts';
import { formatUsd } from '../../kernel/money.ts';
import { checkedRows, firstOf, type Queryable, rowsOf } from '../../kernel/statements.ts';
import { recordEvent } from '../../webhooks/index.ts';
import type { ReceiptScope } from '../list-receipts.ts';
import { sealOf } from '../seal.ts';
import { tables } from '../tables.ts';
import { type MonthSums, monthSums, type NumberRange } from './month-sums.ts';

const Due = z.object({
  account_id: z.string(),
  livemode: z.boolean(),
  months: z.array(z.custom<Month>((month) => typeof month === 'string')),
});

/** Whose receipts are on no invoice yet, and of which months invoices are due, oldest first. */
export interface DueInvoices extends ReceiptScope {
  readonly months: readonly Month[];
}

/**
 * What has receipts that are on no invoice: months since the last that was invoiced, however long nobody ran this; or, where only earlier
 * months have got receipts since, the last month, whose invoice then has those alone.
 *
 * @param before the first month that is not over
 */
export async function dueInvoices(pool: Queryable, before: Month): Promise<DueInvoices[]> {
  const last = monthOf(monthStart(before).getTime() - 1);
  const rows = await checkedRows(
    pool,
    Due,
    `with invoiced as (select account_id, livemode, max(month) as through from signed_invoices group by 1, 2)
     select account_id, livemode, coalesce(array_agg(month order by month) filter (where month > coalesce(through, '')), '{}') as months
       from receipt_numbers left join invoiced using (account_id, livemode)
      where month < $1 and last > receipt_numbers.invoiced and coalesce(through, '') < $2
      group by account_id, livemode order by account_id, livemode`,
    [before, last],
  );
  return rows.map(({ account_id: accountId, livemode, months }) => ({ accountId, livemode, months: months.length > 0 ? months : [last] }));
}

/** Ids of the accounts that have receipts of a month which are on no invoice. */
export async function uninvoicedAccounts(pool: Queryable, month: Month): Promise<string[]> {
  const numbers = tables.selectFrom('receipt_numbers').select('account_id').distinct();
  const rows = await rowsOf(pool, numbers.where('month', '=', month).whereRef('last', '>', 'invoiced'));
  return rows.map(({ account_id: id }) => id);
}

export interface IssueDeps {
  readonly clock: Clock;
  /** The log takes in what is sealed with it. */
  readonly sealKey: Buffer;
  /** What a version of a plan includes. */
  readonly quotaOf: (plan: string) => PlanQuota;
}

/** The digest of an invoice, which is its entry in the log. @param payload canonical */
export const invoiceDigestOf = (payload: string): Buffer => hash('sha256', `tallygate-invoice/v1\n${payload}`, 'buffer');

/**
 * Writes the invoice of a month that is over: what its receipts come to, and those of earlier months that came since their invoices. Nobody else
 * may be issuing one for the account. Each receipt is on one invoice.
 *
 * @returns undefined where there is one of this month or of a later one
 */
export async function issueInvoice(
  db: Queryable,
  scope: ReceiptScope,
  month: Month,
  { clock, sealKey, quotaOf }: IssueDeps,
): Promise<InvoicePayload | undefined> {
  const before = await lastInvoice(db, scope);
  if (before && before.payload.month >= month) return undefined;
  const ranges = await uninvoicedRanges(db, scope, month);
  const months: { month: Month; range: NumberRange; sums: MonthSums }[] = [];
  for (const { month: of, range } of ranges) months.push({ month: of, range, sums: await monthSums(db, scope, of, range) });
  const total = (of: 'fromBalance' | 'byInvoice') => months.reduce((sum, { sums }) => sum + sums[of], 0n);
  const [balance, owed] = [total('fromBalance'), total('byInvoice')];
  const carriedBefore = before?.payload.carried_nano_usd ?? '0';
  const { due, carried } = dueOf(owed + BigInt(carriedBefore));
  const nonce = randomBytes(16).toString('hex');
  const payload: InvoicePayload = {
    version: 'tallygate-invoice/v1',
    invoice_id: newId(),
    nonce,
    account_hash: hash('sha256', accountHashInput(nonce, scope.accountId), 'hex'),
    livemode: scope.livemode,
    month,
    sequence: (before?.payload.sequence ?? 0) + 1,
    previous: before?.digest.toString('hex') ?? null,
    plans: (months[0]?.sums.plans ?? []).map((plan) => ({ plan, quota: quotaOf(plan) })),
    months: months.map((one) => monthOnInvoice(one, scope.livemode)),
    total_nano_usd: `${balance + owed}`,
    from_balance_nano_usd: `${balance}`,
    by_invoice_nano_usd: `${owed}`,
    carried_before_nano_usd: carriedBefore,
    due_nano_usd: `${due}`,
    carried_nano_usd: `${carried}`,
    issued_at: rfc3339(clock.now()),
  };
  await write(db, scope, payload, sealKey);
  for (const { month: of, range } of ranges)
    await db.query('update receipt_numbers set invoiced = $4 where account_id = $1 and livemode = $2 and month = $3', [
      ...[scope.accountId, scope.livemode, of, range.last],
    ]);
  const figures = { total_usd: formatUsd(balance + owed), due_usd: formatUsd(due) };
  const data = { invoice_id: payload.invoice_id, month, livemode: scope.livemode, ...figures };
  await recordEvent(db, { accountId: scope.accountId, type: 'invoice.issued', data });
  return payload;
}

const monthOnInvoice = (
  { month, range, sums }: { readonly month: Month; readonly range: NumberRange; readonly sums: MonthSums },
  livemode: boolean,
): InvoicePayload['months'][number] => ({
  month,
  first_number: range.first,
  last_number: range.last,
  ...figuresOf(sums, livemode),
  covered: Object.fromEntries(QUOTA_METERS.flatMap((meter) => (sums.covered[meter] === 0n ? [] : [[meter, Number(sums.covered[meter])]]))),
});

/** With their texts. */
export const INVOICES = tables.selectFrom('signed_invoices').innerJoin('log_documents', 'document_id', 'invoice_id');

interface LastInvoice {
  readonly payload: InvoicePayload;
  readonly digest: Buffer;
}

async function lastInvoice(db: Queryable, { accountId, livemode }: ReceiptScope): Promise<LastInvoice | undefined> {
  const invoices = INVOICES.select(['payload', 'digest']).where('account_id', '=', accountId).where('livemode', '=', livemode);
  const last = await firstOf(db, invoices.orderBy('sequence', 'desc').limit(1));
  return last && { payload: JSON.parse(last.payload) as InvoicePayload, digest: last.digest };
}

/** The month itself first, also where it has no receipts. Who sees a number sees all receipts up to it. */
async function uninvoicedRanges(db: Queryable, { accountId, livemode }: ReceiptScope, month: Month) {
  const numbers = tables
    .selectFrom('receipt_numbers')
    .select(['month', 'invoiced', 'last'])
    .where('account_id', '=', accountId)
    .where('livemode', '=', livemode)
    .where('month', '<=', month)
    .whereRef('last', '>', 'invoiced');
  const rows = await rowsOf(db, numbers.orderBy('month'));
  const ranges = rows.map((row) => ({ month: row.month, range: { first: row.invoiced + 1, last: row.last } }));
  const own = ranges.find((one) => one.month === month) ?? { month, range: { first: 1, last: 0 } };
  return [own, ...ranges.filter((one) => one.month !== month)];
}

async function write(db: Queryable, { accountId, livemode }: ReceiptScope, payload: InvoicePayload, sealKey: Buffer) {
  const text = canonicalJson(payload);
  const digest = invoiceDigestOf(text);
  await db.query("insert into log_documents (document_id, kind, payload, digest, seal) values ($1, 'invoice', $2, $3, $4)", [
    ...[payload.invoice_id, text, digest, sealOf(sealKey, digest)],
  ]);
  await db.query('insert into signed_invoices (invoice_id, account_id, livemode, month, sequence) values ($1, $2, $3, $4, $5)', [
    ...[payload.invoice_id, accountId, livemode, payload.month, payload.sequence],
  ]);
}
