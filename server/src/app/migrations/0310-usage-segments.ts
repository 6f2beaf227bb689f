const SUMS = [
  ...['records', 'requests', 'input_tokens', 'cached_input_tokens', 'output_tokens', 'cost_nano', 'charged_nano'],
  ...['input_characters', 'audio_seconds', 'video_seconds', 'images'],
];
const DIMENSIONS = ['account', 'project', 'member', 'key', 'model', 'provider', 'outcome', 'run', 'end_user', 'tags'];
const COLUMNS = ['quarters', ...DIMENSIONS, ...SUMS];

/**
 * Usage in columns: by the quarter of an hour and everything that requests are told apart by. They take the place of the sums by label and day, and
 * by the quarter of an hour. What was settled before is summed up from its requests, a day at a time, by a timer.
 */
export const usageSegmentsMigration = {
  name: '0310-usage-segments',
  up: `
create table usage_segments (
  segment_id uuid primary key,
  -- Null: of several.
  account_id uuid,
  livemode boolean not null,
  is_merged boolean not null,
  -- Of a batch of the ledger's writer: when the ids of its requests were made.
  request_day date,
  first_day date not null,
  last_day date not null,
  written_at timestamptz not null default now(),
  rows integer not null,
  ${COLUMNS.map((name) => `${name} bytea`).join(',\n  ')}
);
-- They are compressed already.
alter table usage_segments ${COLUMNS.map((name) => `alter column ${name} set storage external`).join(', ')};
create index usage_segments_account on usage_segments (account_id, livemode, first_day);
create index usage_segments_unmerged on usage_segments (written_at) where not is_merged;
-- Days of which no segment has the requests. The ids of those were made on it.
create table usage_days_unsummed (day date primary key);
insert into usage_days_unsummed
  select generate_series(least - 3, greatest(most, (now() at time zone 'UTC')::date) + 1, interval '1 day')::date
  from (select min(day) as least, max(day) as most from usage_daily) days where least is not null;
drop table usage_labels_daily;
drop table usage_quarter_hours;
`,
};
