import type { PersonRecords } from '../../community/people/index.ts';

/** What the directory of an account says of somebody. */
export const directoryRecords: PersonRecords = {
  kind: 'directory_users',
  // An entry that is not active keeps them from signing in again, and the directory goes on changing it.
  outlastsDeparture: true,
  read: async (sql, { emails }) =>
    (
      await sql.query(
        `select user_name, email, external_id, display_name, given_name, family_name, active, created_at, updated_at from directory_users
         where lower(email) = any($1::text[]) order by created_at`,
        [emails],
      )
    ).rows,
  // Who is a member leaves the account first.
  erase: (sql, { emails, at }) =>
    sql.query('delete from directory_users where lower(email) = any($1::text[]) and user_id is null and created_at <= $2', [emails, at]),
};
