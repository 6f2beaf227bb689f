export const ledgerMigration = {
  name: '0004-ledger',
  up: `
-- What every settled request used and cost. Partitioned by month; the ledger writer makes the partitions.
create table usage_records (
  request_id text not null,
  attempt smallint not null,
  started_at timestamptz not null,
  receipt_id uuid not null,
  client_request_id text,
  account_id uuid not null,
  key_id uuid,
  run_id text,
  livemode boolean not null,
  endpoint text not null,
  stream boolean not null,
  model_requested text not null,
  model_served text not null,
  provider text not null,
  fallback text not null,
  outcome text not null,
  attempts jsonb not null,
  input_tokens bigint not null,
  cached_input_tokens bigint not null,
  cache_write_tokens bigint not null,
  output_tokens bigint not null,
  reasoning_tokens bigint not null,
  estimated boolean not null,
  price_version text not null,
  price_tier integer,
  unit_prices jsonb not null,
  held_nano bigint not null,
  cost_nano bigint not null check (cost_nano >= 0),
  charged_nano bigint not null check (charged_nano >= 0),
  debt_nano bigint not null check (debt_nano >= 0),
  covered jsonb not null,
  request_sha256 text not null,
  response_sha256 text not null,
  first_byte_at timestamptz,
  completed_at timestamptz not null,
  overhead_ms real not null,
  primary key (request_id, attempt, started_at)
) partition by range (started_at);
create index usage_records_account on usage_records (account_id, started_at);
create index usage_records_run on usage_records (account_id, run_id) where run_id is not null;
create index usage_records_client_request on usage_records (account_id, client_request_id) where client_request_id is not null;

-- One posting per cause. The unique constraint is what makes a settlement count once, whatever is delivered twice.
create table postings (
  posting_id uuid primary key,
  kind text not null check (kind in ('usage')),
  request_id text not null,
  attempt smallint not null,
  livemode boolean not null,
  posted_at timestamptz not null default now(),
  unique (request_id, attempt, kind)
);
create table ledger_entries (
  posting_id uuid not null references postings,
  account text not null,
  amount_nano numeric(30, 0) not null,
  primary key (posting_id, account)
);
create index ledger_entries_account on ledger_entries (account);

-- A posting is inserted whole, in one statement, and balances or is refused.
create function ledger_entries_must_balance() returns trigger language plpgsql as $$
begin
  if exists (select 1 from added group by posting_id having sum(amount_nano) <> 0) then
    raise exception 'the entries of a posting must sum to zero';
  end if;
  return null;
end $$;
create trigger ledger_entries_balance after insert on ledger_entries
  referencing new table as added for each statement execute function ledger_entries_must_balance();

create function ledger_is_append_only() returns trigger language plpgsql as $$
begin raise exception '% is append-only', tg_table_name; end $$;
create trigger ledger_entries_append_only before update or delete or truncate on ledger_entries
  for each statement execute function ledger_is_append_only();
create trigger postings_append_only before update or delete or truncate on postings
  for each statement execute function ledger_is_append_only();

-- Sums that are derived from the rows above, written in the same transaction.
create table usage_daily (
  account_id uuid not null,
  livemode boolean not null,
  day date not null,
  key_id uuid not null,
  model text not null,
  requests bigint not null,
  input_tokens bigint not null,
  cached_input_tokens bigint not null,
  output_tokens bigint not null,
  cost_nano numeric(30, 0) not null,
  charged_nano numeric(30, 0) not null,
  covered_requests bigint not null,
  covered_tokens bigint not null,
  primary key (account_id, livemode, day, key_id, model)
);
create index usage_daily_key on usage_daily (key_id, day);
create table ledger_daily (
  account text not null,
  day date not null,
  amount_nano numeric(30, 0) not null,
  primary key (account, day)
);
create table agent_runs (
  account_id uuid not null,
  livemode boolean not null,
  run_id text not null,
  ceiling_nano bigint,
  spent_nano numeric(30, 0) not null,
  requests bigint not null,
  first_request_at timestamptz not null,
  last_request_at timestamptz not null,
  primary key (account_id, livemode, run_id)
);
`,
};
