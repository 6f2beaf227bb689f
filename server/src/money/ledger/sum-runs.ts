import type { Pool, PoolClient } from 'pg';
import { requestIdAt } from '../../kernel/ids.ts';
import { inTransaction } from '../../kernel/transaction.ts';
import { ADD_TO_RUN_DAY, RUN_DAY } from './rollup-columns.ts';
import { NO_KEY } from './rollups.ts';

/** Usage records that one transaction reads. */
const STEP = 10_000;
/** No request that was posted before the sums were kept has an id from later: clocks of gateways are not a day apart. */
const DAY_MS = 86_400_000;

/** SQL: whether there is history that is not in the sums by run. */
export const RUN_HISTORY_DUE = 'exists (select from usage_run_history where read_up_to is not null)';

/** Adds to the sums by run what was settled before they were kept, a step at a time. Ended by the signal it goes on there the next time. */
export async function sumRunHistory(pool: Pool, signal: AbortSignal, step = STEP): Promise<void> {
  while (!signal.aborted && (await inTransaction(pool, (client) => sumNext(client, step))));
}

const sum = (value: string) => `sum(counts * coalesce(${value}, 0))::bigint`;
const meter = (name: string) => sum(`(meters->>'${name}')::bigint`);

/**
 * What counted when the sums began to be kept: refunds and corrections that were posted later have changed the sums themselves, each by its
 * difference.
 */
const STEP_SQL = `
with read as materialized (
  select * from usage_records where request_id > $1 and request_id < $2 order by request_id fetch first $3 rows with ties
), counted as (
  select u.account_id, u.livemode, u.run_id, u.key_id, u.model_served, u.started_at, (r.request_id is null)::int as counts,
    (u.outcome <> 'failed')::int as answered, coalesce(c.input_tokens, u.input_tokens) as input_tokens,
    coalesce(c.cached_input_tokens, u.cached_input_tokens) as cached_input_tokens, coalesce(c.output_tokens, u.output_tokens) as output_tokens,
    coalesce(c.cost_nano, u.cost_nano) as cost_nano, coalesce(c.charged_nano, u.charged_nano) as charged_nano, coalesce(c.meters, u.meters) as meters
  from read u join postings p on p.posting_id = u.posting_id and p.posted_at < $4
    left join corrections c on c.request_id = u.request_id and c.attempt = u.attempt and c.posted_at < $4
    left join refunds r on r.request_id = u.request_id and r.attempt = u.attempt and r.posted_at < $4
  where u.run_id is not null
), summed as (
  insert into usage_runs_daily
  select account_id, livemode, (started_at at time zone 'UTC')::date as day, run_id, coalesce(key_id, '${NO_KEY}') as key_id, model_served as model,
    ${['answered', 'input_tokens', 'cached_input_tokens', 'output_tokens', 'cost_nano', 'charged_nano'].map(sum).join()},
    ${['input_characters', 'audio_seconds', 'video_seconds', 'images'].map(meter).join()}
  from counted group by 1, 2, 3, 4, 5, 6 order by ${RUN_DAY} ${ADD_TO_RUN_DAY}
)
select max(request_id) as last from read`;

/** @returns whether there may be more */
async function sumNext(client: PoolClient, step: number): Promise<boolean> {
  const { rows } = await client.query<{ since: Date; read_up_to: string }>(
    'select since, read_up_to from usage_run_history where read_up_to is not null for update',
  );
  const [history] = rows;
  if (!history) return false;
  const end = requestIdAt(history.since.getTime() + DAY_MS);
  const read = await client.query<{ last: string | null }>(STEP_SQL, [history.read_up_to, end, step, history.since]);
  const last = read.rows[0]?.last ?? null;
  await client.query('update usage_run_history set read_up_to = $1', [last]);
  return last !== null;
}
