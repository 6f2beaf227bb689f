/** The ID for "none" where an ID is part of a primary key: of a key, for usage of a session. */
export const NO_ID = '00000000-0000-0000-0000-000000000000';

/** What only some requests have. */
export const USAGE_METERS = ['input_characters', 'audio_seconds', 'video_seconds', 'images'] as const;
/** What the sums of usage have of each group of requests. */
export const USAGE_SUMS = [
  ...(['requests', 'input_tokens', 'cached_input_tokens', 'output_tokens', 'cost_nano', 'charged_nano'] as const),
  ...USAGE_METERS,
] as const;
/** What plan quotas have covered, which only the sums by day have. */
export const COVERED_SUMS = ['requests', 'tokens', 'images', 'audio_seconds', 'video_seconds'].map((name) => `covered_${name}`);

/** SQL: the new sums added to those that are there. */
export const added = (table: string, columns: readonly string[]): string =>
  columns.map((column) => `${column} = ${table}.${column} + excluded.${column}`).join();

/** SQL: the keys of the further sums by day, as {@link RUN_DAY}. */
const DETAILS = 'key_id, model, provider, outcome, project_id, user_id';
export const DETAIL_DAY = `account_id, livemode, day, ${DETAILS}`;

/** SQL: the key of `usage_runs_daily`. Rows are written in its order, so that two writers wait for each other rather than deadlock. */
export const RUN_DAY = `account_id, livemode, day, run_id, ${DETAILS}`;

/** SQL: inserts sums, or adds them to those that are there. @param key in whose order they are written */
export const addSums = (table: string, key: string): string =>
  `insert into ${table} select * from json_populate_recordset(null::${table}, $1) order by ${key}
    on conflict (${key}) do update set ${added(table, USAGE_SUMS)}`;
