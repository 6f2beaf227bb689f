/** API keys; the plain secret is in no column. */
export const keysMigration = {
  name: '0003-keys',
  up: `
    create table api_keys (
      id uuid primary key,
      account_id uuid not null references accounts (id),
      user_id uuid not null references users (id),
      lookup_id text not null unique,
      name text not null,
      livemode boolean not null,
      scopes text[] not null,
      secret_hash bytea not null,
      previous_secret_hash bytea,
      previous_expires_at timestamptz,
      monthly_cap_nano_usd bigint check (monthly_cap_nano_usd >= 0),
      created_at timestamptz not null,
      expires_at timestamptz,
      rotated_at timestamptz,
      revoked_at timestamptz,
      last_used_at timestamptz,
      check ((previous_secret_hash is null) = (previous_expires_at is null))
    );
    create index api_keys_account_id_idx on api_keys (account_id, id desc);
  `,
};
