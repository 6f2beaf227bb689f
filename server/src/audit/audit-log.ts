import type { AuditLogEntry, AuditLogQuery, AuditLogResponse } from '@tallygate/contract';
import type { Pool } from 'pg';
import * as z from 'zod';
import { rfc3339 } from '../kernel/clock.ts';
import { type Keyed, Keyset, mapPage } from '../kernel/page.ts';

export interface AuditLog {
  /** Newest first. @param accountId undefined: of all accounts */
  list(filter: AuditLogQuery & { accountId?: string | undefined }): Promise<AuditLogResponse>;
}

const Row = z.object({
  id: z.string(),
  account_id: z.string().nullable(),
  actor_kind: z.enum(['user', 'key', 'internal', 'system']),
  actor_id: z.string().nullable(),
  action: z.string(),
  target_kind: z.string(),
  target_id: z.string(),
  changes: z.record(z.string(), z.unknown()),
  ip: z.string().nullable(),
  user_agent: z.string().nullable(),
  request_id: z.string().nullable(),
  created_at: z.date(),
});

const ENTRIES = new Keyset({ name: 'audit', columns: { id: 'uuid' }, direction: 'desc' });

const FILTERED = `from audit_log where ($1::uuid is null or account_id = $1) and ($2::text is null or action = $2)
  and ($3::timestamptz is null or created_at >= $3) and ($4::timestamptz is null or created_at < $4)`;

export const createAuditLog = (pool: Pool): AuditLog => ({
  async list({ accountId, action, from, to, ...query }) {
    const { rows } = await pool.query<Keyed>(
      `select *, ${ENTRIES.key} ${FILTERED} and ${ENTRIES.after('$5')} order by ${ENTRIES.order} limit $6`,
      [accountId ?? null, action ?? null, from ?? null, to ?? null, ...ENTRIES.values(query)],
    );
    return mapPage(ENTRIES.page(rows, query), (row) => toWire(Row.parse(row)));
  },
});

const toWire = (row: z.infer<typeof Row>): AuditLogEntry => ({
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
