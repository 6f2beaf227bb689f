import { sql } from 'kysely';
import { Keyset, type Page, type PageQuery } from '../../kernel/page.ts';
import { firstOf, ifGiven, type Queryable, rowsOf, run } from '../../kernel/statements.ts';
import type { Registration } from './registration.ts';
import type { Places, SiteEvent } from './site-event.ts';
import { tables } from './tables.ts';

/** A registration with what is shown of its event. */
export interface ListedRegistration extends Registration {
  readonly slug: string;
  readonly title: string;
  /** 1 is next; null if not on the waitlist. */
  readonly waitlist_position: number | null;
}

const REGISTRATIONS = tables
  .selectFrom('event_registrations as r')
  .innerJoin('site_events as e', 'e.event_id', 'r.event_id')
  .selectAll('r')
  .select(['e.slug', 'e.title']);
const LISTED = REGISTRATIONS.select(
  sql<number | null>`case when r.status = 'waitlisted' then (select count(*)::int + 1 from event_registrations before
    where before.event_id = r.event_id and before.status = 'waitlisted' and before.turn < r.turn) end`.as('waitlist_position'),
);

/** All of them where no limit is given. */
export interface WhichRegistrations {
  readonly status?: Registration['status'] | undefined;
  readonly limit?: number | undefined;
  readonly offset?: number;
}

/** Positions are counted once for all, and not once for each: an SQL condition may leave out later turns, and none that are before them. */
const COUNTED = REGISTRATIONS.select(
  sql<number | null>`case when r.status = 'waitlisted'
    then (row_number() over (partition by r.event_id, r.status order by r.turn))::int end`.as('waitlist_position'),
);

/** Of all events, the newest first. */
export async function listRegistrations(
  db: Queryable,
  { status, limit, offset = 0 }: WhichRegistrations = {},
): Promise<ListedRegistration[]> {
  const listed = COUNTED.where((eb) => ifGiven(status, (wanted) => eb('r.status', '=', wanted)))
    .orderBy('r.turn', 'desc')
    .offset(offset);
  return rowsOf(db, limit === undefined ? listed : listed.limit(limit));
}

const BY_TURN = new Keyset({ name: 'registrations', columns: { 'r.turn': 'integer' }, direction: 'desc' });

/** Of one event, the newest first. */
export async function pageOfRegistrations(db: Queryable, eventId: string, query: PageQuery): Promise<Page<ListedRegistration>> {
  return BY_TURN.page(await rowsOf(db, BY_TURN.pageIn(COUNTED.where('r.event_id', '=', eventId), query)), query);
}

export async function registrationById(db: Queryable, registrationId: string): Promise<ListedRegistration | undefined> {
  return firstOf(db, LISTED.where('r.registration_id', '=', registrationId));
}

/** By the address, case-insensitive. */
export async function registrationOf(db: Queryable, eventId: string, email: string): Promise<ListedRegistration | undefined> {
  return firstOf(db, LISTED.where('r.event_id', '=', eventId).where(sql`lower(r.email)`, '=', sql`lower(${email})`));
}

/** Right only while the event is locked. */
export async function countPlaces(db: Queryable, { event_id }: Pick<SiteEvent, 'event_id'>): Promise<Places> {
  const places = await firstOf(
    db,
    tables
      .selectFrom('event_registrations')
      .select([
        sql<number>`count(*) filter (where status in ('confirmed', 'awaiting_payment'))::int`.as('taken'),
        sql<number>`count(*) filter (where status = 'waitlisted')::int`.as('waiting'),
      ])
      .where('event_id', '=', event_id)
      .where('status', '<>', 'canceled'),
  );
  return places ?? { taken: 0, waiting: 0 };
}

/** Columns that a use case may set. */
export type Changes = Partial<Omit<Registration, 'registration_id' | 'event_id' | 'email' | 'created_at' | 'updated_at'>>;

/** Changes one registration; the event has to be locked where a place is given or taken. */
export async function setRegistration(db: Queryable, registrationId: string, changes: Changes, now: Date): Promise<void> {
  await run(
    db,
    tables
      .updateTable('event_registrations')
      .set({ ...changes, updated_at: now })
      .where('registration_id', '=', registrationId),
  );
}

export async function nextTurn(db: Queryable): Promise<bigint> {
  const next = await firstOf(db, tables.selectNoFrom(sql<bigint>`nextval('event_turns')`.as('turn')));
  if (!next) throw new Error('The sequence of turns gave nothing');
  return next.turn;
}
