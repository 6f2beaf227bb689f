/**
 * Settlements are booked by the batch that wrote them: one posting for each mode and day, whose entries are sums, and a usage record that names it.
 * What makes a settlement count once is the primary key of its usage record, for which the records are partitioned by their request ids: those
 * begin with the time.
 */
export const booksByBatchMigration = {
  name: '0094-books-by-batch',
  up: `
drop view test_billing.standing_usage;
drop view standing_usage;
alter table usage_records rename to usage_records_by_time;
do $$
declare part regclass;
begin
  for part in select inhrelid::regclass from pg_inherits where inhparent = 'usage_records_by_time'::regclass loop
    execute format('alter table %s rename to %I', part, replace(part::text, 'usage_records', 'usage_by_time'));
  end loop;
end $$;
alter index usage_records_pkey rename to usage_by_time_pkey;
alter index usage_records_account rename to usage_by_time_account;
alter index usage_records_run rename to usage_by_time_run;
alter index usage_records_client_request rename to usage_by_time_client_request;

-- What every settled request used and cost. Partitioned by month; the ledger writer makes the partitions.
create table usage_records (
  request_id text collate "C" not null,
  attempt smallint not null,
  posting_id uuid not null,
  started_at timestamptz not null,
  receipt_id uuid not null,
  client_request_id text,
  account_id uuid not null,
  key_id uuid,
  run_id text,
  ancestor_run_ids text[],
  livemode boolean not null,
  kind text not null check (kind in ('usage', 'batch_line', 'media_job')),
  endpoint text not null,
  stream boolean not null,
  model_requested text not null,
  model_served text not null,
  provider text not null,
  fallback text not null,
  outcome text not null,
  attempts jsonb not null,
  skipped jsonb,
  input_tokens bigint not null,
  cached_input_tokens bigint not null,
  cache_write_tokens bigint not null,
  output_tokens bigint not null,
  reasoning_tokens bigint not null,
  meters jsonb not null,
  estimated boolean not null,
  price_version text not null,
  price_tier integer,
  price_factor text not null,
  unit_prices jsonb not null,
  funding text not null check (funding in ('test', 'balance', 'invoice', 'none')),
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
  primary key (request_id, attempt)
) partition by range (request_id);
create index usage_records_account on usage_records (account_id, started_at);
create index usage_records_run on usage_records (account_id, run_id) where run_id is not null;
create index usage_records_client_request on usage_records (account_id, client_request_id) where client_request_id is not null;

do $$
declare month timestamptz;
begin
  for month in
    select distinct date_trunc('month', to_timestamp(('x' || substr(request_id, 5, 12))::bit(48)::bigint / 1000.0), 'UTC') from usage_records_by_time
  loop
    execute format('create table %I partition of usage_records for values from (%L) to (%L)',
      'usage_records_' || to_char(month at time zone 'UTC', 'YYYY_MM'),
      'req_' || lpad(to_hex((extract(epoch from month) * 1000)::bigint), 12, '0'),
      'req_' || lpad(to_hex((extract(epoch from (month at time zone 'UTC' + interval '1 month') at time zone 'UTC') * 1000)::bigint), 12, '0'));
  end loop;
end $$;
insert into usage_records
  select u.request_id, u.attempt, p.posting_id, u.started_at, u.receipt_id, u.client_request_id, u.account_id, u.key_id, u.run_id, u.ancestor_run_ids,
    u.livemode, u.kind, u.endpoint, u.stream, u.model_requested, u.model_served, u.provider, u.fallback, u.outcome, u.attempts, u.skipped,
    u.input_tokens, u.cached_input_tokens, u.cache_write_tokens, u.output_tokens, u.reasoning_tokens, u.meters, u.estimated, u.price_version,
    u.price_tier, u.price_factor, u.unit_prices, u.funding, u.held_nano, u.cost_nano, u.charged_nano, u.debt_nano, u.covered, u.request_sha256,
    u.response_sha256, u.first_byte_at, u.completed_at, u.overhead_ms
  from usage_records_by_time u join postings p on p.request_id = u.request_id and p.attempt = u.attempt and p.kind = 'usage';

alter table postings disable trigger postings_append_only;
update postings p set day = (u.started_at at time zone 'UTC')::date from usage_records u
 where p.day is null and u.request_id = p.request_id and u.attempt = p.attempt;
alter table postings alter column request_id drop not null, alter column attempt drop not null, alter column day set not null;
update postings set request_id = null, attempt = null where kind = 'usage';
alter table postings enable trigger postings_append_only;
-- A posting of another kind has one cause.
alter table postings add constraint postings_cause check ((kind = 'usage') = (request_id is null) and (request_id is null) = (attempt is null));
drop table usage_records_by_time;

-- Settled requests with the usage and the money that count today. What was given back is among them, and counts as nothing.
create view standing_usage as
select u.request_id, u.attempt, u.started_at, coalesce(c.receipt_id, u.receipt_id) as receipt_id, u.client_request_id, u.account_id, u.key_id,
  u.run_id, u.ancestor_run_ids, u.livemode, u.endpoint, u.stream, u.model_requested, u.model_served, u.provider, u.fallback, u.outcome,
  u.attempts, u.skipped, u.kind, u.price_factor, u.funding,
  coalesce(c.input_tokens, u.input_tokens) as input_tokens,
  coalesce(c.cached_input_tokens, u.cached_input_tokens) as cached_input_tokens,
  coalesce(c.cache_write_tokens, u.cache_write_tokens) as cache_write_tokens,
  coalesce(c.output_tokens, u.output_tokens) as output_tokens,
  coalesce(c.reasoning_tokens, u.reasoning_tokens) as reasoning_tokens,
  coalesce(c.meters, u.meters) as meters,
  c.correction_id is null and u.estimated as estimated,
  u.price_version,
  case when c.correction_id is null then u.price_tier else c.price_tier end as price_tier,
  coalesce(c.unit_prices, u.unit_prices) as unit_prices,
  u.held_nano,
  coalesce(c.cost_nano, u.cost_nano) as cost_nano,
  coalesce(c.charged_nano, u.charged_nano) as charged_nano,
  coalesce(c.debt_nano, u.debt_nano) as debt_nano,
  coalesce(c.covered, u.covered) as covered,
  u.request_sha256, u.response_sha256, u.first_byte_at, u.completed_at, u.overhead_ms,
  r.posted_at is not null as refunded
from usage_records u
  left join corrections c on c.request_id = u.request_id and c.attempt = u.attempt and c.posted_at is not null
  left join refunds r on r.request_id = u.request_id and r.attempt = u.attempt;
-- Test keys are never charged.
create view test_billing.standing_usage as select * from public.standing_usage where false;
`,
};
