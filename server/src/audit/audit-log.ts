import type { AuditLogEntry, AuditLogQuery, AuditLogResponse } from '@tallygate/contract';
import { sql } from 'kysely';
import type { Pool } from 'pg';
import { rfc3339 } from '../kernel/clock.ts';
import { Keyset, mapPage } from '../kernel/page.ts';
import { searchesOf } from '../kernel/searches.ts';
import { ifGiven, type RowOf, rowsOf } from '../kernel/statements.ts';
import type { AuditLogEntry as Entry } from './entities.ts';
import { tables } from './tables.ts';

export interface AuditLog {
  /**
   * Newest first.
   * @param accountId undefined: of all accounts
   * @throws Problem `rate_limited` for too many at once, `validation_failed` for a search that takes too long
   */
  list(filter: AuditLogQuery & { accountId?: string | undefined }): Promise<AuditLogResponse>;
}

/** Administrators, who search all accounts. */
const EVERYBODY = 'administrators';
const ENTRIES = new Keyset({ name: 'audit', columns: { id: 'uuid' }, direction: 'desc' });

export const createAuditLog = (pool: Pool): AuditLog => ({
  async list({ accountId, action, actor_id: actorId, target_id: targetId, ip, from, to, ...query }) {
    const filtered = tables
      .selectFrom('audit_log')
      .selectAll()
      .where((eb) => ifGiven(accountId, (id) => eb('account_id', '=', id)))
      .where((eb) =>
        ifGiven(action, (name) => (name.includes('.') ? eb('action', '=', name) : eb(sql`split_part(action, '.', 1)`, '=', name))),
      )
      .where((eb) => ifGiven(actorId, (id) => eb('actor_id', '=', id)))
      .where((eb) => ifGiven(targetId, (id) => eb('target_id', '=', id)))
      .where((eb) => ifGiven(ip, (address) => eb('ip', '=', address)))
      .where((eb) => ifGiven(from, (time) => eb('created_at', '>=', sql<Date>`${time}::timestamptz`)))
      .where((eb) => ifGiven(to, (time) => eb('created_at', '<', sql<Date>`${time}::timestamptz`)));
    const rows = await searchesOf(pool).run(accountId ?? EVERYBODY, (db) => rowsOf(db, ENTRIES.pageIn(filtered, query)));
    return mapPage(ENTRIES.page(rows, query), toWire);
  },
});

const toWire = (row: RowOf<typeof Entry>): AuditLogEntry => ({
  entry_id: row.id,
  account_id: row.account_id,
  actor: { kind: row.actor_kind, id: row.actor_id },
  action: row.action,
  target: { kind: row.target_kind, id: row.target_id },
  changes: row.changes,
  ip: row.ip,
  user_agent: row.user_agent,
  request_id: row.request_id,
  created_at: rfc3339(row.created_at),
});
