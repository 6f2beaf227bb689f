import { accountHash, verifyReceipt } from '@tallygate/receipts';
import type { Pool } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPool } from '../adapters/postgres/database.ts';
import { testDatabase } from '../adapters/postgres/test-database.ts';
import { emptyArchive } from '../archive/testing/archives.ts';
import { silentLog } from '../kernel/log.ts';
import { appendAll } from './log/append.ts';
import { findReceipt } from './read-receipt.ts';
import { newSigningSeed, publishSigningKeys, signingKeyFromSeed, storedKeySet } from './signing-keys.ts';
import { ACCOUNT_ID, keptInMemory, storeReceipts } from './testing/receipts.ts';

const NOW = Date.parse('2026-11-21T10:00:00Z');
const [key, logKey] = [signingKeyFromSeed(newSigningSeed()), signingKeyFromSeed(newSigningSeed())];
let database: Awaited<ReturnType<typeof testDatabase>>;
let pool: Pool;

beforeAll(async () => {
  database = await testDatabase();
  pool = openPool({ url: database.url, log: silentLog(), poolSize: 4 });
  await publishSigningKeys(pool, [key], NOW);
  await publishSigningKeys(pool, [logKey], NOW, 'checkpoint');
});
afterAll(async () => {
  await pool?.end();
  await database?.drop();
});

test('a receipt verifies by itself at every stage: pending right after its request, with its place in the log from then on', async () => {
  const [id = ''] = await storeReceipts(pool, logKey, [{ completedAt: NOW }]);
  const keys = await storedKeySet(pool);
  const early = await findReceipt({ pool, archive: emptyArchive(pool), key }, id);
  expect(early.log).toEqual({ state: 'pending' });
  expect(verifyReceipt(early, keys)).toMatchObject({ valid: true, checks: { log: 'pending' } });

  const append = () =>
    appendAll({ pool, keys: [logKey], kept: keptInMemory(), clock: { now: () => NOW }, log: silentLog() }, new AbortController().signal);
  await append();
  const logged = await findReceipt({ pool, archive: emptyArchive(pool), key }, id);
  expect(verifyReceipt(logged, keys)).toMatchObject({ valid: true, checks: { log: 'ok' }, logged: { index: 0, tree_size: 1 } });

  await storeReceipts(
    pool,
    logKey,
    Array.from({ length: 20 }, () => ({ completedAt: NOW })),
  );
  await append();
  const later = verifyReceipt(await findReceipt({ pool, archive: emptyArchive(pool), key }, id), keys);
  expect(later).toMatchObject({ valid: true, checks: { log: 'ok' }, logged: { index: 0, tree_size: 21 } });
  // What was kept earlier holds as it did.
  expect(verifyReceipt(logged, keys)).toMatchObject({ valid: true, checks: { log: 'ok' } });
  const { nonce, account_hash } = later.valid ? later.payload : { nonce: '', account_hash: '' };
  expect(accountHash(nonce, ACCOUNT_ID)).toBe(account_hash);
});
