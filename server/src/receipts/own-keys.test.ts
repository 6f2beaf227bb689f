import type { Pool } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPool } from '../adapters/postgres/database.ts';
import { testDatabase } from '../adapters/postgres/test-database.ts';
import { silentLog } from '../kernel/log.ts';
import { KeyOfTwoPurposes, publishOwnKeys } from './own-keys.ts';
import { newSigningSeed, signingKeyFromSeed, storedKeySet } from './signing-keys.ts';

const NOW = Date.parse('2026-11-21T10:00:00Z');
let database: Awaited<ReturnType<typeof testDatabase>>;
let pool: Pool;

beforeAll(async () => {
  database = await testDatabase();
  pool = openPool({ url: database.url, log: silentLog(), poolSize: 2 });
});
afterAll(async () => {
  await pool?.end();
  await database?.drop();
});

test('one key for receipts and for the log is refused, together or one after the other, and nothing is published', async () => {
  const [first, second, third] = [newSigningSeed(), newSigningSeed(), newSigningSeed()].map(signingKeyFromSeed);
  if (!first || !second || !third) throw new Error('No keys');
  await expect(publishOwnKeys(pool, { receipt: [first, second], checkpoint: [third, first] }, NOW)).rejects.toThrow(KeyOfTwoPurposes);
  expect((await storedKeySet(pool)).keys).toEqual([]);
  await publishOwnKeys(pool, { receipt: [first], checkpoint: [second] }, NOW);
  const before = await storedKeySet(pool);
  await expect(publishOwnKeys(pool, { receipt: [second], checkpoint: [third] }, NOW)).rejects.toThrow('published for the other purpose');
  expect(await storedKeySet(pool)).toEqual(before);
});
