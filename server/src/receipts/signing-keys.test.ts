import { VaasKeySet } from '@tallygate/contract';
import { keyThumbprint, verifyReceipt } from '@tallygate/receipts';
import type { Pool } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openPool } from '../adapters/postgres/database.ts';
import { testDatabase } from '../adapters/postgres/test-database.ts';
import { emptyArchive } from '../archive/testing/archives.ts';
import { rfc3339 } from '../kernel/clock.ts';
import { newId } from '../kernel/ids.ts';
import { silentLog } from '../kernel/log.ts';
import { receiptRoutes } from './routes.ts';
import { newSigningSeed, publishSigningKeys, type SigningKey, signingKeyFromSeed, storedKeySet } from './signing-keys.ts';
import { storeReceipts } from './testing/receipts.ts';

const NOW = Date.parse('2026-11-21T10:00:00Z');
const DAY_MS = 86_400_000;

let database: Awaited<ReturnType<typeof testDatabase>>;
let pool: Pool;

beforeAll(async () => {
  database = await testDatabase();
  pool = openPool({ url: database.url, log: silentLog(), poolSize: 4 });
});

beforeEach(() => pool.query('truncate signing_keys, receipts'));

afterAll(async () => {
  await pool?.end();
  await database?.drop();
});

const newKey = () => signingKeyFromSeed(newSigningSeed());

async function receiptBy(key: SigningKey, completedAt: number) {
  const [id = ''] = await storeReceipts(pool, newKey(), [{ completedAt }]);
  return verifyReceipt(await find(id, key), await storedKeySet(pool));
}

async function find(receipt_id: string, key = newKey()) {
  const call = { requestId: 'req_1', peer: { address: null, userAgent: null }, setHeader: () => {}, headers: {} };
  const { body } = await receiptRoutes({
    pool,
    archive: emptyArchive(pool),
    key,
    requirePlan: async () => {},
    seenBy: async () => undefined,
    keySet: () => storedKeySet(pool),
  }).getReceipt({
    ...call,
    params: { receipt_id },
  });
  return body;
}

describe('a signing key', () => {
  test('is made again from its seed, and named by the thumbprint of its public half', () => {
    const seed = newSigningSeed();
    const [first, second] = [signingKeyFromSeed(seed), signingKeyFromSeed(seed)];
    expect([second.kid, second.x]).toEqual([first.kid, first.x]);
    expect(first.kid).toBe(keyThumbprint(first.x));
  });

  test('is that of RFC 8032, section 7.1, test 1', () => {
    const seed = Buffer.from('9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60', 'hex');
    expect(Buffer.from(signingKeyFromSeed(seed).x, 'base64url').toString('hex')).toBe(
      'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
    );
  });

  test.each([0, 31, 33, 64])('is not made from %d bytes', (length) => {
    expect(() => signingKeyFromSeed(Buffer.alloc(length, 1))).toThrow('32 bytes');
  });
});

describe('publication', () => {
  test('puts the key in force, as the contract has it', async () => {
    const key = newKey();
    await publishSigningKeys(pool, [key], NOW);
    const keys = await storedKeySet(pool);
    expect(VaasKeySet.parse(keys)).toEqual(keys);
    expect(keys.keys).toMatchObject([{ kid: key.kid, x: key.x, not_before: rfc3339(NOW), not_after: null }]);
  });

  test('shows no private half', async () => {
    const seed = newSigningSeed();
    await publishSigningKeys(pool, [signingKeyFromSeed(seed)], NOW);
    const text = JSON.stringify(await storedKeySet(pool));
    expect(text).not.toContain(seed.toString('base64url'));
    expect(text).not.toMatch(/"d":/);
  });

  test('of the same key again changes nothing, not even its time', async () => {
    const key = newKey();
    await publishSigningKeys(pool, [key], NOW);
    const before = await storedKeySet(pool);
    await publishSigningKeys(pool, [key], NOW + DAY_MS);
    expect(await storedKeySet(pool)).toEqual(before);
  });

  test('of a new key retires the old one, which keeps verifying the receipts of its time and no later ones', async () => {
    const [old, fresh] = [newKey(), newKey()];
    await publishSigningKeys(pool, [old], NOW);
    expect(await receiptBy(old, NOW + 1)).toMatchObject({ valid: true });
    await publishSigningKeys(pool, [fresh], NOW + DAY_MS);
    const [inForce, retired] = (await storedKeySet(pool)).keys;
    expect(inForce).toMatchObject({ kid: fresh.kid, not_after: null });
    expect(retired).toMatchObject({ kid: old.kid, not_before: rfc3339(NOW), not_after: rfc3339(NOW + DAY_MS) });
    expect(await receiptBy(old, NOW + DAY_MS)).toMatchObject({ valid: true });
    expect(await receiptBy(old, NOW + DAY_MS + 1)).toMatchObject({ valid: false, code: 'key_retired' });
    expect(await receiptBy(fresh, NOW + DAY_MS + 1)).toMatchObject({ valid: true });
  });

  test('lets the new key sign what is older than it: a receipt is signed when it is read', async () => {
    const [old, fresh] = [newKey(), newKey()];
    await publishSigningKeys(pool, [old], NOW);
    await publishSigningKeys(pool, [fresh], NOW + 2 * DAY_MS);
    expect(await receiptBy(fresh, NOW + DAY_MS)).toMatchObject({ valid: true });
  });

  test('of the next key beside the present one announces it, and retires the present one only once it is left out', async () => {
    const [old, next] = [newKey(), newKey()];
    for (const [day, inForce] of [[old], [old, next], [next, old], [next]].entries()) {
      await publishSigningKeys(pool, inForce, NOW + day * DAY_MS);
      const [signer = old] = inForce;
      expect(await receiptBy(signer, NOW + day * DAY_MS + 1)).toMatchObject({ valid: true });
      const known = (await storedKeySet(pool)).keys.filter(({ not_after }) => not_after === null).map(({ kid }) => kid);
      expect(known.sort()).toEqual(inForce.map(({ kid }) => kid).sort());
    }
    // An instance that has not heard of the change yet signs on, until the key is left out.
    expect(await receiptBy(old, NOW + 3 * DAY_MS)).toMatchObject({ valid: true });
    expect(await receiptBy(old, NOW + 3 * DAY_MS + 1)).toMatchObject({ valid: false, code: 'key_retired' });
  });

  test('of several keys leaves one in force', async () => {
    for (const [index, key] of [newKey(), newKey(), newKey()].entries()) await publishSigningKeys(pool, [key], NOW + index);
    expect((await storedKeySet(pool)).keys.filter(({ not_after }) => not_after === null)).toHaveLength(1);
  });
});

test('a receipt that does not exist is a 404', async () => {
  await expect(find(newId())).rejects.toMatchObject({ code: 'not_found', status: 404 });
});
