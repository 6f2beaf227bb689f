import type { Pool } from 'pg';
import * as z from 'zod';
import { Problem } from '../../../kernel/problem.ts';
import { checkedRow, ifGiven, type Queryable, rowsOf } from '../../../kernel/statements.ts';
import { tables } from '../tables.ts';
import { invalidRange } from '../usage-question.ts';
import type { UsageQuestion } from '../usage-sources.ts';
import { type Dimension, type PackedSegment, SEGMENT_SUMS, type SegmentSum } from './segment.ts';
import { COLUMN } from './usage-answer.ts';

/** What one question reads at most, in groups of requests that differ in nothing but the minute: so many take some seconds, and 200 MB. */
const MOST_ROWS = 5_000_000;
const DAY_MS = 86_400_000;
/** A request may start so many days after its id was made: a line of a batch. */
const START_DELAY_DAYS = 3;

const Extent = z.object({ rows: z.number(), unsummed: z.string().nullable() });

/**
 * The segments that have what is asked for, with the columns that the question needs, of one moment.
 * @throws Problem `validation_failed` for a question that would read too much, `store_unavailable` where days are not summed up yet
 */
export async function segmentsFor(pool: Pool, question: UsageQuestion): Promise<PackedSegment[]> {
  const extent = await checkedRow(pool, Extent, EXTENT, valuesOf(question));
  if (extent?.unsummed)
    throw new Problem('store_unavailable', `The usage of ${extent.unsummed} is being summed up after an upgrade. Try again in a minute.`);
  if ((extent?.rows ?? 0) > MOST_ROWS)
    throw invalidRange('Too many requests', 'There is too much usage in these days to group it in this way: ask for fewer days.');
  return readSegments(pool, question);
}

/** Of an account, its segments and those of the last minute, which have several accounts. A day of a time zone begins or ends in the next of UTC. */
const EXTENT = `select
  (select coalesce(sum(rows), 0)::float8 from usage_segments where ($1::uuid is null or account_id = $1 or account_id is null) and livemode = $2
    and first_day <= $4::date and last_day >= $3::date) as rows,
  (select min(day)::text from usage_days_unsummed where day between $3::date - ${START_DELAY_DAYS} and $4::date) as unsummed`;

const valuesOf = ({ accountId, livemode, ...days }: UsageQuestion) => {
  const [from, to] = nearby(days);
  return [accountId ?? null, livemode, from, to];
};

const nearby = ({ from, to }: Pick<UsageQuestion, 'from' | 'to'>): [string, string] => [movedDay(from, -1), movedDay(to, 1)];

/** @returns the day itself at the ends of the calendar */
function movedDay(day: string, days: number): string {
  const moved = new Date(Date.parse(day) + days * DAY_MS).toISOString();
  return moved.length === '0000-00-00T00:00:00.000Z'.length && !moved.startsWith('0000') ? moved.slice(0, 10) : day;
}

async function readSegments(db: Queryable, question: UsageQuestion): Promise<PackedSegment[]> {
  const { accountId, livemode, groups, model, keyId, runId, seen } = question;
  const [from, to] = nearby(question);
  const needed = new Set<'quarters' | Dimension | SegmentSum>(['quarters', ...SEGMENT_SUMS, ...groups.map((group) => COLUMN[group])]);
  if (accountId !== undefined) needed.add('account');
  if (model !== undefined) needed.add('model');
  if (keyId !== undefined) needed.add('key');
  if (runId !== undefined) needed.add('run');
  if (seen) needed.add('member').add('project');
  return rowsOf(
    db,
    tables
      .selectFrom('usage_segments')
      .select(['rows', ...needed])
      .where((eb) => ifGiven(accountId, (id) => eb.or([eb('account_id', '=', id), eb('account_id', 'is', null)])))
      .where('livemode', '=', livemode)
      .where('first_day', '<=', to)
      .where('last_day', '>=', from),
  ) as Promise<PackedSegment[]>; // What is left out is not needed.
}
