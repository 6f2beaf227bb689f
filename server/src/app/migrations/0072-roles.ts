/** Roles that change while the gateway runs. */
export const rolesMigration = {
  name: '0072-roles',
  up: `
-- Every instance that remembers keys of the account hears of it with the commit, as it does of a plan.
create function announce_role() returns trigger language plpgsql as $$
begin
  perform pg_notify('tallygate_keys', 'account:' || new.account_id);
  return null;
end $$;
create trigger users_role_changed after update of role on users
  for each row when (old.role is distinct from new.role) execute function announce_role();
`,
};
