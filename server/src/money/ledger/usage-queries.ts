import type { UsageQuery, UsageResponse, UsageRow } from '@tallygate/contract';
import type { Pool } from 'pg';
import * as z from 'zod';
import { dayOf, monthOf } from '../../kernel/clock.ts';
import { formatUsd } from '../../kernel/money.ts';
import { Problem } from '../../kernel/problem.ts';
import { checkedRows } from '../../kernel/statements.ts';
import { NO_ID } from './rollups.ts';

interface UsageScope {
  readonly accountId: string;
  /** Mode of the API key that asks; live for sessions. */
  readonly livemode: boolean;
}

/** Of more groups the most costly are shown. */
const MOST_GROUPS = 1_000;

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
const SUM_FIELDS = {
  ...{ requests: Sum, input_tokens: Sum, cached_input_tokens: Sum, output_tokens: Sum },
  ...{ input_characters: Sum, audio_seconds: Sum, video_seconds: Sum, images: Sum, cost: Sum, charged: Sum },
};
/** The sums of a group, or of all that was asked for. */
const SumRow = z.object({ is_total: z.boolean(), group: z.string().nullable(), omitted: z.number(), ...SUM_FIELDS });
type SumRow = z.infer<typeof SumRow>;
const SUMMED = [...COUNTED.map((name) => [name, name] as const), ['cost', 'cost_nano'] as const, ['charged', 'charged_nano'] as const];
const NAMES = SUMMED.map(([name]) => name);
const SUMS = SUMMED.map(([name, column]) => `coalesce(sum(${column}), 0) as ${name}`).join();
const WRITTEN = NAMES.map((name) => `${name}::text`).join();

/** Where the sums by day are that have a group. */
interface Source {
  readonly group: string;
  readonly from: string;
  /** Of labels: which. */
  readonly label?: string;
  /** Of all that are of some group, each request once: what is of none is what the days have beyond it. */
  readonly any?: string;
}

const SOURCES: Readonly<Record<UsageQuery['group_by'], Source>> = {
  day: { group: 'day::text', from: 'usage_daily' },
  model: { group: 'model', from: 'usage_daily' },
  key: { group: 'key_id::text', from: 'usage_daily' },
  run: { group: 'run_id', from: 'usage_runs_daily', any: 'any_run' },
  project: { group: 'project_id::text', from: 'usage_details_daily' },
  member: { group: 'user_id::text', from: 'usage_details_daily' },
  provider: { group: 'provider', from: 'usage_details_daily' },
  outcome: { group: 'outcome', from: 'usage_details_daily' },
  end_user: { group: 'value', from: 'usage_labels_daily', label: 'end_user', any: 'any_end_user' },
  tag: { group: 'value', from: 'usage_labels_daily', label: 'tag', any: 'any_tag' },
};

const meter = (name: string) => `coalesce((meters->>'${name}')::bigint, 0) as ${name}`;
/** Settled requests of one run, in the columns of the sums by day: a run has few. */
const RECORDS = `(select account_id, livemode, (started_at at time zone 'UTC')::date as day, coalesce(key_id, '${NO_ID}') as key_id,
    model_served as model, run_id, project_id, user_id, provider, end_user, tags, outcome, (outcome <> 'failed')::int as requests,
    input_tokens, cached_input_tokens, output_tokens, ${['input_characters', 'audio_seconds', 'video_seconds', 'images'].map(meter).join()},
    cost_nano, charged_nano
  from standing_usage where account_id = $1 and not refunded
    and started_at >= $3::date at time zone 'UTC' and started_at < ($4::date + 1) at time zone 'UTC') as records`;
/** A request without tags is of none; one with several is of each. */
const TAGGED = `${RECORDS} cross join lateral unnest(case when cardinality(tags) > 0 then tags else array[null] end) as tag`;

/** Of one run. */
function sourceInRun(groupBy: UsageQuery['group_by']): Source {
  const { group, from, label } = SOURCES[groupBy];
  if (from === 'usage_daily' || groupBy === 'run') return { group, from: 'usage_runs_daily' };
  return { group: `coalesce(${label ?? group}, '')`, from: groupBy === 'tag' ? TAGGED : RECORDS };
}

/**
 * Sums come from the daily rollups: those by day, account, key and model, or those that have the group too. Of one run what these do not have is
 * added up from its requests.
 */
export async function usageOf(pool: Pool, scope: UsageScope, query: UsageQuery, now: number): Promise<UsageResponse> {
  const from = query.from ?? `${monthOf(now)}-01`;
  const to = query.to ?? dayOf(now);
  if (from > to) throw invalidRange();
  const livemode = query.livemode ?? scope.livemode;
  const conditions = ['account_id = $1', 'livemode = $2', 'day >= $3::date', 'day <= $4::date'];
  const values: unknown[] = [scope.accountId, livemode, from, to];
  const filter = (column: string, value: string | undefined) =>
    value !== undefined && conditions.push(`${column} = $${values.push(value)}`);
  filter('model', query.model);
  filter('key_id', query.key_id);
  filter('run_id', query.run_id);

  const where = conditions.join(' and ');
  const isOfRun = query.run_id !== undefined;
  const days = `select ${SUMS} from ${isOfRun ? 'usage_runs_daily' : 'usage_daily'} where ${where}`;
  const source = isOfRun ? sourceInRun(query.group_by) : SOURCES[query.group_by];
  const rows = await checkedRows(pool, SumRow, groupsAndTotal(source, { days, where }), values);
  const total = rows.pop();
  if (!total?.is_total) throw new Error('A total has a row, the last one');
  const items = rows.map((row) => ({ ...groupOf(query.group_by, row.group), ...totalsOf(row) }));
  return { from, to, livemode, group_by: query.group_by, items, omitted_groups: total.omitted, total: totalsOf(total) };
}

/**
 * In one statement, which sees one moment: groups and total add up while requests are settled. The most costly groups are found by their
 * costs alone, and then summed up: there may be many.
 */
function groupsAndTotal({ group, from, label, any }: Source, { days, where }: { readonly days: string; readonly where: string }): string {
  const of = `from ${from} where ${where}${label ? ` and label = '${label}'` : ''}`;
  const ofAny = `select ${SUMS} from usage_labels_daily where ${where} and label = '${any}'`;
  const rest = `select null::text, ${NAMES.map((name) => `days.${name} - of_any.${name}`).join()} from days, (${ofAny}) of_any`;
  return `with days as (${days}),
      costs as (select ${group} as "group", sum(cost_nano) as cost ${of} group by 1),
      most as (select "group" from costs order by cost desc, "group" limit ${MOST_GROUPS}),
      shown as (
        select ${group} as "group", ${SUMS} ${of} and ${group} in (select "group" from most) group by 1
        ${any ? `union all select * from (${rest}) rest ("group", ${NAMES.join()}) where (${NAMES.join()}) <> (${ZEROS})` : ''}
      ),
      summed as (
        select false as is_total, nullif(nullif("group", ''), '${NO_ID}') as "group", ${NAMES.join()} from shown
        union all select true, null, ${NAMES.join()} from days
      )
    select is_total, "group", (select greatest(count(*) - ${MOST_GROUPS}, 0)::int from costs) as omitted, ${WRITTEN}
    from summed order by is_total, "group"`;
}

const ZEROS = NAMES.map(() => '0').join();

function groupOf(groupBy: UsageQuery['group_by'], group: string | null): Partial<UsageRow> {
  switch (groupBy) {
    case 'day':
      return { day: group ?? '' };
    case 'model':
      return { model: group ?? '' };
    case 'key':
      return { key_id: group };
    case 'run':
      return { run_id: group };
    default:
      return { group };
  }
}

const totalsOf = (row: SumRow): UsageResponse['total'] => ({
  requests: Number(row.requests),
  input_tokens: Number(row.input_tokens),
  cached_input_tokens: Number(row.cached_input_tokens),
  output_tokens: Number(row.output_tokens),
  input_characters: Number(row.input_characters),
  audio_seconds: Number(row.audio_seconds),
  video_seconds: Number(row.video_seconds),
  images: Number(row.images),
  cost_usd: formatUsd(BigInt(row.cost)),
  charged_usd: formatUsd(BigInt(row.charged)),
});

const invalidRange = () =>
  new Problem('validation_failed', '`from` must not be after `to`.', {
    param: 'from',
    errors: [{ loc: ['query', 'from'], msg: 'Must not be after `to`', type: 'invalid_range' }],
  });
