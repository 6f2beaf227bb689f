import { RequestTrace, UsageQuery, UsageResponse } from '@tallygate/contract';
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

async function usage(query: Record<string, string> = {}, scope = { accountId, livemode: true }) {
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
      livemode: true,
      group_by: 'day',
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
    await pool.query(
      `insert into usage_runs_daily select $1, true, '2026-11-02', 'run-' || lpad(n::text, 4, '0'), $1, 'm', 1, 0, 0, 0, n * 1000, 0, 0, 0, 0, 0
       from generate_series(1, 1003) n`,
      [many.accountId],
    );
    await pool.query(
      `insert into usage_labels_daily values ($1, true, 'any_run', '2026-11-02', '', $1, 'm', 1003, 0, 0, 0, 503506000, 0, 0, 0, 0, 0)`,
      [many.accountId],
    );
    await pool.query(
      `insert into usage_daily (account_id, livemode, day, key_id, model, requests, input_tokens, cached_input_tokens, output_tokens, cost_nano,
         charged_nano, covered_requests, covered_tokens) values ($1, true, '2026-11-02', $1, 'm', 1003, 0, 0, 0, 503506000, 0, 0, 0)`,
      [many.accountId],
    );
    const { items, omitted_groups, total } = await usage({ group_by: 'run' }, many);
    expect([items.length, omitted_groups, total.requests, total.cost_usd]).toEqual([1_000, 3, 1_003, '0.503506']);
    expect([items.at(0)?.run_id, items.at(-1)?.run_id]).toEqual(['run-0004', 'run-1003']);
  });

  test.each(['day', 'run', 'outcome'])('by %s adds up to its total while requests are settled', async (group_by) => {
    const busy = { accountId: newId(), livemode: true };
    let settled: Promise<unknown> = Promise.resolve();
    const query = (text: string, values: unknown[]) => {
      settled = settled
        .then(() => book([sampleEntry(record('2026-11-20', { accountId: busy.accountId, runId: 'nightly' }))]))
        .then(() => pool.query(text, values));
      return settled;
    };
    const whileSettling = new Proxy(pool, { get: (target, name) => (name === 'query' ? query : Reflect.get(target, name, target)) });
    const { items, total } = await usageOf(whileSettling, busy, UsageQuery.parse({ group_by }), NOW);
    expect(total.requests).toBeGreaterThan(0);
    expect(items.reduce((sum, { requests }) => sum + requests, 0)).toBe(total.requests);
  });

  test('is the same in total, however it is grouped', async () => {
    const groups = ['day', 'model', 'key', 'run', 'project', 'member', 'provider', 'end_user', 'tag', 'outcome'];
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

  test.each(['day', 'model', 'key', 'run'])(
    'of another account shows nothing by %s, although the key and the run are named',
    async (group_by) => {
      const stranger = { accountId: newId(), livemode: true };
      expect((await usage({ group_by }, stranger)).items).toEqual([]);
      expect((await usage({ group_by, key_id: keyId, run_id: 'nightly' }, stranger)).items).toEqual([]);
    },
  );

  test('from a day after `to` is refused', async () => {
    await expect(usage({ from: '2026-11-22' })).rejects.toMatchObject({ code: 'validation_failed', extras: { param: 'from' } });
  });
});

describe('the trace of a request', () => {
  test('says what happened, as the contract has it', async () => {
    const trace = await requestTrace(pool, emptyArchive(pool), accountId, FIRST.requestId);
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
    expect((await requestTrace(pool, emptyArchive(pool), accountId, 'my-request-1')).request_id).toBe(FIRST.requestId);
    expect((await requestTrace(pool, emptyArchive(pool), accountId, 'my-request-2')).started_at).toBe('2026-11-21T12:00:00.000Z');
  });

  test('of another account is answered exactly as a missing one', async () => {
    const foreign = await requestTrace(pool, emptyArchive(pool), newId(), FIRST.requestId).catch((error: unknown) => error);
    const missing = await requestTrace(pool, emptyArchive(pool), accountId, newRequestId()).catch((error: unknown) => error);
    expect(foreign).toMatchObject({ code: 'not_found' });
    expect(foreign).toEqual(missing);
  });
});
