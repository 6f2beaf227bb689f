import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPool } from '../adapters/postgres/database.ts';
import { testDatabase } from '../adapters/postgres/test-database.ts';
import { silentLog } from '../kernel/log.ts';
import { expectTurns } from '../kernel/testing/event-loop.ts';
import { createIdempotency, type Idempotency, type IdempotentRequest, type IdempotentRun } from './idempotency.ts';

const HOUR_MS = 3_600_000;
let database: Awaited<ReturnType<typeof testDatabase>>;
let pool: ReturnType<typeof openPool>;
let idempotency: Idempotency;
let nowMs = Date.UTC(2026, 10, 21);
let serial = 0;

beforeAll(async () => {
  database = await testDatabase();
  pool = openPool({ url: database.url, log: silentLog(), poolSize: 10 });
  idempotency = createIdempotency({ pool, clock: { now: () => nowMs }, log: silentLog() });
});

afterAll(async () => {
  idempotency?.close();
  await pool?.end();
  await database?.drop();
});

const request = (over: Partial<IdempotentRequest> = {}): IdempotentRequest => ({
  scope: 'account-1',
  key: `key-${++serial}`,
  method: 'POST',
  path: '/v1/keys',
  body: Buffer.from('{"name":"a"}'),
  ...over,
});

const answer = (status = 201) => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: Buffer.from('{"key":"tg_live_secret"}'),
});

async function begun(given: IdempotentRequest): Promise<IdempotentRun> {
  const outcome = await idempotency.begin(given);
  if (outcome.kind === 'replay') throw new Error('expected a run');
  return outcome;
}

describe('idempotency', () => {
  test('replays the first answer, status, headers and bytes', async () => {
    const given = request();
    await (await begun(given)).complete(answer());
    expect(await idempotency.begin(given)).toEqual({ kind: 'replay', answer: answer() });
  });

  test('of a body of 50 MiB holds the event loop for 50 ms and takes 8 times its size at most', async () => {
    const body = Buffer.alloc(50 * 1024 * 1024, 'x');
    await expectTurns('a body with a key', body.length, async () => (await begun(request({ body }))).abandon());
  });

  test('of fifty concurrent requests one runs, and the others get a retryable error', async () => {
    const given = request();
    const outcomes = await Promise.allSettled(Array.from({ length: 50 }, () => idempotency.begin(given)));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const outcome of outcomes)
      if (outcome.status === 'rejected')
        expect(outcome.reason).toMatchObject({ code: 'idempotency_in_progress', extras: { retryAfterSeconds: 1 } });
  });

  test.each([
    ['body', { body: Buffer.from('{"name":"b"}') }],
    ['path', { path: '/v1/users' }],
    ['method', { method: 'PATCH' }],
  ])('refuses the same key with another %s, while running and afterwards', async (_what, over) => {
    const given = request();
    const run = await begun(given);
    await expect(idempotency.begin({ ...given, ...over })).rejects.toMatchObject({ code: 'idempotency_conflict' });
    await run.complete(answer());
    await expect(idempotency.begin({ ...given, ...over })).rejects.toMatchObject({ code: 'idempotency_conflict' });
  });

  test('two callers may use the same key', async () => {
    const given = request();
    await (await begun(given)).complete(answer());
    expect((await idempotency.begin({ ...given, scope: 'account-2' })).kind).toBe('run');
  });

  test.each([500, 503, 401, 429])('an answer %i frees the key', async (status) => {
    const given = request();
    await (await begun(given)).complete(answer(status));
    expect((await idempotency.begin(given)).kind).toBe('run');
  });

  test.each([400, 402, 404, 409])('an answer %i is stored', async (status) => {
    const given = request();
    await (await begun(given)).complete(answer(status));
    expect(await idempotency.begin(given)).toMatchObject({ kind: 'replay', answer: { status } });
  });

  test('a run whose process died may be taken over after its lease, by the same request only', async () => {
    const given = request();
    const dead = await begun(given);
    nowMs += 59_999;
    await expect(idempotency.begin(given)).rejects.toMatchObject({ code: 'idempotency_in_progress' });
    nowMs += 1;
    await expect(idempotency.begin({ ...given, path: '/other' })).rejects.toMatchObject({ code: 'idempotency_conflict' });
    const heir = await begun(given);
    await dead.complete(answer(200));
    await expect(idempotency.begin(given)).rejects.toMatchObject({ code: 'idempotency_in_progress' });
    await heir.complete(answer(201));
    expect(await idempotency.begin(given)).toMatchObject({ answer: { status: 201 } });
  });

  test('forgets after a day', async () => {
    const given = request();
    await (await begun(given)).complete(answer());
    nowMs += 24 * HOUR_MS - 1;
    expect((await idempotency.begin(given)).kind).toBe('replay');
    nowMs += 1;
    expect((await idempotency.begin({ ...given, path: '/v1/users' })).kind).toBe('run');
  });

  test('sweeping deletes what is older than a day', async () => {
    await (await begun(request())).complete(answer());
    nowMs += 25 * HOUR_MS;
    await idempotency.sweep();
    expect((await pool.query('select count(*)::int as n from idempotency_keys')).rows).toEqual([{ n: 0 }]);
  });

  test('neither the key nor the answer is stored in the clear', async () => {
    const given = request({ key: 'a-very-private-key' });
    await (await begun(given)).complete(answer());
    const { rows } = await pool.query(
      `select string_agg(convert_from(decode(replace(encode(t.answer, 'hex') || encode(t.key_hash, 'hex'), '00', ''), 'hex'), 'LATIN1'), '') as dump from idempotency_keys t`,
    );
    const [row] = rows;
    expect(row?.dump).not.toContain('tg_live');
    expect(row?.dump).not.toContain('private');
  });
});
