/** Batches, and their lines for as long as they are worked on. */
export const batchesMigration = {
  name: '0024-batches',
  up: `
    create table batches (
      -- Ids begin with their time, so their order is that of creation.
      id text collate "C" primary key,
      account_id uuid not null references accounts (id),
      livemode boolean not null,
      -- Whoever created it: what they may spend is asked again and again.
      key_id uuid,
      user_id uuid not null,
      session_id uuid,
      endpoint text not null,
      input_file_id text not null,
      metadata json,
      -- Of output and error file; null: for good.
      output_lifetime_seconds integer,
      run_id text,
      run_cap_nano bigint,
      model text,
      status text not null check
        (status in ('validating', 'failed', 'in_progress', 'finalizing', 'completed', 'expired', 'cancelling', 'cancelled')),
      -- How it ends, from the moment at which no further line is run.
      ending text check (ending in ('completed', 'expired', 'cancelled')),
      errors json,
      total integer not null default 0,
      -- Both null while there are rows in batch_lines to count.
      completed integer,
      failed integer,
      usage json,
      output_file_id text,
      error_file_id text,
      created_at timestamptz not null,
      -- Decides the month of the lanes it is held and settled on.
      held_at timestamptz not null,
      held_plan text not null,
      in_progress_at timestamptz,
      expires_at timestamptz not null,
      finalizing_at timestamptz,
      completed_at timestamptz,
      failed_at timestamptz,
      expired_at timestamptz,
      cancelling_at timestamptz,
      cancelled_at timestamptz
    );
    create index batches_owner_idx on batches (account_id, livemode, id);
    create index batches_unfinished_idx on batches (id) where status in ('validating', 'in_progress', 'finalizing', 'cancelling');

    create table batch_lines (
      batch_id text collate "C" not null references batches (id),
      line integer not null,
      custom_id text not null,
      -- Chosen before the line is run: however often that is, it is settled under these.
      request_id text not null,
      receipt_id uuid not null,
      -- The body as JSON, until there is an answer.
      request text,
      reserved_nano bigint not null,
      reserved_units json not null,
      -- waiting: nothing to show. answered: the answer is there, to be settled. done: in one of the two files.
      state text not null check (state in ('waiting', 'answered', 'done')),
      is_error boolean,
      -- What the file says, as it stands there.
      output text,
      -- Of an answered line: cost, units and record for the lanes.
      settlement json,
      input_tokens bigint not null default 0,
      cached_tokens bigint not null default 0,
      output_tokens bigint not null default 0,
      reasoning_tokens bigint not null default 0,
      primary key (batch_id, line)
    );
    create index batch_lines_undone_idx on batch_lines (batch_id, line) where state <> 'done';
  `,
};
