import { randomUUID } from 'node:crypto';
import { type FakeUpstream, startFakeUpstream } from '@tallygate/fake-upstream';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { Account } from './account.ts';
import { ask, HELLO, header, MODEL, problemOf, settledOnce } from './chat.ts';
import { Gateway } from './gateway.ts';

let upstream: FakeUpstream;
let gateway: Gateway;
let account: Account;
let key: string;
beforeAll(async () => {
  upstream = await startFakeUpstream();
  gateway = await Gateway.start({ process: 'shared', providers: [{ name: 'fake', base_url: upstream.url, models: [MODEL] }] });
  account = await Account.signUp(gateway, { plan: 'enterprise' });
  ({ key } = await account.createKey());
});
afterAll(async () => {
  await gateway?.remove();
  await upstream?.close();
});
beforeEach(() => upstream.reset());

const once = () => ({ 'idempotency-key': randomUUID() });

test('a repeat gets the first answer, byte for byte, and is charged once', async () => {
  const headers = once();
  const first = await ask(gateway, key, HELLO, headers);
  const second = await ask(gateway, key, HELLO, headers);
  expect(second.text).toBe(first.text);
  for (const name of ['x-receipt-id', 'x-cost-usd', 'x-request-id']) expect(header(second, name)).toBe(header(first, name));
  expect(header(second, 'idempotent-replayed')).toBe('true');
  expect(upstream.requests).toHaveLength(1);
  await settledOnce(gateway, account, second);
});

test('a repeat outlives the server', async () => {
  const headers = once();
  const first = await ask(gateway, key, HELLO, headers);
  await gateway.stop();
  await gateway.start();
  expect((await ask(gateway, key, HELLO, headers)).text).toBe(first.text);
  expect(upstream.requests).toHaveLength(1);
});

test('a caller who hung up gets the answer that was made meanwhile', async () => {
  const headers = once();
  upstream.script({ delayMs: 2_000, text: 'made while nobody listened' });
  const arrived = upstream.nextRequest();
  const hangUp = new AbortController();
  const lost = fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { ...headers, authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(HELLO),
    signal: hangUp.signal,
  });
  const request = await arrived;
  hangUp.abort();
  await expect(lost).rejects.toThrow();
  expect(await request.ended).toBe('answered');
  await expect
    .poll(async () => (await ask(gateway, key, HELLO, headers)).text, { timeout: 120_000 })
    .toContain('made while nobody listened');
  expect(upstream.requests).toHaveLength(1);
});

test('the same key for another request is a conflict', async () => {
  const headers = once();
  await ask(gateway, key, HELLO, headers);
  expect(problemOf(await ask(gateway, key, { ...HELLO, seed: 1 }, headers))).toMatchObject({ status: 409, code: 'idempotency_conflict' });
  expect(upstream.requests).toHaveLength(1);
});

test('a repeat of a request that still runs gets a retryable error', async () => {
  const headers = once();
  upstream.script({ delayMs: 4_000 });
  const arrived = upstream.nextRequest();
  const first = ask(gateway, key, HELLO, headers);
  await arrived;
  const second = await ask(gateway, key, HELLO, headers);
  expect(problemOf(second)).toMatchObject({ status: 409, code: 'idempotency_in_progress' });
  expect(Number(header(second, 'retry-after'))).toBeGreaterThan(0);
  expect((await first).status).toBe(200);
  expect(upstream.requests).toHaveLength(1);
});

test('the same key of another account is another key', async () => {
  const headers = once();
  const stranger = await (await Account.signUp(gateway)).createKey();
  upstream.script({ text: 'for the owner' }, { text: 'for the stranger' });
  expect((await ask(gateway, key, HELLO, headers)).text).toContain('for the owner');
  expect((await ask(gateway, stranger.key, HELLO, headers)).text).toContain('for the stranger');
});
