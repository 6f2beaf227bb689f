import { readFileSync } from 'node:fs';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { readDocument } from '@tallygate/contract/read-document';
import { type FakeUpstream, startFakeUpstream } from '@tallygate/fake-upstream';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import * as z from 'zod';
import { type RedisProcess, startRedis } from '../../server/src/adapters/redis/redis-process.ts';
import { isRedisMissing, testRedisProgram } from '../../server/src/adapters/redis/test-redis.ts';
import { Account } from './account.ts';
import { HELLO } from './chat.ts';
import { Gateway } from './gateway.ts';

interface Schema {
  readonly $ref?: string;
  readonly format?: string;
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

interface Spending {
  readonly name: string;
  /** Of the MCP tool that it is, where it is one. */
  readonly tool: string;
  readonly path: string;
  readonly form: boolean;
  readonly schema: Schema;
  readonly example: Readonly<Record<string, unknown>>;
}

interface Document {
  paths: Record<
    string,
    Record<
      string,
      {
        operationId: string;
        parameters?: { name: string }[];
        requestBody?: { content: Record<string, { schema: Schema; example: Record<string, unknown> }> };
      }
    >
  >;
  components: { schemas: Record<string, Schema> };
}

const document = readDocument<Document>(readFileSync(new URL('../../contract/openapi.json', import.meta.url), 'utf8'));

/** Takes the headers of a run for the session that is opened later. */
const FOR_LATER = new Set(['createRealtimeClientSecret']);

/** Operations that run a model are recognized by the headers of an agent run. */
const SPENDING: Spending[] = Object.entries(document.paths).flatMap(([path, operations]) =>
  Object.entries(operations).flatMap(([method, { operationId, parameters = [], requestBody }]) => {
    if (FOR_LATER.has(operationId) || !parameters.some(({ name }) => name === 'x-agent-run-id')) return [];
    const [[type, content] = []] = Object.entries(requestBody?.content ?? {});
    if (!content) throw new Error(`${method} ${path} has no body`);
    return [
      {
        name: `${method.toUpperCase()} ${path}`,
        tool: operationId.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
        path,
        form: type === 'multipart/form-data',
        schema: content.schema,
        example: content.example,
      },
    ];
  }),
);

const EMBEDDING_MODEL = 'text-embedding-3-small';
const Made = z.looseObject({ id: z.string() });

/** No model of the catalogue has them, so nothing can be spent there. */
const UNSERVED = new Set(['/v1/images/variations']);
const BATCH_LINE = `${JSON.stringify({ custom_id: 'a', method: 'POST', url: '/v1/chat/completions', body: HELLO })}\n`;

const resolved = (schema: Schema): Schema =>
  schema.$ref ? resolved(document.components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {}) : schema;

/** Four milliseconds of it: 8 kHz, 16 bits, one channel. Where the file need not be a recording, any bytes work. */
const SILENCE = Buffer.concat([
  Buffer.from('RIFF\x64\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00', 'latin1'),
  Buffer.from('\x40\x1f\x00\x00\x80\x3e\x00\x00\x02\x00\x10\x00data\x40\x00\x00\x00', 'latin1'),
  Buffer.alloc(64),
]);

function formOf({ schema, example }: Spending): FormData {
  const form = new FormData();
  const { properties = {} } = resolved(schema);
  for (const [name, property] of Object.entries(properties)) {
    if (resolved(property).format === 'binary') form.append(name, new Blob([SILENCE]), 'file.wav');
    else if (example[name] !== undefined && typeof example[name] !== 'object') form.append(name, String(example[name]));
  }
  return form;
}

describe.skipIf(isRedisMissing() || testRedisProgram() === '')('with the lane store out of reach', () => {
  let upstream: FakeUpstream;
  let redis: RedisProcess;
  let gateway: Gateway;
  let authorization: string;
  let batchFile: string;
  let videoId: string;

  beforeAll(async () => {
    upstream = await startFakeUpstream();
    redis = await startRedis(testRedisProgram(), ['--appendonly', 'yes']);
    gateway = await Gateway.start({
      process: 'shared',
      providers: [{ name: 'openai', base_url: upstream.url }],
      env: { REDIS_URL: redis.url, LOG_LEVEL: 'fatal', COHERE_API_KEY: 'cohere-secret-key', COHERE_BASE_URL: new URL(upstream.url).origin },
    });
    const account = await Account.signUp(gateway, { plan: 'enterprise' });
    const { key } = await account.createKey({});
    authorization = `Bearer ${key}`;
    const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify(HELLO),
    });
    expect(answer.status).toBe(200);
    const form = new FormData();
    form.append('purpose', 'batch');
    form.append('file', new Blob([BATCH_LINE]), 'lines.jsonl');
    const file = await fetch(`${gateway.url}/v1/files`, { method: 'POST', headers: { authorization }, body: form });
    ({ id: batchFile } = Made.parse(await file.json()));
    const video = await fetch(`${gateway.url}/v1/videos`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'sora-2', prompt: 'A ledger.' }),
    });
    ({ id: videoId } = Made.parse(await video.json()));
    // Only a finished one can be remixed.
    await vi.waitFor(
      async () => {
        const shown = await fetch(`${gateway.url}/v1/videos/${videoId}`, { headers: { authorization } });
        expect(await shown.json()).toMatchObject({ status: 'completed' });
      },
      { timeout: 120_000, interval: 200 },
    );
    upstream.reset();
    await redis.stop();
  });

  afterAll(async () => {
    await gateway?.remove();
    await upstream?.close();
  });

  /** What an example names must be there. */
  const ours = (example: Spending['example']) => ({
    ...('input_file_id' in example && { input_file_id: batchFile }),
    ...('video' in example && { video: { id: videoId } }),
  });

  test('the document has the endpoints that can spend', () => {
    expect(SPENDING.length).toBeGreaterThanOrEqual(18);
  });

  test.each(SPENDING.filter(({ path }) => !UNSERVED.has(path)))('$name answers 503 and calls no provider', async (spending) => {
    const { form, path, example } = spending;
    const model = /embedcontent/i.test(path) ? EMBEDDING_MODEL : HELLO.model;
    const answer = await fetch(`${gateway.url}${path.replace('{video_id}', videoId).replace('{model}', model)}`, {
      method: 'POST',
      headers: { authorization, ...(form ? {} : { 'content-type': 'application/json' }) },
      body: form
        ? formOf(spending)
        : JSON.stringify({ ...example, ...ours(example), ...(path === '/v1/messages' && { model: HELLO.model }) }),
    });
    // Anthropic's status for it.
    const status = path.startsWith('/v1/messages') ? 529 : 503;
    expect([answer.status, await answer.json()]).toEqual([status, expect.objectContaining({ code: 'store_unavailable' })]);
    expect(answer.headers.get('retry-after')).toBeTruthy();
    expect(upstream.requests).toEqual([]);
  });

  test('no tool of the MCP server that may spend reaches a provider', async () => {
    const client = new Client({ name: 'acceptance', version: '1' });
    await client.connect(new StreamableHTTPClientTransport(new URL(`${gateway.url}/mcp`), { requestInit: { headers: { authorization } } }));
    const tools = (await client.listTools()).tools.filter(({ annotations }) => annotations?.openWorldHint);
    expect(tools.length).toBeGreaterThanOrEqual(4);
    for (const { name } of tools) {
      const { example } = SPENDING.find(({ tool }) => tool === name) ?? {};
      const args = { ...example, ...(example && 'input_file_id' in example && { input_file_id: batchFile }) };
      const { isError, content } = await client.callTool({ name, arguments: args });
      expect([name, isError, content[0]]).toEqual([
        name,
        true,
        { type: 'text', text: expect.stringMatching(/^store_unavailable \(503\): /) },
      ]);
    }
    expect(upstream.requests).toEqual([]);
    await client.close();
  });
});
