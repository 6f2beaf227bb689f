/** Video jobs, what is stored of them, and what is still to be done about them. */
export const videosMigration = {
  name: '0027-videos',
  up: `
    create table videos (
      -- Ids begin with their time, so their order is that of creation.
      id text collate "C" primary key,
      account_id uuid not null references accounts (id),
      livemode boolean not null,
      -- Of the call that began it: what it was charged under.
      request_id text not null,
      receipt_id uuid not null,
      deployment text not null,
      provider text not null,
      -- The provider's own id of the job.
      job_id text not null,
      model text not null,
      seconds integer not null check (seconds > 0),
      size text not null,
      -- JSON, since a text of PostgreSQL holds no U+0000.
      prompt json not null,
      remixed_from text collate "C",
      status text not null check (status in ('queued', 'in_progress', 'completed', 'failed')),
      progress real not null default 0,
      error json,
      created_at timestamptz not null,
      completed_at timestamptz,
      -- Until when its bytes are kept.
      expires_at timestamptz,
      -- Gone for its owner; the row stays until its money is settled.
      deleted_at timestamptz,
      -- Of a failed job: whether its cost is still to be given back, was, or never was charged.
      refund text not null default 'none' check (refund in ('none', 'due', 'made', 'not_charged')),
      refund_receipt_id uuid,
      -- When the provider was last asked, and how often it was asked in vain or for nothing new.
      looked_at timestamptz not null,
      looks integer not null default 0,
      -- Null: there is nothing left to do.
      next_step_at timestamptz,
      check ((status = 'failed') = (refund <> 'none')),
      check ((status = 'failed') = (error is not null)),
      check ((status = 'completed') = (completed_at is not null))
    );
    create index videos_owner_idx on videos (account_id, livemode, id) where deleted_at is null;
    create index videos_next_step_at_idx on videos (next_step_at) where next_step_at is not null;
    create index videos_expires_at_idx on videos (expires_at) where expires_at is not null;

    -- A blob with a row here is kept, one without is an orphan.
    create table video_contents (
      video_id text collate "C" not null references videos (id) on delete cascade,
      variant text not null check (variant in ('video', 'thumbnail', 'spritesheet')),
      key text collate "C" not null unique,
      bytes bigint not null check (bytes > 0),
      content_type text not null,
      primary key (video_id, variant)
    );
  `,
};
