import { rfc3339 } from '../../kernel/clock.ts';
import { type Queryable, rowsOf } from '../../kernel/statements.ts';
import { queueMails } from '../../mail/index.ts';
import type { SiteEvent } from './site-event.ts';
import { tables } from './tables.ts';

/** Place and time, for participants. */
const MATTERS = ['starts_at', 'ends_at', 'time_zone', 'venue_name', 'venue_address', 'online_url'] as const;

const same = (one: unknown, other: unknown): boolean =>
  one instanceof Date && other instanceof Date ? one.getTime() === other.getTime() : one === other;

/**
 * Mails everybody who is registered or on the waitlist that the place or time of an event has changed, or that it is canceled; in the transaction of
 * the change. There is no mail about events that are over or were never public.
 */
export async function tellOfChange(db: Queryable, before: SiteEvent, after: SiteEvent, nowMs: number): Promise<void> {
  const isOff = before.status !== 'archived' && after.status === 'archived';
  const isMoved = after.status === 'published' && MATTERS.some((name) => !same(before[name], after[name]));
  if ((!isOff && !isMoved) || before.ends_at.getTime() <= nowMs) return;
  const rows = await rowsOf(
    db,
    tables
      .selectFrom('event_registrations')
      .select(['registration_id', 'email'])
      .where('event_id', '=', after.event_id)
      .where('status', '<>', 'canceled')
      .where('erased_at', 'is', null),
  );
  await queueMails(db, {
    to: rows.map(({ email, registration_id }) => ({ address: email, dedupeKey: `event:${registration_id}:change:${after.revision}` })),
    template: 'event-changed',
    data: {
      ...{ is_off: isOff, title: after.title, slug: after.slug, starts_at: rfc3339(after.starts_at), ends_at: rfc3339(after.ends_at) },
      ...{ time_zone: after.time_zone, online_url: after.online_url },
      place: [after.venue_name, after.venue_address].filter((part) => part !== null).join(', ') || null,
    },
  });
}
