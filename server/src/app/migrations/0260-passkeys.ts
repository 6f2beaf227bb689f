/** Passkeys of users (WebAuthn), and the challenges that wait for one. */
export const passkeysMigration = {
  name: '0260-passkeys',
  up: `
create table passkeys (
  id uuid primary key,
  user_id uuid not null references users,
  credential_id bytea not null unique,
  -- COSE.
  public_key bytea not null,
  -- What the authenticator has counted; one that does not count says 0 always.
  sign_count bigint not null,
  -- Whether its provider may copy it to other devices, and whether there is such a copy.
  is_backup_eligible boolean not null,
  is_backed_up boolean not null,
  transports text[] not null,
  name text not null,
  created_at timestamptz not null,
  last_used_at timestamptz
);
create index passkeys_by_user on passkeys (user_id, id desc);

create table passkey_challenges (
  challenge_hash bytea primary key,
  purpose text not null check (purpose in ('registration', 'login', 'second-factor')),
  -- Null where the passkey says who it is.
  user_id uuid references users,
  expires_at timestamptz not null
);
create index on passkey_challenges (expires_at);
create index on passkey_challenges (user_id) where user_id is not null;

-- The passkey that opened it: such sessions end with it.
alter table sessions add column passkey_id uuid;

alter table login_failures drop constraint login_failures_kind_check;
alter table login_failures add constraint login_failures_kind_check check (kind in ('password', 'second_factor', 'passkey')) not valid;
`,
};

export const validatedLoginFailuresMigration = {
  name: '0261-validated-login-failures',
  up: 'alter table login_failures validate constraint login_failures_kind_check',
};
