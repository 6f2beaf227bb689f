import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { startEmbeddedPostgres } from '../../server/src/adapters/postgres/embedded-postgres.ts';
import { createLog } from '../../server/src/kernel/log.ts';
import { fill } from './growth-fill.ts';
import { cpuTime } from './proc.ts';
import type { Stage } from './stage.ts';
import { quantile } from './statistics.ts';

const MONTHS = 6;
/** Of them are archived: all but so many whole ones before the present one. */
const DETAIL_MONTHS = MONTHS - 2;
const GROUPS = ['project', 'member', 'key', 'model', 'provider', 'tag', 'end_user', 'run', 'outcome'];
const ASKED = 20;
/** Each question, so that what else the machine does in one moment is not what counts: the median of so many. */
const TIMES = 3;
const START_LIMIT_MS = 5_000;
const USAGE_LIMIT_MS = 300;
const DROP_LIMIT_MS = 10_000;
/** For loading alone: what is made by a script can be made again. */
const LOADING = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_wal_size: '1GB', shared_buffers: '1GB' };

interface Finding {
  readonly what: string;
  readonly ms: number;
  readonly limitMs?: number;
}

/**
 * Of a database with months of requests in it: how long a gateway takes to start, to answer what reads much, and to drop a month.
 * @returns whether everything that has a limit kept it
 */
export async function measureGrowth(stage: Stage, requests: number, print: (text: string) => void): Promise<boolean> {
  const log = createLog('error');
  const postgres = await startEmbeddedPostgres({ dir: join(stage.folder, 'postgres'), log, settings: LOADING });
  const database = new pg.Client({ connectionString: postgres.url });
  try {
    const first = await startGateway(stage, postgres.url, 'first');
    await stopGateway(first.pid);
    await database.connect();
    await database.query(`update accounts set plan = 'enterprise', given_plan = 'enterprise'`);
    const { rows } = await database.query<{ account_id: string }>('select account_id from users limit 1');
    const accountId = rows[0]?.account_id ?? '';
    await fill(database, { requests, months: MONTHS, accountId }, (what) => print(`… ${what}`));
    await leaveAuditOut(database);
    const sample = { archived: await requestsOf(database, MONTHS - 1), kept: await requestsOf(database, 2) };
    const size = await database.query<{ size: string }>('select pg_size_pretty(pg_database_size(current_database())) as size');
    print(`\n${requests.toLocaleString('en')} requests of ${MONTHS} months, ${size.rows[0]?.size}\n`);

    const found: Finding[] = [];
    const add = (...more: readonly Finding[]) => {
      found.push(...more);
      for (const { what, ms, limitMs } of more)
        print(`${what.padEnd(90)} ${ms.toFixed(1).padStart(9)} ms${limitMs === undefined ? '' : `   limit ${limitMs}`}`);
    };
    const started = await startGateway(stage, postgres.url, 'second', { USAGE_DETAIL_MONTHS: String(DETAIL_MONTHS) });
    add({ what: 'start of the gateway, until it answers', ms: started.ms, limitMs: START_LIMIT_MS });
    add(...(await Promise.all([daysSummed(database), monthArchived(database)])));
    for await (const finding of answers(started, database, sample)) add(finding);
    await stopGateway(started.pid);
    add(await dropOfMonth(database));
    return found.every(({ ms, limitMs }) => limitMs === undefined || ms <= limitMs);
  } finally {
    await database.end();
    await postgres.stop();
  }
}

interface Started {
  readonly origin: string;
  readonly pid: number;
  readonly ms: number;
  readonly token: string;
}

async function startGateway(stage: Stage, databaseUrl: string, name: string, more: Record<string, string> = {}): Promise<Started> {
  const dataDir = join(stage.folder, 'data');
  const startedAt = performance.now();
  const env = { DATABASE_URL: databaseUrl, DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'info', ...more };
  const { pid, ready: origin } = await stage.start(
    { name, script: 'scripts/gateway.mjs', env, isSubject: true },
    (printed) => /http:\/\/127\.0\.0\.1:\d+/.exec(printed)?.[0],
  );
  while (
    !(await fetch(`${origin}/health/ready`).then(
      ({ ok }) => ok,
      () => false,
    ))
  )
    await delay(10);
  const ms = performance.now() - startedAt;
  while (!existsSync(join(dataDir, 'bootstrap.json'))) await delay(10);
  const { admin_email: email, admin_password: password } = JSON.parse(readFileSync(join(dataDir, 'bootstrap.json'), 'utf8'));
  const login = await fetch(`${origin}/v1/users/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email, password }),
  });
  const { session } = (await login.json()) as { session: { token: string } };
  return { origin, pid, ms, token: session.token };
}

async function stopGateway(pid: number): Promise<void> {
  process.kill(pid, 'SIGTERM');
  for (;;) {
    try {
      process.kill(pid, 0);
    } catch {
      return;
    }
    await delay(50);
  }
}

interface MonthOfRequests {
  readonly month: string;
  readonly first: string;
  readonly last: string;
  readonly requests: readonly { readonly receipt_id: string; readonly request_id: string }[];
}

/** A whole month, and some requests in it of the account that asks. */
async function requestsOf(database: pg.Client, monthsAgo: number): Promise<MonthOfRequests> {
  const { rows } = await database.query<Omit<MonthOfRequests, 'requests'>>(
    `select to_char(start, 'YYYY-MM') as month, to_char(start, 'YYYY-MM-DD') as first, to_char(start + interval '1 month - 1 day', 'YYYY-MM-DD') as last
     from (select date_trunc('month', now() at time zone 'UTC') - make_interval(months => $1) as start) as of_month`,
    [monthsAgo],
  );
  const [of = { month: '', first: '', last: '' }] = rows;
  const { rows: requests } = await database.query<{ receipt_id: string; request_id: string }>(
    `select receipt_id, request_id from usage_records_${of.month.replace('-', '_')} tablesample system (1)
      where account_id = (select account_id from users limit 1) order by random() limit ${ASKED}`,
  );
  return { ...of, requests };
}

/** The audit of the log takes up to a fifth of a core, and of receipts that nobody signed it finds nothing but faults: no gateway runs it here. */
async function leaveAuditOut(database: pg.Client): Promise<void> {
  await database.query(
    `update timers set runner = gen_random_uuid(), leased_until = clock_timestamp() + interval '1 day' where name = 'receipts-audit-log'`,
  );
}

interface Asked extends Finding {
  /** Processor time of the gateway, all its threads. */
  readonly cpuMs: number;
}

type Ask = (what: string, paths: readonly string[], limitMs?: number) => Promise<Asked>;

const askerOf =
  ({ origin, token, pid }: Started): Ask =>
  async (what, paths, limitMs) => {
    const [times, cpu]: [number[], number[]] = [[], []];
    for (const path of paths) {
      const [startedAt, before] = [performance.now(), cpuTime(pid).process];
      const response = await fetch(`${origin}${path}`, { headers: { authorization: `Bearer ${token}` } });
      await response.arrayBuffer();
      if (!response.ok) throw new Error(`${path} answered ${response.status}`);
      times.push(performance.now() - startedAt);
      cpu.push((cpuTime(pid).process - before) / 1_000);
    }
    return { what, ms: quantile(times, 0.5), cpuMs: quantile(cpu, 0.5), ...(limitMs !== undefined && { limitMs }) };
  };

async function* answers(
  started: Started,
  database: pg.Client,
  { archived, kept }: { readonly archived: MonthOfRequests; readonly kept: MonthOfRequests },
): AsyncGenerator<Finding> {
  const ask = askerOf(started);
  yield* usageAnswers(ask, database, archived, 'an archived month', [['Asia/Kolkata', '/v1/usage', GROUPS]]);
  yield* usageAnswers(ask, database, kept, 'a month', [
    ['UTC', '/v1/usage', GROUPS],
    ['Asia/Kolkata', '/v1/usage', GROUPS],
    ['UTC', '/v1/admin/usage', ['account', ...GROUPS]],
  ]);
  const repeated = (path: string) => Array.from({ length: 5 }, () => path);
  yield await ask('GET /v1/receipts', repeated('/v1/receipts?limit=100'));
  for (const { month, what } of [kept, { ...archived, what: ', archived' }].map((of) => ({ what: '', ...of })))
    yield await ask(`GET /v1/receipts of a month${what}`, repeated(`/v1/receipts?limit=100&month=${month}`));
  yield await ask('GET /v1/receipts in the order of the log', repeated('/v1/receipts?limit=100&logged_after=1000'));
  for (const { requests, what } of [kept, { ...archived, what: ' of an archived month' }].map((of) => ({ what: '', ...of }))) {
    yield await ask(
      `GET /v1/receipts/{id}${what}`,
      requests.map(({ receipt_id: id }) => `/v1/receipts/${id}`),
    );
    yield await ask(
      `GET /v1/requests/{id}${what}`,
      requests.map(({ request_id: id }) => `/v1/requests/${id}`),
    );
  }
}

/** By every group and every two of them, in all, per day and per hour: the slowest of them, and the one that takes most of the gateway. */
async function* usageAnswers(
  ask: Ask,
  database: pg.Client,
  { first, last }: MonthOfRequests,
  of: string,
  askers: readonly (readonly [zone: string, path: string, groups: readonly string[]])[],
): AsyncGenerator<Finding> {
  for (const [zone, path, groups] of askers) {
    await database.query('update accounts set time_zone = $1', [zone]);
    for (const per of ['', '&per=day', '&per=hour']) {
      const asked: Asked[] = [];
      for (const group of groups.flatMap((one, at) => [one, ...groups.slice(at + 1).map((other) => `${one},${other}`)]))
        asked.push(await ask(group, Array<string>(TIMES).fill(`${path}?from=${first}&to=${last}&group_by=${group}${per}`)));
      const [slowest] = asked.toSorted((a, b) => b.ms - a.ms);
      const [dearest] = asked.toSorted((a, b) => b.cpuMs - a.cpuMs);
      const what = `GET ${path} of ${of}, ${zone}${per}, ${asked.length} groupings: slowest ${slowest?.what}`;
      yield { what, ms: slowest?.ms ?? 0, limitMs: USAGE_LIMIT_MS };
      const middle = asked.map(({ ms }) => ms);
      yield { what: '  and the median of them', ms: quantile(middle, 0.5), limitMs: USAGE_LIMIT_MS };
      yield { what: `  the most processor time of the gateway, ${dearest?.what}`, ms: dearest?.cpuMs ?? 0 };
    }
  }
}

/** What was settled before there were segments is summed up in the background: how long until it is. */
async function daysSummed(database: pg.Client): Promise<Finding> {
  const startedAt = performance.now();
  for (;;) {
    const { rows } = await database.query<{ left: number }>(
      'select ((select count(*) from usage_days_unsummed) + (select count(*) from usage_segments where not is_merged))::int as left',
    );
    if (rows[0]?.left === 0) return { what: 'segments of usage from all requests, in the background', ms: performance.now() - startedAt };
    await delay(1_000);
  }
}

/** By the gateway, of both tables: its rows in the archive, read back, and the partitions dropped. */
async function monthArchived(database: pg.Client): Promise<Finding> {
  const startedAt = performance.now();
  for (;;) {
    const { rows } = await database.query<{ archived: number }>('select count(*)::int as archived from archived_months');
    if ((rows[0]?.archived ?? 0) >= 2) return { what: 'archive of a month, in the background', ms: performance.now() - startedAt };
    await delay(1_000);
  }
}

/** As it is dropped once its rows are in the archive. */
async function dropOfMonth(database: pg.Client): Promise<Finding> {
  const { rows } = await database.query<{ name: string }>(
    `select inhrelid::regclass::text as name from pg_inherits where inhparent in ('usage_records'::regclass, 'receipts'::regclass)
      order by right(inhrelid::regclass::text, 7) limit 2`,
  );
  const startedAt = performance.now();
  for (const { name } of rows) await database.query(`drop table ${name}`);
  return {
    what: `drop of a month (${rows.map(({ name }) => name).join(', ')})`,
    ms: performance.now() - startedAt,
    limitMs: DROP_LIMIT_MS,
  };
}
