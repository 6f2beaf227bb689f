import { sql } from 'kysely';
import { anyOf, rowsOf } from '../../kernel/statements.ts';
import { ERASED_DOMAIN, type PersonRecords } from '../people/index.ts';
import { tables } from './tables.ts';

/** Requests of people to the team. After an erasure, the fact of the request, its time and its status stay. */
export const clientRequestRecords: PersonRecords = {
  kind: 'client_requests',
  read: async (sql, { emails }) =>
    (
      await sql.query(
        `select r.request_id, r.type, r.status, r.name, r.email, r.company, r.client_type, r.message, r.created_at, r.closed_at,
           (select coalesce(jsonb_agg(jsonb_build_object('at', e.created_at, 'changes', e.changes, 'note', e.note) order by e.created_at), '[]')
            from client_request_entries e where e.request_id = r.request_id) as history
         from client_requests r where lower(r.email) = any($1::text[]) order by r.created_at`,
        [emails],
      )
    ).rows,
  async erase(db, { emails, at }) {
    const rows = await rowsOf(
      db,
      tables
        .updateTable('client_requests')
        .set({ name: 'Erased', email: sql<string>`request_id || ${ERASED_DOMAIN}`, company: null, message: 'Erased', erased_at: at })
        .where(sql`lower(email)`, '=', anyOf(emails))
        .where('created_at', '<=', at)
        .returning('request_id'),
    );
    // Notes are about the person; that the request was taken up, by whom and when, is not.
    await db.query('update client_request_entries set note = null where request_id = any($1::uuid[])', [
      rows.map(({ request_id }) => request_id),
    ]);
  },
};
