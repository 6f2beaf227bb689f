import type { Pool, PoolClient } from 'pg';
import * as z from 'zod';
import { type Archive, DamagedArchive, USAGE_RECORDS } from '../../../archive/index.ts';
import { newId } from '../../../kernel/ids.ts';
import type { Log } from '../../../kernel/log.ts';
import { checkedRows } from '../../../kernel/statements.ts';
import { inTransaction } from '../../../kernel/transaction.ts';
import { USAGE_METERS } from '../rollup-columns.ts';
import { addExactly } from './add-exactly.ts';
import { packed, QUARTER_MS, recordOf, SEGMENT_SUMS } from './segment.ts';
import { SegmentBuilder } from './segment-builder.ts';
import { SEGMENT_INSERT, segmentRow } from './segment-row.ts';

/** SQL: whether there are days whose requests are not in segments yet: those from before there were any. */
export const DAYS_TO_SUM = 'exists (select from usage_days_unsummed)';

const DAY_MS = 86_400_000;
const ROWS_AT_ONCE = 10_000;
const SEGMENT_ROWS = 100_000;

interface SumDaysDeps {
  readonly pool: Pool;
  readonly archive: Archive;
  readonly log: Log;
}

/** Makes the segments of those days from their requests, the newest day first, those of archived months from the archive. */
export async function sumDays({ pool, archive, log }: SumDaysDeps, signal: AbortSignal): Promise<void> {
  const days = await checkedRows(pool, z.object({ day: z.string() }), 'select day::text from usage_days_unsummed order by day desc');
  let damaged: unknown;
  for (const { day } of days) {
    if (signal.aborted) return;
    try {
      await inTransaction(pool, (client) => sumDay(client, archive, day));
    } catch (error) {
      if (!(error instanceof DamagedArchive)) throw error;
      log.error({ err: error, day }, 'usage of a day cannot be summed up: the archive does not have its requests');
      damaged = error;
    }
  }
  if (damaged !== undefined) throw damaged;
}

/** Without the ledger's writer meanwhile: what it books of the day before is among the requests, and what it books afterwards is not. */
async function sumDay(client: PoolClient, archive: Archive, day: string): Promise<void> {
  await client.query('lock table usage_segments in share row exclusive mode');
  const removed = await client.query('delete from usage_days_unsummed where day = $1', [day]);
  if (removed.rowCount === 0) return;
  const [from, to] = [0, DAY_MS].map((ms) => USAGE_RECORDS.keyAt(Date.parse(day) + ms));
  const builders = new Map([true, false].map((livemode) => [livemode, new SegmentBuilder()]));
  const add = async (rows: readonly StandingRow[], least: number) => {
    for (const row of rows) addRow(builders.get(row.livemode), row);
    for (const [livemode, builder] of builders) {
      if (builder.rows < least) continue;
      await write(client, livemode, builder);
      builders.set(livemode, new SegmentBuilder());
    }
  };
  await client.query(`declare of_day no scroll cursor for ${standingIn('usage_records')} and u.request_id >= $1 and u.request_id < $2`, [
    from,
    to,
  ]);
  for (let left = true; left; ) {
    const rows = await checkedRows(client, StandingRow, `fetch forward ${ROWS_AT_ONCE} from of_day`);
    await add(rows, SEGMENT_ROWS);
    left = rows.length > 0;
  }
  await client.query('close of_day');
  for await (const json of archive.rowsBetween(USAGE_RECORDS, from ?? '', to ?? ''))
    await add(await checkedRows(client, StandingRow, standingIn('json_populate_recordset(null::usage_records, $1)'), [json]), SEGMENT_ROWS);
  await add([], 1);
}

const Amount = z.string().transform(BigInt);
const StandingRow = z.object({
  ...{ livemode: z.boolean(), quarter: z.number(), account: z.string(), project: z.string(), member: z.string(), key: z.string() },
  ...{ model: z.string(), provider: z.string(), outcome: z.string(), run: z.string(), end_user: z.string() },
  tags: z.array(z.string()),
  ...recordOf(SEGMENT_SUMS, () => Amount),
});
type StandingRow = z.output<typeof StandingRow>;

/** Requests with what counts of them today; none whose money was given back. @param source rows of `usage_records` */
const standingIn = (source: string): string => `
  select u.livemode, floor(extract(epoch from u.started_at) * 1000 / ${QUARTER_MS})::float8 as quarter, u.account_id::text as account,
    coalesce(u.project_id::text, '') as project, coalesce(u.user_id::text, '') as member, coalesce(u.key_id::text, '') as key,
    u.model_served as model, u.provider, u.outcome, coalesce(u.run_id, '') as run, coalesce(u.end_user, '') as end_user,
    coalesce(u.tags, '{}') as tags, '1' as records, case when u.outcome = 'failed' then '0' else '1' end as requests,
    ${['input_tokens', 'cached_input_tokens', 'output_tokens', 'cost_nano', 'charged_nano'].map((name) => `coalesce(c.${name}, u.${name})::text as ${name}`).join()},
    ${USAGE_METERS.map((name) => `coalesce(coalesce(c.meters, u.meters)->>'${name}', '0') as ${name}`).join()}
  from ${source} u
    left join corrections c on c.request_id = u.request_id and c.attempt = u.attempt and c.posted_at is not null
    left join refunds r on r.request_id = u.request_id and r.attempt = u.attempt and r.posted_at is not null
  where r.refund_id is null`;

function addRow(builder: SegmentBuilder | undefined, row: StandingRow): void {
  const { account, project, member, key, model, provider, outcome, run, end_user } = row;
  const tags = row.tags.length > 0 ? JSON.stringify(row.tags) : '';
  if (builder)
    addExactly(
      builder,
      { quarter: row.quarter, names: { account, project, member, key, model, provider, outcome, run, end_user, tags } },
      row,
    );
}

async function write(client: PoolClient, livemode: boolean, builder: SegmentBuilder): Promise<void> {
  const of = { segmentId: newId(), accountId: null, livemode, requestDay: null, isMerged: false };
  await client.query(SEGMENT_INSERT, [JSON.stringify([segmentRow(of, packed(builder.columns()))])]);
}
