import { type FakeUpstream, startFakeUpstream } from '@tallygate/fake-upstream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Account } from './account.ts';
import { ask, HELLO, MODEL, problemOf } from './chat.ts';
import { Gateway } from './gateway.ts';

let upstream: FakeUpstream;
let gateway: Gateway;
let account: Account;
beforeAll(async () => {
  upstream = await startFakeUpstream();
  gateway = await Gateway.start({ process: 'shared', providers: [{ name: 'fake', base_url: upstream.url, models: [MODEL] }] });
  account = await Account.signUp(gateway);
});
afterAll(async () => {
  await gateway?.remove();
  await upstream?.close();
});

const status = async (key: string) => (await ask(gateway, key, HELLO)).status;

test('a revoked key is refused from the very next request on', async () => {
  const { key, key_id } = await account.createKey();
  expect(await status(key)).toBe(200);
  await account.revoke(key_id);
  expect(problemOf(await ask(gateway, key, HELLO))).toMatchObject({ status: 401, code: 'invalid_credentials' });
});

test('a stream that runs on a key is not broken by its revocation', async () => {
  const { key, key_id } = await account.createKey();
  upstream.script({ tokens: 8, gapMs: 40 });
  const arrived = upstream.nextRequest();
  const stream = ask(gateway, key, { ...HELLO, stream: true });
  await arrived;
  await account.revoke(key_id);
  expect((await stream).text).toContain('[DONE]');
});

test('rotation ends the old secret at once, and keeps what was spent under the cap', async () => {
  const before = await account.createKey({ monthly_cap_usd: '0.0003' });
  expect((await ask(gateway, before.key, { ...HELLO, max_tokens: 16 })).status).toBe(200);
  const after = await account.rotate(before.key_id, 0);
  expect(after).toMatchObject({ key_id: before.key_id, monthly_cap_usd: '0.0003' });
  expect(await status(before.key)).toBe(401);
  expect(problemOf(await ask(gateway, after.key, { ...HELLO, max_tokens: 16_000 }))).toMatchObject({ budget: { spent_usd: '0.0000063' } });
});

test('rotation with grace leaves the old secret until the grace is over', async () => {
  const before = await account.createKey();
  const after = await account.rotate(before.key_id, 10);
  expect([await status(before.key), await status(after.key)]).toEqual([200, 200]);
  await expect.poll(() => status(before.key), { timeout: 120_000, interval: 500 }).toBe(401);
  expect(await status(after.key)).toBe(200);
});

test('a second rotation ends the grace of the first', async () => {
  const first = await account.createKey();
  const second = await account.rotate(first.key_id, 3_600);
  const third = await account.rotate(first.key_id, 3_600);
  expect([await status(first.key), await status(second.key), await status(third.key)]).toEqual([401, 200, 200]);
});

test('an expired key is refused', async () => {
  const { key } = await account.createKey({ expires_at: new Date(Date.now() + 10_000).toISOString() });
  expect(await status(key)).toBe(200);
  await expect.poll(() => status(key), { timeout: 120_000, interval: 500 }).toBe(401);
});
