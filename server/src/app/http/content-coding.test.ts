import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { MovableClock, newKey, signUp } from './testing/account-api.ts';
import { type InferenceWorld, openInferenceWorld } from './testing/inference-api.ts';

let world: InferenceWorld;
let auth: Record<string, string>;
beforeAll(async () => {
  world = await openInferenceWorld(new MovableClock());
  ({ auth } = await newKey(world.account, (await signUp(world.account)).auth, { livemode: false }));
});
afterAll(() => world?.close());

const CHAT = JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Say hello.' }] });

async function post(body: Buffer, coding: string, headers: Record<string, string> = {}) {
  const answer = await fetch(`http://${world.authority}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'content-encoding': coding, ...auth, ...headers },
    body: new Uint8Array(body),
  });
  return { status: answer.status, text: await answer.text() };
}

test.each([
  ['gzip', gzipSync(CHAT)],
  ['deflate', deflateSync(CHAT)],
  ['br', brotliCompressSync(CHAT)],
  ['identity', Buffer.from(CHAT)],
])('a body in %s is read as the JSON that it is', async (coding, body) => {
  const { status, text } = await post(body, coding);
  expect([status, text]).toEqual([200, expect.stringContaining('Say hello.')]);
});

test('a body that expands beyond what the endpoint takes is refused as one of that size', async () => {
  expect(await post(gzipSync(Buffer.alloc(64 * 1024 * 1024, ' ')), 'gzip')).toMatchObject({
    status: 413,
    text: expect.stringContaining('payload_too_large'),
  });
});

test('a body that expands to more values than the endpoint takes is refused before it is parsed', async () => {
  expect(await post(gzipSync(`[${'1,'.repeat(1_000_000)}1]`), 'gzip')).toMatchObject({
    status: 413,
    text: expect.stringContaining('body_too_complex'),
  });
});

test.each([
  ['is not what its coding says', Buffer.from(CHAT), 'gzip', {}, 400],
  ['breaks off', gzipSync(CHAT).subarray(0, 40), 'gzip', {}, 400],
  ['has a coding that nobody reads here', Buffer.from(CHAT), 'compress', {}, 415],
  ['is signed', gzipSync(CHAT), 'gzip', { signature: 'sig=:AA==:' }, 415],
])('a body that %s is refused', async (_, body, coding, headers, status) => {
  expect((await post(body, coding, headers)).status).toBe(status);
});
