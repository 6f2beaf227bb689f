/** Keys of programs that administer an account, and what they did. */
export const managementKeysMigration = {
  name: '0200-management-keys',
  up: `
create table management_keys (
  id uuid primary key,
  account_id uuid not null references accounts,
  -- The member who made it.
  user_id uuid not null references users,
  lookup_id text collate "C" not null unique,
  name text not null,
  scopes text[] not null,
  -- The addresses and ranges that it works from; null: all.
  allowed_addresses text[],
  secret_hash bytea not null,
  previous_secret_hash bytea,
  previous_expires_at timestamptz,
  created_at timestamptz not null,
  expires_at timestamptz,
  rotated_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz
);
create index management_keys_by_account on management_keys (account_id, id);
create index management_keys_by_user on management_keys (user_id);

alter table audit_log
  drop constraint audit_log_actor_kind_check,
  add constraint audit_log_actor_kind_check check (actor_kind in ('user', 'key', 'management_key', 'internal', 'system')) not valid;
alter table person_history
  drop constraint person_history_actor_kind_check,
  add constraint person_history_actor_kind_check check (actor_kind in ('user', 'key', 'management_key', 'internal', 'system')) not valid;
alter table key_budget_changes
  drop constraint key_budget_changes_actor_kind_check,
  add constraint key_budget_changes_actor_kind_check check (actor_kind in ('user', 'key', 'management_key')) not valid;
`,
};
