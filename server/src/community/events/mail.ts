import { rfc3339 } from '../../kernel/clock.ts';
import { formatUsd } from '../../kernel/money.ts';
import type { Queryable } from '../../kernel/statements.ts';
import { queueMail } from '../../mail/index.ts';
import { ERASED_DOMAIN } from '../people/index.ts';
import { cancelTokenOf } from './cancel-token.ts';
import { payReferenceOf } from './pay-reference.ts';
import type { Registration } from './registration.ts';
import type { SiteEvent } from './site-event.ts';

type Told = Pick<Registration, 'registration_id' | 'email' | 'status' | 'turn' | 'price_nano' | 'payment_status' | 'pay_by'>;

/** Mails the new status of a registration, in the transaction of the change. Each status of a turn is mailed once. */
export async function queueEventMail(db: Queryable, event: SiteEvent, told: Told): Promise<void> {
  const { registration_id, email, status, turn, price_nano, payment_status, pay_by } = told;
  if (email.endsWith(ERASED_DOMAIN)) return;
  await queueMail(db, {
    to: email,
    template: 'event-registration',
    data: {
      status,
      title: event.title,
      slug: event.slug,
      starts_at: rfc3339(event.starts_at),
      time_zone: event.time_zone,
      price_usd: price_nano === 0n ? null : formatUsd(price_nano),
      is_refunded: payment_status === 'refunded',
      pay_by: pay_by && rfc3339(pay_by),
      pay_reference: status === 'awaiting_payment' ? payReferenceOf(told) : null,
      ...(status !== 'canceled' && payment_status !== 'paid' && { cancel_token: await cancelTokenOf(db, registration_id) }),
    },
    dedupeKey: `event:${registration_id}:${turn}:${status}:${payment_status}`,
  });
}

type Returned = Pick<Registration, 'registration_id' | 'email' | 'payment_id'>;

/** Mails that a payment is refunded, in the transaction that orders the refund. */
export async function queueReturnMail(db: Queryable, event: SiteEvent, { registration_id, email, payment_id }: Returned): Promise<void> {
  if (email.endsWith(ERASED_DOMAIN)) return;
  await queueMail(db, {
    to: email,
    template: 'event-payment-returned',
    data: { title: event.title, slug: event.slug },
    dedupeKey: `event:${registration_id}:returned:${payment_id}`,
  });
}
