/** The transparency log of receipts. Of its tree every whole subtree is kept, so that appending and proving read some dozens of rows. */
export const receiptLogMigration = {
  name: '0030-receipt-log',
  up: `
alter table receipts add column log_index bigint;
create unique index receipts_log_index on receipts (log_index) where log_index is not null;
create index receipts_unlogged on receipts (receipt_id) where log_index is null;
create table receipt_log (
  is_only boolean primary key default true check (is_only),
  origin text not null,
  size bigint not null default 0
);
insert into receipt_log (origin) values ('tallygate/receipts/' || replace(gen_random_uuid()::text, '-', ''));
create table receipt_log_nodes (
  level smallint not null,
  index bigint not null,
  hash bytea not null,
  primary key (level, index)
);
create table receipt_log_checkpoints (
  size bigint primary key,
  root bytea not null,
  note text not null,
  created_at timestamptz not null
);
`,
};
