/** Mails that must not arrive twice, such as invitations: that one is handed over is written down before its end is on the wire. */
export const mailsSentOnceMigration = {
  name: '0076-mails-sent-once',
  up: `
-- Whether one whose handing over nobody saw the end of is given up instead of sent again; and whether that is what became of it.
alter table mails add column is_sent_once boolean not null default false, add column is_unconfirmed boolean not null default false;
update mails set is_sent_once = true where dedupe_key like 'invite:%' and sent_at is null and failed_at is null;

-- Committed while the row of the mail is locked by its sender: one that is found without that lock was left by a sender that died.
create table mail_handovers (
  mail_id uuid primary key references mails on delete cascade,
  at timestamptz not null default clock_timestamp()
);

alter table invites drop constraint invites_status_check;
alter table invites add constraint invites_status_check
  check (status in ('pending', 'queued', 'sent', 'unconfirmed', 'failed', 'suppressed', 'shared'));
`,
};
