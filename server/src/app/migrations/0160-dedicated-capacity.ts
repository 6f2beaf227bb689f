/** What an account has reserved by contract: all three figures, or none. */
export const dedicatedCapacityMigration = {
  name: '0160-dedicated-capacity',
  up: `
alter table accounts
  add column reserved_requests_per_minute int check (reserved_requests_per_minute > 0),
  add column reserved_tokens_per_minute int check (reserved_tokens_per_minute > 0),
  add column reserved_concurrency int check (reserved_concurrency > 0),
  add constraint accounts_reserved_whole
    check (num_nulls(reserved_requests_per_minute, reserved_tokens_per_minute, reserved_concurrency) in (0, 3));

-- Every instance that remembers keys of the account, or what is left for shared traffic, hears of it with the commit.
create function announce_reserved_capacity() returns trigger language plpgsql as $$
begin
  perform pg_notify('tallygate_keys', 'account:' || new.id);
  perform pg_notify('tallygate_capacity', '');
  return null;
end $$;
create trigger accounts_reserved_changed
  after update of reserved_requests_per_minute, reserved_tokens_per_minute, reserved_concurrency on accounts
  for each row
  when ((old.reserved_requests_per_minute, old.reserved_tokens_per_minute, old.reserved_concurrency)
    is distinct from (new.reserved_requests_per_minute, new.reserved_tokens_per_minute, new.reserved_concurrency))
  execute function announce_reserved_capacity();
`,
};
