/** What guards the log of receipts against whoever writes the database: why it has stopped, and what the service has put down for itself. */
export const logGuardMigration = {
  name: '0073-log-guard',
  up: `
create table receipt_log_stops (
  reason text primary key,
  -- What somebody who resumes takes as seen, so that it does not stop the log again.
  seen text,
  stopped_at timestamptz not null
);
create table own_records (
  record text not null,
  -- The kid of the signing key whose private half the seal comes from.
  sealed_by text not null,
  seal bytea not null,
  primary key (record, sealed_by)
);
`,
};
