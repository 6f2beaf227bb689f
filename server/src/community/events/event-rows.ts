import type { PoolClient } from 'pg';
import type { Places, SiteEvent } from './site-event.ts';

/** A pool or one transaction's connection. */
export type Sql = Pick<PoolClient, 'query'>;

export type EventWithPlaces = SiteEvent & Places;

/** With counts as plain numbers. */
const WITH_PLACES = `select e.*,
    (select count(*)::int from event_registrations r where r.event_id = e.event_id and r.status in ('confirmed', 'awaiting_payment')) as taken,
    (select count(*)::int from event_registrations r where r.event_id = e.event_id and r.status = 'waitlisted') as waiting
  from site_events e`;

/** Every event, the earliest first. */
export async function listEvents(sql: Sql): Promise<EventWithPlaces[]> {
  return (await sql.query<EventWithPlaces>(`${WITH_PLACES} order by e.starts_at, e.event_id`)).rows;
}

/** What is published: the next one first, and what is over after it, the last one first. */
export async function listPublished(sql: Sql, now: Date): Promise<EventWithPlaces[]> {
  const { rows } = await sql.query<EventWithPlaces>(
    `${WITH_PLACES} where e.status = 'published'
      order by e.ends_at <= $1, case when e.ends_at > $1 then e.starts_at end, e.starts_at desc, e.event_id`,
    [now],
  );
  return rows;
}

export async function eventById(sql: Sql, eventId: string): Promise<EventWithPlaces | undefined> {
  return (await sql.query<EventWithPlaces>(`${WITH_PLACES} where e.event_id = $1`, [eventId])).rows[0];
}

export async function eventBySlug(sql: Sql, slug: string): Promise<EventWithPlaces | undefined> {
  return (await sql.query<EventWithPlaces>(`${WITH_PLACES} where e.slug = $1`, [slug])).rows[0];
}

/** The event as it is now, kept as it is until the transaction ends: whoever gives or takes a place, or changes the event, is first here. */
export async function lockEvent(sql: Sql, eventId: string): Promise<SiteEvent | undefined> {
  return (await sql.query<SiteEvent>('select * from site_events where event_id = $1 for update', [eventId])).rows[0];
}
