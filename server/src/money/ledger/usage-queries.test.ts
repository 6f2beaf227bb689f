import { RequestTrace, type UsageDimension, UsageQuery, UsageResponse, type UsageRow } from '@tallygate/contract';
import type { Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPool } from '../../adapters/postgres/database.ts';
import { testDatabase } from '../../adapters/postgres/test-database.ts';
import { emptyArchive } from '../../archive/testing/archives.ts';
import { newId, newRequestId } from '../../kernel/ids.ts';
import { silentLog } from '../../kernel/log.ts';
import { LedgerWriter } from './ledger-writer.ts';
import { requestTrace } from './request-trace.ts';
import { MemoryFeed, sampleEntry, sampleRecord } from './sample-records.ts';
import type { SettlementRecord } from './settlement-record.ts';
import { testPages } from './testing/pages.ts';
import { usageOf } from './usage-queries.ts';

const NOW = Date.parse('2026-11-21T10:00:00Z');
const [accountId, keyId, otherKeyId] = [newId(), newId(), newId()];
const tokens = (input_tokens: number, output_tokens: number) => ({
  input_tokens,
  cached_input_tokens: 1,
  cache_write_tokens: 0,
  output_tokens,
  reasoning_tokens: 0,
});
const record = (day: string, wish: Partial<SettlementRecord>) =>
  sampleRecord({ accountId, keyId, startedAt: Date.parse(`${day}T12:00:00Z`), cost: '1000', usage: tokens(10, 5), ...wish });

const PROJECT = newId();
const SEARCH = { projectId: PROJECT, endUser: 'ada', tags: ['feature=search', 'team=web'] };
const FIRST = record('2026-11-02', { runId: 'nightly', clientRequestId: 'my-request-1', ...SEARCH });
const RECORDS = [
  FIRST,
  record('2026-11-02', { modelServed: 'claude-opus-4-8', cost: '500' }),
  record('2026-11-20', { keyId: otherKeyId, runId: 'nightly', clientRequestId: 'my-request-2', endUser: 'ada', tags: ['team=web'] }),
  record('2026-11-21', { keyId: null, clientRequestId: 'my-request-2' }),
  record('2026-11-21', { outcome: 'failed', cost: '0', usage: { ...tokens(0, 0), cached_input_tokens: 0 } }),
  record('2026-10-31', { cost: '7' }),
  record('2026-11-03', { livemode: false, funding: 'test', cost: '9' }),
];

const onQuarantine = (_entry: unknown, error: unknown) => {
  throw error;
};

let database: Awaited<ReturnType<typeof testDatabase>>;
let pool: Pool;

beforeAll(async () => {
  database = await testDatabase();
  pool = openPool({ url: database.url, log: silentLog(), poolSize: 4 });
  await book(RECORDS.map((one) => sampleEntry(one, { charged: BigInt(one.cost) / 2n, covered: { requests: 1n } })));
});

const book = (entries: ReturnType<typeof sampleEntry>[]) =>
  new LedgerWriter({
    feed: new MemoryFeed(entries),
    pool,
    archive: emptyArchive(pool),
    pages: testPages,
    log: silentLog(),
    onQuarantine,
  }).drain();

afterAll(async () => {
  await pool?.end();
  await database?.drop();
});

async function usage(query: Record<string, string> = {}, scope: Parameters<typeof usageOf>[1] = { accountId, livemode: true }) {
  const response = await usageOf(pool, scope, UsageQuery.parse(query), NOW);
  expect(UsageResponse.parse(response)).toEqual(response);
  return response;
}
const sums = (requests: number, input: number, cached: number, output: number, cost: string, charged: string) => ({
  requests,
  input_tokens: input,
  cached_input_tokens: cached,
  output_tokens: output,
  input_characters: 0,
  audio_seconds: 0,
  video_seconds: 0,
  images: 0,
  cost_usd: cost,
  charged_usd: charged,
});

test.each([
  ['a month', {}],
  ['a run', { run_id: 'nightly' }],
])('usage of %s by project shows those that a developer sees, and adds up to them', async (_what, query) => {
  const seen = await usage(
    { group_by: 'project', ...query },
    { accountId, livemode: true, seen: { userId: newId(), projects: [PROJECT] } },
  );
  expect(seen.items).toMatchObject([{ project_id: PROJECT, cost_usd: '0.000001', requests: 1 }]);
  expect(seen.total).toMatchObject({ cost_usd: '0.000001', requests: 1 });
  const none = await usage({ group_by: 'project', ...query }, { accountId, livemode: true, seen: { userId: newId(), projects: [] } });
  expect([none.items, none.total.requests]).toEqual([[], 0]);
});

describe('usage by project, member, provider, end user, tag and outcome', () => {
  const costs = async (group_by: string, more: Record<string, string> = {}) => {
    const { items, total } = await usage({ group_by, ...more });
    const named = items.map((item) => [Object.entries(item).find(([name]) => !(name in total))?.[1] ?? null, item.cost_usd, item.requests]);
    return { named, total };
  };

  test.each([
    [
      'project',
      [
        [PROJECT, '0.000001', 1],
        [null, '0.0000025', 3],
      ],
    ],
    [
      'end_user',
      [
        ['ada', '0.000002', 2],
        [null, '0.0000015', 2],
      ],
    ],
    ['provider', [['openai', '0.0000035', 4]]],
    [
      'outcome',
      [
        ['completed', '0.0000035', 4],
        ['failed', '0', 0],
      ],
    ],
    [
      'tag',
      [
        ['feature=search', '0.000001', 1],
        ['team=web', '0.000002', 2],
        [null, '0.0000015', 2],
      ],
    ],
  ])('is summed by %s, and in all to what the days have', async (group_by, named) => {
    const by = await costs(group_by);
    expect(by.named).toEqual(named);
    expect(by.total).toEqual((await usage()).total);
  });

  test.each(['member', 'project', 'provider', 'outcome', 'end_user', 'tag'])(
    'is read from the sums by day by %s, not from the requests',
    async (group_by) => {
      const asked: string[] = [];
      const query = (text: string, values: unknown[]) => {
        asked.push(text);
        return pool.query(text, values);
      };
      const listening = new Proxy(pool, { get: (target, name) => (name === 'query' ? query : Reflect.get(target, name, target)) });
      await usageOf(listening, { accountId, livemode: true }, UsageQuery.parse({ group_by }), NOW);
      expect(asked.join()).not.toMatch(/usage_records|standing_usage/);
    },
  );

  test('is filtered like every other', async () => {
    const by = await costs('end_user', { key_id: otherKeyId });
    expect(by.named).toEqual([['ada', '0.000001', 1]]);
    expect(by.total).toEqual((await usage({ key_id: otherKeyId })).total);
    expect((await costs('tag', { run_id: 'nightly' })).total).toEqual((await usage({ run_id: 'nightly' })).total);
  });
});

describe('usage', () => {
  test('is that of the current month by day, unless something else is asked for', async () => {
    expect(await usage()).toEqual({
      from: '2026-11-01',
      to: '2026-11-21',
      time_zone: 'UTC',
      livemode: true,
      group_by: [],
      per: 'day',
      items: [
        { day: '2026-11-02', ...sums(2, 20, 2, 10, '0.0000015', '0.00000075') },
        { day: '2026-11-20', ...sums(1, 10, 1, 5, '0.000001', '0.0000005') },
        { day: '2026-11-21', ...sums(1, 10, 1, 5, '0.000001', '0.0000005') },
      ],
      omitted_groups: 0,
      total: sums(4, 40, 4, 20, '0.0000035', '0.00000175'),
    });
  });

  test('by model', async () => {
    expect((await usage({ group_by: 'model' })).items).toEqual([
      { model: 'claude-opus-4-8', ...sums(1, 10, 1, 5, '0.0000005', '0.00000025') },
      { model: 'gpt-5.4-nano', ...sums(3, 30, 3, 15, '0.000003', '0.0000015') },
    ]);
  });

  test('by key, with null for sessions', async () => {
    const items = (await usage({ group_by: 'key' })).items.map(({ key_id, requests }) => [key_id, requests]);
    expect(new Map(items.map(([id, requests]) => [id, requests]))).toEqual(
      new Map<unknown, unknown>([
        [null, 1],
        [keyId, 2],
        [otherKeyId, 1],
      ]),
    );
  });

  test('by run, with null for what is outside runs', async () => {
    const items = (await usage({ group_by: 'run' })).items.map(({ run_id, requests }) => [run_id, requests]);
    expect(items).toEqual([
      ['nightly', 2],
      [null, 2],
    ]);
  });

  test('lists the thousand groups of the highest cost, and says how many more there are', async () => {
    const many = { accountId: newId(), livemode: true };
    const runs = Array.from({ length: 1003 }, (_, at) => `run-${String(at + 1).padStart(4, '0')}`);
    await book(
      runs.map((runId, at) => sampleEntry(record('2026-11-02', { accountId: many.accountId, runId, cost: String((at + 1) * 1_000) }))),
    );
    const { items, omitted_groups, total } = await usage({ group_by: 'run' }, many);
    expect([items.length, omitted_groups, total.requests, total.cost_usd]).toEqual([1_000, 3, 1_003, '0.503506']);
    expect([items.at(0)?.run_id, items.at(-1)?.run_id]).toEqual(['run-0004', 'run-1003']);
  });

  test.each(['', 'run', 'outcome', 'project,tag', 'end_user,tag'])(
    'by %s adds up to its total while requests are settled',
    async (group_by) => {
      const busy = { accountId: newId(), livemode: true };
      let settled: Promise<unknown> = Promise.resolve();
      const query = (text: string, values: unknown[]) => {
        settled = settled
          .then(() => book([sampleEntry(record('2026-11-20', { accountId: busy.accountId, runId: 'nightly' }))]))
          .then(() => pool.query(text, values));
        return settled;
      };
      const whileSettling = new Proxy(pool, { get: (target, name) => (name === 'query' ? query : Reflect.get(target, name, target)) });
      const { items, total } = await usageOf(whileSettling, busy, UsageQuery.parse(group_by === '' ? {} : { group_by }), NOW);
      expect(total.requests).toBeGreaterThan(0);
      expect(items.reduce((sum, { requests }) => sum + requests, 0)).toBe(total.requests);
    },
  );

  test('is the same in total, however it is grouped', async () => {
    const groups = ['model', 'key', 'run', 'project', 'member', 'provider', 'end_user', 'tag', 'outcome'];
    const totals = await Promise.all(groups.map(async (group_by) => (await usage({ group_by })).total));
    for (const total of totals) expect(total).toEqual(totals[0]);
  });

  test('between two days has both, and nothing else', async () => {
    expect((await usage({ from: '2026-10-31', to: '2026-11-02' })).items.map(({ day }) => day)).toEqual(['2026-10-31', '2026-11-02']);
    expect((await usage({ from: '2026-11-03', to: '2026-11-19' })).items).toEqual([]);
    expect((await usage({ from: '2026-11-03', to: '2026-11-19' })).total).toEqual(sums(0, 0, 0, 0, '0', '0'));
  });

  test('of a model, a key or a run alone, and of all three together', async () => {
    const requests = async (query: Record<string, string>) => (await usage(query)).total.requests;
    expect(await requests({ model: 'claude-opus-4-8' })).toBe(1);
    expect(await requests({ key_id: keyId })).toBe(2);
    expect(await requests({ run_id: 'nightly' })).toBe(2);
    expect(await requests({ run_id: 'nightly', key_id: otherKeyId, model: 'gpt-5.4-nano' })).toBe(1);
    expect(await requests({ run_id: "'or(true)--" })).toBe(0);
  });

  test('in test mode stands apart: seen by test keys, or by whoever asks for it', async () => {
    const testUsage = { livemode: false, total: sums(1, 10, 1, 5, '0.000000009', '0') };
    expect(await usage({}, { accountId, livemode: false })).toMatchObject(testUsage);
    expect(await usage({ livemode: 'false' })).toMatchObject(testUsage);
    expect(await usage({ livemode: 'false', group_by: 'run' })).toMatchObject(testUsage);
    expect((await usage({ livemode: 'true' }, { accountId, livemode: false })).total.requests).toBe(4);
  });

  test.each(['model', 'key', 'run', 'end_user,tag'])(
    'of another account shows nothing by %s, although the key and the run are named',
    async (group_by) => {
      const stranger = { accountId: newId(), livemode: true };
      expect((await usage({ group_by }, stranger)).items).toEqual([]);
      expect((await usage({ group_by, key_id: keyId, run_id: 'nightly' }, stranger)).items).toEqual([]);
    },
  );

  test('of the year 0, which calendars do not have, is refused', () => {
    const { error } = UsageQuery.safeParse({ from: '0000-01-01', to: '0000-12-31' });
    expect(error?.issues.map(({ path }) => path)).toEqual([['from'], ['to']]);
    expect(UsageQuery.parse({ from: '0001-01-01', to: '9999-12-31' })).toBeDefined();
  });

  test('from a day after `to` is refused', async () => {
    await expect(usage({ from: '2026-11-22' })).rejects.toMatchObject({ code: 'validation_failed', extras: { param: 'from' } });
  });
});

describe('usage by two groups', () => {
  const zoned = newId();
  const hours = ['2026-10-24T21:50', '2026-10-25T00:20', '2026-10-25T01:20', '2026-10-25T22:40', '2026-11-01T18:29', '2026-11-01T18:31'];
  const tagsOf = [[], ['feature=search'], ['feature=search', 'team=web']];
  const SETTLED = hours.flatMap((hour, at) =>
    tagsOf.map((tags, which) =>
      sampleRecord({
        ...{
          accountId: zoned,
          startedAt: Date.parse(`${hour}:00Z`),
          cost: String(10 ** which * (at + 1)),
          keyId: at % 2 ? keyId : otherKeyId,
        },
        ...{ runId: which === 1 ? 'nightly' : null, provider: at % 3 ? 'openai' : 'groq', modelServed: `m${which}`, tags },
        ...{
          outcome: at === 5 ? 'cancelled' : 'completed',
          ...(which > 0 && { projectId: PROJECT }),
          ...(at > 2 && { endUser: `user-${at}` }),
        },
      }),
    ),
  );
  const OF: Record<UsageDimension, (record: SettlementRecord) => readonly (string | null)[]> = {
    account: ({ accountId: id }) => [id],
    project: ({ projectId }) => [projectId ?? null],
    member: ({ userId }) => [userId ?? null],
    key: ({ keyId: id }) => [id],
    model: ({ modelServed }) => [modelServed],
    provider: ({ provider }) => [provider],
    tag: ({ tags = [] }) => (tags.length > 0 ? tags : [null]),
    end_user: ({ endUser }) => [endUser ?? null],
    run: ({ runId }) => [runId],
    outcome: ({ outcome }) => [outcome],
  };
  const FIELD: Record<UsageDimension, keyof UsageRow | 'account_id'> = {
    ...{ account: 'account_id', project: 'project_id', member: 'user_id', key: 'key_id', model: 'model', provider: 'provider', tag: 'tag' },
    ...{ end_user: 'end_user', run: 'run_id', outcome: 'outcome' },
  };
  const NAMES = Object.keys(OF).filter((name): name is UsageDimension => name in OF);
  const PAIRS = NAMES.flatMap((a, at) => [[a], ...NAMES.slice(at + 1).map((b) => [a, b])]);

  beforeAll(async () => {
    await pool.query(`insert into accounts (id, name, created_at) values ($1, 'Zoned', now())`, [zoned]);
    await book(SETTLED.map((one) => sampleEntry(one)));
  });

  /** Where the clocks of the zone are, by Intl and not by PostgreSQL. */
  function periodOf({ startedAt }: SettlementRecord, zone: string, per: string): string | null {
    if (per === '') return null;
    const style = { timeZone: zone, hourCycle: 'h23', year: 'numeric', month: '2-digit', day: '2-digit', minute: '2-digit' } as const;
    const parts = Object.fromEntries(new Intl.DateTimeFormat('en', style).formatToParts(startedAt).map(({ type, value }) => [type, value]));
    if (per === 'day') return `${parts['year']}-${parts['month']}-${parts['day']}`;
    return new Date(startedAt - Number(parts['minute']) * 60_000).toISOString();
  }

  function expected(groups: readonly UsageDimension[], zone: string, per: string): Map<string, bigint> {
    const sums = new Map<string, bigint>();
    for (const record of SETTLED) {
      const names = groups.reduce<(string | null)[][]>(
        (all, group) => all.flatMap((before) => OF[group](record).map((name) => [...before, name])),
        [[]],
      );
      for (const name of names) {
        const key = JSON.stringify([periodOf(record, zone, per), ...name]);
        sums.set(key, (sums.get(key) ?? 0n) + BigInt(record.cost));
      }
    }
    return sums;
  }

  const nano = (usd: string): bigint => BigInt(Math.round(Number(usd) * 1e9));
  const named = (groups: readonly UsageDimension[], row: UsageRow & { account_id?: string | undefined }) =>
    JSON.stringify([row.day ?? row.hour ?? null, ...groups.map((group) => row[FIELD[group]])]);

  test.each([
    ...['UTC', 'Asia/Kathmandu'].flatMap((zone) => ['', 'day', 'hour'].map((per) => [zone, per] as const)),
    ...['Europe/Berlin', 'America/Los_Angeles', 'Atlantic/Azores'].flatMap((zone) => ['day', 'hour'].map((per) => [zone, per] as const)),
  ])('are all pairs of them the sums of the requests, in %s and by the period “%s”', async (zone, per) => {
    await pool.query('update accounts set time_zone = $2 where id = $1', [zoned, zone]);
    const range = { from: '2026-10-20', to: '2026-11-10', ...(per !== '' && { per: per as 'day' | 'hour' }) };
    for (const groups of PAIRS) {
      const query = { ...range, group_by: groups.join() };
      const { items, total } = await usageOf(pool, { accountId: zoned, livemode: true }, query, NOW);
      const found = new Map(items.map((row) => [named(groups, row), nano(row.cost_usd)]));
      expect(found, query.group_by).toEqual(expected(groups, zone, per));
      expect(nano(total.cost_usd), query.group_by).toBe(SETTLED.reduce((sum, { cost }) => sum + BigInt(cost), 0n));
    }
  });

  test('leaves out what another day of the time zone has', async () => {
    await pool.query(`update accounts set time_zone = 'Asia/Kolkata' where id = $1`, [zoned]);
    const last = SETTLED.at(-1)?.startedAt ?? 0;
    const evening = Date.parse('2026-11-15T20:00:00Z');
    expect(last).toBeLessThan(evening);
    await book([sampleEntry(sampleRecord({ accountId: zoned, startedAt: evening, cost: '3', modelServed: 'late' }))]);
    const ask = async (day: string) =>
      (await usageOf(pool, { accountId: zoned, livemode: true }, { from: day, to: day, group_by: 'model' }, NOW)).items;
    expect(await ask('2026-11-15')).toEqual([]);
    expect(await ask('2026-11-16')).toMatchObject([{ model: 'late', requests: 1 }]);
  });

  test('begins and ends with the days of the time zone', async () => {
    await pool.query(`update accounts set time_zone = 'Asia/Kolkata' where id = $1`, [zoned]);
    const day = { from: '2026-11-02', to: '2026-11-02' };
    const ask = async (more: object) =>
      (await usageOf(pool, { accountId: zoned, livemode: true }, { ...day, ...more }, NOW)).total.requests;
    expect([await ask({}), await ask({ group_by: 'end_user,tag' })]).toEqual([3, 3]);
  });

  test('is answered of any days, and of months whose requests are archived', async () => {
    const ask = (query: object) => usageOf(pool, { accountId: zoned, livemode: true }, query, NOW);
    const long = { from: '2020-10-01', to: '2026-11-10' };
    await pool.query(`insert into archived_months values ('usage_records', '2026-10', 1, now())`);
    for (const query of [{ group_by: 'end_user,tag' }, { group_by: 'run', per: 'hour' as const }])
      expect((await ask({ ...long, ...query })).total.requests).toBe(SETTLED.length);
    await pool.query('delete from archived_months');
  });

  test('of all accounts is for operators, in UTC, and of one account as that account sees it', async () => {
    const operator = { accountId: undefined, livemode: true };
    const all = await usageOf(pool, operator, { from: '2026-10-24', group_by: 'account,model' }, NOW);
    expect(all.time_zone).toBe('UTC');
    expect(new Set(all.items.map(({ account_id }) => account_id)).size).toBeGreaterThan(1);
    const one = { from: '2026-10-24', group_by: 'project,tag' };
    const ofOne = await usageOf(pool, operator, { ...one, account_id: zoned }, NOW);
    expect(ofOne).toEqual(await usageOf(pool, { accountId: zoned, livemode: true }, one, NOW));
  });
});

describe('the trace of a request', () => {
  test('says what happened, as the contract has it', async () => {
    const trace = await requestTrace(pool, emptyArchive(pool), { accountId }, FIRST.requestId);
    expect(RequestTrace.parse(trace)).toEqual(trace);
    expect(trace).toMatchObject({
      request_id: FIRST.requestId,
      receipt_id: FIRST.receiptId,
      run_id: 'nightly',
      attempts: FIRST.attempts,
      usage: FIRST.usage,
      held_usd: '0.0000001',
      cost_usd: '0.000001',
      charged_usd: '0.0000005',
      started_at: '2026-11-02T12:00:00.000Z',
      first_byte_at: '2026-11-02T12:00:00.300Z',
      overhead_ms: 0.75,
    });
  });

  test('is found by the id that the caller sent, the newest where it was sent twice', async () => {
    expect((await requestTrace(pool, emptyArchive(pool), { accountId }, 'my-request-1')).request_id).toBe(FIRST.requestId);
    expect((await requestTrace(pool, emptyArchive(pool), { accountId }, 'my-request-2')).started_at).toBe('2026-11-21T12:00:00.000Z');
  });

  test('of another account is answered exactly as a missing one', async () => {
    const foreign = await requestTrace(pool, emptyArchive(pool), { accountId: newId() }, FIRST.requestId).catch((error: unknown) => error);
    const missing = await requestTrace(pool, emptyArchive(pool), { accountId }, newRequestId()).catch((error: unknown) => error);
    expect(foreign).toMatchObject({ code: 'not_found' });
    expect(foreign).toEqual(missing);
  });
});
