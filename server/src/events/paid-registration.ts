import type { Clock } from '../kernel/clock.ts';
import type { OnPurchase } from '../plans/index.ts';
import { lockRegistration } from './edit-registration.ts';
import type { Sql } from './event-rows.ts';
import { queueEventMail } from './mail.ts';
import { fillPlaces } from './places.ts';
import { holdsPlace, inLine, type Registration } from './registration.ts';
import { type Changes, countPlaces, setRegistration } from './registration-rows.ts';
import { placesLeft, type SiteEvent } from './site-event.ts';

/** What payments for places are named at the payment provider. */
const REFERENCE = 'event:';
export const referenceOf = ({ registration_id }: Pick<Registration, 'registration_id'>): string => `${REFERENCE}${registration_id}`;

/**
 * Brings a registration to what its payment is at this moment, in the transaction that books the payment. It may run as often as one likes:
 * a payment that was taken before changes nothing.
 */
export const followPayments =
  ({ clock }: { readonly clock: Clock }): OnPurchase =>
  async (sql, { reference, paymentId, isReceived, isReturned }) => {
    if (!reference.startsWith(REFERENCE)) return;
    const { event, before } = await lockRegistration(sql, reference.slice(REFERENCE.length));
    const now = new Date(clock.now());
    const isKnown = before.payment_id === paymentId;
    if (isReturned) {
      if (!isKnown || before.payment_status !== 'paid') return;
      await change(sql, {
        event,
        before,
        now,
        to: { status: 'canceled', payment_status: 'refunded', pay_by: null, confirmed_at: null, canceled_at: now },
      });
      await fillPlaces(sql, event, clock.now());
      return;
    }
    if (!isReceived || isKnown) return;
    await change(sql, {
      event,
      before,
      now,
      to: { payment_id: paymentId, payment_status: 'paid', ...(await placeOf(sql, { event, before, now })) },
    });
  };

interface Moment {
  readonly event: SiteEvent;
  readonly before: Registration;
  readonly now: Date;
}

/**
 * Whoever has paid gets what they paid for. A payment may come so late that the place went to somebody else: then the next one that falls
 * free is theirs, as it stands on the waitlist, and an administrator can refund it.
 */
async function placeOf(sql: Sql, { event, before, now }: Moment): Promise<Changes> {
  const isFree = holdsPlace(before) || placesLeft(event, await countPlaces(sql, event)) !== 0;
  if (isFree) return { status: 'confirmed', pay_by: null, confirmed_at: before.confirmed_at ?? now, canceled_at: null };
  return { status: inLine(before).status, pay_by: null, canceled_at: null };
}

async function change(sql: Sql, { event, before, now, to }: Moment & { readonly to: Changes }): Promise<void> {
  await setRegistration(sql, before.registration_id, to, now);
  await queueEventMail(sql, event, { ...before, ...to });
}
