import type { UsageQuery, UsageResponse, UsageRow } from '@tallygate/contract';
import type { Pool } from 'pg';
import * as z from 'zod';
import { dayOf, monthOf } from '../../kernel/clock.ts';
import { formatUsd } from '../../kernel/money.ts';
import { Problem } from '../../kernel/problem.ts';
import { checkedRows } from '../../kernel/statements.ts';
import { NO_KEY } from './rollups.ts';

interface UsageScope {
  readonly accountId: string;
  /** Mode of the API key that asks; live for sessions. */
  readonly livemode: boolean;
}

const COUNTED = [
  'requests',
  'input_tokens',
  'cached_input_tokens',
  'output_tokens',
  'input_characters',
  'audio_seconds',
  'video_seconds',
  'images',
];
const Sum = z.string();
const SumRow = z.object({
  group: z.string().nullable(),
  ...{ requests: Sum, input_tokens: Sum, cached_input_tokens: Sum, output_tokens: Sum },
  ...{ input_characters: Sum, audio_seconds: Sum, video_seconds: Sum, images: Sum, cost: Sum, charged: Sum },
});
type SumRow = z.infer<typeof SumRow>;
const SUMMED = [...COUNTED.map((name) => [name, name] as const), ['cost', 'cost_nano'] as const, ['charged', 'charged_nano'] as const];
const SUMS = SUMMED.map(([name, column]) => `coalesce(sum(${column}), 0) as ${name}`).join();
const WRITTEN = SUMMED.map(([name]) => `${name}::text`).join();

/** What the sums by day have, and what only the requests themselves say. */
const GROUPS = {
  ...{ day: 'day::text', model: 'model', key: 'key_id::text', run: 'run_id' },
  ...{ project: 'project_id::text', member: 'user_id::text', provider: 'provider', end_user: 'end_user', tag: 'tag', outcome: 'outcome' },
} as const;
const OF_DAYS: ReadonlySet<UsageQuery['group_by']> = new Set(['day', 'model', 'key', 'run']);

const meter = (name: string) => `coalesce((meters->>'${name}')::bigint, 0) as ${name}`;
/** Settled requests of the account and the days, in the columns of the sums by day. */
const RECORDS = `(select account_id, livemode, (started_at at time zone 'UTC')::date as day, coalesce(key_id, '${NO_KEY}') as key_id,
    model_served as model, run_id, project_id, user_id, provider, end_user, tags, outcome, (outcome <> 'failed')::int as requests,
    input_tokens, cached_input_tokens, output_tokens, ${['input_characters', 'audio_seconds', 'video_seconds', 'images'].map(meter).join()},
    cost_nano, charged_nano
  from standing_usage where account_id = $1 and not refunded
    and started_at >= $3::date at time zone 'UTC' and started_at < ($4::date + 1) at time zone 'UTC') as records`;
/** A request without tags is of none; one with several is of each. */
const TAGGED = `${RECORDS} cross join lateral unnest(case when cardinality(tags) > 0 then tags else array[null] end) as tag`;

/**
 * Sums come from the daily rollups: those by day, account, key and model, or those that have the run too. What these do not have is added up
 * from the requests.
 */
export async function usageOf(pool: Pool, scope: UsageScope, query: UsageQuery, now: number): Promise<UsageResponse> {
  const from = query.from ?? `${monthOf(now)}-01`;
  const to = query.to ?? dayOf(now);
  if (from > to) throw invalidRange();
  const livemode = query.livemode ?? scope.livemode;
  const byRun = query.group_by === 'run' || query.run_id !== undefined;
  const conditions = ['account_id = $1', 'livemode = $2', 'day >= $3::date', 'day <= $4::date'];
  const values: unknown[] = [scope.accountId, livemode, from, to];
  const filter = (column: string, value: string | undefined) =>
    value !== undefined && conditions.push(`${column} = $${values.push(value)}`);
  filter('model', query.model);
  filter('key_id', query.key_id);
  filter('run_id', query.run_id);

  const where = conditions.join(' and ');
  const group = GROUPS[query.group_by];
  const source = sourceOf(query.group_by, byRun);
  const grouped = `select ${group} as "group", ${SUMS} from ${source} where ${where} group by 1`;
  // What is of no run is what the days have beyond that: so no request has to be read for it.
  const ofNoRun = query.group_by === 'run' && query.run_id === undefined;
  const rows = await checkedRows(
    pool,
    SumRow,
    `with grouped as (${grouped})${ofNoRun ? `, days as (select ${SUMS} from usage_daily where ${where})` : ''}
     select "group", ${WRITTEN} from grouped${ofNoRun ? ` union all select * from (${REST}) rest where (${WRITTEN}) <> (${ZEROS})` : ''} order by 1`,
    values,
  );
  const items = rows.map((row) => ({ ...groupOf(query.group_by, row.group), ...totals([row]) }));
  // What counts under several tags counts once.
  const all =
    query.group_by === 'tag'
      ? await checkedRows(
          pool,
          SumRow,
          `with summed as (select ${SUMS} from ${RECORDS} where ${where}) select null as "group", ${WRITTEN} from summed`,
          values,
        )
      : rows;
  return { from, to, livemode, group_by: query.group_by, items, total: totals(all) };
}

function sourceOf(groupBy: UsageQuery['group_by'], byRun: boolean): string {
  if (groupBy === 'tag') return TAGGED;
  if (!OF_DAYS.has(groupBy)) return RECORDS;
  return byRun ? 'usage_runs_daily' : 'usage_daily';
}

const REST = `select null::text as "group", ${SUMMED.map(([name]) => `(days.${name} - (select coalesce(sum(${name}), 0) from grouped))::text as ${name}`).join()} from days`;
const ZEROS = SUMMED.map(() => "'0'").join();

function groupOf(groupBy: UsageQuery['group_by'], group: string | null): Partial<UsageRow> {
  switch (groupBy) {
    case 'day':
      return { day: group ?? '' };
    case 'model':
      return { model: group ?? '' };
    case 'key':
      return { key_id: group === NO_KEY ? null : group };
    case 'run':
      return { run_id: group };
    default:
      return { group };
  }
}

function totals(rows: readonly SumRow[]): UsageResponse['total'] {
  const sum = (column: Exclude<keyof SumRow, 'group'>) => rows.reduce((total, row) => total + BigInt(row[column]), 0n);
  return {
    requests: Number(sum('requests')),
    input_tokens: Number(sum('input_tokens')),
    cached_input_tokens: Number(sum('cached_input_tokens')),
    output_tokens: Number(sum('output_tokens')),
    input_characters: Number(sum('input_characters')),
    audio_seconds: Number(sum('audio_seconds')),
    video_seconds: Number(sum('video_seconds')),
    images: Number(sum('images')),
    cost_usd: formatUsd(sum('cost')),
    charged_usd: formatUsd(sum('charged')),
  };
}

const invalidRange = () =>
  new Problem('validation_failed', '`from` must not be after `to`.', {
    param: 'from',
    errors: [{ loc: ['query', 'from'], msg: 'Must not be after `to`', type: 'invalid_range' }],
  });
