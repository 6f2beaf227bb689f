/**
 * The audit log is partitioned by the month in which an entry's id was made, which is how the id begins. An entry of a month without a partition is
 * written all the same: what it describes must not fail for it.
 */
export const auditLogByMonthMigration = {
  name: '0276-audit-log-by-month',
  up: `
alter table audit_log rename to audit_log_of_all_time;
alter table audit_log_of_all_time rename constraint audit_log_pkey to audit_log_of_all_time_pkey;
alter index audit_log_account_id_idx rename to audit_log_of_all_time_account_id_idx;
create table audit_log (
  id uuid primary key,
  account_id uuid references accounts (id),
  actor_kind text not null,
  actor_id text,
  action text not null,
  target_kind text not null,
  target_id text not null,
  changes jsonb not null,
  ip text,
  user_agent text,
  request_id text,
  created_at timestamptz not null default now(),
  constraint audit_log_actor_kind_check check (actor_kind in ('user', 'key', 'management_key', 'internal', 'system'))
) partition by range (id);
create index audit_log_account_id_idx on audit_log (account_id, id desc);
create trigger audit_log_only_grows before update or delete on audit_log for each row execute function refuse_change_of_audit_log();
create trigger audit_log_is_never_emptied before truncate on audit_log for each statement execute function refuse_change_of_audit_log();
create table audit_log_of_no_month partition of audit_log default;
create trigger audit_log_is_never_emptied before truncate on audit_log_of_no_month
  for each statement execute function refuse_change_of_audit_log();

create function make_audit_log_month(first timestamptz) returns void language plpgsql as $$
  declare
    partition text := 'audit_log_' || to_char(first at time zone 'UTC', 'YYYY_MM');
    bounds uuid[] := array(
      select rpad(lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0'), 32, '0')::uuid
        from unnest(array[first, (first at time zone 'UTC' + interval '1 month') at time zone 'UTC']) with ordinality as bound (at, n) order by n);
  begin
    if to_regclass(partition) is not null then return; end if;
    -- Two gateways wait for each other; nobody else does.
    lock table audit_log in share update exclusive mode;
    -- A month whose first entries came before its partition stays where these are.
    if to_regclass(partition) is not null
      or exists (select from audit_log_of_no_month where id >= bounds[1] and id < bounds[2]) then return; end if;
    execute format('create table %I partition of audit_log for values from (%L) to (%L)', partition, bounds[1], bounds[2]);
    execute format('create trigger audit_log_is_never_emptied before truncate on %I for each statement
      execute function refuse_change_of_audit_log()', partition);
  end
$$;
select make_audit_log_month(month) from (
  select distinct date_trunc('month', to_timestamp(('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint / 1000.0), 'UTC') as month
    from audit_log_of_all_time
  union select date_trunc('month', now(), 'UTC')
) as months;
insert into audit_log (id, account_id, actor_kind, actor_id, action, target_kind, target_id, changes, ip, user_agent, request_id, created_at)
  select id, account_id, actor_kind, actor_id, action, target_kind, target_id, changes, ip, user_agent, request_id, created_at
    from audit_log_of_all_time;
drop table audit_log_of_all_time;
`,
};
