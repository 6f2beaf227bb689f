import type { Pool } from 'pg';
import type { PaymentProvider } from '../../adapters/payment/port.ts';
import type { Clock } from '../../kernel/clock.ts';
import { inTransaction } from '../../kernel/transaction.ts';
import { lockRegistration } from './edit-registration.ts';
import type { Sql } from './event-rows.ts';
import { queueEventMail } from './mail.ts';
import { fillPlaces } from './places.ts';
import { PAYMENT_WINDOW_MS, type Registration } from './registration.ts';
import { setRegistration } from './registration-rows.ts';
import type { SiteEvent } from './site-event.ts';

interface UnpaidDeps {
  readonly pool: Pool;
  readonly provider: PaymentProvider;
  readonly clock: Clock;
}

interface Overdue {
  readonly registration_id: string;
  readonly checkout_id: string | null;
  readonly session_id: string | null;
}

/** For how long a payment that is under way keeps its place, until it is looked at again. */
const UNDER_WAY_MS = 3_600_000;
const AT_ONCE = 100;

/**
 * Takes back the places that nobody paid for in time, and gives them to those who wait. The hosted page is ended first, so that nobody can pay
 * for a place that has gone to somebody else.
 */
export async function releaseUnpaid({ pool, provider, clock }: UnpaidDeps, signal?: AbortSignal): Promise<void> {
  const { rows } = await pool.query<Overdue>(
    `select registration_id, r.checkout_id, session_id from event_registrations r left join checkouts using (checkout_id)
        join site_events e using (event_id)
      where e.status = 'published' and r.status = 'awaiting_payment' and pay_by <= $1 order by pay_by limit $2`,
    [new Date(clock.now()), AT_ONCE],
  );
  for (const overdue of rows) {
    if (signal?.aborted) return;
    const isUnderWay = overdue.session_id !== null && (await isBeingPaid(provider, overdue.session_id));
    await inTransaction(pool, async (sql) => {
      const nowMs = clock.now();
      const now = new Date(nowMs);
      const { event, before } = await lockRegistration(sql, overdue.registration_id);
      const isStillDue = before.status === 'awaiting_payment' && before.checkout_id === overdue.checkout_id;
      if (!isStillDue || (before.pay_by?.getTime() ?? 0) > nowMs) return;
      if (isUnderWay) {
        await setRegistration(sql, overdue.registration_id, { pay_by: new Date(nowMs + UNDER_WAY_MS) }, now);
        return;
      }
      const gone = { status: 'canceled', pay_by: null, canceled_at: now } as const;
      await setRegistration(sql, overdue.registration_id, gone, now);
      await queueEventMail(sql, event, { ...before, ...gone });
      await fillPlaces(sql, event, nowMs);
    });
  }
}

/** Nobody can pay any more for places at an event that is archived permanently. In the transaction that archives it, with the event locked. */
export async function cancelUnpaid(sql: Sql, event: SiteEvent, nowMs: number): Promise<void> {
  const now = new Date(nowMs);
  const { rows } = await sql.query<Registration>(
    `update event_registrations set status = 'canceled', pay_by = null, canceled_at = $2, updated_at = $2
      where event_id = $1 and status = 'awaiting_payment' returning *`,
    [event.event_id, now],
  );
  for (const canceled of rows) await queueEventMail(sql, event, canceled);
}

/** Gives whoever holds a place at an event that becomes public again the time to pay for it. */
export async function holdUnpaid(sql: Sql, { event_id }: SiteEvent, nowMs: number): Promise<void> {
  await sql.query("update event_registrations set pay_by = greatest(pay_by, $2) where event_id = $1 and status = 'awaiting_payment'", [
    event_id,
    new Date(nowMs + PAYMENT_WINDOW_MS),
  ]);
}

/** Ends the page; tells whether it was too late for that, because money is coming or has come. */
async function isBeingPaid(provider: PaymentProvider, sessionId: string): Promise<boolean> {
  const session = await provider.expireCheckout(sessionId);
  if (session?.status !== 'complete') return false;
  if (session.isPaid || session.paymentId === undefined) return true;
  const payment = await provider.readPayment(session.paymentId);
  return payment?.status === 'pending' || payment?.status === 'succeeded';
}
