import type { Pool } from 'pg';

/** A pool, or the connection of one transaction. */
type Sql = Pick<Pool, 'query'>;

/** Under what a person is known elsewhere. */
export interface KnownUnder {
  /** In lower case. */
  readonly emails: readonly string[];
  readonly personIds: readonly string[];
}

/** Somebody's wish to be forgotten. */
export interface Forgotten extends KnownUnder {
  readonly at: Date;
}

/** What one slice stores about people, for requests of access and of erasure. */
export interface PersonRecords {
  /** In the export: `registrations`. */
  readonly kind: string;
  read(sql: Sql, of: KnownUnder): Promise<Record<string, unknown>[]>;
  /** What an erasure has to lock before the person: where a slice locks something of its own and tells of the person afterwards. */
  lock?(sql: Sql, of: KnownUnder): Promise<unknown>;
  /**
   * Takes out who it was, in the caller's transaction; what money or capacities count stays counted. What came to be after `at` is somebody's
   * who came back, and stays.
   */
  erase(sql: Sql, of: Forgotten): Promise<unknown>;
}

/** The address of a row whose person is gone: nobody's, and no two alike. (`.invalid`: RFC 2606.) */
export const ERASED_DOMAIN = '@erased.invalid';
