import type { Clock } from '../../kernel/clock.ts';
import { formatUsd } from '../../kernel/money.ts';
import { ERASED_DOMAIN, type PersonRecords } from '../people/index.ts';
import { lockEvent } from './event-rows.ts';
import { fillPlaces } from './places.ts';
import { holdsPlace, type Registration } from './registration.ts';
import { setRegistration } from './registration-rows.ts';

const OF_ADDRESSES = 'lower(email) = any($1::text[])';

/**
 * Registrations of people. Of whoever is erased the place that nothing was paid for falls free, unless the event is over; what was paid stays
 * paid and taken until it is refunded, so that books and attendance stay what they were.
 */
export const registrationRecords = ({ clock }: { readonly clock: Clock }): PersonRecords => ({
  kind: 'registrations',

  read: async (sql, { emails }) =>
    (
      await sql.query<Record<string, unknown> & { price_nano: bigint }>(
        `select e.slug as event_slug, e.title as event_title, r.registration_id, r.email, r.name, r.company, r.message, r.admin_note as note,
           r.status, r.payment_status, r.price_nano, r.pay_by, r.attended_at, r.confirmed_at,
           r.canceled_at, r.created_at
         from event_registrations r join site_events e using (event_id) where lower(r.email) = any($1::text[]) order by r.created_at`,
        [emails],
      )
    ).rows.map(({ price_nano, ...row }) => ({ ...row, price_usd: formatUsd(price_nano) })),

  // A registration locks its event and then tells of the person.
  lock: (sql, { emails }) =>
    sql.query(
      `select from site_events where event_id in (select event_id from event_registrations where ${OF_ADDRESSES}) order by event_id for update`,
      [emails],
    ),

  async erase(sql, { emails, at }) {
    const { rows } = await sql.query<Registration>(
      `select * from event_registrations where ${OF_ADDRESSES} and created_at <= $2 order by event_id, registration_id`,
      [emails, at],
    );
    for (const { registration_id, event_id, ...before } of rows) {
      const event = await lockEvent(sql, event_id);
      if (!event) throw new Error(`The event of the registration ${registration_id} is gone`);
      const nowMs = clock.now();
      const now = new Date(nowMs);
      const isGivenUp =
        (holdsPlace(before) || before.status === 'waitlisted') && before.payment_status !== 'paid' && event.ends_at.getTime() > nowMs;
      await sql.query(
        `update event_registrations set email = registration_id || '${ERASED_DOMAIN}', name = null, company = null, message = null,
           admin_note = '', user_id = null, erased_at = $2 where registration_id = $1`,
        [registration_id, now],
      );
      if (!isGivenUp) continue;
      await setRegistration(sql, registration_id, { status: 'canceled', pay_by: null, confirmed_at: null, canceled_at: now }, now);
      await fillPlaces(sql, event, nowMs);
    }
  },
});
