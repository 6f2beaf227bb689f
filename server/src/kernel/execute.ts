import type { EntityManager } from '@mikro-orm/postgresql';

/**
 * Runs one statement inside a transaction that somebody else began, so that what it writes commits with its cause or not at all.
 * Placeholders are PostgreSQL's: `$1`, `$2`, each once and in order. For a `pg` client: `(sql, values) => client.query(sql, values)`.
 */
export type Execute = (sql: string, values: unknown[]) => Promise<unknown>;

/** The transaction of an ORM unit of work; `unit` is what `em.transactional` passes in. The ORM writes its placeholders as `?`. */
export const inUnit =
  (unit: EntityManager): Execute =>
  (sql, values) =>
    unit.execute(sql.replaceAll(/\$\d+/g, '?'), values);
