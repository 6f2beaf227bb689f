import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { EmbeddingRequest, MessagesRequest } from '@tallygate/contract';
import { anthropicSteps, googleSteps, startFakeUpstream, steps } from '@tallygate/fake-upstream';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { againstFakeUpstream, MAX_BYTES } from '../against-fake-upstream.ts';
import { describeUpstreamConformance } from '../conformance.ts';
import { chatCall, pumped } from '../conformance-calls.ts';
import type { UpstreamCall } from '../port.ts';
import { accessTokens } from './access-token.ts';
import { type VertexOptions, vertex } from './vertex.ts';

const GEMINI = 'gemini-2.5-pro';
const CLAUDE = 'claude-sonnet-4-5@20250929';
const TOKEN = 'ya29.token-of-google';

const vertexAt = (options: Pick<VertexOptions, 'name' | 'baseUrl'> & Partial<VertexOptions>) =>
  vertex({
    ...{ project: 'my-project', location: 'global', tokens: async () => ({ value: TOKEN, expiresAtMs: undefined }), ...options },
    ...{ apiKey: undefined, baseUrl: new URL(options.baseUrl).origin },
  });

describe.each([
  { model: GEMINI, hasOneChoiceOnly: false },
  { model: CLAUDE, hasOneChoiceOnly: true },
])('$model', (subject) => {
  describeUpstreamConformance('the Vertex adapter', async () => {
    const fake = await startFakeUpstream();
    return { provider: vertexAt({ name: 'fake', baseUrl: fake.url }), ...subject, close: fake.close };
  });
});

const { fake, provider, chat, ask } = againstFakeUpstream(vertexAt, GEMINI);

function messagesCall(fields: object = {}, overrides: object = {}): UpstreamCall {
  const request = MessagesRequest.parse({ model: 'claude', max_tokens: 100, messages: [{ role: 'user', content: 'Hi.' }], ...fields });
  return { ...chatCall(CLAUDE), endpoint: '/v1/messages', maxOutputTokens: 100, request, ...overrides } as UpstreamCall;
}
async function answered(call: UpstreamCall) {
  const answer = await provider().call(call);
  if (!answer.ok) throw new Error(answer.message);
  return answer;
}

describe('what is sent', () => {
  it('goes to the project and its place, with the token', async () => {
    await chat();
    await chat({ model: CLAUDE, stream: true });
    expect(fake().requests.map(({ path }) => path)).toEqual([
      '/v1beta1/projects/my-project/locations/global/publishers/google/models/gemini-2.5-pro:generateContent',
      '/v1/projects/my-project/locations/global/publishers/anthropic/models/claude-sonnet-4-5@20250929:streamRawPredict',
    ]);
    expect(fake().requests[0]?.headers.authorization).toBe(`Bearer ${TOKEN}`);
    expect(fake().requests[1]?.body).toMatchObject({ anthropic_version: 'vertex-2023-10-16', stream: true });
  });

  it('goes with a key to the key’s own project where none is named', async () => {
    const express = vertex({ name: 'fake', baseUrl: new URL(fake().url).origin, location: 'global', apiKey: 'AIza-0123456789' });
    await express.call(chatCall(GEMINI));
    expect(fake().requests[0]).toMatchObject({ path: '/v1beta1/publishers/google/models/gemini-2.5-pro:generateContent' });
    expect(fake().requests[0]?.headers).toMatchObject({ 'x-goog-api-key': 'AIza-0123456789' });
    await express.close();
  });

  it('is nothing where no token can be had, and gets another one once it is refused', async () => {
    const without = vertexAt({ name: 'fake', baseUrl: fake().url, tokens: () => Promise.reject(new Error('no credentials there')) });
    expect(await without.call(chatCall(GEMINI))).toMatchObject({ kind: 'failed', retryable: true, status: null });
    expect(fake().requests).toHaveLength(0);
    await without.close();
    let count = 0;
    const other = vertexAt({
      name: 'fake',
      baseUrl: fake().url,
      tokens: async () => ({ value: `token-${++count}`, expiresAtMs: undefined }),
    });
    fake().script(googleSteps.refused(401, 'UNAUTHENTICATED', 'Expired.'));
    expect(await other.call(chatCall(GEMINI))).toMatchObject({ kind: 'failed', status: 401 });
    await other.call(chatCall(GEMINI));
    expect(fake().requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer token-1', 'Bearer token-2']);
    await other.close();
  });
});

it('reads what Google adds to a chat for Gemini, whose signatures go back to it, and not for Claude', async () => {
  const { readsGoogleFields } = provider();
  expect([GEMINI, 'publishers/google/models/gemini-3-pro', CLAUDE].map((model) => readsGoogleFields?.(model))).toEqual([true, true, false]);
  const extra_content = { google: { thought_signature: 'c2lnbmVk' } };
  const call = { id: 'a', type: 'function' as const, function: { name: 'look', arguments: '{}' }, extra_content };
  const messages = [
    { role: 'user' as const, content: 'Look.' },
    { role: 'assistant' as const, content: null, tool_calls: [call] },
    { role: 'tool' as const, tool_call_id: 'a', content: 'sun' },
  ];
  await chat({ request: { messages } });
  expect(JSON.stringify(fake().requests[0]?.body)).toContain('"thoughtSignature":"c2lnbmVk"');
});

describe('a request of Messages', () => {
  it('passes as it is, but for the model, with the betas that Vertex knows', async () => {
    await answered(messagesCall({ metadata: { user_id: 'u' } }, { betas: 'claude-code-20250219,context-1m-2025-08-07' }));
    expect(fake().requests[0]?.body).toEqual({
      ...{ anthropic_version: 'vertex-2023-10-16', max_tokens: 100, messages: [{ role: 'user', content: 'Hi.' }] },
      metadata: { user_id: 'u' },
    });
    expect(fake().requests[0]?.headers['anthropic-beta']).toBe('context-1m-2025-08-07');
  });

  it('has Anthropic’s own answer and events, byte by byte', async () => {
    const body = '{ "id":"msg_vrtx_1", "type":"message", "a_field_of_next_year": 1e2 }';
    const events = 'event: a_new_one\r\ndata: {"x": 1e2}\r\n\r\n';
    fake().script({ body }, { body: events, headers: { 'content-type': 'text/event-stream' } });
    expect((await (await answered(messagesCall())).collect(MAX_BYTES)).toString()).toBe(body);
    expect(await pumped(await answered(messagesCall({}, { stream: true })))).toBe(events);
  });

  it('is served by Claude alone', () => {
    expect([CLAUDE, GEMINI].map((model) => provider().serves('/v1/messages', model))).toEqual([true, false]);
  });
});

describe('a request in Google’s own words', () => {
  const contents = [{ role: 'user' as const, parts: [{ text: 'Hi.' }] }];
  const googleCall = (endpoint: string, model: string, request: object, stream = false) =>
    ({ ...chatCall(model), endpoint, request, stream, maxOutputTokens: 100 }) as UpstreamCall;

  it('passes as it is to Gemini, with the labels that Vertex bills by', async () => {
    const request = { contents, labels: { team: 'web' } };
    await answered(googleCall('/v1beta/models:generateContent', GEMINI, request));
    await answered(googleCall('/v1beta/models:generateContent', GEMINI, request, true));
    expect(fake().requests[0]?.body).toEqual({ ...request, generationConfig: { maxOutputTokens: 100 } });
    expect(fake().requests[1]?.path).toMatch(/:streamGenerateContent\?alt=sse$/);
  });

  it('asks for a vector where its model has the method, and is served by these models alone', async () => {
    const request = { content: { parts: [{ text: 'Hi.' }] }, outputDimensionality: 2, taskType: 'CLUSTERING' };
    await answered(googleCall('/v1beta/models:embedContent', 'gemini-embedding-2', request));
    expect(fake().requests[0]?.body).toEqual({
      content: { role: 'user', parts: [{ text: 'Hi.' }] },
      embedContentConfig: { outputDimensionality: 2, taskType: 'CLUSTERING' },
    });
    const served = (endpoint: '/v1beta/models:generateContent' | '/v1beta/models:embedContent') =>
      [GEMINI, CLAUDE, 'gemini-embedding-001', 'gemini-embedding-2'].filter((model) => provider().serves(endpoint, model));
    expect([served('/v1beta/models:generateContent'), served('/v1beta/models:embedContent')]).toEqual([[GEMINI], ['gemini-embedding-2']]);
  });
});

describe('embeddings', () => {
  const embedded = async (model: string, fields: object) => {
    const request = EmbeddingRequest.parse({ model: 'embeddings', ...fields });
    const answer = await provider().call({
      ...chatCall(model),
      endpoint: '/v1/embeddings',
      maxOutputTokens: null,
      request,
    } as UpstreamCall);
    return answer.ok ? JSON.parse((await answer.collect(MAX_BYTES)).toString()) : answer;
  };

  it('are those of many texts, with the tokens of all', async () => {
    const { data, usage } = await embedded('text-embedding-005', { input: ['Hi.', 'Ho.'], dimensions: 2 });
    expect([data.length, usage]).toEqual([2, { prompt_tokens: 20, total_tokens: 20 }]);
    expect(fake().requests[0]?.body).toEqual({
      instances: [{ content: 'Hi.' }, { content: 'Ho.' }],
      parameters: { autoTruncate: false, outputDimensionality: 2 },
    });
  });

  it('are those of one text of Gemini’s, by the method of the model', async () => {
    expect((await embedded('gemini-embedding-001', { input: 'Hi.' })).usage).toEqual({ prompt_tokens: 10, total_tokens: 10 });
    expect((await embedded('gemini-embedding-2', { input: 'Hi.', dimensions: 2 })).usage).toEqual({ prompt_tokens: 10, total_tokens: 10 });
    expect(fake().requests.map(({ path }) => path.split(':')[1])).toEqual(['predict', 'embedContent']);
    for (const model of ['gemini-embedding-001', 'gemini-embedding-2'])
      expect(await embedded(model, { input: ['Hi.', 'Ho.'] })).toMatchObject({ ok: false, kind: 'rejected', param: 'input' });
  });

  it('that are none are left as they are, for the relay to refuse', async () => {
    fake().script({ body: { predictions: [] } });
    expect(await embedded('text-embedding-005', { input: 'Hi.' })).toEqual({ predictions: [] });
    expect([GEMINI, 'text-embedding-005'].map((model) => provider().serves('/v1/embeddings', model))).toEqual([false, true]);
  });
});

describe('what goes wrong', () => {
  it('is a fault in the words of whoever refuses: Google or Anthropic', async () => {
    fake().script(
      googleSteps.exhausted('7s'),
      anthropicSteps.overloaded(),
      anthropicSteps.invalid('prompt is too long: 2 tokens > 1 maximum'),
    );
    expect(await chat()).toMatchObject({ kind: 'rate_limited', retryable: true, status: 429, retryAfterMs: 7000 });
    expect(await chat({ model: CLAUDE })).toMatchObject({ kind: 'failed', status: 529, code: 'overloaded_error' });
    expect(await chat({ model: CLAUDE })).toMatchObject({ kind: 'rejected', code: 'context_length_exceeded', param: 'messages' });
  });

  it.each([GEMINI, CLAUDE])('in the middle of a stream is an error, or a cut: %s', async (model) => {
    fake().script(steps.errorMidStream(4), steps.cutStream(4, 'reset'), steps.cutStream(4, 'stall'));
    expect(await pumped(await ask({ model, stream: true }))).toContain('"error"');
    await expect((await ask({ model, stream: true })).pump(() => {})).rejects.toMatchObject({ reason: 'reset' });
    await expect((await ask({ model, stream: true, idleTimeoutMs: 50 })).pump(() => {})).rejects.toMatchObject({ reason: 'idle_timeout' });
  });
});

describe('Google’s library', () => {
  afterEach(() => vi.unstubAllEnvs());

  it('fetches the token of the machine from its metadata server', async () => {
    const asked: string[] = [];
    const server = createServer((incoming, response) => {
      asked.push(incoming.url ?? '');
      const isToken = incoming.url?.includes('/token');
      response.writeHead(200, { 'metadata-flavor': 'Google', 'content-type': 'application/json' });
      response.end(isToken ? JSON.stringify({ access_token: TOKEN, expires_in: 3600, token_type: 'Bearer' }) : '{}');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    vi.stubEnv('GCE_METADATA_HOST', `127.0.0.1:${(server.address() as AddressInfo).port}`);
    vi.stubEnv('GOOGLE_APPLICATION_CREDENTIALS', '');
    vi.stubEnv('HOME', '/nonexistent');
    const { value, expiresAtMs = 0 } = await accessTokens(undefined)();
    await new Promise((resolve) => server.close(resolve));
    expect(value).toBe(TOKEN);
    expect(expiresAtMs - Date.now()).toBeGreaterThan(3_000_000);
    expect(asked.some((path) => path.startsWith('/computeMetadata/v1/instance/service-accounts/default/token'))).toBe(true);
  });

  it('asks for a token with the key of a service account', async () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const key = { type: 'service_account', client_email: 'a@b.iam.gserviceaccount.com', private_key_id: 'k1' };
    const file = join(mkdtempSync(join(tmpdir(), 'vertex-')), 'key.json');
    writeFileSync(file, JSON.stringify({ ...key, private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }) }));
    // A proxy in front of Google: what it is asked for says who is asked.
    const { promise: asked, resolve } = Promise.withResolvers<string | undefined>();
    const proxy = createServer().on('connect', (incoming, socket) => {
      resolve(incoming.url);
      socket.destroy();
    });
    await new Promise<void>((listening) => proxy.listen(0, '127.0.0.1', listening));
    vi.stubEnv('HTTPS_PROXY', `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`);
    vi.stubEnv('NO_PROXY', '');
    await expect(accessTokens(file)()).rejects.toThrow();
    expect(await asked).toBe('oauth2.googleapis.com:443');
    await new Promise((closed) => proxy.close(closed));
    rmSync(dirname(file), { recursive: true });
  });

  it('says what is wrong with a key file', async () => {
    await expect(accessTokens('/nonexistent/key.json')()).rejects.toThrow(/nonexistent/);
  });
});
