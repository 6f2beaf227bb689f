import type { Pool } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openPool } from '../../adapters/postgres/database.ts';
import { testDatabase } from '../../adapters/postgres/test-database.ts';
import { type Log, silentLog } from '../../kernel/log.ts';
import { storeReceipts } from '../receipts-under-test.ts';
import { newSigningSeed, publishSigningKeys, signingKeyFromSeed } from '../signing-keys.ts';
import { appendAll } from './append.ts';
import { auditLog } from './audit-log.ts';

const NOW = Date.parse('2026-11-21T10:00:00Z');
const FOREVER = new AbortController().signal;
const [key, logKey] = [signingKeyFromSeed(newSigningSeed()), signingKeyFromSeed(newSigningSeed())];
let database: Awaited<ReturnType<typeof testDatabase>>;
let pool: Pool;

beforeAll(async () => {
  database = await testDatabase();
  pool = openPool({ url: database.url, log: silentLog(), poolSize: 4 });
});
beforeEach(async () => {
  await pool.query('truncate receipts, receipt_log_nodes, receipt_log_checkpoints, signing_keys');
  await pool.query('update receipt_log set size = 0');
  await pool.query('update receipt_log_audit set next_index = 0, found = 0, last_found = 0');
  await publishSigningKeys(pool, [key], NOW);
  await publishSigningKeys(pool, [logKey], NOW, 'checkpoint');
});
afterAll(async () => {
  await pool?.end();
  await database?.drop();
});

async function grow(count: number): Promise<void> {
  await storeReceipts(
    pool,
    key,
    Array.from({ length: count }, () => ({ completedAt: NOW })),
  );
  await appendAll({ pool, keys: [logKey], clock: { now: () => NOW } }, FOREVER);
}

/** One run, with what it says at the level of errors. */
async function audit(): Promise<{ faults: string[]; alarm: number }> {
  const faults: string[] = [];
  let alarm = -1;
  const log = { ...silentLog(), error: ({ fault }: { fault: string }) => void faults.push(fault) } as unknown as Log;
  await auditLog(
    {
      pool,
      log,
      onFound: (count) => {
        alarm = count;
      },
    },
    FOREVER,
  );
  return { faults, alarm };
}

test('finds nothing in a log that is as it was signed, however it grew, pass after pass', async () => {
  expect(await audit()).toEqual({ faults: [], alarm: 0 });
  for (const count of [1, 1, 5, 250, 300]) {
    await grow(count);
    expect(await audit()).toEqual({ faults: [], alarm: 0 });
    expect(await audit()).toEqual({ faults: [], alarm: 0 });
  }
});

describe('raises an alarm within a pass, and lowers it once a whole pass is clean again', () => {
  test.each([
    ['the payload of a receipt', `update receipts set payload = replace(payload, '"m"', '"n"') where log_index = 3`, 'digest of receipt'],
    [
      'its digest with it',
      `update receipts set payload = 'x', digest = sha256(E'tallygate-receipt/v1\\nx'::bytea) where log_index = 3`,
      'signature of receipt',
    ],
    ['its signature', `update receipts set signature = digest || digest where log_index = 3`, 'signature of receipt'],
    ['the key that it names', `update receipts set kid = 'nobody' where log_index = 3`, 'never published'],
    ['the receipt itself', 'delete from receipts where log_index = 3', 'entry 3 has no receipt'],
    ['a leaf', `update receipt_log_nodes set hash = sha256('x') where level = 0 and index = 3`, 'node 0/3'],
    ['an inner node', `update receipt_log_nodes set hash = sha256('x') where level = 2 and index = 1`, 'node 2/1'],
    ['a node that is gone', 'delete from receipt_log_nodes where level = 3 and index = 0', 'node 3/0'],
    ['the root of a checkpoint', `update receipt_log_checkpoints set root = sha256('x') where size = 7`, 'checkpoint of 7 entries'],
    [
      'the note of a checkpoint',
      `update receipt_log_checkpoints set note = replace(note, E'\\n7\\n', E'\\n8\\n') where size = 7`,
      'checkpoint of 7',
    ],
    [
      'the signature of a checkpoint',
      `update receipt_log_checkpoints set note = (select note from receipt_log_checkpoints where size = 13) where size = 7`,
      'checkpoint of 7 entries is not signed',
    ],
    ['whose a receipt is', `update receipts set account_id = gen_random_uuid() where log_index = 3`, 'listed otherwise'],
    ['in which month it is', `update receipts set started_at = started_at - interval '1 month' where log_index = 3`, 'listed otherwise'],
    ['whether it is live', 'update receipts set livemode = not livemode where log_index = 3', 'listed otherwise'],
    ['its kind', `update receipts set kind = 'refund' where log_index = 3`, 'listed otherwise'],
  ])('where somebody altered %s', async (_, sql, said) => {
    await grow(7);
    await grow(6);
    await pool.query(sql);
    const { faults, alarm } = await audit();
    expect(faults.join('\n')).toContain(said);
    expect(alarm).toBeGreaterThan(0);
  });

  test('and not before', async () => {
    await grow(7);
    const { rows } = await pool.query<{ payload: string }>('select payload from receipts where log_index = 3');
    await pool.query(`update receipts set payload = 'x' where log_index = 3`);
    expect((await audit()).alarm).toBeGreaterThan(0);
    await pool.query('update receipts set payload = $1 where log_index = 3', [rows[0]?.payload]);
    expect((await audit()).alarm).toBe(0);
  });
});

test('nothing is signed on a past that was rewritten whole, unless with a key that was ours from the beginning', async () => {
  await grow(7);
  const stranger = signingKeyFromSeed(newSigningSeed());
  // Whoever can write everything but knows none of our keys: tree, root and note are of one piece, and the key is published.
  await pool.query(`update receipt_log_checkpoints set root = sha256('x')`);
  await pool.query('delete from receipt_log_nodes');
  await pool.query('delete from receipt_log_checkpoints');
  await pool.query('update receipt_log set size = 0');
  await pool.query('update receipts set log_index = null');
  await publishSigningKeys(pool, [stranger, logKey], NOW, 'checkpoint');
  await appendAll({ pool, keys: [stranger], clock: { now: () => NOW } }, FOREVER);
  await expect(grow(1)).rejects.toThrow('nothing is signed');
  // After a change of keys it is the log's own past that goes on.
  await appendAll({ pool, keys: [logKey], known: [stranger.x], clock: { now: () => NOW } }, FOREVER);
  expect(await audit()).toEqual({ faults: [], alarm: 0 });
});
