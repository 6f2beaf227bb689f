/** What a batch says of its run besides the ceiling. */
export const batchRunsMigration = {
  name: '0031-batch-runs',
  up: `
alter table batches
  add column run_parent_id text,
  add column run_max_calls integer,
  add column run_deadline_at timestamptz`,
};
