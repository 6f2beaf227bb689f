/**
 * The unit prices that requests were settled at, each set once: with prices of tools they took a third of every usage record. Records that are there
 * keep theirs, and so do the files of archived months.
 */
export const priceSetsMigration = {
  name: '0220-price-sets',
  up: `
create table price_sets (
  -- Of the SHA-256 of the prices: one set has one id.
  id uuid primary key,
  unit_prices jsonb not null
);
alter table usage_records add column price_set_id uuid, alter column unit_prices drop not null,
  add constraint usage_records_prices check (unit_prices is not null or price_set_id is not null) not valid;
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
  coalesce(c.unit_prices, u.unit_prices, s.unit_prices) as unit_prices,
  u.held_nano,
  coalesce(c.cost_nano, u.cost_nano) as cost_nano,
  coalesce(c.charged_nano, u.charged_nano) as charged_nano,
  coalesce(c.debt_nano, u.debt_nano) as debt_nano,
  coalesce(c.covered, u.covered) as covered,
  u.request_sha256, u.response_sha256, u.first_byte_at, u.completed_at, u.overhead_ms,
  r.posted_at is not null as refunded, u.plan, u.user_id, u.project_id, u.end_user, u.tags, u.limit_lanes
from usage_records u
  left join corrections c on c.request_id = u.request_id and c.attempt = u.attempt and c.posted_at is not null
  left join refunds r on r.request_id = u.request_id and r.attempt = u.attempt
  left join price_sets s on s.id = u.price_set_id;
create or replace view test_billing.standing_usage as select * from public.standing_usage where false;
`,
};
