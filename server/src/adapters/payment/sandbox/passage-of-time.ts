import { behaviourOf, collect, dropSchedule, end, type Invoice, invoice, line, type Subscription, save, type Turn } from './billing.ts';
import type { SandboxBooks } from './store.ts';

interface Due {
  readonly at: number;
  happen(turn: Turn): Promise<void>;
}

/** Lets happen what is due next, at the moment it was due. @returns whether there was anything */
export async function passTime({ books, now, pagesUrl }: Turn): Promise<boolean> {
  const due = await firstDue(books);
  if (!due || due.at > now) return false;
  await due.happen({ books, now: due.at, pagesUrl });
  return true;
}

async function firstDue(books: SandboxBooks): Promise<Due | undefined> {
  const dues: Due[] = [];
  for (const session of await books.list('session')) {
    if (session.status === 'open') dues.push({ at: session.expires_at, happen: (turn) => expireSession(turn, session.id) });
  }
  for (const subscription of await books.list('subscription')) {
    if (subscription.status === 'canceled') continue;
    dues.push({ at: subscription.items.data[0].current_period_end, happen: (turn) => renew(turn, subscription) });
  }
  for (const open of await books.list('invoice')) {
    if (open.status === 'open' && open.next_payment_attempt !== null) {
      dues.push({ at: open.next_payment_attempt, happen: (turn) => retry(turn, open) });
    }
  }
  return dues.sort((a, b) => a.at - b.at)[0];
}

/** Only one that is open. */
export async function expireSession({ books, now }: Turn, id: string): Promise<void> {
  const session = await books.find('session', id);
  if (session?.status !== 'open') return;
  const expired = { ...session, status: 'expired', url: null } as const;
  await books.put('session', expired);
  await books.emit('checkout.session.expired', expired, now);
}

async function renew(turn: Turn, subscription: Subscription): Promise<void> {
  if (subscription.cancel_at_period_end) return end(turn, subscription);
  const [item] = subscription.items.data;
  const price = subscription.schedule?.phases.at(-1)?.items[0]?.price ?? item.price;
  await dropSchedule(turn, subscription, 'released');
  const period = { start: item.current_period_end, end: monthAfter(item.current_period_end, subscription.anchor) };
  subscription.items.data = [{ ...item, price, current_period_start: period.start, current_period_end: period.end }];
  const behaviour = await behaviourOf(turn.books, subscription.customer);
  const lines = [line(price.unit_amount, price.name, period)];
  await settle(turn, subscription, await invoice(turn, subscription, { reason: 'subscription_cycle', lines, behaviour }));
}

async function retry(turn: Turn, open: Invoice): Promise<void> {
  const subscription = open.parent && (await turn.books.find('subscription', open.parent.subscription_details.subscription));
  const tried = await collect(turn, open, await behaviourOf(turn.books, open.customer));
  if (subscription && subscription.status !== 'canceled') await settle(turn, subscription, tried);
}

/** What becomes of a subscription whose invoice was charged, or was not. */
async function settle(turn: Turn, subscription: Subscription, charged: Invoice): Promise<void> {
  if (charged.status === 'paid') return save(turn, { ...subscription, status: 'active' });
  if (charged.next_payment_attempt !== null) return save(turn, { ...subscription, status: 'past_due' });
  const given = { ...charged, status: 'uncollectible' } as const;
  await turn.books.put('invoice', given);
  await turn.books.emit('invoice.marked_uncollectible', given, turn.now);
  return end(turn, subscription);
}

/** The anchor's day of the next month, or that month's last day. */
export function monthAfter(start: number, anchor: number): number {
  const at = new Date(start * 1000);
  const lastDay = new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 2, 0)).getUTCDate();
  const day = Math.min(new Date(anchor * 1000).getUTCDate(), lastDay);
  return Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, day) / 1000 + (start % 86_400);
}
