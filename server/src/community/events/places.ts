import type { Sql } from './event-rows.ts';
import { queueEventMail } from './mail.ts';
import { type Registration, withPlace } from './registration.ts';
import { countPlaces, setRegistration } from './registration-rows.ts';
import type { SiteEvent } from './site-event.ts';

/**
 * Gives the places that are free to those who have waited longest, and mails them. The event has to be locked.
 * @returns how many got one
 */
export async function fillPlaces(sql: Sql, event: SiteEvent, nowMs: number): Promise<number> {
  // Nobody is told of a place in what is over, or is not held.
  if (event.status !== 'published' || event.ends_at.getTime() <= nowMs) return 0;
  const { taken, waiting } = await countPlaces(sql, event);
  const free = event.capacity === null ? waiting : Math.min(waiting, Math.max(0, event.capacity - taken));
  if (free === 0) return 0;
  const { rows } = await sql.query<Registration>(
    "select * from event_registrations where event_id = $1 and status = 'waitlisted' order by turn limit $2",
    [event.event_id, free],
  );
  for (const waiter of rows) {
    const standing = withPlace(waiter, nowMs);
    const now = new Date(nowMs);
    await setRegistration(sql, waiter.registration_id, { ...standing, ...(standing.status === 'confirmed' && { confirmed_at: now }) }, now);
    await queueEventMail(sql, event, { ...waiter, ...standing });
  }
  return rows.length;
}
