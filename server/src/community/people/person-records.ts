import type { Pool } from 'pg';

/** A pool, or the connection of one transaction. */
type Sql = Pick<Pool, 'query'>;

/** Under what a person is known elsewhere. */
export interface KnownUnder {
  /** In lower case. */
  readonly emails: readonly string[];
  readonly personIds: readonly string[];
}

/** A request of erasure. */
export interface Forgotten extends KnownUnder {
  readonly at: Date;
}

/** What one slice stores about people, for requests of access and of erasure. */
export interface PersonRecords {
  /** In the export: `registrations`. */
  readonly kind: string;
  read(sql: Sql, of: KnownUnder): Promise<Record<string, unknown>[]>;
  /**
   * Somebody else says when it goes, such as a company’s directory: who merely leaves an account, or closes their own, stays known there until then.
   * Absent: it goes with them.
   */
  readonly outlastsDeparture?: true;
  /** Locks that an erasure takes before the person: for a slice that locks its own rows before the person. */
  lock?(sql: Sql, of: KnownUnder): Promise<unknown>;
  /**
   * Removes the personal data, in the caller's transaction; amounts and capacities stay counted. Data that was created after `at` belongs to a person
   * who came back, and stays.
   */
  erase(sql: Sql, of: Forgotten): Promise<unknown>;
}

/** The address of a row whose person was erased: unassigned and unique. (`.invalid`: RFC 2606.) */
export const ERASED_DOMAIN = '@erased.invalid';
