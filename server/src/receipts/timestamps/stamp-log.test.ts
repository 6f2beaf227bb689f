import { createHash } from 'node:crypto';
import { checkpointText, fromBase64, isIncluded, leafHash, parseCheckpoint, receiptDigest } from '@tallygate/receipts';
import type { Pool } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPool } from '../../adapters/postgres/database.ts';
import { testDatabase } from '../../adapters/postgres/test-database.ts';
import type { TimestampAuthority } from '../../adapters/timestamps/port.ts';
import { emptyArchive } from '../../archive/testing/archives.ts';
import { silentLog } from '../../kernel/log.ts';
import { appendAll } from '../log/append.ts';
import { newSigningSeed, publishSigningKeys, signingKeyFromSeed } from '../signing-keys.ts';
import { storedReceipt } from '../stored-receipt.ts';
import { keptInMemory, storeReceipts } from '../testing/receipts.ts';
import { listTimestamps, timestampOfReceipt } from './read-timestamps.ts';
import { stampLog } from './stamp-log.ts';

const NOW = Date.parse('2026-11-21T10:00:00Z');
const FOREVER = new AbortController().signal;
const key = signingKeyFromSeed(newSigningSeed());
let database: Awaited<ReturnType<typeof testDatabase>>;
let pool: Pool;

beforeAll(async () => {
  database = await testDatabase();
  pool = openPool({ url: database.url, log: silentLog(), poolSize: 4 });
  await publishSigningKeys(pool, [key], NOW, 'checkpoint');
});
afterAll(async () => {
  await pool?.end();
  await database?.drop();
});

/** Remembers what it was asked to stamp; away where it is told so. */
class Authority implements TimestampAuthority {
  readonly url: string;
  readonly stamped: string[] = [];
  isAway = false;

  constructor(url: string) {
    this.url = url;
  }

  async stamp(digest: Uint8Array) {
    if (this.isAway) throw new Error('It is away');
    this.stamped.push(Buffer.from(digest).toString('hex'));
    return { token: Buffer.from(`token of ${this.url}`), time: new Date(NOW + 1_000) };
  }
}

const append = () => appendAll({ pool, keys: [key], kept: keptInMemory(), clock: { now: () => NOW }, log: silentLog() }, FOREVER);
const page = { limit: 10 };

test('each authority stamps each state once, and a receipt has the first that holds it', async () => {
  const [one, other] = [new Authority('https://one.example'), new Authority('https://other.example')];
  const stamp = () => stampLog({ pool, authorities: [one, other], logKeys: [key], clock: { now: () => NOW }, log: silentLog() }, FOREVER);
  const archive = emptyArchive(pool);
  await stamp();
  expect(await listTimestamps(pool, page)).toMatchObject({ data: [], has_more: false });

  const [first = ''] = await storeReceipts(pool, key, [{ completedAt: NOW }, { completedAt: NOW }]);
  await expect(timestampOfReceipt(pool, archive, first)).rejects.toThrow('stamped on a schedule');
  await append();
  other.isAway = true;
  await stamp();
  await stamp();
  other.isAway = false;
  await stamp();
  expect([one.stamped.length, other.stamped.length]).toEqual([1, 1]);

  const [second = ''] = await storeReceipts(pool, key, [{ completedAt: NOW }]);
  await append();
  await stamp();
  const { data } = await listTimestamps(pool, page);
  expect(data.map(({ tree_size }) => tree_size).toSorted()).toEqual([2, 2, 3, 3]);

  for (const [id, size] of [
    [first, 2],
    [second, 3],
  ] as const) {
    const { index, path, checkpoint, token, time, tree_size } = await timestampOfReceipt(pool, archive, id);
    expect({ tree_size, time, token }).toEqual({
      tree_size: size,
      time: '2026-11-21T10:00:01.000Z',
      token: Buffer.from('token of https://one.example').toString('base64'),
    });
    const state = parseCheckpoint(checkpoint);
    if (!state) throw new Error('What was stamped is no checkpoint');
    expect(checkpoint).toBe(checkpointText(state));
    expect(one.stamped).toContain(createHash('sha256').update(checkpoint).digest('hex'));
    const payload = JSON.parse((await storedReceipt(pool, archive, id))?.payload ?? '{}');
    const hashes = path.map((hash) => fromBase64(hash) ?? new Uint8Array());
    expect(isIncluded({ index, size, leafHash: leafHash(receiptDigest(payload)), root: state.root, path: hashes })).toBe(true);
  }
});
