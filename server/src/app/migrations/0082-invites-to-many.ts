/** Invitations to all who fit a filter; what is told of an invitation in the outbox, and where answers to a mail go. */
export const invitesToManyMigration = {
  name: '0082-invites-to-many',
  up: `
alter table invite_batches
  add column filter jsonb,
  -- When everybody who fits had been looked up; null while that is under way, and where there is no filter.
  add column looked_up_at timestamptz;
create index invite_batches_to_look_up on invite_batches (created_at) where filter is not null and looked_up_at is null and revoked_at is null;

-- Its recipient unsubscribed, or bounced, between the outbox and the mail server.
alter table mails add column is_suppressed boolean not null default false;

alter table emails add column reply_to text;
`,
};
