import type { PersonRecords } from '../people/index.ts';

/** Marketing mails to people. */
export const recipientRecords: PersonRecords = {
  kind: 'marketing_mails',
  read: async (sql, { emails }) =>
    (
      await sql.query(
        `select e.email_id, r.address as to, e.subject, e.text_body, r.name, r.company, r.state, r.last_error, r.at, encode(r.digest, 'hex') as sha256
         from email_recipients r join emails e using (email_id)
         where r.address_hash in (select address_hash(one) from unnest($1::text[]) as addresses (one)) order by r.at`,
        [emails],
      )
    ).rows,
  // That a mail was sent stays on record, by the hash of the address. What still waits for them is not sent: it has no address any more.
  erase: (sql, { emails, at }) =>
    sql.query(
      `update email_recipients r set address = null, name = null, company = null, person_id = null, last_error = null,
         state = case when state = 'queued' then 'suppressed' else state end
       where address_hash in (select address_hash(one) from unnest($1::text[]) as addresses (one))
         and (select created_at from emails e where e.email_id = r.email_id) <= $2`,
      [emails, at],
    ),
};
