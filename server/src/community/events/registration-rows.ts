import { type Keyed, Keyset, type Page, type PageQuery } from '../../kernel/page.ts';
import type { Sql } from './event-rows.ts';
import type { Registration } from './registration.ts';
import type { Places, SiteEvent } from './site-event.ts';

/** A registration with what is shown of its event. */
export interface ListedRegistration extends Registration {
  readonly slug: string;
  readonly title: string;
  /** 1 is next; null for whoever does not wait. */
  readonly waitlist_position: number | null;
}

const LISTED = `select r.*, e.slug, e.title,
    case when r.status = 'waitlisted' then (select count(*)::int + 1 from event_registrations before
      where before.event_id = r.event_id and before.status = 'waitlisted' and before.turn < r.turn) end as waitlist_position
  from event_registrations r join site_events e using (event_id)`;

/** All of them where no limit is given. */
export interface WhichRegistrations {
  readonly status?: Registration['status'] | undefined;
  readonly limit?: number | undefined;
  readonly offset?: number;
}

/** Positions are counted once for all, and not once for each: an SQL condition may leave out later turns, and none that are before them. */
const COUNTED = `r.*, e.slug, e.title, case when r.status = 'waitlisted'
    then (row_number() over (partition by r.event_id, r.status order by r.turn))::int end as waitlist_position`;
const JOINED = 'from event_registrations r join site_events e using (event_id)';

/** Of all events, the newest first. */
export async function listRegistrations(sql: Sql, { status, limit, offset = 0 }: WhichRegistrations = {}): Promise<ListedRegistration[]> {
  const { rows } = await sql.query<ListedRegistration>(
    `select ${COUNTED} ${JOINED} where $1::text is null or r.status = $1 order by r.turn desc limit $2 offset $3`,
    [status ?? null, limit ?? null, offset],
  );
  return rows;
}

const BY_TURN = new Keyset({ name: 'registrations', columns: { 'r.turn': 'integer' }, direction: 'desc' });

/** Of one event, the newest first. */
export async function pageOfRegistrations(sql: Sql, eventId: string, query: PageQuery): Promise<Page<ListedRegistration>> {
  const { rows } = await sql.query<ListedRegistration & Keyed>(
    `select ${COUNTED}, ${BY_TURN.key} ${JOINED} where r.event_id = $1 and ${BY_TURN.after('$2')} order by ${BY_TURN.order} limit $3`,
    [eventId, ...BY_TURN.values(query)],
  );
  return BY_TURN.page(rows, query);
}

export async function registrationById(sql: Sql, registrationId: string): Promise<ListedRegistration | undefined> {
  return (await sql.query<ListedRegistration>(`${LISTED} where r.registration_id = $1`, [registrationId])).rows[0];
}

/** By the address, whatever its case. */
export async function registrationOf(sql: Sql, eventId: string, email: string): Promise<ListedRegistration | undefined> {
  return (await sql.query<ListedRegistration>(`${LISTED} where r.event_id = $1 and lower(r.email) = lower($2)`, [eventId, email])).rows[0];
}

/** Right only while the event is locked. */
export async function countPlaces(sql: Sql, { event_id }: Pick<SiteEvent, 'event_id'>): Promise<Places> {
  const { rows } = await sql.query<Places>(
    `select count(*) filter (where status in ('confirmed', 'awaiting_payment'))::int as taken,
       count(*) filter (where status = 'waitlisted')::int as waiting
     from event_registrations where event_id = $1 and status <> 'canceled'`,
    [event_id],
  );
  return rows[0] ?? { taken: 0, waiting: 0 };
}

/** Columns that a use case may set. */
export type Changes = Partial<Omit<Registration, 'registration_id' | 'event_id' | 'email' | 'created_at' | 'updated_at'>>;

/** Changes one registration; the event has to be locked where a place is given or taken. */
export async function setRegistration(sql: Sql, registrationId: string, changes: Changes, now: Date): Promise<void> {
  const names = Object.keys(changes);
  await sql.query(
    `update event_registrations set updated_at = $2, ${names.map((name, index) => `${name} = $${index + 3}`).join(', ')}
      where registration_id = $1`,
    [registrationId, now, ...Object.values(changes)],
  );
}

export async function nextTurn(sql: Sql): Promise<bigint> {
  const { rows } = await sql.query<{ turn: bigint }>("select nextval('event_turns') as turn");
  if (!rows[0]) throw new Error('The sequence of turns gave nothing');
  return rows[0].turn;
}
