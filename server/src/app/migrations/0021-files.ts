/** Stored files, the uploads that become files, and which blobs they consist of. */
export const filesMigration = {
  name: '0021-files',
  up: `
    create table files (
      -- Ids begin with their time, so their order is that of creation.
      id text collate "C" primary key,
      account_id uuid not null references accounts (id),
      livemode boolean not null,
      purpose text not null,
      filename text not null,
      content_type text not null,
      bytes bigint not null check (bytes >= 0),
      created_at timestamptz not null,
      expires_at timestamptz
    );
    create index files_owner_idx on files (account_id, livemode, id);
    create index files_expires_at_idx on files (expires_at) where expires_at is not null;

    create table uploads (
      id text collate "C" primary key,
      account_id uuid not null references accounts (id),
      livemode boolean not null,
      purpose text not null,
      filename text not null,
      content_type text not null,
      bytes bigint not null check (bytes > 0),
      -- Of the file, from its creation on; null: for good.
      lifetime_seconds integer,
      status text not null check (status in ('pending', 'completed', 'cancelled', 'expired')),
      file_id text collate "C" references files (id) on delete set null,
      created_at timestamptz not null,
      expires_at timestamptz not null
    );
    create index uploads_account_id_idx on uploads (account_id);
    create index uploads_file_id_idx on uploads (file_id);
    create index uploads_expires_at_idx on uploads (expires_at);

    -- A blob with a row here is kept, one without is an orphan. A file is its blobs in the order of their positions.
    create table file_blobs (
      key text collate "C" primary key,
      account_id uuid not null references accounts (id),
      bytes bigint not null check (bytes >= 0),
      file_id text collate "C" references files (id),
      position integer,
      upload_id text collate "C" references uploads (id),
      part_id text collate "C" unique,
      created_at timestamptz not null,
      unique (file_id, position),
      check ((file_id is null) = (position is null)),
      check ((upload_id is null) = (part_id is null)),
      check (file_id is not null or upload_id is not null)
    );
    create index file_blobs_upload_id_idx on file_blobs (upload_id) where upload_id is not null;
    create index file_blobs_account_id_idx on file_blobs (account_id);

    -- What an account's rows of file_blobs add up to, so that a limit is one statement under any concurrency.
    create table file_storage (
      account_id uuid primary key references accounts (id),
      bytes bigint not null check (bytes >= 0)
    );
  `,
};
