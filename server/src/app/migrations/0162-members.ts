/** Accounts with several people: what each of them may do in it, and who is invited. */
export const membersMigration = {
  name: '0162-members',
  up: `
alter table users add column account_role text not null default 'owner'
  check (account_role in ('owner', 'admin', 'billing', 'developer', 'viewer'));
-- Every instance that remembers keys of the account hears of it with the commit.
create trigger users_account_role_changed after update of account_role, closed_at on users
  for each row when ((old.account_role, old.closed_at) is distinct from (new.account_role, new.closed_at)) execute function announce_role();

create table member_invitations (
  id uuid primary key,
  account_id uuid not null references accounts,
  email text not null,
  account_role text not null check (account_role in ('owner', 'admin', 'billing', 'developer', 'viewer')),
  token_hash bytea not null unique,
  invited_by uuid not null references users,
  created_at timestamptz not null,
  expires_at timestamptz not null
);
create index member_invitations_by_account on member_invitations (account_id, id);
`,
};
