import type { InvoicePayload, QuotaMeter, VerifiedInvoice } from '@tallygate/receipts';
import type { Column } from '../print.ts';
import { nanoUsdText } from '../receipts/calculation.ts';

const usd = (nano: string): string => `${nano.startsWith('-') ? `-${nanoUsdText(nano.slice(1))}` : nanoUsdText(nano)} USD`;

type Amount = 'used_nano_usd' | 'corrected_nano_usd' | 'refunded_nano_usd' | 'cost_nano_usd' | 'covered_nano_usd';

const total = ({ months }: InvoicePayload, field: Amount): string =>
  usd(months.reduce((sum, month) => sum + BigInt(month[field]), 0n).toString());

/** How an invoice is shown. */
export const BILL_LINES: readonly Column<VerifiedInvoice>[] = [
  {
    title: 'Invoice',
    of: ({ payload: { month, sequence, livemode, invoice_id: id } }) =>
      `${month}${livemode ? '' : ' (test mode)'}, number ${sequence} (${id})`,
  },
  {
    title: 'Receipts',
    of: ({ payload: { months } }) =>
      months
        .map(({ month, first_number: first, last_number: last }) => (last < first ? `none of ${month}` : `${first} to ${last} of ${month}`))
        .join(', '),
  },
  { title: 'Used', of: ({ payload }) => total(payload, 'used_nano_usd') },
  { title: 'Corrected', of: ({ payload }) => total(payload, 'corrected_nano_usd') },
  { title: 'Refunded', of: ({ payload }) => total(payload, 'refunded_nano_usd') },
  { title: 'Cost', of: ({ payload }) => total(payload, 'cost_nano_usd') },
  { title: 'Covered by the plan', of: ({ payload }) => total(payload, 'covered_nano_usd') },
  { title: 'From the balance', of: ({ payload }) => usd(payload.from_balance_nano_usd) },
  { title: 'By invoice', of: ({ payload }) => usd(payload.by_invoice_nano_usd) },
  { title: 'Due', of: ({ payload }) => usd(payload.due_nano_usd) },
  {
    title: 'Log',
    of: ({ logged, checks }) => (logged ? `entry ${logged.index} of ${logged.tree_size} in ${logged.origin}` : checks.log),
  },
];

/** What a person may want to ask about: that something was charged, and no meter of the quota was used up. */
export function quotaNote({ plans, months: [own], total_nano_usd: charged }: InvoicePayload): string | undefined {
  if (!own || charged === '0' || plans.length === 0) return undefined;
  const includedOf = (meter: QuotaMeter) => Math.max(...plans.map(({ quota }) => quota[meter] ?? Number.POSITIVE_INFINITY));
  const isLeft = (meter: QuotaMeter) => (own.covered[meter] ?? 0) < includedOf(meter);
  const included = METERS.filter((meter) => includedOf(meter) > 0);
  return included.length > 0 && included.every(isLeft) ? NOTHING_USED_UP : undefined;
}

const METERS = ['requests', 'tokens', 'images', 'audio_seconds', 'video_seconds'] as const;
const NOTHING_USED_UP =
  'Something was charged, and no meter of the plan’s quota is used up: requests that ran at the same time may have held it, or one needed a meter that is not included.';
