import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import * as z from 'zod';
import { Terminal } from '../../cli/testing/terminal.ts';
import { HELLO } from './chat.ts';
import { Gateway } from './gateway.ts';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await Gateway.start({ process: 'shared' });
});
afterAll(() => gateway?.remove());

const PATIENCE = { timeout: 60_000, interval: 100 };

function call(path: string, body?: object | FormData, fault?: string): Promise<Response> {
  const isForm = body instanceof FormData;
  return fetch(`${gateway.url}${path}`, {
    headers: {
      authorization: `Bearer ${gateway.bootstrap.test_api_key}`,
      ...(body && !isForm && { 'content-type': 'application/json' }),
      ...(fault !== undefined && { 'x-sandbox-fault': fault }),
    },
    ...(body && { method: 'POST', body: isForm ? body : JSON.stringify(body) }),
  });
}

const Ended = z.object({ id: z.string(), status: z.string(), output_file_id: z.string().nullish() });

/** Of a JSON answer or of a stream of events. */
const idOf = (text: string): string => /"id":\s*"([^"]+)"/.exec(text)?.[1] ?? '';

async function ended(path: string, first: Response, status = 'completed') {
  const id = idOf(await first.text());
  return vi.waitFor(async () => {
    const answer = await call(`${path}/${id}`);
    const found = Ended.parse(await answer.json());
    expect(found.status).toBe(status);
    return { answer, found };
  }, PATIENCE);
}

const IN_BACKGROUND = { model: HELLO.model, input: 'Say hello.', background: true };

/** What has failed or was cancelled is promised when it is settled. */
const promiseOnce = (id: string, status: string): Promise<string> =>
  vi.waitFor(async () => {
    const answer = await call(`/v1/responses/${id}`);
    expect(await answer.json()).toMatchObject({ status });
    return z.string().parse(answer.headers.get('x-receipt-promise'));
  }, PATIENCE);

const ofFailed = (wish: object) => async (): Promise<string> =>
  promiseOnce(idOf(await (await call('/v1/responses', { ...IN_BACKGROUND, ...wish }, '400')).text()), 'failed');

/** Cancelled while the provider is at work on it. */
async function ofCancelled(): Promise<string | null> {
  const created = await call('/v1/responses', IN_BACKGROUND, 'slow-first-byte; ms=5000');
  const { found } = await ended('/v1/responses', created, 'in_progress');
  await call(`/v1/responses/${found.id}/cancel`, {});
  return promiseOnce(found.id, 'cancelled');
}

async function ofBackground(): Promise<string | null> {
  const { answer } = await ended('/v1/responses', await call('/v1/responses', IN_BACKGROUND));
  return answer.headers.get('x-receipt-promise');
}

async function ofBatchLine(): Promise<string | null> {
  const form = new FormData();
  form.set('purpose', 'batch');
  form.set('file', new Blob([JSON.stringify({ custom_id: 'a', method: 'POST', url: '/v1/chat/completions', body: HELLO })]), 'in.jsonl');
  const { id } = z.object({ id: z.string() }).parse(await (await call('/v1/files', form)).json());
  const wish = { input_file_id: id, endpoint: '/v1/chat/completions', completion_window: '24h' };
  const { found } = await ended('/v1/batches', await call('/v1/batches', wish));
  const line = await (await call(`/v1/files/${found.output_file_id}/content`)).json();
  return line.response.receipt_promise;
}

async function ofMessage(): Promise<string | null> {
  const wish = { requests: [{ custom_id: 'a', params: { ...HELLO, max_tokens: 16 } }] };
  const { id } = z.object({ id: z.string() }).parse(await (await call('/v1/messages/batches', wish)).json());
  return vi.waitFor(async () => {
    const results = await call(`/v1/messages/batches/${id}/results`);
    expect(results.status).toBe(200);
    return (await results.json()).receipt_promise;
  }, PATIENCE);
}

async function ofVideo(): Promise<string | null> {
  const created = await call('/v1/videos', { model: 'sora-2', prompt: 'A hill.', seconds: '4' });
  return created.headers.get('x-receipt-promise');
}

test.each([
  ['a response in the background', ofBackground],
  ['a response in the background that has failed', ofFailed({})],
  ['a streamed response in the background that has failed', ofFailed({ stream: true })],
  ['a response in the background that was cancelled', ofCancelled],
  ['a line of a batch', ofBatchLine],
  ['a message of a batch', ofMessage],
  ['a video', ofVideo],
])('%s carries a promise that its receipt in the log keeps', async (_, promised) => {
  const jws = (await promised()) ?? '';
  const { receipt_id } = JSON.parse(Buffer.from(jws.split('.')[1] ?? '', 'base64url').toString());
  const terminal = new Terminal({ baseUrl: gateway.url });
  const type = (...argv: string[]) => terminal.type(argv, { apiKey: gateway.bootstrap.test_api_key });
  await vi.waitFor(async () => {
    const text = await (await call(`/v1/receipts/${receipt_id}`)).text();
    expect(JSON.parse(text)).toMatchObject({ log: { state: 'logged' } });
    terminal.files.set('receipt.json', text);
  }, PATIENCE);
  await type('receipts', 'keys');
  expect(await type('receipts', 'verify', 'receipt.json', '--promise', jws)).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining('kept: the receipt is as promised, and in the log'),
  });
});
