import { verifyPromise, verifyReceiptText } from '@tallygate/receipts';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { HELLO } from './chat.ts';
import { Gateway } from './gateway.ts';
import { SILENCE } from './small-media.ts';

let gateway: Gateway;
let keys: unknown;
beforeAll(async () => {
  gateway = await Gateway.start({ process: 'shared' });
  keys = await (await fetch(`${gateway.url}/.well-known/vaas-keys.json`)).json();
});
afterAll(() => gateway?.remove());

const PATIENCE = { timeout: 60_000, interval: 100 };
const WITH_LIMIT = { ...HELLO, max_tokens: 16 };

function form(model: string): FormData {
  const made = new FormData();
  made.set('model', model);
  made.set('file', new Blob([SILENCE], { type: 'audio/wav' }), 'a.wav');
  return made;
}

const OPERATIONS: readonly [path: string, body: object | FormData][] = [
  ['/v1/chat/completions', HELLO],
  ['/v1/chat/completions', { ...HELLO, stream: true }],
  ['/v1/responses', { model: HELLO.model, input: 'Say hello.' }],
  ['/v1/responses', { model: HELLO.model, input: 'Say hello.', stream: true }],
  ['/v1/messages', WITH_LIMIT],
  ['/v1/messages', { ...WITH_LIMIT, stream: true }],
  ['/v1/completions', { model: 'gpt-3.5-turbo-instruct', prompt: 'Say hello.' }],
  ['/v1/embeddings', { model: 'text-embedding-3-small', input: 'Hello.' }],
  ['/v1/rerank', { model: 'rerank-v4.0-fast', query: 'Which?', documents: ['Hello.'] }],
  ['/v1/moderations', { model: 'omni-moderation-latest', input: 'Hello.' }],
  ['/v1/images/generations', { model: 'gpt-image-1', prompt: 'A hill.', quality: 'low', size: '1024x1024' }],
  ['/v1/audio/speech', { model: 'tts-1', input: 'Hello.', voice: 'alloy' }],
  ['/v1/audio/transcriptions', form('whisper-1')],
  ['/v1/videos', { model: 'sora-2', prompt: 'A hill.', seconds: '4' }],
];

const FAULTS = [undefined, '400', '500', 'cut', 'stall', 'malformed', 'error-event', 'no-usage'] as const;

/** What was sent for a request is hashed as it was received, which a form's boundary keeps from being known here. */
async function ask(path: string, body: object | FormData, fault: string | undefined, signal?: AbortSignal) {
  const isForm = body instanceof FormData;
  return fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${gateway.bootstrap.test_api_key}`,
      ...(!isForm && { 'content-type': 'application/json' }),
      ...(fault !== undefined && { 'x-sandbox-fault': fault }),
    },
    body: isForm ? body : JSON.stringify(body),
    ...(signal && { signal }),
  });
}

/** The verdict on the receipt that an answer names, once it is in the log, and on the promise beside it: by the keys alone. */
async function verdicts(headers: Headers, body: object | FormData) {
  const id = headers.get('x-receipt-id');
  const receipt = await vi.waitFor(async () => {
    const found = await (await fetch(`${gateway.url}/v1/receipts/${id}`)).text();
    expect(found).toContain('"state":"logged"');
    return verifyReceiptText(found, keys);
  }, PATIENCE);
  const asked = {
    headers,
    receipt,
    now: Date.now(),
    ...(!(body instanceof FormData) && { requestBody: Buffer.from(JSON.stringify(body)) }),
  };
  return { receipt, promise: verifyPromise(headers.get('x-receipt-promise') ?? '', keys, asked) };
}

test.each(OPERATIONS)('%s: each answer with a receipt has a promise that the receipt keeps (%#)', async (path, body) => {
  const answers = await Promise.all(
    FAULTS.map(async (fault) => {
      const answer = await ask(path, body, fault, fault === 'stall' ? AbortSignal.timeout(2_000) : undefined).catch(() => undefined);
      await answer?.arrayBuffer().catch(() => {});
      return { fault, answer };
    }),
  );
  for (const { fault, answer } of answers) {
    if (!answer?.headers.has('x-receipt-id')) continue;
    expect(await verdicts(answer.headers, body), `${path} ${fault}`).toMatchObject({
      receipt: { valid: true },
      promise: { valid: true, state: 'kept' },
    });
  }
  expect(answers.filter(({ answer }) => answer?.headers.has('x-receipt-id')).length, path).toBeGreaterThan(2);
});

test('what is refused before anything is held has neither a receipt nor a promise', async () => {
  const answer = await ask('/v1/chat/completions', { ...HELLO, model: 'no-such-model' }, undefined);
  expect(answer.status).toBe(404);
  expect(['x-receipt-id', 'x-receipt-promise'].map((name) => answer.headers.get(name))).toEqual([null, null]);
});
