/** Invitations with what they give, and plans that are given for a time. */
export const invitesMigration = {
  name: '0049-invites',
  up: `
create table invite_batches (
  batch_id uuid primary key,
  name text not null,
  plan_id text,
  trial_days int,
  credit_nano bigint not null,
  shared_uses int,
  subject text,
  message text,
  expires_at timestamptz not null,
  created_by uuid not null,
  created_at timestamptz not null,
  revoked_at timestamptz,
  check ((plan_id is null) = (trial_days is null))
);

create table invites (
  invite_id uuid primary key,
  batch_id uuid not null references invite_batches,
  -- Null for a code that is given away.
  email text,
  name text,
  -- Of SHA-256; null until the code is made for its mail.
  code_hash bytea unique,
  status text not null check (status in ('pending', 'queued', 'sent', 'failed', 'suppressed', 'shared')),
  max_uses int not null,
  uses int not null default 0 check (uses <= max_uses),
  failure text,
  sent_at timestamptz,
  revoked_at timestamptz
);
create unique index invites_one_each on invites (batch_id, lower(email)) where email is not null;
create index invites_batch on invites (batch_id, invite_id);
create index invites_pending on invites (invite_id) where status = 'pending' and revoked_at is null;
create index invites_queued on invites (invite_id) where status = 'queued';

create table invite_activations (
  activation_id uuid primary key,
  invite_id uuid not null references invites,
  email text not null,
  name text,
  activated_at timestamptz not null,
  -- Known once what it gives was given.
  account_id uuid,
  granted_at timestamptz
);
create unique index invite_activations_one_each on invite_activations (invite_id, lower(email));
create index invite_activations_due on invite_activations (activated_at) where granted_at is null;

create table plan_trials (
  trial_id uuid primary key,
  account_id uuid not null references accounts,
  plan_id text not null,
  -- What the account was given before, and has again afterwards.
  back_to text not null,
  ends_at timestamptz not null,
  ended_at timestamptz
);
create unique index plan_trials_one on plan_trials (account_id) where ended_at is null;
create index plan_trials_due on plan_trials (ends_at) where ended_at is null;
`,
};
