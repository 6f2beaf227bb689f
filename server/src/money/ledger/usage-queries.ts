import type { AdminUsageQuery, AdminUsageResponse, UsageRow } from '@tallygate/contract';
import type { Pool } from 'pg';
import * as z from 'zod';
import { formatUsd } from '../../kernel/money.ts';
import { checkedRows } from '../../kernel/statements.ts';
import { GroupRow, groupFields, keysOf, NAMES, namesOf, restOf, SUMS, WRITTEN } from './usage-groups.ts';
import { questionOf, type UsageScope } from './usage-question.ts';
import { type UsageQuestion, usageSource } from './usage-sources.ts';

/** Of more groups the most costly are shown. */
const MOST_GROUPS = 1_000;

/** The same, or those of all that was asked for. */
const SumRow = GroupRow.extend({ is_total: z.boolean(), omitted: z.number() });

/** @throws Problem `validation_failed` for a range that is reversed or too long */
export async function usageOf(pool: Pool, scope: UsageScope, query: AdminUsageQuery, now: number): Promise<AdminUsageResponse> {
  const question = await questionOf(pool, scope, query, now);
  const { text, values } = groupsAndTotal(question);
  const rows = await checkedRows(pool, SumRow, text, values);
  const total = rows.pop();
  if (!total?.is_total) throw new Error('A total has a row, the last one');
  const { from, to, timeZone, livemode, groups, per } = question;
  return {
    ...{ from, to, time_zone: timeZone, livemode, group_by: [...groups], per: per ?? null },
    items: rows.map((row) => ({ ...groupOf(question, row), ...totalsOf(row) })),
    omitted_groups: total.omitted,
    total: totalsOf(total),
  };
}

/**
 * In one statement, which sees one moment: groups and total add up while requests are settled. The most costly groups are found by their
 * costs alone, and then summed up: there may be many.
 */
function groupsAndTotal(question: UsageQuestion): { text: string; values: unknown[] } {
  const { base, rows, rest, total, values } = usageSource(question);
  const keys = keysOf(question);
  const isMost = `(${keys}) in (select ${keys} from most)`;
  const text = `with ${base ? `${base},` : ''} ${rest ? `${restOf(keys, rest)},` : ''}
      costs as (
        select ${keys}, sum(cost_nano) as cost from (${rows}) of_rows group by ${keys}
        ${rest ? `union all select ${keys}, cost_nano from rest` : ''}
      ),
      most as (select ${keys} from costs order by cost desc, ${keys} limit ${MOST_GROUPS}),
      shown as (
        select ${keys}, ${SUMS} from (${rows}) of_rows where ${isMost} group by ${keys}
        ${rest ? `union all select ${keys}, ${NAMES} from rest where ${isMost}` : ''}
      ),
      summed as (
        select false as is_total, ${namesOf(question)}, ${WRITTEN} from shown
        union all select true, null, null, null, ${WRITTEN} from (select ${SUMS} from (${total}) of_all) total
      )
    select *, (select greatest(count(*) - ${MOST_GROUPS}, 0)::int from costs) as omitted
    from summed order by is_total, period, g0, g1`;
  return { text, values };
}

function groupOf(question: UsageQuestion, { period, g0, g1 }: GroupRow): Partial<UsageRow> {
  const values = question.per ? [period, g0, g1] : [g0, g1];
  return Object.fromEntries(groupFields(question).map((field, at) => [field, values[at] ?? null]));
}

const totalsOf = (row: GroupRow): AdminUsageResponse['total'] => ({
  requests: Number(row.requests),
  input_tokens: Number(row.input_tokens),
  cached_input_tokens: Number(row.cached_input_tokens),
  output_tokens: Number(row.output_tokens),
  input_characters: Number(row.input_characters),
  audio_seconds: Number(row.audio_seconds),
  video_seconds: Number(row.video_seconds),
  images: Number(row.images),
  cost_usd: formatUsd(BigInt(row.cost_nano)),
  charged_usd: formatUsd(BigInt(row.charged_nano)),
});
