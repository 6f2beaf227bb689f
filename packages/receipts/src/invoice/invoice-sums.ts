import { Refused } from '../refusal.ts';
import type { InvoiceMonth, InvoicePayload } from './invoice.ts';

/** Nano-USD. */
const CENT = 10_000_000n;

/** What is to be paid of what is owed, and what is left of it: whole cents are due, and what is not goes on to the next invoice. */
export function dueOf(owed: bigint): { readonly due: bigint; readonly carried: bigint } {
  const due = owed > 0n ? owed - (owed % CENT) : 0n;
  return { due, carried: owed - due };
}

/** Whether the invoice's own figures agree with each other. Throws `Refused` with `invoice_inconsistent`. */
export function checkInvoiceSums(invoice: InvoicePayload): void {
  const { month, months, livemode, plans } = invoice;
  const [own, ...earlier] = months;
  if (own?.month !== month || own.first_number !== 1) throw inconsistent(`the first of its months has to be ${month}, from number 1 on`);
  let before = '';
  for (const { month: other } of earlier) {
    if (other >= month || other <= before) throw inconsistent('the other months have to be earlier ones, oldest first, each once');
    before = other;
  }
  for (const one of months) checkMonth(one, livemode);
  const names = plans.map(({ plan }) => plan);
  if (names.some((name, at) => at > 0 && name <= (names[at - 1] ?? ''))) throw inconsistent('its plans have to be sorted, each once');
  if ((invoice.sequence === 1) !== (invoice.previous === null))
    throw inconsistent('the first invoice has none before it, every other has one');
  const sum = (field: 'from_balance_nano_usd' | 'by_invoice_nano_usd') => months.reduce((total, one) => total + BigInt(one[field]), 0n);
  const [balance, owed] = [sum('from_balance_nano_usd'), sum('by_invoice_nano_usd')];
  const { due, carried } = dueOf(owed + BigInt(invoice.carried_before_nano_usd));
  const figures = {
    from_balance_nano_usd: balance,
    by_invoice_nano_usd: owed,
    total_nano_usd: balance + owed,
    due_nano_usd: due,
    carried_nano_usd: carried,
  };
  for (const [name, amount] of Object.entries(figures)) {
    const stated = invoice[name as keyof typeof figures];
    if (BigInt(stated) !== amount) throw inconsistent(`${name} is ${stated}, its months come to ${amount}`);
  }
}

function checkMonth(one: InvoiceMonth, livemode: boolean): void {
  const { month, first_number: first, last_number: last } = one;
  const count = one.charges + one.corrections + one.refunds;
  if (last - first + 1 !== count) throw inconsistent(`${month} has ${count} receipts with the numbers ${first} to ${last}`);
  const nano = (field: keyof InvoiceMonth & `${string}_nano_usd`): bigint => BigInt(one[field]);
  const cost = nano('used_nano_usd') + nano('corrected_nano_usd') - nano('refunded_nano_usd');
  if (nano('cost_nano_usd') !== cost)
    throw inconsistent(`${month}: cost_nano_usd is ${one.cost_nano_usd}, used and corrected less refunded is ${cost}`);
  const [covered, balance, owed] = [nano('covered_nano_usd'), nano('from_balance_nano_usd'), nano('by_invoice_nano_usd')];
  if (covered + balance + owed !== (livemode ? cost : 0n))
    throw inconsistent(
      `${month}: what was covered and paid is ${covered + balance + owed}, ${livemode ? `the cost ${cost}` : 'in test mode'}`,
    );
}

const inconsistent = (what: string): Refused => new Refused('invoice_inconsistent', `The invoice does not agree with itself: ${what}.`);
