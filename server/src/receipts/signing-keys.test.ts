import { VaasKeySet } from '@tallygate/contract';
import { keyThumbprint, verifyReceipt } from '@tallygate/receipts';
import type { Pool } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openPool } from '../adapters/postgres/database.ts';
import { testDatabase } from '../adapters/postgres/test-database.ts';
import { rfc3339 } from '../kernel/clock.ts';
import { newId } from '../kernel/ids.ts';
import { silentLog } from '../kernel/log.ts';
import { issueReceipt } from './issue-receipt.ts';
import { receiptRoutes } from './routes.ts';
import { newSigningSeed, publishedKeys, publishSigningKey, type SigningKey, signingKeyFromSeed } from './signing-keys.ts';

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
  const receipt_id = newId();
  const issued = await issueReceipt(
    {
      kind: 'usage',
      receipt_id,
      request_id: 'req_1',
      account_id: newId(),
      key_id: null,
      livemode: true,
      endpoint: '/v1/chat/completions',
      run_id: null,
      model_requested: 'm',
      model_served: 'm',
      provider: 'p',
      fallback: 'none',
      outcome: 'completed',
      request_sha256: 'a'.repeat(64),
      response_sha256: 'b'.repeat(64),
      usage: { input_tokens: 1, cached_input_tokens: 0, cache_write_tokens: 0, output_tokens: 0, reasoning_tokens: 0 },
      estimated: false,
      price_version: 'v',
      price_tier_above_input_tokens: null,
      unit_prices_pico_usd: { input_tokens: '1000' },
      price_factor: '1',
      cost_nano_usd: '1',
      refund_of: null,
      refund_reason: null,
      started_at: rfc3339(completedAt),
      completed_at: rfc3339(completedAt),
      client_signature: null,
    },
    key,
  );
  await pool.query(
    'insert into receipts (receipt_id, account_id, request_id, payload, digest, kid, signature) values ($1, $2, $3, $4, $5, $6, $7)',
    [receipt_id, newId(), 'req_1', issued.payload, issued.digest, issued.kid, issued.signature],
  );
  const receipt = await find(receipt_id);
  return verifyReceipt(receipt, await publishedKeys(pool));
}

async function find(receipt_id: string) {
  const call = { requestId: 'req_1', peer: { address: null, userAgent: null }, setHeader: () => {}, headers: {} };
  const { body } = await receiptRoutes(pool).getReceipt({ ...call, params: { receipt_id } });
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
  test('puts the key in force from a day before, as the contract has it', async () => {
    const key = newKey();
    await publishSigningKey(pool, key, NOW);
    const keys = await publishedKeys(pool);
    expect(VaasKeySet.parse(keys)).toEqual(keys);
    expect(keys.keys).toMatchObject([{ kid: key.kid, x: key.x, not_before: rfc3339(NOW - DAY_MS), not_after: null }]);
  });

  test('shows no private half', async () => {
    const seed = newSigningSeed();
    await publishSigningKey(pool, signingKeyFromSeed(seed), NOW);
    const text = JSON.stringify(await publishedKeys(pool));
    expect(text).not.toContain(seed.toString('base64url'));
    expect(text).not.toMatch(/"d":/);
  });

  test('of the same key again changes nothing, not even its time', async () => {
    const key = newKey();
    await publishSigningKey(pool, key, NOW);
    const before = await publishedKeys(pool);
    await publishSigningKey(pool, key, NOW + DAY_MS);
    expect(await publishedKeys(pool)).toEqual(before);
  });

  test('of a new key retires the old one, which keeps verifying the receipts of its time and no later ones', async () => {
    const [old, fresh] = [newKey(), newKey()];
    await publishSigningKey(pool, old, NOW);
    expect(await receiptBy(old, NOW + 1)).toMatchObject({ valid: true });
    await publishSigningKey(pool, fresh, NOW + DAY_MS);
    const [inForce, retired] = (await publishedKeys(pool)).keys;
    expect(inForce).toMatchObject({ kid: fresh.kid, not_after: null });
    expect(retired).toMatchObject({ kid: old.kid, not_before: rfc3339(NOW - DAY_MS), not_after: rfc3339(NOW + DAY_MS) });
    expect(await receiptBy(old, NOW + DAY_MS)).toMatchObject({ valid: true });
    expect(await receiptBy(old, NOW + DAY_MS + 1)).toMatchObject({ valid: false, code: 'key_retired' });
    expect(await receiptBy(fresh, NOW + DAY_MS + 1)).toMatchObject({ valid: true });
  });

  test('lets the new key sign what the old process had settled and not yet signed', async () => {
    const [old, fresh] = [newKey(), newKey()];
    await publishSigningKey(pool, old, NOW);
    await publishSigningKey(pool, fresh, NOW + 2 * DAY_MS);
    expect(await receiptBy(fresh, NOW + DAY_MS)).toMatchObject({ valid: true });
  });

  test('of several keys leaves one in force', async () => {
    for (const [index, key] of [newKey(), newKey(), newKey()].entries()) await publishSigningKey(pool, key, NOW + index);
    expect((await publishedKeys(pool)).keys.filter(({ not_after }) => not_after === null)).toHaveLength(1);
  });
});

test('a receipt that does not exist is a 404', async () => {
  await expect(find(newId())).rejects.toMatchObject({ code: 'not_found', status: 404 });
});
