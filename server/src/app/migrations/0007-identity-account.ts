/** Second factors, the second step of a login, what is proven by mail, and the brakes on guessing. */
export const identityAccountMigration = {
  name: '0007-identity-account',
  up: `
    alter table users
      add column closed_at timestamptz,
      add column mfa_sealed_secret text,
      add column mfa_enabled_at timestamptz,
      add column mfa_last_step bigint not null default 0,
      add check (mfa_enabled_at is null or mfa_sealed_secret is not null);

    create table mfa_recovery_codes (
      user_id uuid not null references users (id) on delete cascade,
      code_hash bytea not null,
      used_at timestamptz,
      primary key (user_id, code_hash)
    );

    create table login_challenges (
      token_hash bytea primary key,
      user_id uuid not null references users (id) on delete cascade,
      tries integer not null default 0,
      created_at timestamptz not null,
      expires_at timestamptz not null
    );
    create index login_challenges_user_id_idx on login_challenges (user_id);
    create index login_challenges_expires_at_idx on login_challenges (expires_at);

    create table mail_tokens (
      token_hash bytea primary key,
      user_id uuid not null references users (id) on delete cascade,
      purpose text not null check (purpose in ('verify-email', 'reset-password')),
      email text not null,
      created_at timestamptz not null,
      expires_at timestamptz not null
    );
    create index mail_tokens_user_id_idx on mail_tokens (user_id, purpose);
    create index mail_tokens_expires_at_idx on mail_tokens (expires_at);

    create table mail_requests (
      id uuid primary key,
      purpose text not null check (purpose in ('verify-email', 'reset-password')),
      email text not null,
      user_id uuid references users (id) on delete cascade,
      requested_at timestamptz not null
    );

    create table known_addresses (
      user_id uuid not null references users (id) on delete cascade,
      address_hash bytea not null,
      seen_at timestamptz not null,
      primary key (user_id, address_hash)
    );

    create table throttles (
      key bytea primary key,
      attempts integer not null,
      blocked_until timestamptz not null,
      attempted_at timestamptz not null
    );
    create index throttles_attempted_at_idx on throttles (attempted_at);
  `,
};
