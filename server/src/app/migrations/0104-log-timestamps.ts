/** States of the log that time-stamping authorities have signed with the time (RFC 3161). */
export const logTimestampsMigration = {
  name: '0104-log-timestamps',
  up: `
create table log_timestamps (
  timestamp_id uuid primary key,
  authority text not null,
  tree_size bigint not null,
  checkpoint text not null,
  token bytea not null,
  stamped_at timestamptz not null,
  created_at timestamptz not null,
  unique (authority, tree_size)
);
create index log_timestamps_by_size on log_timestamps (tree_size, authority);
`,
};
