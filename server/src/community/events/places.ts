import { type Queryable, rowsOf } from '../../kernel/statements.ts';
import { queueEventMail } from './mail.ts';
import { withPlace } from './registration.ts';
import { countPlaces, setRegistration } from './registration-rows.ts';
import type { SiteEvent } from './site-event.ts';
import { tables } from './tables.ts';

/**
 * Gives the places that are free to those who have waited longest, and mails them. The event has to be locked.
 * @returns how many got one
 */
export async function fillPlaces(db: Queryable, event: SiteEvent, nowMs: number): Promise<number> {
  // There is no mail about a place at an event that is over or canceled.
  if (event.status !== 'published' || event.ends_at.getTime() <= nowMs) return 0;
  const { taken, waiting } = await countPlaces(db, event);
  const free = event.capacity === null ? waiting : Math.min(waiting, Math.max(0, event.capacity - taken));
  if (free === 0) return 0;
  const waiters = tables
    .selectFrom('event_registrations')
    .selectAll()
    .where('event_id', '=', event.event_id)
    .where('status', '=', 'waitlisted');
  const rows = await rowsOf(db, waiters.orderBy('turn').limit(free));
  for (const waiter of rows) {
    const standing = withPlace(waiter, nowMs);
    const now = new Date(nowMs);
    await setRegistration(db, waiter.registration_id, { ...standing, ...(standing.status === 'confirmed' && { confirmed_at: now }) }, now);
    await queueEventMail(db, event, { ...waiter, ...standing });
  }
  return rows.length;
}
