/** What a company's directory says of its people and groups, by SCIM. */
export const directoryMigration = {
  name: '0204-directory',
  up: `
create table directory_users (
  id uuid primary key,
  account_id uuid not null references accounts,
  -- The member; null while the directory says that they are not active.
  user_id uuid references users,
  external_id text collate "C",
  user_name text not null,
  display_name text,
  given_name text,
  family_name text,
  active boolean not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create unique index directory_users_by_name on directory_users (account_id, lower(user_name));
create index directory_users_by_account on directory_users (account_id, id);
create index directory_users_by_user on directory_users (user_id) where user_id is not null;

create table directory_groups (
  id uuid primary key,
  account_id uuid not null references accounts,
  external_id text collate "C",
  display_name text not null,
  -- What it makes of its members; null: nothing.
  account_role text check (account_role in ('admin', 'billing', 'developer', 'viewer')),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (account_id, display_name)
);

create table directory_group_members (
  group_id uuid not null references directory_groups on delete cascade,
  directory_user_id uuid not null references directory_users on delete cascade,
  primary key (group_id, directory_user_id)
);
create index directory_group_members_by_user on directory_group_members (directory_user_id);
`,
};
