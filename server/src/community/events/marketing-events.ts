import type { Pool } from 'pg';
import { type Keyed, Keyset, type Page, type PageQuery } from '../../kernel/page.ts';
import type { EventWithPlaces } from './event-rows.ts';

/** An event with how its registrations stand. */
export interface EventWithFigures extends EventWithPlaces {
  readonly confirmed: number;
  readonly awaiting_payment: number;
  readonly canceled: number;
  readonly attended: number;
  /** Paid and not refunded, nano-USD. */
  readonly received_nano: string;
}

const EVENTS = new Keyset({ name: 'marketing_events', columns: { starts_at: 'time', event_id: 'uuid' }, direction: 'asc' });

const FIGURES = `cross join lateral (
    select count(*) filter (where status in ('confirmed', 'awaiting_payment'))::int as taken,
      count(*) filter (where status = 'waitlisted')::int as waiting,
      count(*) filter (where status = 'confirmed')::int as confirmed,
      count(*) filter (where status = 'awaiting_payment')::int as awaiting_payment,
      count(*) filter (where status = 'canceled')::int as canceled,
      count(attended_at)::int as attended,
      coalesce(sum(price_nano) filter (where payment_status = 'paid'), 0)::text as received_nano
    from event_registrations r where r.event_id = e.event_id) f`;

/** The next one first. */
export async function eventsWithFigures(pool: Pool, query: PageQuery): Promise<Page<EventWithFigures>> {
  const { rows } = await pool.query<EventWithFigures & Keyed>(
    `select e.*, f.* from (
       select *, ${EVENTS.key} from site_events where ${EVENTS.after('$1')} order by ${EVENTS.order} limit $2) e ${FIGURES}
      order by e.starts_at, e.event_id`,
    EVENTS.values(query),
  );
  return EVENTS.page(rows, query);
}

export async function eventWithFigures(pool: Pool, slug: string): Promise<EventWithFigures | undefined> {
  const { rows } = await pool.query<EventWithFigures>(`select e.*, f.* from site_events e ${FIGURES} where e.slug = $1`, [slug]);
  return rows[0];
}
