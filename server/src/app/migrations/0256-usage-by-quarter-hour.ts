const NO_ID = '00000000-0000-0000-0000-000000000000';
const counted = (value: string) => `sum((not refunded)::int * coalesce(${value}, 0))`;
const SUMMED = [
  ...["(outcome <> 'failed')::int", 'input_tokens', 'cached_input_tokens', 'output_tokens', 'cost_nano', 'charged_nano'],
  ...['input_characters', 'audio_seconds', 'video_seconds', 'images'].map((meter) => `(meters->>'${meter}')::bigint`),
]
  .map(counted)
  .join();
const DAY = `(started_at at time zone 'UTC')::date`;
const KEY = `coalesce(key_id, '${NO_ID}'), model_served`;
const DETAILS = `provider, outcome, coalesce(project_id, '${NO_ID}'), coalesce(user_id, '${NO_ID}')`;
/** The first day whose requests are all in the database. The sums of the days before it stay as they are. */
const KEPT = `coalesce((select ((max(month) || '-01')::date + interval '1 month')::date from archived_months where table_name = 'usage_records'), '-infinity')`;
const FROM_KEPT = `standing_usage where ${DAY} >= ${KEPT}`;
const SUM_COLUMNS =
  'requests, input_tokens, cached_input_tokens, output_tokens, cost_nano, charged_nano, input_characters, audio_seconds, video_seconds, images';

const withDetails = (table: string) => `
alter table ${table} drop constraint ${table}_pkey,
  add column provider text not null default '',
  add column outcome text not null default '',
  add column project_id uuid not null default '${NO_ID}',
  add column user_id uuid not null default '${NO_ID}';
delete from ${table} where day >= ${KEPT};`;

/**
 * Usage by two groups, in the time zone of the account. Every offset from UTC is a multiple of a quarter of an hour, so sums of these make days and
 * hours of every zone. And usage by run, end user or tag is told apart by everything else that the sums by day have.
 */
export const usageByQuarterHourMigration = {
  name: '0256-usage-by-quarter-hour',
  up: `
create table usage_quarter_hours (
  account_id uuid not null,
  livemode boolean not null,
  starts_at timestamptz not null,
  key_id uuid not null,
  model text not null,
  provider text not null,
  outcome text not null,
  project_id uuid not null,
  user_id uuid not null,
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
  primary key (account_id, livemode, starts_at, key_id, model, provider, outcome, project_id, user_id)
);
insert into usage_quarter_hours
  select account_id, livemode, date_bin('15 minutes', started_at, 'epoch'), ${KEY}, ${DETAILS}, ${SUMMED} from ${FROM_KEPT}
  group by 1, 2, 3, 4, 5, 6, 7, 8, 9;
-- Of archived months no more is known than the day.
insert into usage_quarter_hours
  select account_id, livemode, day::timestamp at time zone 'UTC', key_id, model, provider, outcome, project_id, user_id, ${SUM_COLUMNS}
  from usage_details_daily where day < ${KEPT};
${withDetails('usage_runs_daily')}
insert into usage_runs_daily (account_id, livemode, day, run_id, key_id, model, provider, outcome, project_id, user_id, ${SUM_COLUMNS})
  select account_id, livemode, ${DAY}, run_id, ${KEY}, ${DETAILS}, ${SUMMED} from ${FROM_KEPT} and run_id is not null
  group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10;
alter table usage_runs_daily add primary key (account_id, livemode, day, run_id, key_id, model, provider, outcome, project_id, user_id);
${withDetails('usage_labels_daily')}
insert into usage_labels_daily (account_id, livemode, label, day, value, key_id, model, provider, outcome, project_id, user_id, ${SUM_COLUMNS})
  select account_id, livemode, label, ${DAY}, value, ${KEY}, ${DETAILS}, ${SUMMED}
  from (select * from ${FROM_KEPT}) kept cross join lateral (
    select 'end_user' as label, end_user as value where end_user is not null
    union all select 'tag', unnest(tags)
    union all select 'any_run', '' where run_id is not null
    union all select 'any_end_user', '' where end_user is not null
    union all select 'any_tag', '' where cardinality(tags) > 0
  ) as labels group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11;
alter table usage_labels_daily add primary key (account_id, livemode, label, day, value, key_id, model, provider, outcome, project_id, user_id);
`,
};
