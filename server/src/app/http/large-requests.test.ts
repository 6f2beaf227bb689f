import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { testDatabase } from '../../adapters/postgres/test-database.ts';
import { expectTurns } from '../../kernel/testing/event-loop.ts';
import { readConfig } from '../config.ts';
import { type RunningServer, startServer } from '../server.ts';
import { MovableClock } from './testing/account-api.ts';
import { LARGE_CHATS, LARGE_EMBEDDINGS, LARGE_INPUTS, LARGE_MESSAGES, type LargeFields } from './testing/large-bodies.ts';
import { shortAnswers } from './testing/short-answers.ts';

/** A model for each way in which a provider is asked, by the provider’s name. */
const MODELS = { openai: 'large-openai', chat: 'large-chat', anthropic: 'large-anthropic', google: 'large-google' } as const;
type Provider = keyof typeof MODELS;
const PROVIDERS = Object.keys(MODELS) as Provider[];
const EMBEDDINGS = { openai: 'text-embedding-3-small', google: 'gemini-embedding-001' } as const;

const clock = new MovableClock();
const endings: (() => unknown)[] = [];
let server: RunningServer;
let authorization: string;
beforeAll(async () => {
  const { url, drop } = await testDatabase();
  const dataDir = mkdtempSync(join(tmpdir(), 'tallygate-large-'));
  endings.push(() => rmSync(dataDir, { recursive: true, force: true }), drop);
  const provider = shortAnswers();
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  endings.push(() => provider.close());
  const upstream = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
  const [PROVIDERS_FILE, MODELS_FILE] = [join(dataDir, 'providers.json'), join(dataDir, 'models.json')];
  const providers = [
    { name: 'openai', base_url: `${upstream}/v1`, responses: true, models: [MODELS.openai, EMBEDDINGS.openai] },
    { name: 'chat', base_url: `${upstream}/v1`, models: [MODELS.chat] },
    { name: 'anthropic', kind: 'anthropic', base_url: upstream, models: [MODELS.anthropic] },
    { name: 'google', kind: 'google', base_url: `${upstream}/v1beta`, models: [MODELS.google, EMBEDDINGS.google] },
  ];
  writeFileSync(PROVIDERS_FILE, JSON.stringify({ providers: providers.map((one) => ({ ...one, api_key: 'secret-of-the-provider' })) }));
  const price = { usd_per_million: { input_tokens: '0', output_tokens: '0' }, source: 'this test' };
  // A context that no prompt fills: nothing is refused before the provider is asked.
  const shape = { context_window: 100_000_000, max_output_tokens: 100, image_token_bound: 1_000, capabilities: ['tools', 'vision'], price };
  writeFileSync(MODELS_FILE, JSON.stringify({ models: Object.entries(MODELS).map(([provider, id]) => ({ id, provider, ...shape })) }));
  const settings = { DATABASE_URL: url, DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'silent', PROVIDERS_FILE, MODELS_FILE };
  server = await startServer(
    readConfig(settings),
    () => {},
    clock,
    () => clock.now(),
  );
  endings.push(() => server.close());
  const { admin_email: email, admin_password: password } = server.bootstrap;
  const { session } = JSON.parse((await ask('/v1/users/login', Buffer.from(JSON.stringify({ email, password })))).text);
  authorization = `Bearer ${session.token}`;
  const { key } = JSON.parse((await ask('/v1/keys', Buffer.from('{"name":"large","livemode":true}'))).text);
  authorization = `Bearer ${key}`;
});
afterAll(async () => {
  for (const end of endings.reverse()) await end();
});

/** By node:http and in pieces: the client is on the same thread, and must not be what is measured. */
function ask(path: string, body?: Buffer): Promise<{ status: number; text: string }> {
  const { hostname: host, port } = new URL(server.url);
  const content = body && { 'content-type': 'application/json', 'content-length': body.length };
  const headers = { ...(authorization !== undefined && { authorization }), ...content };
  return new Promise((resolve, reject) => {
    const sent = request({ host, port, path, method: body ? 'POST' : 'GET', headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') }));
    });
    sent.on('error', reject);
    const sendFrom = (at: number): void => {
      if (!body || at >= body.length) sent.end();
      else sent.write(body.subarray(at, at + 65_536), () => setImmediate(sendFrom, at + 65_536));
    };
    sendFrom(0);
  });
}

interface Row {
  readonly path: string;
  readonly model: string;
  readonly what: string;
  body(): string;
}
/** @param rest what comes before the fields that are large */
const rowsOf = (path: string, models: readonly string[], large: LargeFields, rest = ''): Row[] =>
  models.flatMap((model) =>
    Object.entries(large).map(([what, fields]) => ({ path, model, what, body: () => `{"model":"${model}",${rest}${fields}}` })),
  );
const all = PROVIDERS.map((provider) => MODELS[provider]);

const ROWS: readonly Row[] = [
  ...rowsOf('/v1/messages', all, LARGE_MESSAGES, '"max_tokens":10,'),
  ...rowsOf('/v1/messages/count_tokens', [MODELS.chat], LARGE_MESSAGES),
  ...rowsOf('/v1/chat/completions', all, LARGE_CHATS, '"max_completion_tokens":10,'),
  ...rowsOf('/v1/responses', all, LARGE_INPUTS, '"max_output_tokens":16,"store":false,'),
  ...rowsOf('/v1/responses/compact', [MODELS.openai, MODELS.chat], LARGE_INPUTS),
  ...rowsOf('/v1/responses/input_tokens', [MODELS.chat], LARGE_INPUTS),
  ...rowsOf('/v1/embeddings', Object.values(EMBEDDINGS), LARGE_EMBEDDINGS),
];
const measuredAs = (body: Buffer, { path, model, what }: Omit<Row, 'body'>, work: () => Promise<{ status: number; text: string }>) =>
  expectTurns(`${path} ${model} ${what}`, body.length, () => {
    // The rate limits of the time before are not its subject.
    clock.offsetMs += 60_000;
    return work();
  });

test.each(ROWS)('a request of 10 MB holds the event loop for 50 ms at most: $path, $model, $what', async ({ body, ...row }) => {
  const bytes = Buffer.from(body());
  const { status, text } = await measuredAs(bytes, row, () => ask(row.path, bytes));
  expect(status, text.slice(0, 300)).toBe(200);
});

const BATCHED = ['a text', 'many turns', 'the input of a tool'];

test.each(Object.entries(LARGE_MESSAGES).filter(([what]) => BATCHED.includes(what)))(
  'a batch of messages holds the event loop for 50 ms at most: %s',
  async (what, fields) => {
    const params = `{"model":"${MODELS.anthropic}","max_tokens":10,${fields}}`;
    const body = Buffer.from(`{"requests":[{"custom_id":"a","params":${params}}]}`);
    const path = '/v1/messages/batches';
    const { text } = await measuredAs(body, { path, model: MODELS.anthropic, what }, async () => {
      const created = await ask(path, body);
      expect(created.status, created.text.slice(0, 300)).toBe(200);
      return untilEnded(`${path}/${JSON.parse(created.text).id}`);
    });
    expect(JSON.parse(text).request_counts).toMatchObject({ succeeded: 1 });
  },
);

async function untilEnded(path: string): Promise<{ status: number; text: string }> {
  for (;;) {
    const state = await ask(path);
    if (JSON.parse(state.text).processing_status === 'ended') return state;
    await wait(20);
  }
}
