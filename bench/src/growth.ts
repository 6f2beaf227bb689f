import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { startEmbeddedPostgres } from '../../server/src/adapters/postgres/embedded-postgres.ts';
import { createLog } from '../../server/src/kernel/log.ts';
import { fill } from './growth-fill.ts';
import type { Stage } from './stage.ts';
import { quantile } from './statistics.ts';

const MONTHS = 6;
const GROUPS = ['project', 'member', 'key', 'model', 'provider', 'tag', 'end_user', 'run', 'outcome'];
const ASKED = 20;
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
    const size = await database.query<{ size: string }>('select pg_size_pretty(pg_database_size(current_database())) as size');
    print(`\n${requests.toLocaleString('en')} requests of ${MONTHS} months, ${size.rows[0]?.size}\n`);

    const found: Finding[] = [];
    const add = (...more: readonly Finding[]) => {
      found.push(...more);
      for (const { what, ms, limitMs } of more)
        print(`${what.padEnd(90)} ${ms.toFixed(1).padStart(9)} ms${limitMs === undefined ? '' : `   limit ${limitMs}`}`);
    };
    const started = await startGateway(stage, postgres.url, 'second');
    add({ what: 'start of the gateway, until it answers', ms: started.ms, limitMs: START_LIMIT_MS });
    add(await daysSummed(database));
    for await (const finding of answers(started, database)) add(finding);
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

async function startGateway(stage: Stage, databaseUrl: string, name: string): Promise<Started> {
  const dataDir = join(stage.folder, 'data');
  const startedAt = performance.now();
  const env = { DATABASE_URL: databaseUrl, DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'info' };
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

async function* answers({ origin, token }: Started, database: pg.Client): AsyncGenerator<Finding> {
  const { rows } = await database.query<{ month: string; receipt_id: string; request_id: string }>(
    `select to_char(started_at at time zone 'UTC', 'YYYY-MM') as month, receipt_id, request_id from usage_records tablesample system (1)
      where account_id = (select account_id from users limit 1) order by random() limit ${ASKED}`,
  );
  const month = await database.query<{ first: string; last: string; month: string }>(
    `select to_char(start, 'YYYY-MM-DD') as first, to_char(start + interval '1 month - 1 day', 'YYYY-MM-DD') as last, to_char(start, 'YYYY-MM') as month
     from (select date_trunc('month', now() at time zone 'UTC') - interval '2 months' as start) as of_month`,
  );
  const [{ first, last, month: name } = { first: '', last: '', month: '' }] = month.rows;
  const range = `from=${first}&to=${last}`;
  const ask = async (what: string, paths: readonly string[], limitMs?: number): Promise<Finding> => {
    const times: number[] = [];
    for (const path of paths) {
      const startedAt = performance.now();
      const response = await fetch(`${origin}${path}`, { headers: { authorization: `Bearer ${token}` } });
      await response.arrayBuffer();
      if (!response.ok) throw new Error(`${path} answered ${response.status}`);
      times.push(performance.now() - startedAt);
    }
    return { what, ms: quantile(times, 0.5), ...(limitMs !== undefined && { limitMs }) };
  };
  const repeated = (path: string) => Array.from({ length: 5 }, () => path);
  for (const [zone, path, groups] of [
    ['UTC', '/v1/usage', GROUPS],
    ['Asia/Kolkata', '/v1/usage', GROUPS],
    ['UTC', '/v1/admin/usage', ['account', ...GROUPS]],
  ] as const) {
    await database.query('update accounts set time_zone = $1', [zone]);
    for (const per of ['', '&per=day', '&per=hour']) {
      const asked: Finding[] = [];
      for (const group of groups.flatMap((one, at) => [one, ...groups.slice(at + 1).map((other) => `${one},${other}`)]))
        asked.push(await ask(group, [`${path}?${range}&group_by=${group}${per}`]));
      const [slowest] = asked.toSorted((a, b) => b.ms - a.ms);
      const what = `GET ${path} of a month, ${zone}${per}, ${asked.length} groupings: slowest ${slowest?.what}`;
      yield { what, ms: slowest?.ms ?? 0, limitMs: USAGE_LIMIT_MS };
      yield {
        what: '  and the median of them',
        ms: quantile(
          asked.map(({ ms }) => ms),
          0.5,
        ),
        limitMs: USAGE_LIMIT_MS,
      };
    }
  }
  yield await ask('GET /v1/receipts', repeated('/v1/receipts?limit=100'));
  yield await ask('GET /v1/receipts of a month', repeated(`/v1/receipts?limit=100&month=${name}`));
  yield await ask('GET /v1/receipts in the order of the log', repeated('/v1/receipts?limit=100&logged_after=1000'));
  yield await ask(
    'GET /v1/receipts/{id}',
    rows.map(({ receipt_id: id }) => `/v1/receipts/${id}`),
  );
  yield await ask(
    'GET /v1/requests/{id}',
    rows.map(({ request_id: id }) => `/v1/requests/${id}`),
  );
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
