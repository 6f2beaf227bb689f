import type { PersonRecords } from '../../community/people/index.ts';

const USERS = 'select u.* from users u where lower(u.email) = any($1::text[]) and u.closed_at is null';
/** Opens something, and says nothing of anybody. */
const SEALED = ['sealed_token', 'sealed_code', 'cancel_token'];

/** A person with an account is not erased before it is closed, and closing removes who they were. */
const closedFirst = async () => {};

/** What is kept of users, and the mails that the service writes by itself, to users and to others. */
export const accountRecords: readonly PersonRecords[] = [
  {
    kind: 'users',
    read: async (sql, { emails }) =>
      (
        await sql.query(
          `select u.id as user_id, u.account_id, u.email, u.name, u.role, u.email_verified_at, u.created_at, a.plan, a.name as account_name
           from (${USERS}) u join accounts a on a.id = u.account_id`,
          [emails],
        )
      ).rows,
    erase: closedFirst,
  },
  {
    kind: 'sessions',
    read: async (sql, { emails }) =>
      (
        await sql.query(
          `select s.created_at, s.last_used_at, s.revoked_at, s.ip_address, s.user_agent from sessions s join (${USERS}) u on u.id = s.user_id
           order by s.created_at`,
          [emails],
        )
      ).rows,
    erase: closedFirst,
  },
  {
    kind: 'passkeys',
    read: async (sql, { emails }) =>
      (
        await sql.query(
          `select p.name, p.transports, p.created_at, p.last_used_at from passkeys p join (${USERS}) u on u.id = p.user_id order by p.created_at`,
          [emails],
        )
      ).rows,
    erase: closedFirst,
  },
  {
    kind: 'audit_log',
    read: async (sql, { emails }) =>
      (
        await sql.query(
          `select l.action, l.target_kind, l.target_id, l.changes, l.ip, l.user_agent, l.created_at
           from audit_log l join (${USERS}) u on u.account_id = l.account_id order by l.id`,
          [emails],
        )
      ).rows,
    // Who did what can only grow, or it proves nothing: addresses are shortened in it, and it names users by their ids.
    erase: async () => {},
  },
  {
    kind: 'service_mails',
    read: async (sql, { emails }) =>
      (
        await sql.query(
          `select template, recipient, data - $2::text[] as data, created_at, sent_at, failed_at, last_error from mails
           where lower(recipient) = any($1::text[]) or (data ? 'email' and lower(data ->> 'email') = any($1::text[])) order by created_at`,
          [emails, SEALED],
        )
      ).rows,
    // Those to the team that are about them too. That an account was closed is still told to the person who closed it.
    erase: (sql, { emails }) =>
      sql.query(
        `delete from mails where (lower(recipient) = any($1::text[]) or (data ? 'email' and lower(data ->> 'email') = any($1::text[])))
           and not (template = 'account-closed' and sent_at is null and failed_at is null)`,
        [emails],
      ),
  },
  {
    kind: 'mail_requests',
    read: async (sql, { emails }) =>
      (await sql.query('select purpose, email, requested_at from mail_requests where lower(email) = any($1::text[])', [emails])).rows,
    erase: (sql, { emails }) => sql.query('delete from mail_requests where lower(email) = any($1::text[])', [emails]),
  },
  {
    kind: 'member_invitations',
    read: async (sql, { emails }) =>
      (
        await sql.query(
          'select email, account_role, created_at, expires_at from member_invitations where lower(email) = any($1::text[]) order by created_at',
          [emails],
        )
      ).rows,
    // One that is not accepted yet is not valid any more.
    erase: (sql, { emails, at }) =>
      sql.query('delete from member_invitations where lower(email) = any($1::text[]) and created_at <= $2', [emails, at]),
  },
];
