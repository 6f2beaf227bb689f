import type { Pool } from 'pg';
import { rowsOf } from '../../kernel/statements.ts';
import { NO_ID } from './rollup-columns.ts';
import { DIMENSIONS, nameAt, SEGMENT_SUMS, unpacked } from './segments/segment.ts';
import { PACKED_COLUMNS } from './segments/segment-row.ts';
import { tables } from './tables.ts';

/** Rows that count: those whose money was given back count as nothing, though their run has seen them. */
const RECORDS = `(select *, (not refunded)::int as counts, (outcome <> 'failed')::int as answered from standing_usage) as records`;

const sum = (value: string, name: string) => `sum(counts * coalesce(${value}, 0)) as ${name}`;
const meter = (name: string) => sum(`(meters->>'${name}')::bigint`, name);
const covered = (name: string) => sum(`(covered->>'${name}')::bigint`, `covered_${name}`);

const COUNTED = ['requests', 'input_tokens', 'cached_input_tokens', 'output_tokens', 'cost_nano', 'charged_nano'];
const METERS = ['input_characters', 'audio_seconds', 'video_seconds', 'images'];
const COVERED = ['requests', 'tokens', 'images', 'audio_seconds', 'video_seconds'];

/** The key of the sums by day, then what they have. */
const DAY = `account_id, livemode, (started_at at time zone 'UTC')::date as day,
    coalesce(key_id, '${NO_ID}') as key_id, model_served as model`;
const USED = [...COUNTED.map((name) => sum(name === 'requests' ? 'answered' : name, name)), ...METERS.map(meter)].join();
const USAGE = `select ${DAY}, ${USED}, ${COVERED.map(covered).join()} from ${RECORDS} group by 1, 2, 3, 4, 5`;
const USAGE_DAILY = `select account_id, livemode, day, key_id, model, ${COUNTED.join()}, ${METERS.join()},
  ${COVERED.map((name) => `covered_${name}`).join()} from usage_daily`;
const DETAILS = 'provider, outcome, project_id, user_id';
const DETAILS_OF = `provider, outcome, coalesce(project_id, '${NO_ID}') as project_id, coalesce(user_id, '${NO_ID}') as user_id`;
const RUN_DAYS = `select ${DAY}, ${DETAILS_OF}, run_id, ${USED} from ${RECORDS} where run_id is not null group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10`;
const USAGE_RUNS_DAILY = `select account_id, livemode, day, key_id, model, ${DETAILS}, run_id, ${COUNTED.join()}, ${METERS.join()} from usage_runs_daily`;
const DETAIL_DAYS = `select ${DAY}, ${DETAILS_OF}, ${USED}
  from ${RECORDS} group by 1, 2, 3, 4, 5, 6, 7, 8, 9`;
const USAGE_DETAILS_DAILY = `select account_id, livemode, day, key_id, model, ${DETAILS}, ${COUNTED.join()}, ${METERS.join()}
  from usage_details_daily`;
/** What the segments have to come to: requests by all that they are told apart by, without those whose money was given back. */
const IN_SEGMENTS = `select livemode, floor(extract(epoch from started_at) / 900)::float8 as quarter, account_id::text as account,
    coalesce(project_id::text, '') as project, coalesce(user_id::text, '') as member, coalesce(key_id::text, '') as key, model_served as model,
    provider, outcome, coalesce(run_id, '') as run, coalesce(end_user, '') as end_user,
    case when cardinality(tags) > 0 then to_json(tags)::text else '' end as tags, sum(counts) as records, ${USED}
  from ${RECORDS} where counts > 0 group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12`;
const LEDGER = `select account, day, sum(amount_nano) as amount_nano from ledger_entries join postings using (posting_id) group by 1, 2`;
const BOOKED = `select posting_id, account, amount_nano from ledger_entries join postings using (posting_id) where kind = 'usage' and amount_nano <> 0`;
/** What the settlements of each posting come to, account by account: the double entry, calculated from the rows. */
const TO_BOOK = `select posting_id, account, sum(amount_nano) as amount_nano from usage_records cross join lateral (values
    (case when livemode then 'plan_quota:' else 'test_funds:' end || account_id, case when livemode then charged_nano else 0 end - cost_nano),
    (case when funding = 'invoice' then 'receivable:' else 'customer_balance:' end || account_id, case when livemode then debt_nano - charged_nano else 0 end),
    (case when funding = 'invoice' then 'invoice_debt:' else 'debt:' end || account_id, case when livemode then -debt_nano else 0 end),
    ('operator_losses', case when livemode then -waived_nano else 0 end),
    (case when livemode then 'revenue' else 'test_revenue' end, cost_nano + case when livemode then waived_nano else 0 end)
  ) as entry (account, amount_nano) group by 1, 2 having sum(amount_nano) <> 0`;
const RUNS = `select account_id, livemode, run, sum(counts * cost_nano) as spent_nano, count(*) as requests,
    min(started_at) as first_request_at, max(started_at) as last_request_at
  from ${RECORDS} cross join lateral unnest(run_id || ancestor_run_ids) as run where run is not null group by 1, 2, 3`;
const AGENT_RUNS = 'select account_id, livemode, run_id, spent_nano, requests, first_request_at, last_request_at from agent_runs';

const LANES = `select lane as lane_id, sum(counts * cost_nano) as spent_nano
  from ${RECORDS} cross join lateral unnest(limit_lanes) as lane group by 1 having sum(counts * cost_nano) <> 0`;
const LANE_SPEND = 'select lane_id, spent_nano - before_nano as spent_nano from lane_spend where spent_nano <> before_nano';

const differs = (a: string, b: string) =>
  `(select * from (${a}) a except select * from (${b}) b) union all (select * from (${b}) b except select * from (${a}) a)`;

async function segmentContradictions(pool: Pool): Promise<unknown[]> {
  const { rows } = await pool.query(IN_SEGMENTS);
  const owed = new Set(
    rows.map(({ livemode, ...row }) =>
      JSON.stringify([livemode, row.quarter, ...[...DIMENSIONS, ...SEGMENT_SUMS].map((name) => String(row[name]))]),
    ),
  );
  const found = new Set(await segmentRows(pool));
  return [...[...owed].filter((row) => !found.has(row)), ...[...found].filter((row) => !owed.has(row))];
}

/** What the segments have. Sums that are too large for one row have several. */
async function segmentRows(pool: Pool): Promise<string[]> {
  const sums = new Map<string, bigint[]>();
  for (const { livemode, ...stored } of await rowsOf(
    pool,
    tables.selectFrom('usage_segments').select(['livemode', 'rows', ...PACKED_COLUMNS]),
  )) {
    const segment = unpacked(stored);
    for (const [row, quarter] of segment.quarters.entries()) {
      const names = DIMENSIONS.map((name) => nameAt(segment.names[name], segment.names[name].codes[row] ?? 0));
      const key = JSON.stringify([livemode, quarter, ...names]);
      const before = sums.get(key) ?? [];
      sums.set(
        key,
        SEGMENT_SUMS.map((name, at) => (before[at] ?? 0n) + BigInt(segment.sums[name][row] ?? 0)),
      );
    }
  }
  return [...sums].flatMap(([key, of]) => (of[0] === 0n ? [] : JSON.stringify([...JSON.parse(key), ...of.map(String)])));
}

/** Differences between the sums and the rows that they are made of, postings that do not balance, and what lacks its receipt. For tests. */
export async function contradictions(pool: Pool): Promise<unknown[]> {
  const all = async (sql: string) => (await pool.query(sql)).rows;
  const found = await Promise.all([
    all(differs(USAGE_DAILY, USAGE)),
    all(differs(USAGE_RUNS_DAILY, RUN_DAYS)),
    all(differs(USAGE_DETAILS_DAILY, DETAIL_DAYS)),
    segmentContradictions(pool),
    all(differs('select * from ledger_daily', LEDGER)),
    all(differs(AGENT_RUNS, RUNS)),
    all(differs(LANE_SPEND, LANES)),
    all('select posting_id from ledger_entries group by posting_id having sum(amount_nano) <> 0'),
    all(differs(BOOKED, TO_BOOK)),
    all(`select * from postings p where kind = 'usage' and not exists (select from usage_records u where u.posting_id = p.posting_id)`),
    all(
      'select * from usage_records left join price_sets s on s.id = price_set_id where coalesce(usage_records.unit_prices, s.unit_prices) is null',
    ),
    all('select * from usage_records left join receipts using (receipt_id) where receipts.digest is null'),
    all('select * from refunds left join receipts using (receipt_id) where refunds.posted_at is not null and receipts.digest is null'),
    all(
      'select * from corrections left join receipts using (receipt_id) where corrections.posted_at is not null and receipts.digest is null',
    ),
    all(`select account_id, livemode, month, last, numbers from receipt_numbers right join (
           select account_id, livemode, to_char(started_at at time zone 'UTC', 'YYYY-MM') as month, count(distinct account_sequence) as numbers,
             max(account_sequence) as highest, count(*) as receipts from receipts where account_sequence is not null group by 1, 2, 3
         ) numbered using (account_id, livemode, month) where (last, last, last) is distinct from (numbers, highest, receipts)`),
    all(`select * from corrections f full join (select * from postings where kind = 'correction') p using (request_id, attempt)
         where (f.posted_at is null) <> (p.posting_id is null)`),
    all(`select * from refunds f full join (select * from postings where kind = 'refund') p using (request_id, attempt)
         where (f.posted_at is null) <> (p.posting_id is null)`),
  ]);
  return found.flat();
}
