import type { LatencyHour, LatencyQuery, LatencyResponse } from '@tallygate/contract';
import type { Pool } from 'pg';
import * as z from 'zod';
import type { Seen } from '../../http/index.ts';
import { rfc3339 } from '../../kernel/clock.ts';
import { invalidInput } from '../../kernel/invalid-input.ts';
import { checkedRows } from '../../kernel/statements.ts';

interface LatencyScope {
  readonly accountId: string;
  /** Mode of the API key that asks; live for sessions. */
  readonly livemode: boolean;
  /** What of the account the caller sees; undefined for all of it. */
  readonly seen?: Seen | undefined;
}

const MINUTE_MS = 60_000;
const SLICE_MS = 5 * MINUTE_MS;
const DAY_MS = 24 * 60 * MINUTE_MS;
const LONGEST_DAYS = 7;
/** So many requests are read in a few tenths of a second. */
const MOST_REQUESTS = 150_000;

/** Of each five minutes the first requests are measured, the same number of each: an hour is told by all of its parts. */
const LATENCY = `
  with measured as (
    select date_bin('1 hour', r.started_at, 'epoch') as hour,
      extract(epoch from r.first_byte_at - r.started_at) * 1000 as first_byte,
      extract(epoch from r.completed_at - r.started_at) * 1000 as total,
      r.overhead_ms
    from generate_series($3::timestamptz, $4::timestamptz, $5::interval) as slice (begins)
    cross join lateral (
      select started_at, first_byte_at, completed_at, overhead_ms from usage_records
      where account_id = $1 and livemode = $2 and kind = 'usage' and outcome <> 'failed'
        and started_at >= slice.begins and started_at < least(slice.begins + $5::interval, $4) and ($6::text is null or model_served = $6)
        and ($8::uuid is null or user_id = $8 or project_id = any($9::uuid[]))
      order by started_at limit $7
    ) r
  )
  select hour, count(*)::int as requests,
    percentile_cont(array[0.5, 0.95]) within group (order by first_byte)::float[] as first_byte,
    percentile_cont(array[0.5, 0.95]) within group (order by total)::float[] as total,
    percentile_cont(array[0.5, 0.95]) within group (order by overhead_ms)::float[] as overhead
  from measured group by hour order by hour`;

const Percentiles = z.tuple([z.number(), z.number()]);
const Row = z.object({
  hour: z.date(),
  requests: z.number(),
  first_byte: z.tuple([z.number().nullable(), z.number().nullable()]).nullable(),
  total: Percentiles,
  overhead: Percentiles,
});

export async function latencyOf(pool: Pool, scope: LatencyScope, query: LatencyQuery, now: number): Promise<LatencyResponse> {
  const to = query.to === undefined ? now : Date.parse(query.to);
  const from = query.from === undefined ? to - DAY_MS : Date.parse(query.from);
  if (from >= to) throw refused('from', 'Must be before `to`');
  if (to - from > LONGEST_DAYS * DAY_MS) throw refused('from', `Must be at most ${LONGEST_DAYS} days before \`to\``);
  const livemode = query.livemode ?? scope.livemode;
  const eachSlice = Math.ceil(MOST_REQUESTS / Math.ceil((to - from) / SLICE_MS));
  const span = [new Date(from), new Date(to), `${SLICE_MS} milliseconds`];
  const seen = [scope.seen?.userId ?? null, [...(scope.seen?.projects ?? [])]];
  const rows = await checkedRows(pool, Row, LATENCY, [scope.accountId, livemode, ...span, query.model ?? null, eachSlice, ...seen]);
  return { from: rfc3339(from), to: rfc3339(to), livemode, hours: rows.map(toWire) };
}

const toWire = ({ hour, requests, first_byte: firstByte, total, overhead }: z.infer<typeof Row>): LatencyHour => ({
  hour: rfc3339(hour.getTime()),
  requests,
  first_byte_ms: firstByte === null || firstByte[0] === null || firstByte[1] === null ? null : percentiles([firstByte[0], firstByte[1]]),
  total_ms: percentiles(total),
  overhead_ms: percentiles(overhead),
});

/** To the microsecond, as they are measured. */
const percentiles = ([p50, p95]: readonly [number, number]) => ({ p50: thousandths(p50), p95: thousandths(p95) });
const thousandths = (ms: number): number => Math.round(ms * 1_000) / 1_000;

const refused = (field: string, msg: string) => invalidInput([{ loc: ['query', field], msg, type: 'invalid_range' }]);
