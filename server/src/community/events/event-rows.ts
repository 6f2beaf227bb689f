import { sql } from 'kysely';
import { firstOf, type Queryable, rowsOf } from '../../kernel/statements.ts';
import type { Places, SiteEvent } from './site-event.ts';
import { tables } from './tables.ts';

export type EventWithPlaces = SiteEvent & Places;

const taken = sql<number>`(select count(*)::int from event_registrations r
  where r.event_id = e.event_id and r.status in ('confirmed', 'awaiting_payment'))`;
const waiting = sql<number>`(select count(*)::int from event_registrations r where r.event_id = e.event_id and r.status = 'waitlisted')`;
/** With counts as plain numbers. */
const WITH_PLACES = tables
  .selectFrom('site_events as e')
  .selectAll('e')
  .select([taken.as('taken'), waiting.as('waiting')]);

/** Every event, the earliest first. */
export const listEvents = (db: Queryable): Promise<EventWithPlaces[]> =>
  rowsOf(db, WITH_PLACES.orderBy('e.starts_at').orderBy('e.event_id'));

/** What is published: the next one first, and what is over after it, the last one first. */
export const listPublished = (db: Queryable, now: Date): Promise<EventWithPlaces[]> =>
  rowsOf(
    db,
    WITH_PLACES.where('e.status', '=', 'published')
      .orderBy(sql`e.ends_at <= ${now}`)
      .orderBy(sql`case when e.ends_at > ${now} then e.starts_at end`)
      .orderBy('e.starts_at', 'desc')
      .orderBy('e.event_id'),
  );

export const eventById = (db: Queryable, eventId: string): Promise<EventWithPlaces | undefined> =>
  firstOf(db, WITH_PLACES.where('e.event_id', '=', eventId));

export const eventBySlug = (db: Queryable, slug: string): Promise<EventWithPlaces | undefined> =>
  firstOf(db, WITH_PLACES.where('e.slug', '=', slug));

/** The event, locked until the transaction ends: every change of the event or of its places takes this lock first. */
export const lockEvent = (db: Queryable, eventId: string): Promise<SiteEvent | undefined> =>
  firstOf(db, tables.selectFrom('site_events').selectAll().where('event_id', '=', eventId).forUpdate());
