import type { Pool } from 'pg';

/** The slugs of all events, whatever their state. */
export async function eventSlugs(sql: Pick<Pool, 'query'>): Promise<ReadonlySet<string>> {
  const { rows } = await sql.query<{ slug: string }>('select slug from site_events');
  return new Set(rows.map(({ slug }) => slug));
}
