import type { VerifiedInvoice } from './verify-invoice.ts';

/**
 * What contradicts, between the invoices of an account and mode from the first one on: that each follows the one before it and carries on what
 * that has left, and that together they count every receipt once.
 *
 * @param invoices in their order
 */
export function invoiceChainFaults(invoices: readonly Pick<VerifiedInvoice, 'payload' | 'digest'>[]): string[] {
  const faults: string[] = [];
  const through = new Map<string, number>();
  let before: { readonly digest: string | null; readonly carried: string; readonly month: string } = {
    digest: null,
    carried: '0',
    month: '',
  };
  for (const [at, { payload, digest }] of invoices.entries()) {
    const { month, sequence, previous, carried_before_nano_usd: carried } = payload;
    if (sequence !== at + 1) faults.push(`The invoice of ${month} is number ${sequence}, not ${at + 1}: one was left out.`);
    if (previous !== before.digest) faults.push(`The invoice of ${month} follows another one than that of ${before.month || 'no month'}.`);
    if (carried !== before.carried)
      faults.push(`The invoice of ${month} carries on ${carried} nano-USD, the one before it left ${before.carried}.`);
    if (month <= before.month) faults.push(`The invoice of ${month} follows that of ${before.month}.`);
    for (const { month: of, first_number: first, last_number: last } of payload.months) {
      const next = (through.get(of) ?? 0) + 1;
      if (first !== next) faults.push(`The invoice of ${month} counts receipts of ${of} from number ${first} on, next is ${next}.`);
      through.set(of, last);
    }
    before = { digest, carried: payload.carried_nano_usd, month };
  }
  return faults;
}
