import { createHook } from 'node:async_hooks';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openAiCompatible } from '../../adapters/upstream/openai-compatible.ts';
import { chatOperation, RefusedRequests, statelessOperations } from '../../inference/calls/index.ts';
import { callOf, openInference } from '../../inference/calls/testing/inference.ts';
import { BodyMemory } from './body-memory.ts';
import { inferenceRoutes } from './inference-api.ts';
import { openFrontUnderTest } from './testing/front.ts';

/**
 * What one request makes of the things that cost a gateway its time besides bytes: each promise is an object, a closure and a turn of the microtask
 * queue, and what is allocated is collected again. Counted, since times depend on the machine. A figure here may fall, and rises only with a
 * reason: say it in the commit that raises it. Kilobytes are all that is allocated in this process, the client and the provider of this test included.
 */
const SAVED = {
  'a chat completion': { promises: 33, timers: 5, kilobytes: 142 },
  'a streamed chat completion': { promises: 40, timers: 5, kilobytes: 154 },
  embeddings: { promises: 33, timers: 5, kilobytes: 116 },
};
/** Runs of one build differ by less than two hundredths. */
const MOST_GROWTH = 1.05;
const WARM_UP = 20;
const ROUNDS = 15;
const COUNTED = 20;
/** Code that is not compiled yet allocates more. */
const WARM_UP_OF_MEMORY = 100;
const ROUNDS_OF_MEMORY = 9;

const PROMPT = 'The quick brown fox jumps over the lazy dog. '.repeat(20);
const MESSAGES = [{ role: 'user', content: PROMPT }];
const USAGE = { prompt_tokens: 210, completion_tokens: 3, total_tokens: 213 };
const REQUESTS: Readonly<Record<keyof typeof SAVED, { readonly path: string; readonly body: object }>> = {
  'a chat completion': { path: '/v1/chat/completions', body: { model: 'gpt-4o-mini', max_tokens: 16, messages: MESSAGES } },
  'a streamed chat completion': {
    path: '/v1/chat/completions',
    body: { model: 'gpt-4o-mini', max_tokens: 16, messages: MESSAGES, stream: true },
  },
  embeddings: { path: '/v1/embeddings', body: { model: 'text-embedding-3-small', input: PROMPT } },
};

const completion = { id: 'c', object: 'chat.completion', created: 1, model: 'm' };
const chunk = (delta: object, more: object = {}) =>
  `data: ${JSON.stringify({ ...completion, choices: [{ index: 0, delta, finish_reason: null }], ...more })}\n\n`;
const ANSWERS = {
  json: JSON.stringify({
    ...completion,
    choices: [{ index: 0, message: { role: 'assistant', content: 'One two three' }, finish_reason: 'stop' }],
    data: [{ object: 'embedding', index: 0, embedding: [0.1, 0.2] }],
    usage: USAGE,
  }),
  events: `${chunk({ role: 'assistant' })}${chunk({ content: 'One two three' })}${chunk({}, { choices: [], usage: USAGE })}data: [DONE]\n\n`,
};

/** Answers at once, and without a promise of its own. */
const provider = createServer((request, response) => {
  let body = '';
  request.on('data', (part: Buffer) => {
    body += part;
  });
  request.on('end', () => {
    const isStream = body.includes('"stream":true');
    response.writeHead(200, { 'content-type': isStream ? 'text/event-stream' : 'application/json' });
    response.end(isStream ? ANSWERS.events : ANSWERS.json);
  });
});

let world: ReturnType<typeof openInference>;
let front: Awaited<ReturnType<typeof openFrontUnderTest>>;
let upstream: ReturnType<typeof openAiCompatible>;

beforeAll(async () => {
  provider.listen(0, '127.0.0.1');
  await once(provider, 'listening');
  const { port } = provider.address() as AddressInfo;
  upstream = openAiCompatible({ name: 'provider', baseUrl: `http://127.0.0.1:${port}/v1`, apiKey: 'secret-of-ours' });
  world = openInference({ live: { 'gpt-4o-mini': [upstream], 'text-embedding-3-small': [upstream] }, balance: 10n ** 12n });
  const { grant } = callOf({}, { livemode: true });
  const recordings = { lengthOf: async () => undefined, close: async () => {} };
  front = await openFrontUnderTest(
    (parts) =>
      inferenceRoutes({
        ...parts,
        anchorAnswer: 'unavailable',
        sharedLane: undefined,
        operations: [
          chatOperation({
            chats: { save: async () => {} },
            openFile: () => Promise.reject(new Error('no files')),
            recordings,
            storing: { requireOn: async () => {} },
          }),
          ...statelessOperations({ recordings }),
        ],
        idempotency: { begin: () => Promise.reject(new Error('no keys')), sweep: async () => {}, close: () => {} },
        inference: world.deps,
        refusedRequests: new RefusedRequests(world.deps, () => world.clock.now()),
        bodyLimits: { maxBytes: 1_000_000, timeoutMs: 60_000 },
        bodyMemory: new BodyMemory(1_073_741_824),
        formLimits: { maxBytes: 0, maxFileBytes: 0, maxFiles: 0, maxFields: 0, maxFieldBytes: 0, idleTimeoutMs: 0, timeoutMs: 0 },
        blobs: {
          put: () => Promise.reject(new Error('no forms')),
          get: async () => undefined,
          delete: async () => {},
          async *list() {},
          check: async () => {},
          sweepUnfinished: async () => {},
        },
        checkSignature: () => null,
      }),
    {
      authenticator: { authenticate: () => grant, requireInternalSecret: () => {}, requireStoring: () => undefined },
      clock: world.clock,
    },
  );
});

afterAll(async () => {
  front.close();
  await upstream.close();
  provider.closeAllConnections();
  provider.close();
  world.close();
});

/** So many requests, one after the other on one connection. No promise is made for any of them on this side. */
async function ask(socket: Socket, { path, body }: (typeof REQUESTS)[keyof typeof SAVED], times: number): Promise<void> {
  const json = JSON.stringify(body);
  const head = `POST ${path} HTTP/1.1\r\nHost: gateway\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(json)}`;
  const request = Buffer.from(`${head}\r\nAuthorization: Bearer key\r\n\r\n${json}`);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let [left, came] = [times, ''];
  const next = () => {
    // No rate limit is reached.
    world.clock.at += 1_000;
    came = '';
    socket.write(request);
  };
  socket.on('data', (part: Buffer) => {
    came += part.toString('latin1');
    if (!came.startsWith('HTTP/1.1 200 ')) reject(new Error(came));
    const isChunked = /\r\ntransfer-encoding: chunked\r\n/i.test(came);
    const length = Number(/\r\ncontent-length: (\d+)\r\n/i.exec(came)?.[1]);
    if (isChunked ? !came.endsWith('\r\n0\r\n\r\n') : came.length < came.indexOf('\r\n\r\n') + 4 + length) return;
    left -= 1;
    if (left === 0) resolve();
    else next();
  });
  next();
  await promise;
  socket.removeAllListeners('data');
}

test.each(Object.keys(SAVED) as (keyof typeof SAVED)[])('%s makes no more promises and timers than it did', async (kind) => {
  const socket = connect(front.port, '127.0.0.1');
  await once(socket, 'connect');
  await ask(socket, REQUESTS[kind], WARM_UP);
  // Whatever else the process does meanwhile makes some as well, so the round that has made the fewest counts.
  const fewest = { PROMISE: Number.POSITIVE_INFINITY, Timeout: Number.POSITIVE_INFINITY };
  for (let round = 0; round < ROUNDS; round += 1) {
    const made = { PROMISE: 0, Timeout: 0 };
    const count = (_id: number, type: string): void => {
      if (type === 'PROMISE' || type === 'Timeout') made[type] += 1;
    };
    const hook = createHook({ init: count });
    hook.enable();
    await ask(socket, REQUESTS[kind], COUNTED);
    hook.disable();
    for (const type of ['PROMISE', 'Timeout'] as const) fewest[type] = Math.min(fewest[type], Math.floor(made[type] / COUNTED));
  }
  socket.destroy();
  expect(fewest.PROMISE).toBeLessThanOrEqual(SAVED[kind].promises);
  expect(fewest.Timeout).toBeLessThanOrEqual(SAVED[kind].timers);
});

test.each(Object.keys(SAVED) as (keyof typeof SAVED)[])('%s allocates no more memory than it did', async (kind) => {
  const socket = connect(front.port, '127.0.0.1');
  await once(socket, 'connect');
  await ask(socket, REQUESTS[kind], WARM_UP_OF_MEMORY);
  const kilobytes: number[] = [];
  for (let round = 0; round < ROUNDS_OF_MEMORY; round += 1) {
    const before = process.memoryUsage().heapUsed;
    await ask(socket, REQUESTS[kind], COUNTED);
    kilobytes.push((process.memoryUsage().heapUsed - before) / COUNTED / 1_024);
  }
  socket.destroy();
  // In a round with less than nothing, garbage was collected.
  const whole = kilobytes.filter((each) => each > 0).sort((a, b) => a - b);
  expect(whole[Math.floor(whole.length / 2)]).toBeLessThanOrEqual(SAVED[kind].kilobytes * MOST_GROWTH);
});
