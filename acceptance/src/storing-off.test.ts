import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { type FakeUpstream, type Step, startFakeUpstream, steps } from '@tallygate/fake-upstream';
import OpenAI, { toFile } from 'openai';
import pg from 'pg';
import { afterEach, expect, test } from 'vitest';
import { type RedisProcess, startRedis } from '../../server/src/adapters/redis/redis-process.ts';
import { isRedisMissing, testRedisProgram } from '../../server/src/adapters/redis/test-redis.ts';
import { Account } from './account.ts';
import { Gateway } from './gateway.ts';
import { PNG, SILENCE } from './small-media.ts';
import { filesIn, filesWith } from './stored-bytes.ts';

/** Words that no list of words has, so that they can be looked for; long ones would be seen by their length where they are encrypted. */
const PROMPT = 'prompt-of-the-launch-codes';
const ANSWER = 'answer-of-the-launch-codes';
const PADDING_BYTES = 30_000;
/** No row of the gateway's own comes near. */
const LARGE_ROW_BYTES = 20_000;
const longAnd = (words: string): string => `${words} ${randomBytes(PADDING_BYTES).toString('base64url')}`;

let upstream: FakeUpstream | undefined;
let redis: RedisProcess | undefined;
let gateway: Gateway | undefined;
let database: pg.Client | undefined;
afterEach(async () => {
  await database?.end();
  await gateway?.remove();
  await redis?.stop();
  await upstream?.close();
  upstream = redis = gateway = database = undefined;
});

/** With the words among its samples. */
function recording(): Buffer {
  const wav = Buffer.from(SILENCE);
  wav.write(PROMPT, 100);
  return wav;
}

/** The tables that have rows of such a length, with how many. */
async function largeRows(client: pg.Client): Promise<Record<string, number>> {
  const { rows: tables } = await client.query<{ name: string }>(
    `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
     where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`,
  );
  const found: Record<string, number> = {};
  for (const { name } of tables) {
    const { rows } = await client.query<{ many: string }>(
      `select count(*) as many from ${name} as one where octet_length(one::text) > $1`,
      [LARGE_ROW_BYTES],
    );
    if (rows[0]?.many !== '0') found[name] = Number(rows[0]?.many);
  }
  return found;
}

const chatModel = 'gpt-4o-mini';
const MODELS = [
  ...[chatModel, 'gpt-3.5-turbo-instruct', 'text-embedding-3-small', 'omni-moderation-latest'],
  ...['gpt-image-1', 'tts-1', 'whisper-1', 'sora-2'],
];
const messagesOf = (content: string) => [{ role: 'user' as const, content }];

/** Everything that a caller can send a prompt by. */
async function useEverything(openai: OpenAI, mcp: Client): Promise<void> {
  const messages = messagesOf(longAnd(PROMPT));
  const input = longAnd(PROMPT);
  const drain = async (stream: AsyncIterable<unknown>) => {
    for await (const _ of stream);
  };
  await openai.chat.completions.create({ model: chatModel, messages });
  await drain(await openai.chat.completions.create({ model: chatModel, messages, stream: true }));
  await openai.responses.create({ model: chatModel, input });
  await openai.responses.create({ model: chatModel, input, store: false });
  await drain(await openai.responses.create({ model: chatModel, input, stream: true }));
  await openai.completions.create({ model: 'gpt-3.5-turbo-instruct', prompt: input });
  await openai.embeddings.create({ model: 'text-embedding-3-small', input: PROMPT });
  await openai.moderations.create({ model: 'omni-moderation-latest', input });
  await openai.images.generate({ model: 'gpt-image-1', prompt: PROMPT, quality: 'low' });
  const image = await toFile(Buffer.concat([PNG, Buffer.from(longAnd(PROMPT))]), 'a.png', { type: 'image/png' });
  await openai.images.edit({ model: 'gpt-image-1', prompt: PROMPT, image, quality: 'low' });
  await openai.audio.speech.create({ model: 'tts-1', input: PROMPT, voice: 'alloy' });
  await openai.audio.transcriptions.create({ model: 'whisper-1', file: await toFile(recording(), 'a.wav') });
  await mcp.callTool({ name: 'create_chat_completion', arguments: { model: chatModel, messages } });
  // It is asked for by the caller, and sealed with the caller's own key.
  const once = { headers: { 'idempotency-key': 'once' } };
  await openai.chat.completions.create({ model: chatModel, messages: messagesOf(PROMPT) }, once);
}

/** What cannot do without storing. */
function storingRequests(openai: OpenAI): (() => Promise<unknown>)[] {
  const messages = messagesOf(longAnd(PROMPT));
  const input = longAnd(PROMPT);
  const file = () => toFile(Buffer.from(input), 'a.jsonl');
  return [
    () => openai.chat.completions.create({ model: chatModel, messages, store: true }),
    () => openai.responses.create({ model: chatModel, input, store: true }),
    () => openai.responses.create({ model: chatModel, input, background: true }),
    () => openai.responses.create({ model: chatModel, input, conversation: 'conv_any' }),
    () => openai.conversations.create({ items: [{ type: 'message', role: 'user', content: input }] }),
    () => file().then((one) => openai.files.create({ file: one, purpose: 'batch' })),
    () => openai.uploads.create({ filename: 'a.jsonl', purpose: 'batch', bytes: 10, mime_type: 'application/jsonl' }),
    () => openai.batches.create({ input_file_id: 'file-any', endpoint: '/v1/chat/completions', completion_window: '24h' }),
    () => openai.videos.create({ model: 'sora-2', prompt: input }),
  ];
}

/** What is refused, here and by a provider that repeats the prompt in its error. */
async function failEverything(openai: OpenAI, url: string, key: string, provider: FakeUpstream): Promise<void> {
  const post = (body: string, path = '/v1/chat/completions') =>
    fetch(`${url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body,
    }).then((answer) => answer.text());
  const rpc = (members: object) => post(JSON.stringify({ jsonrpc: '2.0', id: 1, ...members }), '/mcp');
  await post(`{"jsonrpc":"2.0","method":"tools/call","params":{"name":"${PROMPT}`, '/mcp');
  await rpc({ method: PROMPT });
  await rpc({ method: 'tools/call', params: { name: PROMPT, arguments: PROMPT } });
  await rpc({ method: 'tools/call', params: { name: PROMPT, arguments: {} } });
  await rpc({ method: 'tools/call', params: { name: 'create_chat_completion', arguments: { model: chatModel, messages: PROMPT } } });
  await rpc({ method: 'resources/read', params: { uri: `tallygate://${PROMPT}` } });
  await rpc({ method: 'prompts/get', params: { name: PROMPT } });
  await post(`{"model":"${chatModel}","messages":[{"role":"user","content":"${PROMPT}`);
  await post(JSON.stringify({ model: chatModel, messages: PROMPT, [PROMPT]: true }));
  await post(JSON.stringify({ model: chatModel, messages: [{ role: PROMPT, content: PROMPT }] }));
  const words = `Cannot process: ${PROMPT}`;
  const faults: Step[] = [
    steps.refused(400, words, { code: 'invalid_value' }),
    steps.refused(401, words),
    steps.refused(404, words),
    steps.refused(429, words),
    steps.refused(500, words),
    { status: 502, headers: { 'content-type': 'text/html' }, body: `<html>${PROMPT}</html>` },
    { body: `{"unfinished": "${PROMPT}` },
    { inserted: { at: 0, event: `data: {"error":{"message":"${words}"}}\n\n` } },
    { inserted: { at: 3, event: `data: {"error":{"message":"${words}"}}\n\n` } },
    { inserted: { at: 3, event: `data: ${PROMPT}\n\n` } },
  ];
  for (const fault of faults) {
    provider.script(fault);
    const asked = openai.chat.completions
      .create({ model: chatModel, messages: messagesOf(PROMPT), stream: fault.inserted !== undefined })
      .then(async (answered) => {
        if (Symbol.asyncIterator in answered) for await (const _ of answered);
      });
    await expect(asked).rejects.toBeInstanceOf(OpenAI.APIError);
  }
}

test.each([
  ['the operator', { STORE_CONTENT: 'off' }],
  ['the account', {}],
])('where %s switches storing off, no prompt or answer is in a database, file, log or Redis', async (_, env) => {
  upstream = await startFakeUpstream();
  redis = isRedisMissing() ? undefined : await startRedis(testRedisProgram(), ['--appendonly', 'yes', '--appendfsync', 'always']);
  const deployment = { base_url: upstream.url, responses: true, models: MODELS };
  gateway = await Gateway.start({
    database: 'embedded',
    providers: [{ name: 'fake', ...deployment }],
    env: { ...env, LOG_LEVEL: 'trace', ...(redis && { REDIS_URL: redis.url }) },
  });
  const account = await Account.signUp(gateway, { plan: 'enterprise' });
  const { key } = await account.createKey();
  const openai = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: key, maxRetries: 0 });
  const begun: OpenAI.Upload[] = [];
  if (!('STORE_CONTENT' in env)) {
    begun.push(await openai.uploads.create({ filename: 'a.jsonl', purpose: 'batch', bytes: 10, mime_type: 'application/jsonl' }));
    const switched = await fetch(`${gateway.url}/v1/users/me`, {
      method: 'PATCH',
      headers: { ...account.session, 'content-type': 'application/json' },
      body: JSON.stringify({ stores_content: false }),
    });
    expect(switched.status).toBe(200);
  }
  const mcp = new Client({ name: 'acceptance', version: '1' });
  const headers = { authorization: `Bearer ${key}` };
  await mcp.connect(new StreamableHTTPClientTransport(new URL(`${gateway.url}/mcp`), { requestInit: { headers } }));
  database = new pg.Client({ connectionString: gateway.databaseUrl });
  await database.connect();
  const before = await largeRows(database);

  const answer = longAnd(ANSWER);
  upstream.script(() => ({ text: answer }));
  await useEverything(openai, mcp);
  expect(upstream.requests.length).toBeGreaterThan(12);
  const partsOf = ({ id }: OpenAI.Upload) => [
    async () => openai.uploads.parts.create(id, { data: await toFile(Buffer.from(PROMPT), 'a') }),
  ];
  for (const ask of [...storingRequests(openai), ...begun.flatMap(partsOf)])
    await expect(ask()).rejects.toMatchObject({ status: 403, code: 'storing_off' });
  upstream.reset();
  await failEverything(openai, gateway.url, key, upstream);
  await mcp.close();

  // Every request is settled and booked before it is looked for.
  const { rows } = await database.query<{ many: string }>('select count(*) as many from usage_records');
  expect(Number(rows[0]?.many)).toBeGreaterThan(12);
  // The stored answer of the one request with an `Idempotency-Key`.
  expect(await largeRows(database)).toEqual({ ...before, 'public.idempotency_keys': 1 });
  await database.end();
  database = undefined;
  await gateway.stop();
  const blobs = join(gateway.dataDir, 'blobs');
  expect(existsSync(blobs) ? filesIn(blobs) : []).toEqual([]);
  for (const words of [PROMPT, ANSWER]) {
    expect(gateway.process.output.split('\n').filter((line) => line.includes(words))).toEqual([]);
    expect(filesWith(gateway.dataDir, words)).toEqual([]);
    if (redis) expect(filesWith(redis.folder, words)).toEqual([]);
  }
});
