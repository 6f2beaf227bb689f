/** Sums of usage by day and run, for which every request of a run had to be read. */
export const usageOfRunsMigration = {
  name: '0098-usage-of-runs',
  up: `
create table usage_runs_daily (
  account_id uuid not null,
  livemode boolean not null,
  day date not null,
  run_id text not null,
  key_id uuid not null,
  model text not null,
  requests bigint not null,
  input_tokens bigint not null,
  cached_input_tokens bigint not null,
  output_tokens bigint not null,
  cost_nano bigint not null,
  charged_nano bigint not null,
  input_characters bigint not null,
  audio_seconds bigint not null,
  video_seconds bigint not null,
  images bigint not null,
  primary key (account_id, livemode, day, run_id, key_id, model)
);
insert into usage_runs_daily
  select u.account_id, u.livemode, (u.started_at at time zone 'UTC')::date, u.run_id,
    coalesce(u.key_id, '00000000-0000-0000-0000-000000000000'), u.model_served,
    sum((r.request_id is null and u.outcome <> 'failed')::int), sum(n * coalesce(c.input_tokens, u.input_tokens, 0)),
    sum(n * coalesce(c.cached_input_tokens, u.cached_input_tokens, 0)), sum(n * coalesce(c.output_tokens, u.output_tokens, 0)),
    sum(n * coalesce(c.cost_nano, u.cost_nano)), sum(n * coalesce(c.charged_nano, u.charged_nano)),
    sum(n * coalesce((m->>'input_characters')::bigint, 0)), sum(n * coalesce((m->>'audio_seconds')::bigint, 0)),
    sum(n * coalesce((m->>'video_seconds')::bigint, 0)), sum(n * coalesce((m->>'images')::bigint, 0))
  from usage_records u
    left join corrections c on c.request_id = u.request_id and c.attempt = u.attempt and c.posted_at is not null
    left join refunds r on r.request_id = u.request_id and r.attempt = u.attempt and r.posted_at is not null
    cross join lateral (select (r.request_id is null)::int as n, coalesce(c.meters, u.meters) as m) counted
  where u.run_id is not null group by 1, 2, 3, 4, 5, 6;
`,
};
