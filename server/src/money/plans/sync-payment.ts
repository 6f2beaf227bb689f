import * as z from 'zod';
import type { PaymentProvider } from '../../adapters/payment/port.ts';
import { type Clock, dayOf, monthOf, rfc3339 } from '../../kernel/clock.ts';
import { newId } from '../../kernel/ids.ts';
import { formatUsd, maxOf, minOf, type NanoUsd } from '../../kernel/money.ts';
import { checkedRows, firstOf } from '../../kernel/statements.ts';
import { bookMoney, type LedgerEntry } from '../ledger/index.ts';
import type { Unit } from './account-lock.ts';
import { orderReturn } from './return-payment.ts';
import { tables } from './tables.ts';

interface SyncDeps {
  readonly provider: Pick<PaymentProvider, 'readPayment' | 'readInvoice'>;
  readonly clock: Clock;
  readonly onPurchase?: OnPurchase | undefined;
}

/** A payment for something that another slice sells, as it is at the provider at this moment. */
export interface Purchase {
  /** What that slice had named it. */
  readonly reference: string;
  /** Ours. */
  readonly paymentId: string;
  /** Paid, and not all of it returned. */
  readonly isReceived: boolean;
  /** Paid, and all of it returned. */
  readonly isReturned: boolean;
}

/**
 * Runs in the transaction that books the payment, at least once for whatever happens to it; so it has to bear being run again.
 * @returns why the payment goes back, where there is nothing that could be had for it
 */
export type OnPurchase = (unit: Unit, purchase: Purchase) => Promise<string | undefined>;

const BookedPayment = z.object({ payment_id: z.string(), booked_nano: z.bigint(), bookings: z.number(), usage_nano: z.bigint() });
type BookedPayment = z.infer<typeof BookedPayment>;

type Kind = 'balance' | 'auto_topup' | 'subscription' | 'purchase';

/** What our own references begin with, and what they pay for. */
const KIND_OF: Readonly<Record<string, Kind>> = { balance: 'balance', topup: 'auto_topup', event: 'purchase' };
export const USAGE_REFERENCE = 'usage:';

/**
 * Brings the books to what a payment is at the provider at this moment: what was received, less what went back. Only the difference to what
 * is booked already is booked, so it may run as often as one likes.
 * @returns whether the account's balance changed
 */
export async function syncPayment(
  { provider, clock, onPurchase }: SyncDeps,
  unit: Unit,
  accountId: string,
  providerId: string,
): Promise<boolean> {
  const payment = await provider.readPayment(providerId);
  if (!payment) return false;
  const kind = KIND_OF[payment.reference?.split(':', 1)[0] ?? ''] ?? 'subscription';
  const invoice = payment.invoiceId === undefined ? undefined : await provider.readInvoice(payment.invoiceId);
  const usage = (invoice?.lines ?? [])
    .filter(({ reference }) => reference?.startsWith(USAGE_REFERENCE))
    .reduce((sum, { amount }) => sum + amount, 0n);
  const rows = await checkedRows(
    unit,
    BookedPayment,
    `insert into payments (payment_id, provider_id, account_id, kind, status, amount_nano, refunded_nano, usage_nano, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
     on conflict (provider_id) do update set status = excluded.status, amount_nano = excluded.amount_nano, refunded_nano = excluded.refunded_nano
     returning payment_id, booked_nano, bookings, usage_nano`,
    [
      newId(),
      providerId,
      accountId,
      kind,
      payment.status,
      payment.amount.toString(),
      payment.refunded.toString(),
      minOf(usage, payment.amount).toString(),
      rfc3339(payment.createdAtMs),
    ],
  );
  const [booked] = rows;
  if (!booked) throw new Error(`The payment ${providerId} is gone`);
  if (kind === 'purchase' && payment.reference !== undefined) {
    const isPaid = payment.status === 'succeeded';
    const isReturned = isPaid && payment.refunded >= payment.amount;
    const purchase = { reference: payment.reference, paymentId: booked.payment_id, isReceived: isPaid && !isReturned, isReturned };
    const reason = await onPurchase?.(unit, purchase);
    if (reason !== undefined) await orderReturn(unit, { accountId, paymentId: booked.payment_id, providerId, reason }, clock);
  }
  const left = payment.status === 'succeeded' ? payment.amount - payment.refunded : 0n;
  const received = maxOf(0n, left - (await disputedOf(unit, providerId)));
  if (kind === 'auto_topup' && payment.status === 'succeeded')
    await unit.query("update auto_topups set attempt_id = null, provider_id = null where account_id = $1 and 'topup:' || attempt_id = $2", [
      accountId,
      payment.reference,
    ]);
  const difference = received - booked.booked_nano;
  if (difference === 0n) return false;
  await bookMoney(unit, {
    cause: { kind: 'payment', id: providerId, attempt: booked.bookings },
    day: dayOf(clock.now()),
    entries: [{ account: 'payment_clearing', amount: -difference }, ...sidesOf(kind, { accountId, received, booked })],
    ...(creditsBalance(kind) && { credit: { accountId, amount: difference } }),
  });
  await unit.query('update payments set booked_nano = $2, bookings = bookings + 1 where payment_id = $1', [
    booked.payment_id,
    received.toString(),
  ]);
  return creditsBalance(kind);
}

const creditsBalance = (kind: Kind): boolean => kind === 'balance' || kind === 'auto_topup';

/** Where the difference goes: to the balance; or first to what was used by invoice, and the rest is the plan's price, or its return. */
function sidesOf(
  kind: Kind,
  { accountId, received, booked }: { accountId: string; received: NanoUsd; booked: BookedPayment },
): LedgerEntry[] {
  const difference = received - booked.booked_nano;
  if (creditsBalance(kind)) return [{ account: `customer_balance:${accountId}`, amount: difference }];
  if (kind === 'purchase') return [{ account: difference < 0n ? 'refunds' : 'sales_revenue', amount: difference }];
  const usage = minOf(received, booked.usage_nano) - minOf(booked.booked_nano, booked.usage_nano);
  const rest = difference - usage;
  return [
    { account: `invoice_payments:${accountId}`, amount: usage },
    { account: rest < 0n ? 'refunds' : 'subscription_revenue', amount: rest },
  ];
}

/** What banks have taken back of a payment, temporarily or permanently. */
async function disputedOf(unit: Unit, providerId: string): Promise<NanoUsd> {
  const disputed = tables.selectFrom('payment_disputes').select(({ fn }) => fn.sum<string | null>('amount_nano').as('sum'));
  const ofPayment = disputed.where('provider_payment_id', '=', providerId).where('status', 'in', ['open', 'lost']);
  return BigInt((await firstOf(unit, ofPayment))?.sum ?? 0);
}

/**
 * Mirrors an invoice of the provider, with the payments that paid it.
 * @returns ids of those payments
 */
export async function syncInvoice({ provider }: SyncDeps, unit: Unit, accountId: string, providerId: string): Promise<readonly string[]> {
  const invoice = await provider.readInvoice(providerId);
  if (!invoice || invoice.status === 'draft') return [];
  const billed = invoice.lines.flatMap(({ reference }) =>
    reference?.startsWith(USAGE_REFERENCE) ? [reference.slice(USAGE_REFERENCE.length)] : [],
  );
  if (billed.length > 0)
    await unit.query(
      "update invoices set status = $2, billed_on = $3, hosted_url = $4 where invoice_id::text = any($1) and kind = 'usage'",
      [billed, invoice.status, providerId, invoice.hostedUrl ?? null],
    );
  // One that bills usage and nothing else is our own invoice, which is there.
  if (billed.length > 0 && billed.length === invoice.lines.length) return invoice.paymentIds;
  const lines = invoice.lines.map(({ description, amount }) => ({ description, quantity: null, amount_usd: formatUsd(amount) }));
  await unit.query(
    `insert into invoices (invoice_id, account_id, kind, provider_id, number, status, period, lines, total_nano, due_nano, hosted_url, issued_at)
     values ($1, $2, 'subscription', $3, $4, $5, $6, $7, $8, $8, $9, $10)
     on conflict (provider_id) do update set status = excluded.status, lines = excluded.lines, total_nano = excluded.total_nano,
       due_nano = excluded.due_nano, hosted_url = excluded.hosted_url, number = excluded.number`,
    [
      newId(),
      accountId,
      providerId,
      invoice.number ?? null,
      invoice.status,
      monthOf(invoice.createdAtMs),
      JSON.stringify(lines),
      invoice.total.toString(),
      invoice.hostedUrl ?? null,
      rfc3339(invoice.createdAtMs),
    ],
  );
  return invoice.paymentIds;
}
