import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import type { z } from 'zod';
import { firstOf, ifGiven, rowsOf } from '../../../kernel/statements.ts';
import { inTransaction } from '../../../kernel/transaction.ts';
import { PaymentFault } from '../port.ts';
import { tables } from '../tables.ts';
import { DOCUMENTS, type DocumentKind, type DocumentOf } from './documents.ts';

export interface WaitingEvent {
  readonly id: string;
  readonly body: string;
}

/** What the sandbox knows, for as long as the database lives. */
export interface SandboxStore {
  /** One after the other, all or nothing; events are part of it. */
  transact<T>(work: (books: SandboxBooks) => Promise<T>): Promise<T>;
  /** Events that nobody took yet, oldest first. */
  waitingEvents(): Promise<WaitingEvent[]>;
  markDelivered(eventId: string): Promise<void>;
  /** Oldest first, from that moment on. */
  eventsSince(epochMs: number): Promise<string[]>;
}

export interface SandboxBooks {
  find<K extends DocumentKind>(kind: K, id: string): Promise<DocumentOf<K> | undefined>;
  /** Oldest first; of one customer where one is named. */
  list<K extends DocumentKind>(kind: K, customerId?: string): Promise<DocumentOf<K>[]>;
  put<K extends DocumentKind>(kind: K, document: DocumentOf<K>): Promise<void>;
  remove(kind: DocumentKind, id: string): Promise<void>;
  /** Tells of an object as it is now. */
  emit(type: string, object: object, atSeconds: number): Promise<void>;
  /** What was answered under the key before, or what `work` answers. @throws PaymentFault when the key was used for something else */
  once(key: string, command: object, work: () => Promise<unknown>): Promise<unknown>;
}

/** Any number that no other lock of ours has: writers of the sandbox take turns. */
const TURN = 7_261_830_412n;

export function createSandboxStore(pool: pg.Pool): SandboxStore {
  return {
    transact: (work) =>
      inTransaction(pool, async (client) => {
        await client.query('select pg_advisory_xact_lock($1)', [TURN]);
        return work(booksOf(client));
      }),
    async waitingEvents() {
      return rowsOf(
        pool,
        tables.selectFrom('sandbox_payment_events').select(['id', 'body']).where('delivered_at', 'is', null).orderBy('seq').limit(100),
      );
    },
    async markDelivered(id) {
      await pool.query('update sandbox_payment_events set delivered_at = now() where id = $1', [id]);
    },
    async eventsSince(epochMs) {
      const rows = await rowsOf(
        pool,
        tables.selectFrom('sandbox_payment_events').select('body').where('created_at', '>=', new Date(epochMs)).orderBy('seq'),
      );
      return rows.map(({ body }) => body);
    },
  };
}

const parse = <K extends DocumentKind>(kind: K, data: unknown): DocumentOf<K> => {
  const schema: z.ZodType<DocumentOf<DocumentKind>> = DOCUMENTS[kind];
  return schema.parse(data) as DocumentOf<K>;
};

const booksOf = (client: pg.PoolClient): SandboxBooks => ({ ...documentsIn(client), ...recordsIn(client) });

function documentsIn(client: pg.PoolClient): Pick<SandboxBooks, 'find' | 'list' | 'put' | 'remove'> {
  return {
    async find(kind, id) {
      const found = await firstOf(
        client,
        tables.selectFrom('sandbox_payment_objects').select('data').where('id', '=', id).where('kind', '=', kind),
      );
      return found && parse(kind, found.data);
    },
    async list(kind, customerId) {
      const rows = await rowsOf(
        client,
        tables
          .selectFrom('sandbox_payment_objects')
          .select('data')
          .where('kind', '=', kind)
          .where((eb) => ifGiven(customerId, (customer) => eb('customer_id', '=', customer)))
          .orderBy('seq'),
      );
      return rows.map(({ data }) => parse(kind, data));
    },
    async put(kind, document) {
      const customerId = 'customer' in document ? document.customer : null;
      await client.query(
        `insert into sandbox_payment_objects (id, kind, customer_id, data) values ($1, $2, $3, $4)
         on conflict (id) do update set data = excluded.data`,
        [document.id, kind, customerId, JSON.stringify(document)],
      );
    },
    async remove(kind, id) {
      await client.query('delete from sandbox_payment_objects where id = $1 and kind = $2', [id, kind]);
    },
  };
}

/** What was told, and what was asked already. */
function recordsIn(client: pg.PoolClient): Pick<SandboxBooks, 'emit' | 'once'> {
  return {
    async emit(type, object, atSeconds) {
      await client.query("delete from sandbox_payment_events where delivered_at < now() - interval '30 days'");
      const id = newSandboxId('evt');
      const body = JSON.stringify({ id, object: 'event', type, created: atSeconds, livemode: false, data: { object } });
      await client.query('insert into sandbox_payment_events (id, body, created_at) values ($1, $2, $3)', [
        id,
        body,
        new Date(atSeconds * 1000),
      ]);
    },
    async once(key, command, work) {
      const fingerprint = JSON.stringify(command, tagged);
      const before = await firstOf(
        client,
        tables.selectFrom('sandbox_payment_requests').select(['fingerprint', 'answer']).where('idempotency_key', '=', key),
      );
      if (before && before.fingerprint !== fingerprint) {
        throw new PaymentFault('idempotency_conflict', `The key ${key} was used for another command`);
      }
      if (before) return JSON.parse(before.answer, untagged);
      const answer = await work();
      await client.query("delete from sandbox_payment_requests where created_at < now() - interval '1 day'");
      await client.query('insert into sandbox_payment_requests (idempotency_key, fingerprint, answer) values ($1, $2, $3)', [
        key,
        fingerprint,
        JSON.stringify(answer, tagged),
      ]);
      return answer;
    },
  };
}

/** JSON has no integers of this size. */
const tagged = (_key: string, value: unknown): unknown => (typeof value === 'bigint' ? { $nano_usd: value.toString() } : value);

const untagged = (_key: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && '$nano_usd' in value ? BigInt(String(value.$nano_usd)) : value;

/** Ids look like Stripe's, and those of pages cannot be guessed. */
export const newSandboxId = (prefix: string): string => `${prefix}_sandbox${randomBytes(16).toString('hex')}`;
