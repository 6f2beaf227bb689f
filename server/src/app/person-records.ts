import type { PersonRecords } from '../marketing/index.ts';

/** What is stored under people's addresses beside their own record: for whoever asks what is known of them, or wants it gone. */
export const personRecords: readonly PersonRecords[] = [
  {
    kind: 'users',
    read: async (pool, { emails }) =>
      (
        await pool.query(
          `select u.id as user_id, u.account_id, u.email, u.name, u.role, u.email_verified_at, u.created_at, a.plan
           from users u join accounts a on a.id = u.account_id where lower(u.email) = any($1::text[]) and u.closed_at is null`,
          [emails],
        )
      ).rows,
    // Whoever has an account is not erased before it is closed, and closing takes out of it who they were.
    erase: async () => {},
  },
  {
    kind: 'service_mails',
    read: async (pool, { emails }) =>
      (
        await pool.query('select template, created_at, sent_at from mails where lower(recipient) = any($1::text[]) order by created_at', [
          emails,
        ])
      ).rows,
    erase: async (client, { emails }) => {
      await client.query('delete from mails where lower(recipient) = any($1::text[])', [emails]);
    },
  },
  {
    kind: 'marketing_mails',
    read: async (pool, { emails }) =>
      (
        await pool.query(
          `select e.email_id, r.address as to, e.subject, e.text_body, r.name, r.company, r.state, r.at, encode(r.digest, 'hex') as sha256
           from email_recipients r join emails e using (email_id)
           where r.address_hash in (select address_hash(one) from unnest($1::text[]) as addresses (one)) order by r.at`,
          [emails],
        )
      ).rows,
    // That a mail was sent stays on record, by the hash of the address. What still waits for them is not sent: it has no address any more.
    erase: async (client, { emails }) => {
      await client.query(
        `update email_recipients set address = null, name = null, company = null, person_id = null, last_error = null,
           state = case when state = 'queued' then 'suppressed' else state end
         where address_hash in (select address_hash(one) from unnest($1::text[]) as addresses (one))`,
        [emails],
      );
    },
  },
];
