/** What witnesses have cosigned of the log, and how far the log was checked against itself. */
export const logWitnessesMigration = {
  name: '0036-log-witnesses',
  up: `
alter table receipt_log_checkpoints add column cosignatures smallint not null default 0;
create index receipt_log_cosigned on receipt_log_checkpoints (cosignatures, size);
create table receipt_log_witnesses (
  name text primary key,
  -- The newest that it is known to have seen.
  size bigint not null
);
create table receipt_log_audit (
  is_only boolean primary key default true check (is_only),
  -- Up to where this pass has come, and what it has found so far.
  next_index bigint not null default 0,
  found integer not null default 0,
  -- What the last whole pass has found.
  last_found integer not null default 0
);
insert into receipt_log_audit default values;
`,
};
