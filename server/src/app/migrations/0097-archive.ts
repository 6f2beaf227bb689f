/** Which months of the tables by month have left the database, and the pieces in the blob store that their rows are in. */
export const archiveMigration = {
  name: '0097-archive',
  up: `
create table archived_months (
  table_name text not null,
  month text not null,
  rows bigint not null,
  archived_at timestamptz not null,
  primary key (table_name, month)
);
create table archive_pieces (
  table_name text not null,
  month text not null,
  piece integer not null,
  first_key text collate "C" not null,
  last_key text collate "C" not null,
  rows integer not null,
  blob_key text not null,
  -- Of the compressed bytes.
  sha256 text not null,
  accounts uuid[] not null,
  -- Of the requests in it.
  started_from timestamptz not null,
  started_to timestamptz not null,
  -- Of receipts: their places in the log.
  log_from bigint,
  log_to bigint,
  primary key (table_name, month, piece)
);
create index archive_pieces_log on archive_pieces (log_from) where log_from is not null;
create index archive_pieces_started on archive_pieces (table_name, started_from);
`,
};
