import type { Pool } from 'pg';
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

interface Range {
  readonly limit: number;
  readonly offset: number;
}

/** @param slug of one event; null: of all */
export async function eventsWithFigures(pool: Pool, slug: string | null, { limit, offset }: Range): Promise<EventWithFigures[]> {
  const { rows } = await pool.query<EventWithFigures>(
    `select e.*, f.* from (select * from site_events where $1::text is null or slug = $1 order by starts_at, event_id limit $2 offset $3) e
       cross join lateral (
         select count(*) filter (where status in ('confirmed', 'awaiting_payment'))::int as taken,
           count(*) filter (where status = 'waitlisted')::int as waiting,
           count(*) filter (where status = 'confirmed')::int as confirmed,
           count(*) filter (where status = 'awaiting_payment')::int as awaiting_payment,
           count(*) filter (where status = 'canceled')::int as canceled,
           count(attended_at)::int as attended,
           coalesce(sum(price_nano) filter (where payment_status = 'paid'), 0)::text as received_nano
         from event_registrations r where r.event_id = e.event_id) f
      order by e.starts_at, e.event_id`,
    [slug, limit, offset],
  );
  return rows;
}

export async function countEvents(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ total: number }>('select count(*)::int as total from site_events');
  return rows[0]?.total ?? 0;
}
