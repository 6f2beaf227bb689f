/** Accounts, the people in them, and their signed-in sessions. */
export const identityMigration = {
  name: '0002-identity',
  up: `
    create table accounts (
      id uuid primary key,
      name text not null,
      plan text not null default 'free',
      created_at timestamptz not null
    );

    create table users (
      id uuid primary key,
      account_id uuid not null references accounts (id),
      email text not null,
      name text,
      role text not null check (role in ('member', 'marketing', 'admin')),
      password_hash text not null,
      email_verified_at timestamptz,
      created_at timestamptz not null
    );
    create unique index users_email_key on users (lower(email));
    create index users_account_id_idx on users (account_id);

    create table sessions (
      id uuid primary key,
      user_id uuid not null references users (id) on delete cascade,
      token_hash bytea not null unique,
      created_at timestamptz not null,
      last_used_at timestamptz not null,
      revoked_at timestamptz,
      ip_address text,
      user_agent text
    );
    create index sessions_user_id_idx on sessions (user_id);
  `,
};
