import type { Pool } from 'pg';
import type { PaymentProvider } from '../../adapters/payment/port.ts';
import type { Clock } from '../../kernel/clock.ts';
import { type Queryable, rowsOf } from '../../kernel/statements.ts';
import { inTransaction } from '../../kernel/transaction.ts';
import { lockRegistration } from './edit-registration.ts';
import { queueEventMail } from './mail.ts';
import { fillPlaces } from './places.ts';
import { PAYMENT_WINDOW_MS } from './registration.ts';
import { setRegistration } from './registration-rows.ts';
import type { SiteEvent } from './site-event.ts';
import { tables } from './tables.ts';

interface UnpaidDeps {
  readonly pool: Pool;
  readonly provider: PaymentProvider;
  readonly clock: Clock;
}

/** For how long a payment that is under way keeps its place, until it is looked at again. */
const UNDER_WAY_MS = 3_600_000;
const AT_ONCE = 100;

/**
 * Releases the places that were not paid in time, and gives them to the waitlist. The hosted page is ended first, so that nobody can pay
 * for a place that another person has.
 */
export async function releaseUnpaid({ pool, provider, clock }: UnpaidDeps, signal?: AbortSignal): Promise<void> {
  const rows = await rowsOf(
    pool,
    tables
      .selectFrom('event_registrations as r')
      .leftJoin('checkouts as c', 'c.checkout_id', 'r.checkout_id')
      .innerJoin('site_events as e', 'e.event_id', 'r.event_id')
      .select(['r.registration_id', 'r.checkout_id', 'c.session_id'])
      .where('e.status', '=', 'published')
      .where('r.status', '=', 'awaiting_payment')
      .where('r.pay_by', '<=', new Date(clock.now()))
      .orderBy('r.pay_by')
      .limit(AT_ONCE),
  );
  for (const overdue of rows) {
    if (signal?.aborted) return;
    const isUnderWay = overdue.session_id !== null && (await isBeingPaid(provider, overdue.session_id));
    await inTransaction(pool, async (db) => {
      const nowMs = clock.now();
      const now = new Date(nowMs);
      const { event, before } = await lockRegistration(db, overdue.registration_id);
      const isStillDue = before.status === 'awaiting_payment' && before.checkout_id === overdue.checkout_id;
      if (!isStillDue || (before.pay_by?.getTime() ?? 0) > nowMs) return;
      if (isUnderWay) {
        await setRegistration(db, overdue.registration_id, { pay_by: new Date(nowMs + UNDER_WAY_MS) }, now);
        return;
      }
      const gone = { status: 'canceled', pay_by: null, canceled_at: now } as const;
      await setRegistration(db, overdue.registration_id, gone, now);
      await queueEventMail(db, event, { ...before, ...gone });
      await fillPlaces(db, event, nowMs);
    });
  }
}

/** Ends the payment of places at an event that is archived permanently. In the transaction that archives it, with the event locked. */
export async function cancelUnpaid(db: Queryable, event: SiteEvent, nowMs: number): Promise<void> {
  const now = new Date(nowMs);
  const rows = await rowsOf(
    db,
    tables
      .updateTable('event_registrations')
      .set({ status: 'canceled', pay_by: null, canceled_at: now, updated_at: now })
      .where('event_id', '=', event.event_id)
      .where('status', '=', 'awaiting_payment')
      .returningAll(),
  );
  for (const canceled of rows) await queueEventMail(db, event, canceled);
}

/** Restarts the payment time of held places at an event that becomes public again. */
export async function holdUnpaid(db: Queryable, { event_id }: SiteEvent, nowMs: number): Promise<void> {
  await db.query("update event_registrations set pay_by = greatest(pay_by, $2) where event_id = $1 and status = 'awaiting_payment'", [
    event_id,
    new Date(nowMs + PAYMENT_WINDOW_MS),
  ]);
}

/** Ends the page. @returns whether it was too late, because a payment is pending or done */
async function isBeingPaid(provider: PaymentProvider, sessionId: string): Promise<boolean> {
  const session = await provider.expireCheckout(sessionId);
  if (session?.status !== 'complete') return false;
  if (session.isPaid || session.paymentId === undefined) return true;
  const payment = await provider.readPayment(session.paymentId);
  return payment?.status === 'pending' || payment?.status === 'succeeded';
}
