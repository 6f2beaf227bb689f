const NO_ID = '00000000-0000-0000-0000-000000000000';
const SUMS = `
  requests bigint not null,
  input_tokens bigint not null,
  cached_input_tokens bigint not null,
  output_tokens bigint not null,
  cost_nano bigint not null,
  charged_nano bigint not null,
  input_characters bigint not null,
  audio_seconds bigint not null,
  video_seconds bigint not null,
  images bigint not null`;
const counted = (value: string) => `sum((not refunded)::int * coalesce(${value}, 0))`;
const SUMMED = [
  ...["(outcome <> 'failed')::int", 'input_tokens', 'cached_input_tokens', 'output_tokens', 'cost_nano', 'charged_nano'],
  ...['input_characters', 'audio_seconds', 'video_seconds', 'images'].map((meter) => `(meters->>'${meter}')::bigint`),
]
  .map(counted)
  .join();
const DAY = `account_id, livemode, (started_at at time zone 'UTC')::date`;
const KEY = `coalesce(key_id, '${NO_ID}'), model_served`;

/** Sums of usage by day and by everything that usage is grouped by: every request of the account had to be read for them. */
export const usageOfGroupsMigration = {
  name: '0225-usage-of-groups',
  up: `
create table usage_details_daily (
  account_id uuid not null,
  livemode boolean not null,
  day date not null,
  key_id uuid not null,
  model text not null,
  provider text not null,
  outcome text not null,
  project_id uuid not null,
  user_id uuid not null,${SUMS},
  primary key (account_id, livemode, day, key_id, model, provider, outcome, project_id, user_id)
);
create table usage_labels_daily (
  account_id uuid not null,
  livemode boolean not null,
  -- end_user, tag, and with the value '': any_run, any_end_user and any_tag, each request once.
  label text not null,
  day date not null,
  value text not null,
  key_id uuid not null,
  model text not null,${SUMS},
  primary key (account_id, livemode, label, day, value, key_id, model)
);
insert into usage_details_daily
  select ${DAY}, ${KEY}, provider, outcome, coalesce(project_id, '${NO_ID}'), coalesce(user_id, '${NO_ID}'), ${SUMMED}
  from standing_usage group by 1, 2, 3, 4, 5, 6, 7, 8, 9;
insert into usage_labels_daily
  select account_id, livemode, label, (started_at at time zone 'UTC')::date, value, ${KEY}, ${SUMMED}
  from standing_usage cross join lateral (
    select 'end_user' as label, end_user as value where end_user is not null
    union all select 'tag', unnest(tags)
    union all select 'any_run', '' where run_id is not null
    union all select 'any_end_user', '' where end_user is not null
    union all select 'any_tag', '' where cardinality(tags) > 0
  ) as labels group by 1, 2, 3, 4, 5, 6, 7;
`,
};
