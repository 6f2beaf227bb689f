import { sql } from 'kysely';
import type { Pool } from 'pg';
import { Keyset, type Page, type PageQuery } from '../../kernel/page.ts';
import { rowsOf } from '../../kernel/statements.ts';
import type { EventWithPlaces } from './event-rows.ts';
import { tables } from './tables.ts';

/** An event with the counts of its registrations. */
export interface EventWithFigures extends EventWithPlaces {
  readonly confirmed: number;
  readonly awaiting_payment: number;
  readonly canceled: number;
  readonly attended: number;
  /** Paid and not refunded, nano-USD. */
  readonly received_nano: string;
}

const EVENTS = new Keyset({ name: 'marketing_events', columns: { starts_at: 'time', event_id: 'uuid' }, direction: 'asc' });

const ALL = tables.selectFrom('site_events').selectAll();

/** The next one first. */
export const eventsWithFigures = (pool: Pool, query: PageQuery): Promise<Page<EventWithFigures>> => pageOf(pool, ALL, query);

export const eventWithFigures = async (pool: Pool, slug: string): Promise<EventWithFigures | undefined> =>
  (await pageOf(pool, ALL.where('slug', '=', slug), { limit: 1 })).data[0];

async function pageOf(pool: Pool, events: typeof ALL, query: PageQuery): Promise<Page<EventWithFigures>> {
  const page = tables
    .selectFrom(EVENTS.pageIn(events, query).as('e'))
    .crossJoinLateral((eb) =>
      eb
        .selectFrom('event_registrations as r')
        .whereRef('r.event_id', '=', 'e.event_id')
        .select([
          sql<number>`count(*) filter (where status in ('confirmed', 'awaiting_payment'))::int`.as('taken'),
          sql<number>`count(*) filter (where status = 'waitlisted')::int`.as('waiting'),
          sql<number>`count(*) filter (where status = 'confirmed')::int`.as('confirmed'),
          sql<number>`count(*) filter (where status = 'awaiting_payment')::int`.as('awaiting_payment'),
          sql<number>`count(*) filter (where status = 'canceled')::int`.as('canceled'),
          sql<number>`count(attended_at)::int`.as('attended'),
          sql<string>`coalesce(sum(price_nano) filter (where payment_status = 'paid'), 0)::text`.as('received_nano'),
        ])
        .as('f'),
    )
    .selectAll('e')
    .selectAll('f')
    .orderBy('e.starts_at')
    .orderBy('e.event_id');
  return EVENTS.page(await rowsOf(pool, page), query);
}
