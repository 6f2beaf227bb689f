import { collect, invoice, line, pay, type Subscription, save, type Turn } from './billing.ts';
import type { DocumentOf, SandboxCard } from './documents.ts';
import { monthAfter } from './passage-of-time.ts';
import { newSandboxId } from './store.ts';

type Session = DocumentOf<'session'>;

/** What pressing a button on the hosted page does: a card that pays, or one that is declined. */
export type Press = { readonly pays: SandboxCard } | 'declines';

/** @returns whether the session is paid now */
export async function press(turn: Turn, session: Session, button: Press): Promise<boolean> {
  if (session.status !== 'open') return session.status === 'complete';
  const { books, now } = turn;
  if (button === 'declines') {
    const { amount_total: amount, customer, metadata } = session;
    await pay(turn, { customer, amount, metadata: session.mode === 'payment' ? metadata : {}, invoice: null, behaviour: 'declined' });
    return false;
  }
  const done = session.mode === 'payment' ? await payOnce(turn, session, button.pays) : await subscribe(turn, session, button.pays);
  const complete: Session = { ...session, ...done, status: 'complete', payment_status: 'paid', url: null };
  await books.put('session', complete);
  await books.emit('checkout.session.completed', complete, now);
  return true;
}

async function payOnce(turn: Turn, session: Session, card: SandboxCard): Promise<Partial<Session>> {
  const { amount_total: amount, customer, metadata } = session;
  const payment = await pay(turn, { customer, amount, metadata, invoice: null, behaviour: 'pays' });
  if (session.save_card) await saveCard(turn, customer, card);
  return { payment_intent: payment.id };
}

async function subscribe(turn: Turn, session: Session, card: SandboxCard): Promise<Partial<Session>> {
  const { books, now } = turn;
  const price = await books.find('price', session.price ?? '');
  if (!price) throw new Error(`The sandbox lost the price of ${session.id}`);
  await saveCard(turn, session.customer, card);
  const period = { start: now, end: monthAfter(now, now) };
  const subscription: Subscription = {
    id: newSandboxId('sub'),
    customer: session.customer,
    status: 'active',
    created: now,
    cancel_at_period_end: false,
    ended_at: null,
    metadata: session.metadata,
    latest_invoice: null,
    schedule: null,
    items: { data: [{ id: newSandboxId('si'), price, current_period_start: period.start, current_period_end: period.end }] },
    anchor: now,
  };
  const lines = [line(price.unit_amount, price.name, period)];
  await invoice(turn, subscription, { reason: 'subscription_create', lines, behaviour: 'pays' });
  await save(turn, subscription, 'created');
  return { subscription: subscription.id };
}

/** An invoice that was declined is paid by hand, with a card that is good. */
export async function payInvoice(turn: Turn, invoiceId: string): Promise<void> {
  const open = await turn.books.find('invoice', invoiceId);
  if (open?.status !== 'open') return;
  await saveCard(turn, open.customer, 'good');
  await collect(turn, open, 'pays');
  const subscription = open.parent && (await turn.books.find('subscription', open.parent.subscription_details.subscription));
  if (subscription?.status === 'past_due') await save(turn, { ...subscription, status: 'active' });
}

async function saveCard({ books }: Turn, customerId: string, card: SandboxCard): Promise<void> {
  const customer = await books.find('customer', customerId);
  if (customer) await books.put('customer', { ...customer, card });
}
