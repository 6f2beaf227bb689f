import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { completion, createdKey, inferenceAnswerHeaders, KEY_ID, key, RECEIPT_ID, REQUEST_ID, refusal } from '../../testing/fixtures.ts';
import { type StubGateway, startStubGateway } from '../../testing/stub-gateway.ts';
import { AbortError, ConnectionError, type DebugEvent, RateLimitError, Tallygate, TallygateError, TimeoutError } from '../index.ts';

let gateway: StubGateway;
beforeEach(async () => {
  gateway = await startStubGateway();
});
afterEach(() => gateway[Symbol.asyncDispose]());

const client = (options = {}) => new Tallygate({ apiKey: 'tg_test_secret', baseUrl: gateway.baseUrl, ...options });
const soon = { 'retry-after-ms': '1' };
const hello = { model: 'gpt-4o-mini', messages: [{ role: 'user' as const, content: 'Say hello.' }] };

describe('retries', () => {
  it('sends the same idempotency key on every attempt of a call that creates or charges, and another one on the next call', async () => {
    gateway.script(refusal('store_unavailable', { headers: soon }), { reset: true }, { status: 201, json: createdKey });
    await client().keys.create({ name: 'production' });
    gateway.script(refusal('budget_in_flight', { headers: soon }), { json: completion });
    await client().chat.completions.create(hello);

    const sent = gateway.requests.map(({ headers }) => headers['idempotency-key']);
    expect(sent[0]).toMatch(/^[0-9a-f]{32}$/);
    expect(sent.slice(0, 3)).toEqual([sent[0], sent[0], sent[0]]);
    expect(sent[3]).toBe(sent[4]);
    expect(sent[3]).not.toBe(sent[0]);
  });

  it('prefers the caller’s idempotency key', async () => {
    gateway.script({ json: createdKey });
    await client().keys.rotate(KEY_ID, undefined, { idempotencyKey: 'rotation-7' });
    expect(gateway.requests[0]?.headers['idempotency-key']).toBe('rotation-7');
  });

  it('stops after maxRetries with the last error', async () => {
    gateway.script(...Array.from({ length: 3 }, () => refusal('rate_limited', { headers: { ...soon, 'retry-after': '1' } })));
    const failure = await client()
      .keys.list()
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(RateLimitError);
    expect(failure).toMatchObject({ status: 429, code: 'rate_limited', requestId: REQUEST_ID, retryAfterSeconds: 1 });
    expect(gateway.requests).toHaveLength(3);
  });

  it('takes maxRetries: 0 at its word', async () => {
    gateway.script({ reset: true });
    await expect(client().keys.list({ maxRetries: 0 })).rejects.toBeInstanceOf(ConnectionError);
    expect(gateway.requests).toHaveLength(1);
  });
});

describe('an answer that is not what was asked for', () => {
  const failureOf = (call: PromiseLike<unknown>) =>
    Promise.resolve(call).then(
      () => undefined,
      (error: unknown) => error,
    );

  it('is an error where it is null, or not a stream where one was requested; neither is retried', async () => {
    gateway.script({ text: 'null' });
    expect(await failureOf(client().keys.list())).toMatchObject({
      code: 'unexpected_response',
      status: 200,
      message: expect.stringContaining('with null'),
    });
    gateway.script({ json: completion });
    const streamed = await failureOf(client().chat.completions.create({ ...hello, stream: true }));
    expect(streamed).toBeInstanceOf(TallygateError);
    expect(streamed).toMatchObject({ code: 'unexpected_response', status: 200, message: expect.stringContaining('application/json') });
    expect(gateway.requests).toHaveLength(2);
  });

  it('is `not_modified` where the caller has the newest already', async () => {
    gateway.script({ status: 304, text: '' });
    const failure = await failureOf(client().content.listPublished({}, { headers: { 'if-none-match': '"a"' } }));
    expect(failure).toBeInstanceOf(TallygateError);
    expect(failure).toMatchObject({ code: 'not_modified', status: 304 });
    expect(gateway.requests).toHaveLength(1);
  });
});

describe('ends', () => {
  it('with TimeoutError when no answer comes in time', async () => {
    gateway.script({ silence: true });
    const failure = await client({ timeoutMs: 200, maxRetries: 0 })
      .keys.list()
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(TimeoutError);
    expect(await gateway.requests[0]?.ended).toBe('hung up');
  });

  it('with AbortError as soon as the caller’s signal aborts, without a retry', async () => {
    gateway.script({ silence: true });
    const abort = new AbortController();
    const call = client({ onDebug: ({ type }: DebugEvent) => type === 'request' && setImmediate(() => abort.abort('enough')) });
    const failure = await call.keys.list({ signal: abort.signal }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(AbortError);
    expect(failure).toMatchObject({ code: 'aborted', cause: 'enough', status: undefined });
  });

  it('with AbortError during the wait before a retry', async () => {
    gateway.script(refusal('rate_limited', { headers: { 'retry-after': '50' } }));
    const abort = new AbortController();
    const waiting = client({ onDebug: ({ type }: DebugEvent) => type === 'retry' && setImmediate(() => abort.abort()) });
    await expect(waiting.keys.list({ signal: abort.signal })).rejects.toBeInstanceOf(AbortError);
    expect(gateway.requests).toHaveLength(1);
  });

  it('with AbortError before anything is sent when the signal has aborted already', async () => {
    await expect(client().keys.list({ signal: AbortSignal.abort() })).rejects.toBeInstanceOf(AbortError);
    expect(gateway.requests).toHaveLength(0);
  });

  it.each([1e12, Number.POSITIVE_INFINITY])(
    'not at all before the answer when the time-out is %d, more than a timer holds',
    async (timeoutMs) => {
      gateway.script({ json: [key] });
      expect(await client({ timeoutMs, maxRetries: 0 }).keys.list()).toEqual([key]);
    },
  );

  it('before anything is sent when the time-out of the call is none', async () => {
    await expect(client().keys.list({ timeoutMs: -1 })).rejects.toThrow('timeoutMs must be a number above 0');
    expect(gateway.requests).toHaveLength(0);
  });

  it.each([200, 204])('with an error when JSON is due and nothing comes, with status %d', async (status) => {
    const nothing = () => Promise.resolve(new Response(null, { status, headers: { 'x-request-id': REQUEST_ID } }));
    const failure = await client({ fetch: nothing })
      .chat.completions.create(hello)
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(TallygateError);
    expect(failure).toMatchObject({ code: 'unexpected_response', status, requestId: REQUEST_ID });
  });

  it('with a specific error when the answer is not JSON', async () => {
    gateway.script({ text: '<html>hello</html>' });
    const failure = await client()
      .keys.list()
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(TallygateError);
    expect(failure).toMatchObject({ code: 'unexpected_response', status: 200 });
  });
});

it('gives request id, receipt id, cost and the run’s money beside the data', async () => {
  const run = { 'x-agent-budget-limit-usd': '0.5', 'x-agent-budget-spent-usd': '0.1', 'x-agent-budget-remaining-usd': '0.4' };
  gateway.script({ json: completion, headers: { ...inferenceAnswerHeaders, 'x-cost-usd': '0.00000255', ...run } });
  const { data, response, ...beside } = await client().chat.completions.create(hello).withResponse();
  expect(data).toEqual(completion);
  expect(response.status).toBe(200);
  expect(beside).toEqual({
    requestId: REQUEST_ID,
    receiptId: RECEIPT_ID,
    costUsd: '0.00000255',
    modelServed: 'gpt-4o-mini',
    provider: 'openai',
    fallback: 'none',
    overheadMs: 0.8,
    maxTokens: undefined,
    run: { limitUsd: '0.5', spentUsd: '0.1', remainingUsd: '0.4' },
  });
});

it.each([
  ['%E6%97%A5%E6%9C%AC/m-50%25', '日本/m-50%'],
  ['m-50%', 'm-50%'],
])('reads the model that is %s in the header as %s', async (header, model) => {
  gateway.script({ json: completion, headers: { ...inferenceAnswerHeaders, 'x-model-served': header } });
  expect((await client().chat.completions.create(hello).withResponse()).modelServed).toBe(model);
});

it('lets a caller’s header replace the SDK’s own, however it is spelled', async () => {
  gateway.script({ json: [key] });
  await client().keys.list({ headers: { Authorization: 'Bearer other', 'X-Trace': '1' } });
  expect(gateway.requests[0]?.headers).toMatchObject({ authorization: 'Bearer other', 'x-trace': '1' });
});

it('refuses a header that cannot be one before anything is sent, and does not show its value', async () => {
  for (const options of [{ headers: { Authorization: 'Bearer SECRET\nX' } }, { idempotencyKey: 'SECRET\0' }]) {
    const failure = await client()
      .keys.create({ name: 'production' }, options)
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(TypeError);
    expect(inspect(failure)).not.toContain('SECRET');
  }
  expect(gateway.requests).toHaveLength(0);
});

it('calls onDebug for every attempt, never with a secret', async () => {
  gateway.script(refusal('internal_error', { headers: soon }), { status: 201, json: createdKey, headers: { 'x-request-id': REQUEST_ID } });
  const events: DebugEvent[] = [];
  await client({ onDebug: (event: DebugEvent) => events.push(event) }).keys.create({ name: 'my secret plan' });

  expect(events.map(({ type, attempt }) => `${type} ${attempt}`)).toEqual([
    'request 0',
    'response 0',
    'retry 0',
    'request 1',
    'response 1',
  ]);
  expect(events.at(-1)).toMatchObject({ method: 'POST', path: '/v1/keys', status: 201, requestId: REQUEST_ID });
  expect(JSON.stringify(events)).not.toMatch(/secret|tg_/);
});

describe('an answer without a body', () => {
  it('is returned as it is, where the runtime gives it a stream of nothing', async () => {
    const nothing = new ReadableStream({ start: (controller) => controller.close() });
    const answer = Object.defineProperty(new Response(null, { status: 204 }), 'body', { value: nothing });
    const { status } = await client({ fetch: () => Promise.resolve(answer) }).request({ method: 'DELETE', path: '/console/session' });
    expect(status).toBe(204);
  });
});
