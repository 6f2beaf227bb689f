/**
 * Sums of usage by day and run, for which every request of a run had to be read. They are kept from now on; a timer adds what was settled before,
 * so that no start waits for it.
 */
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
create table usage_run_history (
  is_only boolean primary key default true check (is_only),
  -- What is posted from then on is added to the sums with its posting.
  since timestamptz not null default now(),
  -- Of what was posted before, the last usage record that is in the sums; null once all are.
  read_up_to text collate "C"
);
insert into usage_run_history (read_up_to) select case when exists (select from usage_records) then '' end;
`,
};
