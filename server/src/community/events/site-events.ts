import { RESERVED_EVENT_SLUGS, type SiteEventCreateRequest, type SiteEventUpdateRequest } from '@tallygate/contract';
import pg, { type Pool } from 'pg';
import type { Clock } from '../../kernel/clock.ts';
import { newId } from '../../kernel/ids.ts';
import { invalidInput } from '../../kernel/invalid-input.ts';
import { formatUsd, parseUsd } from '../../kernel/money.ts';
import { Problem } from '../../kernel/problem.ts';
import type { Queryable } from '../../kernel/statements.ts';
import { inTransaction } from '../../kernel/transaction.ts';
import type { Trail } from './audit-trail.ts';
import { type EventWithPlaces, eventById, eventBySlug, listEvents, listPublished, lockEvent } from './event-rows.ts';
import { fillPlaces } from './places.ts';
import { type SiteEvent, stateAfter, type Transition } from './site-event.ts';
import { tellOfChange } from './tell-of-change.ts';
import { cancelUnpaid, holdUnpaid } from './unpaid-places.ts';

interface SiteEventsDeps {
  readonly pool: Pool;
  readonly clock: Clock;
  /** Ends the checkout pages of the event's places that are no longer available. */
  readonly endPages: (eventId: string) => Promise<void>;
}

/** What `set` and `insert` write: the columns that callers choose. */
const COLUMNS = [
  ...['slug', 'title', 'summary', 'description', 'starts_at', 'ends_at', 'time_zone', 'venue_name', 'venue_address', 'online_url'],
  ...['image_url', 'capacity', 'price_nano', 'registration_closes_at'],
] as const;

/** Events of the site: what anybody sees, and what administrators do to them. */
export function createSiteEvents({ pool, clock, endPages }: SiteEventsDeps) {
  /** Runs a change of one event in its own transaction, with the event locked. */
  const changing = (eventId: string, change: (db: Queryable, event: SiteEvent) => Promise<void>): Promise<EventWithPlaces> =>
    inTransaction(pool, async (db) => {
      const event = await lockEvent(db, eventId);
      if (!event) throw noSuchEvent();
      await change(db, event);
      // More places, or an event that is public again: the waitlist gets its places first.
      const after = existing(await lockEvent(db, eventId));
      await fillPlaces(db, after, clock.now());
      await tellOfChange(db, event, after, clock.now());
      return existing(await eventById(db, eventId));
    });

  return {
    list: () => listEvents(pool),
    listPublished: () => listPublished(pool, new Date(clock.now())),

    /** @throws Problem `not_found` also for a draft and an archived event: drafts are not disclosed */
    async published(slug: string): Promise<EventWithPlaces> {
      const event = existing(await eventBySlug(pool, slug));
      if (event.status !== 'published') throw noSuchEvent();
      return event;
    },

    /** @throws Problem `slug_taken`, `validation_failed` */
    create: (request: SiteEventCreateRequest, trail: Trail): Promise<EventWithPlaces> =>
      inTransaction(pool, async (db) => {
        const eventId = await insertEvent(db, columnsOf(request), new Date(clock.now()));
        await trail(db, { action: 'event.created', target: { kind: 'event', id: eventId }, changes: { slug: request.slug } });
        return existing(await eventById(db, eventId));
      }),

    /** @throws Problem `not_found`, `slug_taken`, `conflict`, `invalid_transition`, `validation_failed` */
    update: (eventId: string, request: SiteEventUpdateRequest, trail: Trail): Promise<EventWithPlaces> =>
      changing(eventId, async (db, event) => {
        const wanted = columnsOf(request);
        const changed = COLUMNS.filter((name) => name in wanted && !isSame(wanted[name], event[name]));
        if (changed.length === 0) return;
        if (event.status === 'archived') throw new Problem('invalid_transition', 'The event is archived: it cannot be changed any more.');
        await updateEvent(db, event, { wanted, changed, now: new Date(clock.now()) });
        const changes = Object.fromEntries(changed.map((name) => [name, { from: printable(event[name]), to: printable(wanted[name]) }]));
        await trail(db, { action: 'event.updated', target: { kind: 'event', id: eventId }, changes });
      }),

    /** @throws Problem `not_found`, `invalid_transition` */
    async move(eventId: string, step: Transition, trail: Trail): Promise<EventWithPlaces> {
      const moved = await changing(eventId, (db, event) => moveEvent(db, event, { step, trail, nowMs: clock.now() }));
      if (step !== 'publish') await endPages(eventId);
      return moved;
    },
  };
}

export type SiteEvents = ReturnType<typeof createSiteEvents>;

const ACTION = { publish: 'event.published', unpublish: 'event.unpublished', archive: 'event.archived' } as const;

type Columns = Partial<Pick<SiteEvent, (typeof COLUMNS)[number]>>;

/** A request in the words of the table; what it leaves out is left out. */
function columnsOf({ starts_at, ends_at, price_usd, registration_closes_at, ...same }: SiteEventUpdateRequest): Columns {
  const given = Object.entries({
    ...same,
    starts_at: starts_at === undefined ? undefined : new Date(starts_at),
    ends_at: ends_at === undefined ? undefined : new Date(ends_at),
    price_nano: price_usd === undefined ? undefined : parseUsd(price_usd),
    registration_closes_at: registration_closes_at ? new Date(registration_closes_at) : registration_closes_at,
  });
  return Object.fromEntries(given.filter(([_name, value]) => value !== undefined));
}

/** @returns its id. @throws Problem `slug_taken`, `validation_failed` */
async function insertEvent(db: Queryable, columns: Columns, now: Date): Promise<string> {
  const eventId = newId();
  requireOrder(columns);
  await unlessTaken(() =>
    db.query(
      `insert into site_events (event_id, status, created_at, updated_at, ${COLUMNS.join(', ')})
       values ($1, 'draft', $2, $2, ${COLUMNS.map((_name, index) => `$${index + 3}`).join(', ')})`,
      [eventId, now, ...COLUMNS.map((name) => columns[name])],
    ),
  );
  return eventId;
}

interface EventChange {
  readonly wanted: Columns;
  readonly changed: readonly (typeof COLUMNS)[number][];
  readonly now: Date;
}

/** @throws Problem `conflict`, `slug_taken`, `validation_failed` */
async function updateEvent(db: Queryable, event: SiteEvent, { wanted, changed, now }: EventChange): Promise<void> {
  requireOrder({ ...event, ...wanted });
  if (changed.includes('slug') && event.published_at !== null)
    throw new Problem('conflict', 'The event was published: its slug is in links by now, and stays as it is.', { param: 'slug' });
  await requireRoom(db, event, wanted.capacity);
  const sets = changed.map((name, index) => `${name} = $${index + 3}`);
  await unlessTaken(() =>
    db.query(`update site_events set ${sets.join(', ')}, revision = revision + 1, updated_at = $2 where event_id = $1`, [
      ...[event.event_id, now],
      ...changed.map((name) => wanted[name]),
    ]),
  );
}

interface Move {
  readonly step: Transition;
  readonly trail: Trail;
  readonly nowMs: number;
}

/** @throws Problem `invalid_transition` */
async function moveEvent(db: Queryable, event: SiteEvent, { step, trail, nowMs }: Move): Promise<void> {
  const to = stateAfter(step, event);
  // Its slug stays taken, and nothing leads back: there would never be another one.
  if (to === 'archived' && event.slug === 'vibethon')
    throw new Problem('invalid_transition', 'The Vibethon comes again: take it back to a draft instead, and give it its next date.');
  await setStatus(db, event.event_id, to, new Date(nowMs));
  const target = { kind: 'event', id: event.event_id };
  await trail(db, { action: ACTION[step], target, changes: { status: { from: event.status, to } } });
  if (to === 'archived') await cancelUnpaid(db, event, nowMs);
  // While it was not public, payment was not possible.
  if (to === 'published') await holdUnpaid(db, event, nowMs);
}

const setStatus = (db: Queryable, eventId: string, to: SiteEvent['status'], now: Date): Promise<unknown> =>
  db.query(
    `update site_events set status = $2, revision = revision + 1, updated_at = $3,
       published_at = case when $2 = 'published' then coalesce(published_at, $3) else published_at end,
       archived_at = case when $2 = 'archived' then $3::timestamptz end
     where event_id = $1`,
    [eventId, to, now],
  );

const isSame = (one: unknown, other: unknown): boolean =>
  one instanceof Date && other instanceof Date ? one.getTime() === other.getTime() : one === other;

const printable = (value: unknown): unknown => (typeof value === 'bigint' ? formatUsd(value) : value);

function requireOrder({ slug = '', starts_at, ends_at, registration_closes_at }: Columns): void {
  if (RESERVED_EVENT_SLUGS.includes(slug)) throw slugTaken(slug);
  if (starts_at && ends_at && ends_at <= starts_at)
    throw invalidInput([{ loc: ['body', 'ends_at'], msg: 'must be later than starts_at', type: 'order' }]);
  if (registration_closes_at && ends_at && registration_closes_at > ends_at)
    throw invalidInput([{ loc: ['body', 'registration_closes_at'], msg: 'must not be later than ends_at', type: 'order' }]);
}

/** Assigned places cannot be taken away. */
async function requireRoom(db: Queryable, { event_id }: SiteEvent, capacity: number | null | undefined): Promise<void> {
  if (capacity === undefined || capacity === null) return;
  const taken = (await eventById(db, event_id))?.taken ?? 0;
  if (capacity < taken)
    throw new Problem('conflict', `${taken} places are taken: cancel registrations first, or keep at least as many places.`, {
      param: 'capacity',
    });
}

async function unlessTaken(write: () => Promise<unknown>): Promise<void> {
  try {
    await write();
  } catch (failure) {
    if (failure instanceof pg.DatabaseError && failure.constraint === 'site_events_slug_key') throw slugTaken();
    throw failure;
  }
}

const slugTaken = (slug?: string): Problem =>
  new Problem(
    'slug_taken',
    slug === undefined ? 'Another event has this slug: choose another one.' : `The slug ${slug} is reserved: choose another one.`,
    {
      param: 'slug',
    },
  );

function existing<T>(event: T | undefined): T {
  if (event === undefined) throw noSuchEvent();
  return event;
}

export const noSuchEvent = (): Problem => new Problem('not_found', 'There is no such event.');
