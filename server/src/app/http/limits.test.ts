import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { openPool } from '../../adapters/postgres/database.ts';
import { testDatabase } from '../../adapters/postgres/test-database.ts';
import { isRedisMissing, testRedisUrl } from '../../adapters/redis/test-redis.ts';
import { silentLog } from '../../kernel/log.ts';
import { formatUsd, parseUsd } from '../../kernel/money.ts';
import { contradictions } from '../../money/ledger/contradictions.ts';
import { readConfig } from '../config.ts';
import { type RunningServer, startServer } from '../server.ts';

type Headers = Record<string, string>;

const STORES = ['in memory', 'in Redis'] as const;
/** Calls at the same time, of which the caps below let some through. */
const CALLS = 80;
const CHAT = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 20 };

interface World {
  readonly server: RunningServer;
  readonly pool: pg.Pool;
  readonly session: Headers;
  readonly user: { readonly account_id: string; readonly user_id: string };
  readonly end: () => Promise<void>;
}

async function openWorld(store: (typeof STORES)[number]): Promise<World> {
  const { url, drop } = await testDatabase();
  const dataDir = mkdtempSync(join(tmpdir(), 'tallygate-limits-'));
  const PROVIDERS_FILE = join(dataDir, 'providers.json');
  // Nobody is there: what is refused never gets so far.
  const provider = { name: 'openai', base_url: 'http://127.0.0.1:1/v1', api_key: 'sk-test', models: ['gpt-4o-mini'] };
  writeFileSync(PROVIDERS_FILE, JSON.stringify({ providers: [provider] }));
  const pool = openPool({ url, log: silentLog(), poolSize: 2 });
  const server = await startServer(
    readConfig({
      ...{ DATABASE_URL: url, DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'silent', PROVIDERS_FILE },
      ...{ TEST_REQUESTS_PER_MINUTE: '1000000', TEST_TOKENS_PER_MINUTE: '1000000000', TEST_CONCURRENCY: '1000' },
      ...(store === 'in Redis' && { REDIS_URL: `${testRedisUrl()}/9` }),
    }),
    () => {},
  );
  const end = async () => {
    await server.close();
    await pool.end();
    await drop();
    rmSync(dataDir, { recursive: true, force: true });
  };
  const { admin_email: email, admin_password: password } = server.bootstrap;
  const login = (await ask(server, '/v1/users/login', {}, { json: { email, password } })).body;
  return { server, pool, session: { authorization: `Bearer ${login.session.token}` }, user: login, end };
}

const metrics = async ({ url, bootstrap }: RunningServer): Promise<string> =>
  (await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${bootstrap.metrics_token}` } })).text();

interface Asked {
  readonly json?: object;
  readonly method?: string;
}

async function ask({ url }: RunningServer, path: string, headers: Headers, { json, method = json ? 'POST' : 'GET' }: Asked = {}) {
  const init = { method, headers: { 'content-type': 'application/json', ...headers }, ...(json && { body: JSON.stringify(json) }) };
  const answer = await fetch(url + path, init);
  const text = await answer.text();
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  const body: any = text === '' ? undefined : JSON.parse(text);
  return { status: answer.status, headers: answer.headers, body };
}

describe.each(STORES)('limits %s', (store) => {
  const isMissing = store === 'in Redis' && isRedisMissing();
  let world: World;
  let project: string;
  let keyId: string;
  let key: Headers;

  beforeAll(async () => {
    if (isMissing) return;
    world = await openWorld(store);
    project = (await ask(world.server, '/v1/projects', world.session, { json: { name: 'search' } })).body.project_id;
    const made = (await ask(world.server, '/v1/keys', world.session, { json: { name: 'search', livemode: false, project_id: project } }))
      .body;
    [keyId, key] = [made.key_id, { authorization: `Bearer ${made.key}` }];
  });
  afterAll(() => world?.end());

  const chat = (headers: Headers = {}, more: object = {}) =>
    ask(world.server, '/v1/chat/completions', { ...key, ...headers }, { json: { ...CHAT, ...more } });
  const set = (limit: object) => ask(world.server, '/v1/limits', world.session, { json: limit, method: 'PUT' });
  const remove = (limitId: string) => ask(world.server, `/v1/limits/${limitId}`, world.session, { method: 'DELETE' });
  const statusOf = async (limitId: string, subject = '') =>
    (await ask(world.server, `/v1/limits/${limitId}?livemode=false${subject && `&subject=${encodeURIComponent(subject)}`}`, world.session))
      .body;

  const kinds: [kind: string, subject: () => string | null, headers: Headers, more: object][] = [
    ['account', () => null, {}, {}],
    ['project', () => project, {}, {}],
    ['member', () => world.user.user_id, {}, {}],
    ['key', () => keyId, {}, {}],
    ['run', () => 'trip', { 'x-agent-run-id': 'trip' }, {}],
    ['end_user', () => 'ada', { 'x-end-user': 'ada' }, {}],
    ['end_user', () => 'grace', {}, { safety_identifier: 'grace', user: 'somebody-else' }],
    ['tag', () => 'feature=search', { 'x-tags': 'team=web, feature=search' }, {}],
    ['model', () => 'gpt-4o-mini', {}, {}],
  ];

  test.skipIf(isMissing).each(kinds)(
    'the cap of a %s holds to the nano-dollar under concurrent calls',
    async (kind, subject, headers, more) => {
      const before = await set({ kind, subject: subject(), period: 'lifetime', cap_usd: '1' });
      const spentBefore = parseUsd((await statusOf(before.body.limit_id)).spent_usd) ?? 0n;
      const one = await chat(headers, more);
      const cost = parseUsd(one.headers.get('x-cost-usd') ?? '') ?? 0n;
      expect(cost).toBeGreaterThan(0n);
      const cap = spentBefore + cost * 20n + 1n;
      const { limit_id } = (await set({ kind, subject: subject(), period: 'lifetime', cap_usd: formatUsd(cap) })).body;
      const answers = await Promise.all(Array.from({ length: CALLS }, () => chat(headers, more)));
      const [through, refused] = [answers.filter(({ status }) => status === 200), answers.filter(({ status }) => status !== 200)];
      expect(through.length).toBeGreaterThan(0);
      expect(refused.length).toBeGreaterThan(0);
      for (const { status, body } of refused) {
        expect([402, 429]).toContain(status);
        expect(body.budget).toMatchObject({ limit_source: kind, period: 'lifetime', cap_usd: formatUsd(cap) });
        if (subject() !== null) expect(body.budget.subject).toBe(subject());
      }
      await vi.waitFor(async () => expect((await statusOf(limit_id)).held_usd).toBe('0'), { timeout: 30_000, interval: 20 });
      const status = await statusOf(limit_id);
      const spent = parseUsd(status.spent_usd) ?? 0n;
      expect(spent).toBeLessThanOrEqual(cap);
      expect(spent).toBe(spentBefore + cost * BigInt(through.length + 1));
      await remove(limit_id);
    },
  );

  test.skipIf(isMissing)('what the ledger has on every lane is what requests that name it have cost', async () => {
    await vi.waitFor(
      async () => {
        const { rows } = await world.pool.query('select sum(spent_nano - before_nano) as spent from lane_spend');
        expect(Number(rows[0].spent)).toBeGreaterThan(0);
        expect(await contradictions(world.pool)).toEqual([]);
      },
      { timeout: 30_000, interval: 50 },
    );
  });

  test.skipIf(isMissing)('a limit of each is that of everybody who has none of their own', async () => {
    const each = (await set({ kind: 'end_user', period: 'day', cap_usd: '0' })).body;
    const own = (await set({ kind: 'end_user', subject: 'vip', period: 'day', cap_usd: '1' })).body;
    expect((await chat({ 'x-end-user': 'anybody' })).body.budget).toMatchObject({
      limit_source: 'end_user',
      subject: 'anybody',
      period: 'day',
    });
    expect((await chat({ 'x-end-user': 'vip' })).status).toBe(200);
    expect((await chat()).status).toBe(200);
    expect((await statusOf(own.limit_id)).spent_usd).not.toBe('0');
    expect(await statusOf(each.limit_id, 'anybody')).toMatchObject({ subject: 'anybody', spent_usd: '0', remaining_usd: '0' });
    expect((await statusOf(each.limit_id)).code).toBe('not_found');
    for (const { limit_id } of [each, own]) await remove(limit_id);
  });

  test.skipIf(isMissing)('requests per minute are limited for each tag', async () => {
    const { limit_id } = (await set({ kind: 'tag', period: 'day', requests_per_minute: 2 })).body;
    const of = (tag: string) => chat({ 'x-tags': tag });
    expect([(await of('a=1')).status, (await of('a=1')).status, (await of('a=2')).status]).toEqual([200, 200, 200]);
    const refused = await of('a=1');
    expect([refused.status, refused.body.code]).toEqual([429, 'rate_limited']);
    expect(refused.body.detail).toContain('of the tag a=1 is reached');
    await remove(limit_id);
    expect((await of('a=1')).status).toBe(200);
  });

  const periods = ['hour', 'day', 'week', 'month', 'lifetime'] as const;
  const everyLimit = kinds.flatMap(([kind, subject, headers, more], at) => {
    // Its own window: what is taken of a minute is there until the minute is over.
    const period = periods[at % periods.length] ?? 'day';
    return [
      { kind, subject, headers, more, period, figure: 'requests_per_minute' },
      { kind, subject, headers, more, period, figure: 'tokens_per_minute' },
    ];
  });

  test.skipIf(isMissing).each(everyLimit)('$figure of a $kind limit it by the $period, and the refusal names it', async (one) => {
    const { limit_id } = (await set({ kind: one.kind, subject: one.subject(), period: one.period, [one.figure]: 1 })).body;
    const answers = [await chat(one.headers, one.more), await chat(one.headers, one.more)];
    const refused = answers.find(({ status }) => status !== 200);
    expect([refused?.status, refused?.body.code]).toEqual([429, 'rate_limited']);
    expect(refused?.body.detail).toContain(`of ${['account', 'member', 'key'].includes(one.kind) ? '' : 'the '}`);
    if (!['account', 'member'].includes(one.kind)) expect(refused?.body.detail).toContain(` ${one.subject()}`);
    await remove(limit_id);
  });

  test.skipIf(isMissing).each(kinds)('the cap of a %s holds in every window', async (kind, subject, headers, more) => {
    for (const period of periods) {
      const { limit_id } = (await set({ kind, subject: subject(), period, cap_usd: '0', alert_thresholds: [7, 90] })).body;
      const { status, body } = await chat(headers, more);
      expect([status, body.budget]).toMatchObject([402, { limit_source: kind, period, ...(subject() !== null && { subject: subject() }) }]);
      expect((await statusOf(limit_id)).limit.alert_thresholds).toEqual([7, 90]);
      await remove(limit_id);
    }
  });

  test.skipIf(isMissing)('a run is held on the limits of the runs above it', async () => {
    await chat({ 'x-agent-run-id': 'trip-above' });
    const { limit_id } = (await set({ kind: 'run', subject: 'trip-above', period: 'day', cap_usd: '0' })).body;
    const { body } = await chat({ 'x-agent-run-id': 'leg', 'x-agent-parent-run-id': 'trip-above' });
    expect(body.budget).toMatchObject({ limit_source: 'run', subject: 'trip-above', period: 'day' });
    await remove(limit_id);
    const only = { kind: 'run', period: 'lifetime', alert_thresholds: [80] };
    const warned = (await set(only)).body;
    expect(warned).toMatchObject({ cap_usd: null, alert_thresholds: [80] });
    expect((await set({ ...only, period: 'day' })).body.code).toBe('validation_failed');
    await remove(warned.limit_id);
  });

  test.skipIf(isMissing)('a session is under the limits of its account, too', async () => {
    const { limit_id } = (await set({ kind: 'member', subject: world.user.user_id, period: 'hour', cap_usd: '0' })).body;
    const { body } = await ask(world.server, '/v1/chat/completions', world.session, { json: CHAT });
    expect([body.code, body.budget.limit_source]).toEqual(['budget_exceeded', 'member']);
    await remove(limit_id);
  });

  test.skipIf(isMissing)('the trace of a request says of whom and what for it was', async () => {
    const { headers } = await chat({ 'x-end-user': 'ada', 'x-tags': 'b=2,a=1' });
    const id = headers.get('x-request-id');
    await vi.waitFor(
      async () => {
        const { body } = await ask(world.server, `/v1/requests/${id}`, world.session);
        expect(body).toMatchObject({ project_id: project, end_user: 'ada', tags: ['a=1', 'b=2'] });
      },
      { timeout: 30_000, interval: 20 },
    );
  });

  test.skipIf(isMissing)('metrics count requests, tokens, cost and refusals of each project apart', async () => {
    await chat();
    await chat({}, { model: 'no-such-model' });
    const text = await metrics(world.server);
    for (const name of ['requests', 'tokens', 'cost_usd'])
      expect(text).toMatch(new RegExp(`^tallygate_${name}_total\\{.*project="${project}"`, 'm'));
    expect(text).toContain(`tallygate_refusals_total{code="model_not_found",project="${project}"}`);
    await ask(world.server, '/v1/keys', {});
    expect(await metrics(world.server)).toContain('tallygate_refusals_total{code="missing_credentials",project="none"}');
    expect(text).toMatch(/^tallygate_jobs_waiting\{job="[^"]+"\} 0$/m);
  });

  test.skipIf(isMissing)('a limit of what the account does not have is refused', async () => {
    const nobody = '019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77';
    const codes = await Promise.all(
      [
        { kind: 'project', subject: nobody },
        { kind: 'member', subject: nobody },
        { kind: 'key', subject: nobody },
        { kind: 'model', subject: 'no-such-model' },
        { kind: 'tag', subject: 'not a pair' },
        { kind: 'account', subject: nobody },
      ].map(async (limit) => (await set({ ...limit, period: 'day', cap_usd: '1' })).body.code),
    );
    expect(codes).toEqual(['not_found', 'not_found', 'not_found', 'validation_failed', 'validation_failed', 'validation_failed']);
    expect((await set({ kind: 'account', period: 'day' })).body.code).toBe('validation_failed');
  });

  test.skipIf(isMissing)('windows follow the time zone of the account, and what was spent in them counts', async () => {
    const { limit_id } = (await set({ kind: 'account', period: 'day', cap_usd: '100' })).body;
    await chat();
    const spent = async () => (await statusOf(limit_id)).spent_usd;
    await vi.waitFor(async () => expect(await spent()).not.toBe('0'), { timeout: 30_000, interval: 20 });
    const utc = await statusOf(limit_id);
    const zone = await ask(world.server, '/v1/limits/time-zone', world.session, { json: { time_zone: 'Asia/Kathmandu' }, method: 'PUT' });
    expect(zone.body).toEqual({ time_zone: 'Asia/Kathmandu' });
    const there = await statusOf(limit_id);
    expect(utc.period_start).toMatch(/T00:00/);
    expect(there.period_start).toMatch(/T18:15/);
    const wrong = await ask(world.server, '/v1/limits/time-zone', world.session, { json: { time_zone: 'Nowhere/City' }, method: 'PUT' });
    expect(wrong.body.code).toBe('validation_failed');
    await remove(limit_id);
  });

  test.skipIf(isMissing)('keys of a project that is archived are refused, and it takes no new ones', async () => {
    const other = (await ask(world.server, '/v1/projects', world.session, { json: { name: 'old', external_id: 'old' } })).body;
    const again = (await ask(world.server, '/v1/projects', world.session, { json: { name: 'old', external_id: 'old' } })).body;
    expect(again).toEqual(other);
    const newKey = () =>
      ask(world.server, '/v1/keys', world.session, { json: { name: 'old', livemode: false, project_id: other.project_id } });
    const auth = { authorization: `Bearer ${(await newKey()).body.key}` };
    expect((await ask(world.server, '/v1/chat/completions', auth, { json: CHAT })).status).toBe(200);
    await ask(world.server, `/v1/projects/${other.project_id}`, world.session, { json: { archived: true }, method: 'PATCH' });
    await vi.waitFor(
      async () => expect((await ask(world.server, '/v1/chat/completions', auth, { json: CHAT })).body.code).toBe('invalid_credentials'),
      { timeout: 30_000, interval: 20 },
    );
    expect((await newKey()).body.code).toBe('conflict');
  });
});
