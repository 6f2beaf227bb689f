import type { DocumentOf, SandboxCard, SandboxLine } from './documents.ts';
import { newSandboxId, type SandboxBooks } from './store.ts';

type Invoice = DocumentOf<'invoice'>;
type Payment = DocumentOf<'payment'>;
type Price = DocumentOf<'price'>;
type Subscription = DocumentOf<'subscription'>;

/** The books, and the moment that everything in this turn happens at (epoch seconds). */
export interface Turn {
  readonly books: SandboxBooks;
  readonly now: number;
  /** Where the pages are, without a slash at the end. */
  readonly pagesUrl: string;
}

const RETRY_SECONDS = 3 * 86_400;
const MOST_ATTEMPTS = 4;

const DECLINES = {
  declined: { code: 'card_declined', decline_code: 'generic_decline', message: 'Your card was declined.' },
  no_funds_later: { code: 'card_declined', decline_code: 'insufficient_funds', message: 'Your card has insufficient funds.' },
  authentication_later: {
    code: 'authentication_required',
    decline_code: 'authentication_required',
    message: 'Your card was declined. This transaction requires authentication.',
  },
} as const;

/** What a card does when it is charged; on the page every card pays, and Decline declines. */
type Behaviour = 'pays' | keyof typeof DECLINES;

const whenAway = (card: SandboxCard): Behaviour => (card === 'good' ? 'pays' : card);

interface PaymentOrder {
  readonly customer: string;
  readonly amount: number;
  readonly metadata: Record<string, string>;
  readonly invoice: string | null;
  readonly behaviour: Behaviour;
}

export async function pay({ books, now }: Turn, { behaviour, ...order }: PaymentOrder): Promise<Payment> {
  const payment: Payment = {
    ...order,
    id: newSandboxId('pi'),
    created: now,
    status: behaviour === 'pays' ? 'succeeded' : 'requires_payment_method',
    latest_charge: { id: newSandboxId('ch'), amount_refunded: 0, disputed: false },
    last_payment_error: behaviour === 'pays' ? null : DECLINES[behaviour],
  };
  await books.put('payment', payment);
  await books.emit(behaviour === 'pays' ? 'payment_intent.succeeded' : 'payment_intent.payment_failed', payment, now);
  return payment;
}

export function line(amount: number, description: string, period: SandboxLine['period'], proration = false): SandboxLine {
  return { id: newSandboxId('il'), amount, description, period, metadata: {}, parent: { subscription_item_details: { proration } } };
}

/** What is given back and charged for another price from `at` to the period's end, to the second; as Stripe reckons. */
export function prorationLines(subscription: Subscription, price: Price, at: number): [SandboxLine, SandboxLine] {
  const [item] = subscription.items.data;
  const { current_period_start: start, current_period_end: end } = item;
  const share = (cents: number) => Math.round((cents * (end - at)) / (end - start));
  const period = { start: at, end };
  return [
    line(-share(item.price.unit_amount), `Unused time on ${item.price.name}`, period, true),
    line(share(price.unit_amount), `Remaining time on ${price.name}`, period, true),
  ];
}

interface InvoiceOrder {
  readonly reason: Invoice['billing_reason'];
  readonly lines: readonly SandboxLine[];
  readonly behaviour: Behaviour;
}

/** Makes an invoice of lines, and of what waits for it, and charges it. */
export async function invoice(turn: Turn, subscription: Subscription, { behaviour, lines, reason }: InvoiceOrder): Promise<Invoice> {
  const { books } = turn;
  const waiting = await waitingItems(books, subscription);
  const parent = { subscription_details: { subscription: subscription.id } };
  const made = await draw(turn, subscription.customer, { reason, lines: [...waiting, ...lines], parent, metadata: {} });
  for (const item of waiting) await books.put('invoice_item', { ...item, invoice: made.id });
  subscription.latest_invoice = made.id;
  return collect(turn, made, behaviour);
}

interface Drawing extends Pick<Invoice, 'parent' | 'metadata'> {
  readonly reason: Invoice['billing_reason'];
  readonly lines: readonly SandboxLine[];
}

/** Numbers an invoice, and settles the customer's credit. It is open. */
export async function draw({ books, now, pagesUrl }: Turn, customerId: string, { lines, reason, ...rest }: Drawing): Promise<Invoice> {
  const customer = await mustFind(books, 'customer', customerId);
  const id = newSandboxId('in');
  const total = lines.reduce((sum, { amount }) => sum + amount, 0);
  // A negative total is kept as a credit; a credit that is kept lowers what is due.
  const applied = Math.max(0, Math.min(total, -customer.balance));
  const due = Math.max(0, total) - applied;
  const made: Invoice = {
    ...rest,
    id,
    number: `SANDBOX-${customer.id.slice(-6).toUpperCase()}-${String(customer.invoices + 1).padStart(4, '0')}`,
    customer: customer.id,
    status: 'open',
    billing_reason: reason,
    total,
    amount_due: due,
    amount_paid: 0,
    amount_remaining: due,
    created: now,
    period_start: now,
    period_end: now,
    attempts: 0,
    next_payment_attempt: null,
    hosted_invoice_url: `${pagesUrl}/invoices/${id}`,
    lines: { data: [...lines] },
    payments: { data: [] },
  };
  await books.put('customer', { ...customer, balance: customer.balance + (total < 0 ? total : applied), invoices: customer.invoices + 1 });
  await books.put('invoice', made);
  await books.emit('invoice.finalized', made, now);
  return made;
}

/** What goes onto the subscription's next invoice. */
export const waitingItems = async (books: SandboxBooks, { customer, id }: Subscription): Promise<DocumentOf<'invoice_item'>[]> =>
  (await books.list('invoice_item', customer)).filter((item) => item.invoice === null && item.subscription === id);

/** Charges an open invoice. It is paid afterwards, or is not. */
export async function collect(turn: Turn, open: Invoice, behaviour: Behaviour): Promise<Invoice> {
  const { books, now } = turn;
  const order = { customer: open.customer, amount: open.amount_remaining, metadata: {}, invoice: open.id, behaviour };
  const payment = open.amount_remaining > 0 ? await pay(turn, order) : undefined;
  const attempts = open.attempts + 1;
  if (payment && payment.status !== 'succeeded') {
    const declined = { ...open, attempts, next_payment_attempt: attempts < MOST_ATTEMPTS ? now + RETRY_SECONDS : null };
    await books.put('invoice', declined);
    await books.emit('invoice.payment_failed', declined, now);
    return declined;
  }
  const paid: Invoice = {
    ...open,
    attempts,
    status: 'paid',
    amount_paid: open.amount_due,
    amount_remaining: 0,
    next_payment_attempt: null,
    payments: { data: payment ? [{ status: 'paid', payment: { payment_intent: payment.id } }] : [] },
  };
  await books.put('invoice', paid);
  await books.emit('invoice.paid', paid, now);
  return paid;
}

/** Writes a subscription down and tells of it. What is scheduled is named and not shown, as in Stripe's events. */
export async function save(
  { books, now }: Turn,
  subscription: Subscription,
  type: 'created' | 'updated' | 'deleted' = 'updated',
): Promise<void> {
  await books.put('subscription', subscription);
  await books.emit(`customer.subscription.${type}`, { ...subscription, schedule: subscription.schedule?.id ?? null }, now);
}

export async function end(turn: Turn, subscription: Subscription): Promise<void> {
  await dropSchedule(turn, subscription, 'canceled');
  for (const open of await turn.books.list('invoice', subscription.customer)) {
    const isOurs = open.parent?.subscription_details.subscription === subscription.id;
    if (isOurs && open.next_payment_attempt !== null) await turn.books.put('invoice', { ...open, next_payment_attempt: null });
  }
  await save(turn, { ...subscription, status: 'canceled', ended_at: turn.now }, 'deleted');
}

/** Leaves the subscription as it is; the caller saves it. */
export async function dropSchedule(turn: Turn, subscription: Subscription, what: 'released' | 'canceled'): Promise<void> {
  if (subscription.schedule === null) return;
  const told = { id: subscription.schedule.id, customer: subscription.customer, subscription: subscription.id };
  subscription.schedule = null;
  await turn.books.emit(`subscription_schedule.${what}`, told, turn.now);
}

/** The customer's saved card, when nobody is there to press a button. */
export async function behaviourOf(books: SandboxBooks, customerId: string): Promise<Behaviour> {
  const { card } = await mustFind(books, 'customer', customerId);
  return card === null ? 'declined' : whenAway(card);
}

export async function mustFind<K extends 'customer' | 'subscription' | 'invoice'>(
  books: SandboxBooks,
  kind: K,
  id: string,
): Promise<DocumentOf<K>> {
  const found = await books.find(kind, id);
  if (!found) throw new Error(`The sandbox lost the ${kind} ${id}`);
  return found;
}

export type { Invoice, Payment, Price, Subscription };
