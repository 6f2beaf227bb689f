/**
 * Receipts are partitioned by the month in which their id was made, which is how the id begins: so the id alone stays their key. That no two
 * have one place in the log is held by the lock under which the log takes them in: no index of a partitioned table can.
 */
export const receiptsByMonthMigration = {
  name: '0096-receipts-by-month',
  up: `
alter table receipts rename to receipts_of_all_time;
alter index receipts_pkey rename to receipts_of_all_time_pkey;
drop index receipts_log_index, receipts_unlogged, receipts_listed, receipts_followed, receipts_anchor_wished;
create table receipts (
  receipt_id uuid primary key,
  account_id uuid not null,
  request_id text not null,
  payload text not null,
  digest bytea not null,
  kid text not null,
  signature bytea not null,
  issued_at timestamptz not null default now(),
  log_index bigint,
  livemode boolean,
  kind text,
  model text,
  run_id text,
  -- Of the request, as invoices count it: a refund is in the month of what it gives back.
  started_at timestamptz,
  anchor_wished boolean not null default false
) partition by range (receipt_id);
create index receipts_log_index on receipts (log_index) where log_index is not null;
create index receipts_unlogged on receipts (receipt_id) where log_index is null;
create index receipts_listed on receipts (account_id, livemode, started_at, receipt_id);
create index receipts_followed on receipts (account_id, livemode, log_index) where log_index is not null;
create index receipts_anchor_wished on receipts (log_index) where anchor_wished;

create function pg_temp.id_at(at timestamptz) returns uuid language sql as
  $$ select rpad(lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0'), 32, '0')::uuid $$;
do $$
declare month timestamptz;
begin
  for month in
    select distinct date_trunc('month', to_timestamp(('x' || left(replace(receipt_id::text, '-', ''), 12))::bit(48)::bigint / 1000.0), 'UTC')
      from receipts_of_all_time
  loop
    execute format('create table %I partition of receipts for values from (%L) to (%L)',
      'receipts_' || to_char(month at time zone 'UTC', 'YYYY_MM'),
      pg_temp.id_at(month), pg_temp.id_at((month at time zone 'UTC' + interval '1 month') at time zone 'UTC'));
  end loop;
end $$;
insert into receipts select receipt_id, account_id, request_id, payload, digest, kid, signature, issued_at, log_index, livemode, kind, model, run_id,
    started_at, anchor_wished from receipts_of_all_time;
drop table receipts_of_all_time;
drop function pg_temp.id_at;
`,
};
