/** Projects of an account, spending limits in its time zone, and what has been settled on the lanes of limits. */
export const projectsAndLimitsMigration = {
  name: '0161-projects-and-limits',
  up: `
alter table accounts add column time_zone text not null default 'UTC';

create table projects (
  id uuid primary key,
  account_id uuid not null references accounts,
  name text not null,
  -- The caller's own name for it, by which a repeat finds it.
  external_id text collate "C",
  created_at timestamptz not null,
  archived_at timestamptz,
  unique (account_id, external_id)
);
create index projects_by_account on projects (account_id, id);

alter table api_keys add column project_id uuid references projects;
create index api_keys_by_project on api_keys (project_id) where project_id is not null;

create table limits (
  id uuid primary key,
  account_id uuid not null references accounts,
  kind text not null check (kind in ('account', 'project', 'member', 'key', 'end_user', 'tag', 'model')),
  -- Whose it is; null: of each of the kind that has none of its own. Of an account always null.
  subject text collate "C",
  period text not null check (period in ('hour', 'day', 'week', 'month', 'lifetime')),
  cap_nano bigint check (cap_nano >= 0),
  requests_per_minute int check (requests_per_minute > 0),
  tokens_per_minute int check (tokens_per_minute > 0),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique nulls not distinct (account_id, kind, subject, period)
);

-- What the ledger has on each lane of a limit, by the names that settled requests give.
create table lane_spend (
  lane_id text collate "C" primary key,
  spent_nano numeric(30, 0) not null,
  -- The part of it that was settled before the limit was set, by requests that do not name the lane.
  before_nano numeric(30, 0) not null default 0
);

alter table usage_records
  add column user_id uuid,
  add column project_id uuid,
  add column end_user text,
  add column tags text[],
  add column limit_lanes text[];
create or replace view standing_usage as
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
  r.posted_at is not null as refunded, u.plan, u.user_id, u.project_id, u.end_user, u.tags, u.limit_lanes
from usage_records u
  left join corrections c on c.request_id = u.request_id and c.attempt = u.attempt and c.posted_at is not null
  left join refunds r on r.request_id = u.request_id and r.attempt = u.attempt;
create or replace view test_billing.standing_usage as select * from public.standing_usage where false;

-- Every instance that remembers keys of the account hears of it with the commit.
create function announce_limits() returns trigger language plpgsql as $$
begin
  perform pg_notify('tallygate_keys', 'account:' || coalesce(new.account_id, old.account_id));
  return null;
end $$;
create trigger limits_changed after insert or update or delete on limits for each row execute function announce_limits();
create trigger projects_changed after update of archived_at on projects
  for each row when (old.archived_at is distinct from new.archived_at) execute function announce_limits();
create trigger accounts_time_zone_changed after update of time_zone on accounts
  for each row when (old.time_zone is distinct from new.time_zone) execute function announce_plan();
`,
};
