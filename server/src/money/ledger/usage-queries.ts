import type { AdminUsageQuery, AdminUsageResponse, UsageRow } from '@tallygate/contract';
import type { Pool } from 'pg';
import * as z from 'zod';
import { formatUsd } from '../../kernel/money.ts';
import { checkedRows } from '../../kernel/statements.ts';
import type { CostlyGroups } from './segments/add-up.ts';
import { segmentsFor } from './segments/read-usage.ts';
import { costlyGroups } from './segments/summed-usage.ts';
import { GroupRow, groupFields, keysOf, namesOf, SUMS, WRITTEN } from './usage-groups.ts';
import { questionOf, type UsageScope } from './usage-question.ts';
import { sourceInDays, type UsageQuestion, type UsageSource } from './usage-sources.ts';

/** Of more groups the most costly are shown. */
const MOST_GROUPS = 1_000;

/** The same, or those of all that was asked for. */
const SumRow = GroupRow.extend({ is_total: z.boolean(), omitted: z.number() });

/**
 * @throws Problem `validation_failed` for a range that is reversed, or with too much usage for what is asked; `store_unavailable` and
 * `rate_limited` where it has to be asked again
 */
export async function usageOf(pool: Pool, scope: UsageScope, query: AdminUsageQuery, now: number): Promise<AdminUsageResponse> {
  const question = await questionOf(pool, scope, query, now);
  const source = sourceInDays(question);
  const { rows, omitted, total } = source
    ? await groupsInDays(pool, question, source)
    : await costlyGroups(question, await segmentsFor(pool, question), MOST_GROUPS);
  const { from, to, timeZone, livemode, groups, per } = question;
  return {
    ...{ from, to, time_zone: timeZone, livemode, group_by: [...groups], per: per ?? null },
    items: rows.map((row) => ({ ...groupOf(question, row), ...totalsOf(row) })),
    omitted_groups: omitted,
    total: totalsOf(total),
  };
}

/** In one statement, which sees one moment: groups and total add up while requests are settled. */
async function groupsInDays(pool: Pool, question: UsageQuestion, { rows, total, values }: UsageSource): Promise<CostlyGroups> {
  const keys = keysOf(question);
  const text = `with summed as (select ${keys}, ${SUMS} from (${rows}) of_rows group by ${keys}),
      shown as (select * from summed order by cost_nano desc, ${keys} limit ${MOST_GROUPS}),
      written as (
        select false as is_total, ${namesOf(question)}, ${WRITTEN} from shown
        union all select true, null, null, null, ${WRITTEN} from (select ${SUMS} from (${total}) of_all) total
      )
    select *, (select greatest(count(*) - ${MOST_GROUPS}, 0)::int from summed) as omitted
    from written order by is_total, period, g0, g1`;
  const found = await checkedRows(pool, SumRow, text, values);
  const last = found.pop();
  if (!last?.is_total) throw new Error('A total has a row, the last one');
  return { rows: found, omitted: last.omitted, total: last };
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
