/** Marketing mails, and who got which: of each mail to each address there is one row, and it is never taken away. */
export const emailsMigration = {
  name: '0046-emails',
  up: `
create table email_secret (is_only boolean primary key default true check (is_only), secret text not null);
-- Signs the links by which people unsubscribe; of use for as long as any mail is kept.
insert into email_secret (secret) values (gen_random_uuid()::text || gen_random_uuid()::text);

create table emails (
  email_id uuid primary key,
  account_id uuid not null,
  actor_kind text not null,
  actor_id text,
  subject text not null,
  text_body text not null,
  html_body text,
  variables jsonb not null,
  -- Who is to get it: {"person_id"}, {"person_ids"}, {"filter"} or, of a test, {"address"}.
  audience jsonb not null,
  is_test boolean not null,
  state text not null check (state in ('scheduled', 'preparing', 'sending', 'sent', 'canceled')),
  due_at timestamptz not null,
  created_at timestamptz not null,
  started_at timestamptz,
  finished_at timestamptz
);
create index emails_unfinished on emails (due_at) where state in ('scheduled', 'preparing', 'sending');
create index emails_newest on emails (created_at desc, email_id);

create table email_recipients (
  -- The Message-ID begins with it.
  recipient_id uuid primary key,
  email_id uuid not null references emails,
  person_id uuid,
  -- Null once the person was erased; the hash stays, so that the record of what was sent does.
  address text,
  address_hash bytea not null,
  name text,
  company text,
  state text not null default 'queued' check
    (state in ('queued', 'handing_over', 'sent', 'unconfirmed', 'bounced', 'rejected', 'failed', 'suppressed', 'canceled')),
  attempts integer not null default 0,
  due_at timestamptz not null,
  -- SHA-256 of subject, text and HTML as they were sent.
  digest bytea,
  last_error text,
  at timestamptz not null,
  unique (email_id, address_hash)
);
create index email_recipients_due on email_recipients (due_at, recipient_id) where state = 'queued';
create index email_recipients_handing_over on email_recipients (recipient_id) where state = 'handing_over';
create index email_recipients_person on email_recipients (address_hash);
create index email_recipients_states on email_recipients (email_id, state);
`,
};
