import type { Pool } from 'pg';

/** Under what a person is known elsewhere. */
export interface KnownUnder {
  /** In lower case. */
  readonly emails: readonly string[];
  readonly personIds: readonly string[];
}

/** What one slice keeps of people, for whoever asks what is known of them or wants it gone. */
export interface PersonRecords {
  /** In the export: `registrations`. */
  readonly kind: string;
  read(pool: Pick<Pool, 'query'>, of: KnownUnder): Promise<Record<string, unknown>[]>;
  /** In the transaction of the erasure. */
  erase(client: Pick<Pool, 'query'>, of: KnownUnder): Promise<void>;
}
