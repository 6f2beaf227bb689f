import { type Queryable, rowsOf } from '../../kernel/statements.ts';
import { tables } from './tables.ts';

/** The slugs of all events, in every state. */
export async function eventSlugs(db: Queryable): Promise<ReadonlySet<string>> {
  const rows = await rowsOf(db, tables.selectFrom('site_events').select('slug'));
  return new Set(rows.map(({ slug }) => slug));
}
