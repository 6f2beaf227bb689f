import { LatencyQuery, LatencyResponse } from '@tallygate/contract';
import type { Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPool } from '../../adapters/postgres/database.ts';
import { testDatabase } from '../../adapters/postgres/test-database.ts';
import { emptyArchive } from '../../archive/testing/archives.ts';
import { newId } from '../../kernel/ids.ts';
import { silentLog } from '../../kernel/log.ts';
import { latencyOf } from './latency.ts';
import { LedgerWriter } from './ledger-writer.ts';
import { MemoryFeed, sampleEntry, sampleRecord } from './sample-records.ts';
import type { SettlementRecord } from './settlement-record.ts';
import { testPages } from './testing/pages.ts';

const NOW = Date.parse('2026-11-21T10:30:00Z');
const accountId = newId();
const took = (at: string, totalMs: number, wish: Partial<SettlementRecord> = {}) => {
  const startedAt = Date.parse(`2026-11-21T${at}Z`);
  return sampleRecord({ accountId, startedAt, firstByteAt: startedAt + totalMs / 2, completedAt: startedAt + totalMs, ...wish });
};

const RECORDS = [
  // Twenty in an hour, from 100 to 2,000 ms.
  ...Array.from({ length: 20 }, (_, index) => took(`09:${String(index * 2).padStart(2, '0')}:30`, (index + 1) * 100)),
  took('10:15:00', 700, { firstByteAt: null, modelServed: 'claude-opus-4-8' }),
  // None of these is an answer that somebody waited for.
  took('10:16:00', 9_000, { outcome: 'failed', cost: '0' }),
  took('10:17:00', 9_000, { kind: 'batch_line' }),
  took('10:18:00', 9_000, { livemode: false, funding: 'test' }),
  took('10:19:00', 9_000, { accountId: newId() }),
];

let database: Awaited<ReturnType<typeof testDatabase>>;
let pool: Pool;

beforeAll(async () => {
  database = await testDatabase();
  pool = openPool({ url: database.url, log: silentLog(), poolSize: 2 });
  const feed = new MemoryFeed(RECORDS.map((record) => sampleEntry(record)));
  const onQuarantine = (_entry: unknown, error: unknown) => {
    throw error;
  };
  await new LedgerWriter({ feed, pool, archive: emptyArchive(pool), pages: testPages, log: silentLog(), onQuarantine }).drain();
});

afterAll(async () => {
  await pool?.end();
  await database?.drop();
});

async function latency(query: Record<string, string> = {}) {
  const response = await latencyOf(pool, { accountId, livemode: true }, LatencyQuery.parse(query), NOW);
  expect(LatencyResponse.parse(response)).toEqual(response);
  return response;
}

describe('latency', () => {
  test('is told by the hour, for answers that somebody waited for', async () => {
    expect(await latency()).toEqual({
      from: '2026-11-20T10:30:00.000Z',
      to: '2026-11-21T10:30:00.000Z',
      livemode: true,
      hours: [
        {
          hour: '2026-11-21T09:00:00.000Z',
          requests: 20,
          first_byte_ms: { p50: 525, p95: 952.5 },
          total_ms: { p50: 1_050, p95: 1_905 },
          overhead_ms: { p50: 0.75, p95: 0.75 },
        },
        {
          hour: '2026-11-21T10:00:00.000Z',
          requests: 1,
          first_byte_ms: null,
          total_ms: { p50: 700, p95: 700 },
          overhead_ms: { p50: 0.75, p95: 0.75 },
        },
      ],
    });
  });

  test('is of one model where it is named, and of what arrived between two moments', async () => {
    expect((await latency({ model: 'claude-opus-4-8' })).hours.map(({ requests }) => requests)).toEqual([1]);
    const { hours } = await latency({ from: '2026-11-21T09:00:30.000Z', to: '2026-11-21T09:04:30.000Z' });
    expect(hours.map(({ requests }) => requests)).toEqual([2]);
  });

  test.each([
    ['begins after it ends', { from: '2026-11-21T10:30:00.001Z' }],
    ['is longer than a week', { from: '2026-11-14T10:29:59.999Z' }],
  ])('of a time that %s is refused', async (_, query) => {
    await expect(latency(query)).rejects.toMatchObject({ code: 'validation_failed', extras: { errors: [{ loc: ['query', 'from'] }] } });
  });
});
