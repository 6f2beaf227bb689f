import type pg from 'pg';

/** What a database that has grown for some months is made of. */
export interface History {
  readonly requests: number;
  readonly months: number;
  /** Has one in twenty of the requests. */
  readonly accountId: string;
}

/** Requests that one posting books. */
const BATCH = 1_000;
/** Different ones in all. */
const END_USERS = 1_000_003;
/** As in the sums by day: none. */
const NO_ID = '00000000-0000-0000-0000-000000000000';
/** Receipts that one checkpoint takes in. */
const CHECKPOINT = 1_000;

/**
 * Fills an empty ledger as so many requests of a hundred accounts would have, each month at once: its rows are loaded before they get indexes.
 * What a request says is of no matter, so it is short; and nothing is signed.
 */
export async function fill(database: pg.ClientBase, history: History, onProgress: (what: string) => void): Promise<void> {
  await database.query(FUNCTIONS);
  await database.query(`set session_replication_role = 'replica'; set maintenance_work_mem = '512MB'; set work_mem = '256MB'`);
  const { requests, months, accountId } = history;
  const { rows } = await database.query<{ size: string }>('select size::text from receipt_log');
  // The first start has declared its prices and keys there.
  const firstPlace = Number(rows[0]?.size ?? 0);
  for (let month = 0; month < months; month += 1) {
    const [from, to] = [month, month + 1].map((at) => Math.floor((requests * at) / months));
    onProgress(`month ${month + 1} of ${months}, up to ${Number(to).toLocaleString('en')} requests`);
    await fillMonth(database, { monthsAgo: months - 1 - month, from: from ?? 0, to: to ?? 0, accountId, firstPlace });
  }
  onProgress('tree and checkpoints of the log');
  const size = firstPlace + requests;
  await database.query('truncate receipt_log_tiles');
  await database.query(TREE_SQL, [size]);
  await database.query(CHECKPOINTS_SQL, [size, CHECKPOINT]);
  await database.query('update receipt_log set size = $1', [size]);
  onProgress('sums and statistics');
  await database.query(SUMS_SQL);
  await database.query(DAYS_SQL);
  await database.query('vacuum analyze');
}

interface MonthOfHistory {
  readonly monthsAgo: number;
  /** The numbers of its first request and of the one after its last. */
  readonly from: number;
  readonly to: number;
  readonly accountId: string;
  /** Of the first receipt of all in the log. */
  readonly firstPlace: number;
}

async function fillMonth(database: pg.ClientBase, { monthsAgo, from, to, accountId, firstPlace }: MonthOfHistory): Promise<void> {
  const { rows } = await database.query<{ month: string; start: string; next: string; span: string }>(
    `select to_char(start, 'YYYY_MM') as month, bench_ms(start)::text as start, bench_ms(start + interval '1 month')::text as next,
       (bench_ms(least(start + interval '1 month', now() at time zone 'UTC')) - bench_ms(start))::text as span
     from (select date_trunc('month', now() at time zone 'UTC') - make_interval(months => $1) as start) as of_month`,
    [monthsAgo],
  );
  const [{ month, start, next, span } = { month: '', start: '', next: '', span: '' }] = rows;
  await database.query(`drop table if exists usage_records_${month}, receipts_${month};
    create table usage_records_${month} (like usage_records including defaults including constraints); create table receipts_${month} (like receipts including defaults including constraints)`);
  await database.query(
    `create temp table request as
     select n, at, bench_hex(at, n) as hex, case when n % 20 = 0 then '${accountId}'::uuid else bench_uuid('account ' || n % 100) end as account_id,
       bench_uuid('key ' || n % 7 || n % 20) as key_id, 'model-' || n % 5 as model,
       case when n % 10 = 0 then 'run-' || n / 2000 || '-' || n % 100 end as run_id, 1000 + n % 977 as cost, to_timestamp(at / 1000.0) as started_at
     from (select n, ${start} + (n - ${from}) * ${span} / ${to - from} as at from generate_series(${from}::bigint, ${to - 1}) n) as numbered`,
  );
  await database.query(USAGE_SQL(month));
  await database.query(RECEIPTS_SQL(month, firstPlace));
  await database.query(BOOKS_SQL);
  await database.query('drop table request');
  await database.query(
    `alter table usage_records attach partition usage_records_${month} for values from ('req_${hex(start)}') to ('req_${hex(next)}')`,
  );
  await database.query(`alter table receipts attach partition receipts_${month} for values from ('${uuid(start)}') to ('${uuid(next)}')`);
}

const hex = (ms: string): string => BigInt(ms).toString(16).padStart(12, '0');
const uuid = (ms: string): string => hex(ms).padEnd(32, '0');

const FUNCTIONS = `
create function bench_hex(at bigint, n bigint) returns text language sql immutable as
  $$ select lpad(to_hex(at), 12, '0') || '7' || left(md5(n::text), 3) || '8' || right(md5(n::text), 15) $$;
create function bench_ms(at timestamp) returns bigint language sql immutable as $$ select (extract(epoch from at) * 1000)::bigint $$;
create function bench_uuid(name text) returns uuid language sql immutable as $$ select md5(name)::uuid $$;
`;

const USAGE_SQL = (month: string) => `
insert into usage_records_${month} (request_id, attempt, posting_id, started_at, receipt_id, client_request_id, account_id, key_id, run_id,
  ancestor_run_ids, livemode, kind, endpoint, stream, model_requested, model_served, provider, fallback, outcome, attempts, skipped, input_tokens,
  cached_input_tokens, cache_write_tokens, output_tokens, reasoning_tokens, meters, estimated, price_version, price_tier, price_factor, unit_prices,
  funding, held_nano, cost_nano, charged_nano, debt_nano, covered, request_sha256, response_sha256, first_byte_at, completed_at, overhead_ms,
  end_user, tags)
select 'req_' || hex, 1, bench_uuid('posting ' || n / ${BATCH}), started_at, hex::uuid, null, account_id, key_id, run_id, null, true, 'usage',
  '/v1/chat/completions', false, model, model, 'p', 'none', 'completed', '[]', null, 100, 0, 0, 20, 0, '{}', false, 'v', null, '1', '{}', 'balance',
  cost, cost, cost, 0, '{}', md5(hex), md5(hex), started_at, started_at, 1, 'user-' || n % ${END_USERS},
  array['feature=' || n % 13, 'team=' || n % 7] from request`;

const RECEIPTS_SQL = (month: string, firstPlace: number) => `
insert into receipts_${month}
select hex::uuid, account_id, 'req_' || hex, '{"nonce":"' || md5(hex) || '","receipt_id":"' || hex::uuid || '","kind":"usage","request_id":"req_' || hex ||
    '","endpoint":"/v1/chat/completions","model_served":"' || model || '","run_id":null,"livemode":true,"outcome":"completed","cost_nano_usd":"' || cost ||
    '","refund_of":null,"started_at":"2026-01-01T00:00:00.000Z","completed_at":"2026-01-01T00:00:00.000Z"}',
  sha256(hex::bytea), started_at, n + ${firstPlace}, true, 'usage', model, run_id, started_at, false from request`;

const BOOKS_SQL = `
insert into postings (posting_id, kind, livemode, posted_at, day)
  select bench_uuid('posting ' || n / ${BATCH}), 'usage', true, min(started_at), min(started_at)::date from request group by n / ${BATCH}
  on conflict do nothing;
insert into ledger_entries
  select bench_uuid('posting ' || n / ${BATCH}), 'customer_balance:' || account_id, -sum(cost) from request group by n / ${BATCH}, account_id
  on conflict do nothing;
insert into ledger_entries select bench_uuid('posting ' || n / ${BATCH}), 'revenue', sum(cost) from request group by n / ${BATCH} on conflict do nothing;
insert into usage_daily (account_id, livemode, day, key_id, model, requests, input_tokens, cached_input_tokens, output_tokens, cost_nano, charged_nano,
    covered_requests, covered_tokens)
  select account_id, true, (started_at at time zone 'UTC')::date, key_id, model, count(*), count(*) * 100, 0, count(*) * 20, sum(cost), sum(cost), 0, 0
  from request group by 1, 3, 4, 5;
insert into usage_runs_daily (account_id, livemode, day, run_id, key_id, model, requests, input_tokens, cached_input_tokens, output_tokens, cost_nano,
    charged_nano, input_characters, audio_seconds, video_seconds, images, provider, outcome)
  select account_id, true, (started_at at time zone 'UTC')::date, run_id, key_id, model, count(*), count(*) * 100, 0, count(*) * 20, sum(cost), sum(cost),
    0, 0, 0, 0, 'p', 'completed'
  from request where run_id is not null group by 1, 3, 4, 5, 6;
insert into usage_details_daily
  select account_id, true, (started_at at time zone 'UTC')::date, key_id, model, 'p', 'completed', '${NO_ID}', '${NO_ID}', count(*), count(*) * 100, 0,
    count(*) * 20, sum(cost), sum(cost), 0, 0, 0, 0
  from request group by 1, 3, 4, 5;
insert into agent_runs
  select account_id, true, run_id, null, sum(cost), count(*), min(started_at), max(started_at) from request where run_id is not null group by 1, 3
  on conflict do nothing`;

/** The gateway makes the segments of these days. */
const DAYS_SQL = `
insert into usage_days_unsummed
  select generate_series(min(day) - 1, max(day) + 1, interval '1 day')::date from usage_daily`;

const SUMS_SQL = `
insert into ledger_daily select account, day, sum(amount_nano) from ledger_entries join postings using (posting_id) group by 1, 2
on conflict (account, day) do update set amount_nano = excluded.amount_nano`;

const TREE_SQL = `
insert into receipt_log_tiles
select level, tile * 256, (select string_agg(sha256((level || ' ' || at)::bytea), '') from generate_series(tile * 256, least(tile * 256 + 255, hashes - 1)) as at)
from generate_series(0, 4) as level, lateral (select $1::bigint >> (8 * level) as hashes) as counted, lateral generate_series(0, (hashes - 1) / 256) as tile
where hashes > 0`;

const CHECKPOINTS_SQL = `
insert into receipt_log_checkpoints (size, root, note, created_at)
select least(size, $1), sha256(size::text::bytea), repeat('note ', 40), now() from generate_series($2::bigint, $1::bigint + $2 - 1, $2) as size
on conflict do nothing`;
