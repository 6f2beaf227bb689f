import type { Pool } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openPool } from '../../adapters/postgres/database.ts';
import { testDatabase } from '../../adapters/postgres/test-database.ts';
import { emptyArchive } from '../../archive/testing/archives.ts';
import { type Log, silentLog } from '../../kernel/log.ts';
import { type OwnKeys, publishOwnKeys } from '../own-keys.ts';
import { packed } from '../packed-receipt.ts';
import { newSigningSeed, signingKeyFromSeed } from '../signing-keys.ts';
import { keptInMemory, storeReceipts } from '../testing/receipts.ts';
import { appendAll } from './append.ts';
import { auditLog, READING_MS } from './audit-log.ts';

const NOW = Date.parse('2026-11-21T10:00:00Z');
const FOREVER = new AbortController().signal;
const [key, logKey] = [signingKeyFromSeed(newSigningSeed()), signingKeyFromSeed(newSigningSeed())];
const OWN: OwnKeys = { receipt: [key], checkpoint: [logKey] };
const COUNT = 1_024;
let database: Awaited<ReturnType<typeof testDatabase>>;
let pool: Pool;

beforeAll(async () => {
  database = await testDatabase();
  pool = openPool({ url: database.url, log: silentLog(), poolSize: 4 });
  await publishOwnKeys(pool, OWN, NOW);
  const wishes = Array.from({ length: COUNT }, () => ({ completedAt: NOW }));
  await storeReceipts(pool, logKey, wishes);
  await appendAll({ pool, keys: [logKey], kept: keptInMemory(), clock: { now: () => NOW }, log: silentLog() }, FOREVER);
  const { rows } = await pool.query<{ receipt_id: string; payload: string }>('select receipt_id, payload from receipts');
  const bytes = rows.map(({ payload }) => packed(JSON.parse(payload), { key_id: null }));
  await pool.query(
    `update receipts set packed = made.packed, payload = null
     from (select unnest($1::uuid[]) as receipt_id, unnest($2::bytea[]) as packed) made where receipts.receipt_id = made.receipt_id`,
    [rows.map(({ receipt_id }) => receipt_id), bytes],
  );
});
beforeEach(async () => {
  await pool.query('truncate receipt_log_stops, own_records');
  await pool.query('update receipt_log_audit set next_index = 0, new_index = 0, found = 0, last_found = 0');
});
afterAll(async () => {
  await pool?.end();
  await database?.drop();
});

async function audit(): Promise<string[]> {
  const faults: string[] = [];
  const log = { ...silentLog(), fatal: () => {}, error: ({ fault }: { fault: string }) => void faults.push(fault) } as unknown as Log;
  await auditLog({ pool, archive: emptyArchive(pool), own: OWN, clock: { now: () => NOW }, log, share: 1, onFound: () => {} }, FOREVER);
  return faults.filter((fault) => fault.includes('receipt '));
}

/** Of an entry: a fifth of a core for 2,000 a second. */
const MOST_MICROSECONDS = 100;
const MOST_ATTEMPTS = 5;

describe('the audit of packed receipts', () => {
  test('takes so little of its thread that a fifth of a core keeps up with 2,000 entries a second', async () => {
    let least = Number.POSITIVE_INFINITY;
    // Other work on the machine makes an attempt dearer, and never cheaper.
    for (let attempt = 0; attempt < MOST_ATTEMPTS && least >= MOST_MICROSECONDS; attempt++) {
      const before = process.threadCpuUsage();
      expect(await audit()).toEqual([]);
      const { user, system } = process.threadCpuUsage(before);
      // The run goes through all of it twice: what is new, and again from the beginning. It rests for the reading beside that.
      least = Math.min(least, (user + system) / (2 * COUNT) + READING_MS * 1_000);
    }
    expect(least).toBeLessThan(MOST_MICROSECONDS);
  });

  test.each([
    ['account', "account_id = '019aa2f1-c2d3-7b6e-8c4d-000000000001'"],
    ['request', "request_id = 'req_of_another'"],
    ['mode', 'livemode = not livemode'],
    ['kind', "kind = 'refund'"],
    ['model', "model = 'dearer'"],
    ['run', "run_id = 'a'"],
    ['time', "started_at = started_at - interval '1 hour'"],
    ['number', 'account_sequence = account_sequence + 1'],
    ['packed bytes', 'packed = set_byte(packed, 60, (get_byte(packed, 60) + 1) % 256)'],
  ])('finds an altered %s: its digest is not that of its payload', async (_, change) => {
    const { rows } = await pool.query('select * from receipts where log_index = 7');
    await pool.query(`update receipts set ${change} where log_index = 7`);
    const faults = await audit();
    await pool.query('delete from receipts where log_index = 7');
    await pool.query('insert into receipts select * from json_populate_record(null::receipts, $1)', [
      JSON.stringify(
        { ...rows[0], packed: hex(rows[0].packed), digest: hex(rows[0].digest), seal: rows[0].seal && hex(rows[0].seal) },
        (_name, value) => (typeof value === 'bigint' ? value.toString() : value),
      ),
    ]);
    expect(faults).toEqual([`the digest of receipt ${rows[0].receipt_id} is not that of its payload`]);
  });
});

const hex = (bytes: Buffer): string => `\\x${bytes.toString('hex')}`;
