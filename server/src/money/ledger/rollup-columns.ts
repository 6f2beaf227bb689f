/** What the sums of usage have of each group of requests. */
export const USAGE_SUMS = [
  ...['requests', 'input_tokens', 'cached_input_tokens', 'output_tokens', 'cost_nano', 'charged_nano'],
  ...['input_characters', 'audio_seconds', 'video_seconds', 'images'],
];
/** What plan quotas have covered, which only the sums by day have. */
export const COVERED_SUMS = ['requests', 'tokens', 'images', 'audio_seconds', 'video_seconds'].map((name) => `covered_${name}`);

/** SQL: the new sums added to those that are there. */
export const added = (table: string, columns: readonly string[]): string =>
  columns.map((column) => `${column} = ${table}.${column} + excluded.${column}`).join();

/** SQL: the key of `usage_runs_daily`. Rows are written in its order, so that two writers wait for each other rather than deadlock. */
export const RUN_DAY = 'account_id, livemode, day, run_id, key_id, model';
export const ADD_TO_RUN_DAY = `on conflict (${RUN_DAY}) do update set ${added('usage_runs_daily', USAGE_SUMS)}`;
