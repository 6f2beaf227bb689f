import { type ExportedReceipt, type ExportSummary, verifyExport } from '../export.ts';
import { MonthBooks } from '../month-books.ts';
import type { BookSums } from '../month-sums.ts';
import { QUOTA_METERS } from '../quota-units.ts';
import type { VerifyOptions } from '../verify.ts';
import type { InvoiceMonth, InvoicePayload } from './invoice.ts';
import type { VerifiedInvoice } from './verify-invoice.ts';

export interface BillOptions extends VerifyOptions {
  /** Where given, every receipt has to be of this account. */
  readonly accountId?: string;
}

/** Why an invoice does not follow from the receipts. */
export type BillFault =
  /** An amount, or a count, is another than the receipts come to. */
  | 'invoice_mismatch'
  /** Units of a quota are others than those that the receipts say it covered. */
  | 'quota_mismatch'
  /** Its plans are others than those that the receipts name. */
  | 'plan_mismatch'
  /** It counts receipts that the export does not have. */
  | 'missing_receipts'
  /** A receipt that it counts came into the log after it. */
  | 'receipt_after_invoice'
  /** An export is not in order by itself: the faults of its lines, and of the file, say why. */
  | 'export_not_in_order'
  /** An export of another month or mode than the invoice counts, or of a month that was there before. */
  | 'foreign_export';

/** One month of the invoice beside the receipts of it. */
export interface BilledMonth extends ExportSummary {
  /** Receipts with numbers above those of the invoice: they are on a later one. */
  readonly later: number;
}

export interface BillSummary {
  readonly months: readonly BilledMonth[];
  /** Months that the invoice counts, and no export was given of: nothing is known of these. */
  readonly unchecked: readonly string[];
  readonly faults: readonly { readonly code: BillFault; readonly reason: string }[];
}

/** A receipt of one of the exports, by the month and the number of its line. */
export interface BilledReceipt extends ExportedReceipt {
  /** Which of the exports it is in, from 0. */
  readonly file: number;
}

type Lines = Iterable<string> | AsyncIterable<string>;

/**
 * Works an invoice out again from the receipts that it counts, without asking anybody: every cost from usage and prices, every charge from
 * what the quota covered, and the sums of each month to the nano-dollar. Yields every receipt with its verdict, as `verifyExport` does.
 *
 * @param months of the months that the invoice counts, in any order
 */
export async function* verifyBill(
  { payload: invoice, logged }: VerifiedInvoice,
  months: readonly Lines[],
  keys: unknown,
  options: BillOptions = {},
): AsyncGenerator<BilledReceipt, BillSummary, undefined> {
  const faults: BillSummary['faults'][number][] = [];
  const fault = (code: BillFault, reason: string) => void faults.push({ code, reason });
  const found: BilledMonth[] = [];
  const counted = new Map(invoice.months.map((month) => [month.month, month]));
  for (const [file, lines] of months.entries()) {
    const books = new MonthBooks();
    const reading = verifyExport(lines, keys, { ...options, books });
    for (;;) {
      const { value, done } = await reading.next();
      if (done) {
        const isKnown = found.some(({ month }) => month === value.month);
        const month = value.livemode === invoice.livemode && !isKnown ? counted.get(value.month) : undefined;
        if (!month) {
          fault(
            'foreign_export',
            `The invoice counts no receipts of ${value.month || 'this file'} in this mode, or they were there before.`,
          );
          break;
        }
        for (const [code, reason] of monthFaults(month, value, books)) fault(code, reason);
        if (month.month === invoice.month) for (const reason of planFaults(invoice, books)) fault('plan_mismatch', reason);
        found.push({ ...value, later: books.countOf({ first: month.last_number + 1, last: Number.MAX_SAFE_INTEGER }) });
        break;
      }
      yield { ...value, file };
      if (!value.verdict.valid) continue;
      const { receipt_id: id, started_at: at, account_sequence: number } = value.verdict.payload;
      const month = counted.get(at.slice(0, 'YYYY-MM'.length));
      if (!month || number < month.first_number || number > month.last_number) continue;
      const index = value.verdict.logged?.index;
      if (logged && index !== undefined && index >= logged.index)
        fault('receipt_after_invoice', `${id} is entry ${index} of the log, the invoice that counts it entry ${logged.index}.`);
    }
  }
  const unchecked = invoice.months.filter((one) => one.last_number >= one.first_number && !found.some(({ month }) => month === one.month));
  return { months: found, unchecked: unchecked.map(({ month }) => month), faults };
}

/** Receipts of its own month are counted from the first one on. */
function planFaults({ plans, months }: InvoicePayload, books: MonthBooks): string[] {
  const stated = plans.map(({ plan }) => plan).join(', ');
  const named = books.plansUpTo(months[0]?.last_number ?? 0).join(', ');
  return named === stated ? [] : [`The plans of the invoice are: ${stated || 'none'}; those of the receipts: ${named || 'none'}.`];
}

function* monthFaults(stated: InvoiceMonth, summary: ExportSummary, books: MonthBooks): Generator<readonly [BillFault, string]> {
  const { month, first_number: first, last_number: last } = stated;
  if (summary.faults.length > 0 || summary.valid + summary.unpriced < summary.receipts)
    yield ['export_not_in_order', `The export of ${month} is not in order by itself.`];
  const missing = last - first + 1 - books.countOf({ first, last });
  if (missing > 0)
    yield ['missing_receipts', `${month}: ${missing} of the receipts ${first} to ${last} that the invoice counts are not in the export.`];
  const sums = books.sumsOf({ first, last });
  for (const [name, amount] of Object.entries(figuresOf(sums, summary.livemode)))
    if (BigInt(stated[name as keyof ReturnType<typeof figuresOf>]) !== BigInt(amount))
      yield [
        'invoice_mismatch',
        `${month}: ${name} is ${stated[name as keyof ReturnType<typeof figuresOf>]} on the invoice, the receipts come to ${amount}.`,
      ];
  for (const meter of QUOTA_METERS)
    if (BigInt(stated.covered[meter] ?? 0) !== sums.covered[meter])
      yield [
        'quota_mismatch',
        `${month}: quotas covered ${stated.covered[meter] ?? 0} ${meter} on the invoice, the receipts come to ${sums.covered[meter]}.`,
      ];
}

/** The fields of a month on an invoice that say what its receipts come to. */
export function figuresOf(sums: BookSums, livemode: boolean) {
  const { charges, corrections, refunds, used, corrected, refunded, fromBalance, byInvoice } = sums;
  const cost = used + corrected - refunded;
  return {
    charges,
    corrections,
    refunds,
    used_nano_usd: `${used}`,
    corrected_nano_usd: `${corrected}`,
    refunded_nano_usd: `${refunded}`,
    cost_nano_usd: `${cost}`,
    covered_nano_usd: `${livemode ? cost - fromBalance - byInvoice : 0n}`,
    from_balance_nano_usd: `${fromBalance}`,
    by_invoice_nano_usd: `${byInvoice}`,
  };
}
