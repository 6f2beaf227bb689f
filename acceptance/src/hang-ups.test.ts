import { type FakeUpstream, startFakeUpstream } from '@tallygate/fake-upstream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Account } from './account.ts';
import { ask, HELLO, MODEL } from './chat.ts';
import { Gateway } from './gateway.ts';
import { openLedgerAudit, verifiedReceipt } from './ledger-audit.ts';
import { PNG, SILENCE } from './small-media.ts';

const OPENAI_MODELS = [
  ...[MODEL, 'o4-mini', 'gpt-3.5-turbo-instruct', 'text-embedding-3-small', 'omni-moderation-latest'],
  ...['gpt-image-1', 'tts-1', 'gpt-4o-mini-tts', 'whisper-1', 'gpt-4o-transcribe', 'sora-2', 'jina-reranker-v2-base-multilingual'],
];

let upstream: FakeUpstream;
let gateway: Gateway;
let account: Account;
beforeAll(async () => {
  upstream = await startFakeUpstream();
  gateway = await Gateway.start({
    providers: [{ name: 'fake', base_url: upstream.url, models: OPENAI_MODELS, responses: true }],
    env: {
      DRAIN_TIMEOUT_MS: '500',
      ANTHROPIC_API_KEY: 'anthropic-secret-key',
      ANTHROPIC_BASE_URL: upstream.url,
      GEMINI_API_KEY: 'google-secret-key',
      COHERE_API_KEY: 'cohere-secret-key',
      COHERE_BASE_URL: new URL(upstream.url).origin,
      GOOGLE_BASE_URL: new URL('/v1beta', upstream.url).href,
      AZURE_OPENAI_API_KEY: 'azure-secret-key',
      AZURE_OPENAI_ENDPOINT: new URL(upstream.url).origin,
      AZURE_OPENAI_DEPLOYMENTS: 'gpt-4.1-mini=mini',
      OPENAI_API_VERSION: '2024-10-21',
    },
  });
  account = await Account.signUp(gateway, { plan: 'enterprise' });
});
afterAll(async () => {
  await gateway?.remove();
  await upstream?.close();
});

/** Nano-USD: gpt-4o-mini costs 0.15 USD per million tokens in, and 0.60 out. */
const billed = () =>
  upstream.requests.reduce((sum, { billed: { inputTokens, outputTokens } }) => sum + BigInt(inputTokens * 150 + outputTokens * 600), 0n);

test('kill -9 settles every call in flight once at its hold, with a receipt, and none for less than its provider bills', async () => {
  const { key } = await account.createKey({ monthly_cap_usd: '1' });
  const cases = [
    { 'x-request-id': 'killed-plain' },
    { 'x-request-id': 'killed-stream', stream: true },
    { 'x-request-id': 'killed-in-run', 'x-agent-run-id': 'killed', 'x-agent-max-budget': '0.5' },
    { 'x-request-id': 'killed-hung-up', stream: true, hangsUp: true },
  ];
  upstream.script(({ body }) => ({ tokens: 400, gapMs: 50, delayMs: Object(body).stream ? 0 : 20_000 }));
  const hangUp = new AbortController();
  const running = cases.map(async ({ stream = false, hangsUp = false, ...headers }) => {
    const answered = fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ ...HELLO, max_tokens: 500, stream }),
      ...(hangsUp && { signal: hangUp.signal }),
    }).then((answer) => answer.text());
    answered.catch(() => {});
    await answered.catch(() => {});
  });
  await expect.poll(() => upstream.requests.length, { interval: 5 }).toBe(cases.length);
  hangUp.abort();
  await expect.poll(() => upstream.requests.some(({ bytesSent }) => bytesSent > 0), { interval: 5 }).toBe(true);
  await gateway.kill();
  await Promise.all(running);
  const owed = billed();
  expect(owed).toBe(BigInt(cases.length) * (10n * 150n + 400n * 600n));
  upstream.reset();
  await gateway.start();

  const traces = await Promise.all(cases.map((one) => account.trace(one['x-request-id'])));
  for (const trace of traces) {
    expect(trace).toMatchObject({ outcome: 'abandoned', estimated: true, usage: { output_tokens: 500 } });
    expect(trace.cost_usd).toBe(trace.held_usd);
    expect(await verifiedReceipt(gateway, trace.receipt_id)).toBeDefined();
  }
  await using ledger = await openLedgerAudit(gateway);
  const entries = await ledger.entriesOf(traces.map(({ request_id }) => request_id));
  expect([...entries.values()]).toEqual(traces.map(() => expect.objectContaining({ records: 1, postings: 1, receipts: 1 })));
  expect([...entries.values()].reduce((sum, { cost }) => sum + cost, 0n)).toBeGreaterThanOrEqual(owed);
  expect(await ledger.faults()).toEqual([]);

  // A second start finds nothing that is still to be settled, and the gateway serves on.
  await gateway.kill();
  await gateway.start();
  expect((await ask(gateway, key, HELLO)).status).toBe(200);
  expect((await account.trace('killed-plain')).receipt_id).toBe(traces[0]?.receipt_id);
});

test('a gateway that is asked to stop settles what it has to cut at its hold', async () => {
  const { key } = await account.createKey();
  upstream.script({ tokens: 2_000, gapMs: 20 });
  const arrived = upstream.nextRequest();
  const running = ask(gateway, key, { ...HELLO, max_tokens: 3_000, stream: true }, { 'x-request-id': 'drained-stream' }).catch(() => {});
  await arrived;
  await gateway.stop();
  await running;
  await gateway.start();
  const trace = await account.trace('drained-stream');
  expect(trace).toMatchObject({ outcome: 'abandoned', estimated: true, usage: { output_tokens: 3_000 } });
});

function form(fields: Readonly<Record<string, string>>, files: Readonly<Record<string, [Blob, string]>>): FormData {
  const whole = new FormData();
  for (const [name, value] of Object.entries(fields)) whole.set(name, value);
  for (const [name, [file, filename]] of Object.entries(files)) whole.set(name, file, filename);
  return whole;
}

const chat = (model: string, stream: boolean) => ({ ...HELLO, model, stream, max_tokens: 400 });
const BOTH = [false, true];
/** Every endpoint that can spend, and every API that chats are translated to. */
const EVERYWHERE: readonly (readonly [string, string, () => object])[] = [
  ...[MODEL, 'o4-mini', 'gpt-4.1-mini', 'claude-sonnet-4-6', 'gemini-3.5-flash'].flatMap((model) =>
    BOTH.map((stream) => [`chat-${model}-${stream}`, '/v1/chat/completions', () => chat(model, stream)] as const),
  ),
  ...[MODEL, 'claude-sonnet-4-6', 'gemini-3.5-flash'].flatMap((model) =>
    BOTH.map(
      (stream) =>
        [`responses-${model}-${stream}`, '/v1/responses', () => ({ model, input: 'Say hello.', stream, max_output_tokens: 400 })] as const,
    ),
  ),
  ['completions', '/v1/completions', () => ({ model: 'gpt-3.5-turbo-instruct', prompt: 'Say hello.', max_tokens: 400 })],
  ['embeddings', '/v1/embeddings', () => ({ model: 'text-embedding-3-small', input: 'Say hello.' })],
  ['rankings-jina', '/v1/rerank', () => ({ model: 'jina-reranker-v2-base-multilingual', query: 'Which?', documents: ['a'] })],
  ['rankings-cohere', '/v1/rerank', () => ({ model: 'rerank-v4.0-fast', query: 'Which?', documents: ['a'] })],
  ['moderations', '/v1/moderations', () => ({ model: 'omni-moderation-latest', input: 'Say hello.' })],
  ...BOTH.map(
    (stream) =>
      [
        `images-${stream}`,
        '/v1/images/generations',
        () => ({ model: 'gpt-image-1', prompt: 'A ledger.', quality: 'low', stream }),
      ] as const,
  ),
  [
    'edits',
    '/v1/images/edits',
    () => form({ model: 'gpt-image-1', prompt: 'A ledger.', quality: 'low' }, { image: [new Blob([PNG], { type: 'image/png' }), 'a.png'] }),
  ],
  ...['tts-1', 'gpt-4o-mini-tts'].flatMap((model) =>
    ['audio', 'sse'].map(
      (stream_format) =>
        [
          `speech-${model}-${stream_format}`,
          '/v1/audio/speech',
          () => ({ model, input: 'Say hello.', voice: 'alloy', stream_format }),
        ] as const,
    ),
  ),
  [
    'transcription',
    '/v1/audio/transcriptions',
    () => form({ model: 'whisper-1' }, { file: [new Blob([SILENCE], { type: 'audio/wav' }), 'a.wav'] }),
  ],
  [
    'transcription-stream',
    '/v1/audio/transcriptions',
    () => form({ model: 'gpt-4o-transcribe', stream: 'true' }, { file: [new Blob([SILENCE], { type: 'audio/wav' }), 'a.wav'] }),
  ],
  [
    'translation',
    '/v1/audio/translations',
    () => form({ model: 'whisper-1' }, { file: [new Blob([SILENCE], { type: 'audio/wav' }), 'a.wav'] }),
  ],
  [
    'embeddings-passed-on',
    '/v1/embeddings',
    () => ({ model: 'text-embedding-3-small', input: Array.from({ length: 200 }, () => 'Hello.') }),
  ],
  ['videos', '/v1/videos', () => ({ model: 'sora-2', prompt: 'A ledger.', seconds: '4', size: '1280x720' })],
];

/** A call at every endpoint, in every dialect, each under a different request id; resolves once all providers are at work. */
async function askEverywhere(prefix: string, key: string, signal?: AbortSignal) {
  const running = EVERYWHERE.map(async ([name, path, body]) => {
    const asked = body();
    const isForm = asked instanceof FormData;
    const answer = await fetch(`${gateway.url}${path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'x-request-id': `${prefix}-${name}`,
        ...(!isForm && { 'content-type': 'application/json' }),
      },
      body: isForm ? asked : JSON.stringify(asked),
      ...(signal && { signal }),
    });
    return [name, answer.status, await answer.text()] as const;
  });
  const ended = Promise.allSettled(running);
  await expect.poll(() => upstream.requests.length, { interval: 20, timeout: 120_000 }).toBe(EVERYWHERE.length);
  return { ended, traces: () => Promise.all(EVERYWHERE.map(([name]) => account.trace(`${prefix}-${name}`))) };
}

test('a hang-up leaves no call unpaid at any endpoint, in any dialect', async () => {
  const { key } = await account.createKey();
  upstream.reset();
  upstream.script(() => ({ tokens: 50, delayMs: 5_000 }));
  const hangUp = new AbortController();
  const { ended, traces: settledTraces } = await askEverywhere('left', key, hangUp.signal);
  hangUp.abort();
  await ended;
  expect((await Promise.all(upstream.requests.map((one) => one.ended))).every((end) => end === 'answered')).toBe(true);
  const traces = await settledTraces();
  const billOf = (name: string) => upstream.requests.map(({ billed }) => billed[name as 'seconds']).reduce((sum, count) => sum + count, 0);
  const said = (meter: keyof (typeof traces)[number]['usage']) => traces.reduce((sum, { usage }) => sum + (usage[meter] ?? 0), 0);
  // Speech of one model is charged by its characters, and a video, which lives on at its provider, by its seconds.
  const spoken = EVERYWHERE.filter(([name]) => name.startsWith('speech-tts-1')).length;
  expect(said('input_characters')).toBe(spoken * 'Say hello.'.length);
  expect(said('input_tokens')).toBe(billOf('inputTokens') - spoken * 10);
  expect(said('output_tokens')).toBe(billOf('outputTokens') - spoken * 8);
  expect(said('audio_seconds') + said('video_seconds')).toBe(billOf('seconds'));
  expect(said('video_seconds')).toBe(4);
  for (const [index, trace] of traces.entries()) {
    const [name] = EVERYWHERE[index] ?? [];
    expect([name, trace.outcome, trace.estimated]).toEqual([name, name === 'videos' ? 'completed' : 'cancelled', false]);
  }
  await using ledger = await openLedgerAudit(gateway);
  expect(await ledger.faults()).toEqual([]);
});

test.each([
  ['kill -9', () => gateway.kill()],
  ['a stop', () => gateway.stop()],
])('%s leaves no call unpaid at any endpoint, in any dialect', async (ending, end) => {
  const { key } = await account.createKey();
  upstream.reset();
  upstream.script(() => ({ delayMs: 120_000 }));
  const { ended, traces: settledTraces } = await askEverywhere(`${ending.replace(' ', '-')}`, key);
  await end();
  await ended;
  const owed = upstream.requests.reduce((sum, { billed: { inputTokens, outputTokens } }) => sum + inputTokens + outputTokens, 0);
  expect(owed).toBeGreaterThan(0);
  upstream.reset();
  await gateway.start();

  const traces = await settledTraces();
  for (const trace of traces) expect(trace).toMatchObject({ outcome: 'abandoned', estimated: true, cost_usd: trace.held_usd });
  const settled = traces.reduce((sum, { usage: { input_tokens, output_tokens } }) => sum + input_tokens + output_tokens, 0);
  expect(settled).toBeGreaterThanOrEqual(owed);
  await using ledger = await openLedgerAudit(gateway);
  const entries = await ledger.entriesOf(traces.map(({ request_id }) => request_id));
  expect([...entries.values()]).toEqual(traces.map(() => expect.objectContaining({ records: 1, postings: 1, receipts: 1 })));
  expect(await ledger.faults()).toEqual([]);
});

test('kill -9 settles the call of a background response at its hold, and the one that is asked in its place by its usage', async () => {
  const { key } = await account.createKey();
  upstream.reset();
  upstream.script(() => ({ delayMs: 120_000, tokens: 20 }));
  const taken = await fetch(`${gateway.url}/v1/responses`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: MODEL, input: 'Say hello.', background: true, max_output_tokens: 400 }),
  });
  expect(await taken.json()).toMatchObject({ status: 'queued' });
  const requestId = taken.headers.get('x-request-id') ?? '';
  // A gateway that was just started asks for the provider's models, too.
  await expect.poll(billed, { interval: 20, timeout: 120_000 }).toBeGreaterThan(0n);
  await gateway.kill();
  upstream.reset();
  upstream.script(() => ({ tokens: 20 }));
  await gateway.start();

  await using ledger = await openLedgerAudit(gateway);
  const entry = async () => (await ledger.entriesOf([requestId])).get(requestId);
  await expect.poll(entry, { timeout: 120_000, interval: 100 }).toMatchObject({ records: 2, abandoned: 1, postings: 2, receipts: 2 });
  // Four hundred tokens were held for the first.
  expect((await entry())?.cost).toBeGreaterThanOrEqual(400n * 600n + billed());
  expect(await ledger.faults()).toEqual([]);
});
