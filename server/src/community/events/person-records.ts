import { sql } from 'kysely';
import type { Clock } from '../../kernel/clock.ts';
import { formatUsd } from '../../kernel/money.ts';
import { anyOf, rowsOf } from '../../kernel/statements.ts';
import { ERASED_DOMAIN, type PersonRecords } from '../people/index.ts';
import { lockEvent } from './event-rows.ts';
import { fillPlaces } from './places.ts';
import { holdsPlace } from './registration.ts';
import { setRegistration } from './registration-rows.ts';
import { tables } from './tables.ts';

const REGISTRATIONS = tables
  .selectFrom('event_registrations as r')
  .innerJoin('site_events as e', 'e.event_id', 'r.event_id')
  .select(['e.slug as event_slug', 'e.title as event_title', 'r.registration_id', 'r.email', 'r.name', 'r.company', 'r.message'])
  .select(['r.admin_note as note', 'r.status', 'r.payment_status', 'r.price_nano', 'r.pay_by', 'r.attended_at', 'r.confirmed_at'])
  .select(['r.canceled_at', 'r.created_at']);
const OF_ADDRESSES = 'lower(email) = any($1::text[])';

/**
 * Registrations of people. After an erasure an unpaid place becomes free, unless the event is over; a paid place stays
 * paid and taken until it is refunded, so that the ledger and the attendance do not change.
 */
export const registrationRecords = ({ clock }: { readonly clock: Clock }): PersonRecords => ({
  kind: 'registrations',

  read: async (db, { emails }) =>
    (await rowsOf(db, REGISTRATIONS.where(sql`lower(r.email)`, '=', anyOf(emails)).orderBy('r.created_at'))).map(
      ({ price_nano, ...row }) => ({
        ...row,
        price_usd: formatUsd(price_nano),
      }),
    ),

  // A registration locks its event first and the person second.
  lock: (db, { emails }) =>
    db.query(
      `select from site_events where event_id in (select event_id from event_registrations where ${OF_ADDRESSES}) order by event_id for update`,
      [emails],
    ),

  async erase(db, { emails, at }) {
    const rows = await rowsOf(
      db,
      tables
        .selectFrom('event_registrations')
        .selectAll()
        .where(sql`lower(email)`, '=', anyOf(emails))
        .where('created_at', '<=', at)
        .orderBy('event_id')
        .orderBy('registration_id'),
    );
    for (const { registration_id, event_id, ...before } of rows) {
      const event = await lockEvent(db, event_id);
      if (!event) throw new Error(`The event of the registration ${registration_id} does not exist`);
      const nowMs = clock.now();
      const now = new Date(nowMs);
      const isGivenUp =
        (holdsPlace(before) || before.status === 'waitlisted') && before.payment_status !== 'paid' && event.ends_at.getTime() > nowMs;
      await db.query(
        `update event_registrations set email = registration_id || '${ERASED_DOMAIN}', name = null, company = null, message = null,
           admin_note = '', user_id = null, erased_at = $2 where registration_id = $1`,
        [registration_id, now],
      );
      if (!isGivenUp) continue;
      await setRegistration(db, registration_id, { status: 'canceled', pay_by: null, confirmed_at: null, canceled_at: now }, now);
      await fillPlaces(db, event, nowMs);
    }
  },
});
