import type { Clock } from '../../kernel/clock.ts';
import type { Queryable } from '../../kernel/statements.ts';
import type { OnPurchase } from '../../money/plans/index.ts';
import { lockRegistration } from './edit-registration.ts';
import { queueEventMail, queueReturnMail } from './mail.ts';
import { fillPlaces } from './places.ts';
import type { Registration } from './registration.ts';
import { type Changes, setRegistration } from './registration-rows.ts';
import type { SiteEvent } from './site-event.ts';

/** What payments for places are named at the payment provider. */
const REFERENCE = 'event:';
export const referenceOf = ({ registration_id }: Pick<Registration, 'registration_id'>): string => `${REFERENCE}${registration_id}`;

/**
 * Sets a registration to the state of its payment, in the transaction that books the payment. It is idempotent:
 * a payment that was processed before changes nothing. Only payments for a held place are accepted. Any other payment (the place was canceled, given for
 * free or paid already, its time was over, or its event is no longer public) is refunded, and does not change the registration.
 */
export const followPayments =
  ({ clock }: { readonly clock: Clock }): OnPurchase =>
  async (db, { reference, paymentId, isReceived, isReturned }) => {
    if (!reference.startsWith(REFERENCE)) return undefined;
    const { event, before } = await lockRegistration(db, reference.slice(REFERENCE.length));
    const now = new Date(clock.now());
    const isKnown = before.payment_id === paymentId;
    if (isReturned) {
      if (!isKnown || before.payment_status !== 'paid') return undefined;
      await change(db, {
        event,
        before,
        now,
        to: { status: 'canceled', payment_status: 'refunded', pay_by: null, confirmed_at: null, canceled_at: now },
      });
      await fillPlaces(db, event, clock.now());
      return undefined;
    }
    if (!isReceived || isKnown) return undefined;
    if (before.status !== 'awaiting_payment' || event.status !== 'published') {
      await queueReturnMail(db, event, { ...before, payment_id: paymentId });
      return `Paid for ${event.slug} when no place was held for it.`;
    }
    const paid = { status: 'confirmed', payment_status: 'paid', payment_id: paymentId, pay_by: null } as const;
    await change(db, { event, before, now, to: { ...paid, confirmed_at: now, canceled_at: null } });
    return undefined;
  };

interface Moment {
  readonly event: SiteEvent;
  readonly before: Registration;
  readonly now: Date;
}

async function change(db: Queryable, { event, before, now, to }: Moment & { readonly to: Changes }): Promise<void> {
  await setRegistration(db, before.registration_id, to, now);
  await queueEventMail(db, event, { ...before, ...to });
}
