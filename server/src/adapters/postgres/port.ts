import type { MikroORM } from '@mikro-orm/postgresql';
import type pg from 'pg';
import type { Log } from '../../kernel/log.ts';

/** The one PostgreSQL database. */
export interface Database {
  /** For everything that has rules: `orm.em.fork()` once per use case. */
  readonly orm: MikroORM;
  /** For statements, which `kernel/statements.ts` types. The ORM takes its connections from it too, half of them at most. int8 arrives as `bigint`, numeric and date as text, timestamptz as `Date`. */
  readonly pool: pg.Pool;
  /** Waits for queries under way and ends every connection. */
  close(): Promise<void>;
}

export interface ListenerOptions {
  channels: readonly string[];
  onNotify(channel: string, payload: string): void;
  /** From now on every notification arrives. What was sent before is lost: read the present here. */
  onConnected(): void;
  /** Notifications may be missing from now on, until the next `onConnected`. */
  onLost(): void;
  /**
   * The server neither answers where it was connected nor takes a new connection, and refuses none either. Called again and again until it does
   * one of these.
   */
  onSilent?(): void;
  log: Log;
}

export interface Listener {
  /** Stops listening and reconnecting; no callback is called afterwards. */
  close(): Promise<void>;
}
