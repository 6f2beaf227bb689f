import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { AgentDocument, ProtectedResourceMetadata, ReceiptResponse } from '@tallygate/contract';
import { type FakeUpstream, type Step, startFakeUpstream } from '@tallygate/fake-upstream';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import * as z from 'zod';
import { Account } from './account.ts';
import { HELLO, MODEL } from './chat.ts';
import { Gateway } from './gateway.ts';
import { type ChargedRecord, openLedgerAudit } from './ledger-audit.ts';

let upstream: FakeUpstream;
let gateway: Gateway;
let account: Account;
let key: string;
beforeAll(async () => {
  upstream = await startFakeUpstream();
  gateway = await Gateway.start({
    providers: [{ name: 'openai', base_url: upstream.url }],
    env: { LOG_LEVEL: 'fatal', DRAIN_TIMEOUT_MS: '500' },
  });
  account = await Account.signUp(gateway, { plan: 'enterprise' });
  ({ key } = await account.createKey());
});
afterAll(async () => {
  await gateway?.remove();
  await upstream?.close();
});
afterEach(() => upstream.reset());

type Era = 'legacy' | 'auto';

/** The MCP SDK's own client, unmodified. */
async function connect(credential = key, mode: Era = 'auto') {
  const client = new Client({ name: 'acceptance', version: '1' }, mode === 'auto' ? { versionNegotiation: { mode } } : {});
  const headers = { authorization: `Bearer ${credential}` };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${gateway.url}/mcp`), { requestInit: { headers } }));
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.close() });
}
type Connected = Awaited<ReturnType<typeof connect>>;

const About = z.object({ answer: z.unknown(), request_id: z.string(), receipt_id: z.string().optional(), cost_usd: z.string().optional() });

/** What a tool answered; the client has checked it against the tool's own schema. */
async function call(client: Connected, name: string, args: Record<string, unknown> = {}) {
  const { isError, structuredContent, content } = await client.callTool({ name, arguments: args });
  expect([name, isError ?? false, isError ? content : '']).toEqual([name, false, '']);
  return About.parse(structuredContent);
}

/** The first text of a refused tool. */
async function refusal(client: Connected, name: string, args: Record<string, unknown> = {}) {
  const { isError, content } = await client.callTool({ name, arguments: args });
  const [said] = content;
  return isError && said?.type === 'text' ? said.text : `not refused: ${name}`;
}

/** One message as bytes, for what no client would send. */
const post = (body: string, headers: Record<string, string> = { authorization: `Bearer ${key}` }) =>
  fetch(`${gateway.url}/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
    body,
  });
const LIST = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
const Refused = z.object({ error: z.object({ code: z.number(), data: z.object({ code: z.string() }) }) });

describe.each<[string, Era, string]>([
  ['a client of 2025', 'legacy', '2025-11-25'],
  ['a client of 2026', 'auto', '2026-07-28'],
])('%s', (_title, mode, version) => {
  test('finds tools, resources and prompts, and reads what it finds', async () => {
    await using client = await connect(key, mode);
    expect(client.getNegotiatedProtocolVersion()).toBe(version);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['list_models', 'create_chat_completion', 'get_receipt']));
    const { resources } = await client.listResources();
    for (const { uri } of resources) expect((await client.readResource({ uri })).contents).toHaveLength(1);
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toContain('tallygate://receipts/{receipt_id}');
    for (const { name, arguments: taken = [] } of (await client.listPrompts()).prompts) {
      const { messages } = await client.getPrompt({ name, arguments: Object.fromEntries(taken.map((one) => [one.name, 'now'])) });
      expect(messages).toHaveLength(1);
    }
  });

  test('pays for an answer what the same request costs over HTTP, with a receipt and a run', async () => {
    await using client = await connect(key, mode);
    const run = `mcp-${mode}`;
    const made = await call(client, 'create_chat_completion', { ...HELLO, agent_run_id: run, agent_max_budget: '0.5' });
    const { cost_usd, receipt_id = '', request_id } = made;
    const overHttp = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(HELLO),
    });
    expect(cost_usd).toBe(overHttp.headers.get('x-cost-usd'));
    expect(Number(cost_usd)).toBeGreaterThan(0);
    expect(upstream.requests).toHaveLength(2);
    // The trace is there once the request is settled, and so is the receipt.
    expect(await account.trace(request_id)).toMatchObject({ receipt_id, cost_usd });
    const { contents } = await client.readResource({ uri: `tallygate://receipts/${receipt_id}` });
    const [content] = contents;
    expect(ReceiptResponse.parse(JSON.parse(content && 'text' in content ? content.text : ''))).toMatchObject({
      payload: { receipt_id, request_id, run_id: run },
    });
    expect((await call(client, 'get_run', { run_id: run })).answer).toMatchObject({ spent_usd: cost_usd, requests: 1 });
  });
});

test('every family of tools does what the API does', async () => {
  await using client = await connect();
  const file = (await call(client, 'create_file', { filename: 'lines.jsonl', purpose: 'batch', content: LINE })).answer;
  const { id } = z.looseObject({ id: z.string() }).parse(file);
  expect((await call(client, 'download_file', { file_id: id })).answer).toEqual({
    content: LINE,
    offset: 0,
    next_offset: null,
    total_bytes: LINE.length,
  });
  const batch = { input_file_id: id, endpoint: '/v1/chat/completions', completion_window: '24h' };
  const begun = z.looseObject({ id: z.string() }).parse((await call(client, 'create_batch', batch)).answer);
  expect((await call(client, 'get_batch', { batch_id: begun.id })).answer).toMatchObject({ input_file_id: id });
  const image = await client.callTool({ name: 'create_image', arguments: { model: 'gpt-image-1', prompt: 'A ledger.' } });
  expect(image.content.map(({ type }) => type)).toEqual(['text', 'image']);
  const { answer: keys } = await call(client, 'list_keys');
  const [{ key_id }] = z.tuple([z.looseObject({ key_id: z.string() })], z.unknown()).parse(keys);
  expect((await call(client, 'update_key_budget', { key_id, monthly_cap_usd: '25' })).answer).toMatchObject({ monthly_cap_usd: '25' });
  expect((await call(client, 'get_budget_summary')).answer).toMatchObject({
    items: expect.arrayContaining([expect.objectContaining({ key_id })]),
  });
  for (const name of [
    'list_plans',
    'get_current_plan',
    'get_plan_usage',
    'get_usage',
    'list_files',
    'list_batches',
    'list_runs',
    'get_vaas_keys',
  ])
    await call(client, name);
  // Its line would be a call to the provider in another test.
  await expect
    .poll(async () => (await call(client, 'get_batch', { batch_id: begun.id })).answer, { timeout: 120_000 })
    .toMatchObject({
      status: 'completed',
    });
});
const LINE = `${JSON.stringify({ custom_id: 'a', method: 'POST', url: '/v1/chat/completions', body: HELLO })}\n`;

describe('money', () => {
  const SPENDING: Readonly<Record<string, Record<string, unknown>>> = {
    create_chat_completion: HELLO,
    create_embedding: { model: 'text-embedding-3-small', input: 'x' },
    create_image: { model: 'gpt-image-1', prompt: 'A ledger.' },
    create_batch: { endpoint: '/v1/chat/completions', completion_window: '24h' },
  };

  test('no tool reaches a provider with a key that may spend nothing', async () => {
    const poor = await account.createKey({ monthly_cap_usd: '0' });
    await using client = await connect(poor.key);
    const { tools } = await client.listTools();
    expect(
      tools
        .filter(({ annotations }) => annotations?.openWorldHint)
        .map(({ name }) => name)
        .sort(),
    ).toEqual(Object.keys(SPENDING).sort());
    const file = z
      .looseObject({ id: z.string() })
      .parse((await call(client, 'create_file', { filename: 'a.jsonl', purpose: 'batch', content: LINE })).answer);
    for (const [name, args] of Object.entries(SPENDING)) {
      const said = await refusal(client, name, name === 'create_batch' ? { ...args, input_file_id: file.id } : args);
      expect(said).toMatch(/^budget_exceeded \(402\): /);
    }
    expect(upstream.requests).toEqual([]);
  });

  test('a name that differs from a known one only in case is refused, as over HTTP', async () => {
    await using client = await connect();
    const said = await refusal(client, 'create_chat_completion', { ...HELLO, model: MODEL, Max_Tokens: 100_000 });
    expect(said).toMatch(/^validation_failed \(4\d\d\): .*`Max_Tokens`/);
    expect(upstream.requests).toEqual([]);
  });

  test.each([{ max_new_tokens: 100_000 }, { options: { num_predict: 100_000 } }, { extra_body: { n: 8 } }, { use_beam_search: true }])(
    'another dialect’s way to cost more is refused, as over HTTP: %j',
    async (field) => {
      await using client = await connect();
      const said = await refusal(client, 'create_chat_completion', { ...HELLO, model: MODEL, ...field });
      expect(said).toMatch(/^(validation_failed|unpriced_feature) \(400\): /);
      expect(said).toContain(`\`${Object.keys(field)[0]}`);
      expect(upstream.requests).toEqual([]);
    },
  );

  test('a run’s ceiling holds for tools and HTTP alike', async () => {
    await using client = await connect();
    const run = { agent_run_id: 'tight', agent_max_budget: '0.000001' };
    expect(await refusal(client, 'create_chat_completion', { ...HELLO, max_tokens: 100, ...run })).toMatch(/^budget_exceeded \(402\): /);
    expect(upstream.requests).toEqual([]);
  });

  test('a repeat with an idempotency key is charged once', async () => {
    await using client = await connect();
    const first = await call(client, 'create_chat_completion', { ...HELLO, idempotency_key: 'once' });
    const second = await call(client, 'create_chat_completion', { ...HELLO, idempotency_key: 'once' });
    expect(second.answer).toEqual(first.answer);
    expect(upstream.requests).toHaveLength(1);
  });

  const BOUNDED = { ...HELLO, model: MODEL, max_tokens: 400 };
  /** A call of a tool, hung up once a provider is at work, in either way that a client can. */
  const HANG_UPS: readonly (readonly [string, (credential: string, name: string, args: Record<string, unknown>) => Promise<void>])[] = [
    [
      'cancels the call',
      async (credential, name, args) => {
        await using client = await connect(credential);
        const hangUp = new AbortController();
        const calling = client.callTool({ name, arguments: args }, { signal: hangUp.signal });
        calling.catch(() => {});
        await vi.waitFor(() => expect(upstream.requests).toHaveLength(1), { timeout: 120_000, interval: 20 });
        hangUp.abort();
        await expect(calling).rejects.toThrow();
      },
    ],
    [
      'breaks its connection',
      async (credential, name, args) => {
        const hangUp = new AbortController();
        const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } });
        const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
        const calling = fetch(`${gateway.url}/mcp`, {
          method: 'POST',
          headers: { ...headers, authorization: `Bearer ${credential}` },
          body,
          signal: hangUp.signal,
        }).then((answer) => answer.text());
        calling.catch(() => {});
        await vi.waitFor(() => expect(upstream.requests).toHaveLength(1), { timeout: 120_000, interval: 20 });
        hangUp.abort();
        await expect(calling).rejects.toThrow();
      },
    ],
  ];
  const settledOf = async (keyId: string): Promise<ChargedRecord> => {
    await using ledger = await openLedgerAudit(gateway);
    await expect.poll(async () => (await ledger.recordsOf(keyId)).length).toBe(1);
    expect(await ledger.faults()).toEqual([]);
    const [record] = await ledger.recordsOf(keyId);
    return record ?? expect.fail('It was recorded a moment ago');
  };

  describe.each(HANG_UPS)('a caller that %s', (_way, hangUpOn) => {
    test.each<[string, Record<string, unknown>, Step]>([
      ['create_chat_completion', BOUNDED, { tokens: 30, delayMs: 1_500 }],
      ['create_chat_completion', BOUNDED, { tokens: 30, firstByteDelayMs: 1_500 }],
      ['create_embedding', { model: 'text-embedding-3-small', input: 'x' }, { delayMs: 1_500 }],
      ['create_image', { model: 'gpt-image-1', prompt: 'A ledger.', quality: 'low' }, { delayMs: 1_500 }],
    ])('leaves the provider to end, and to be paid what it bills: %s (case %#)', async (name, args, step) => {
      const { key: own, key_id: id } = await account.createKey();
      upstream.script(step);
      await hangUpOn(own, name, args);
      const [request] = upstream.requests;
      expect(await request?.ended).toBe('answered');
      const { inputTokens = 0, outputTokens = 0 } = request?.billed ?? {};
      expect(await settledOf(id)).toMatchObject({ outcome: 'cancelled', estimated: false, inputTokens, outputTokens });
    });

    test('pays all that was held where the provider breaks off', async () => {
      const { key: own, key_id: id } = await account.createKey();
      upstream.script({ tokens: 30, firstByteDelayMs: 1_500, cut: { at: 'after_head', how: 'reset' } });
      await hangUpOn(own, 'create_chat_completion', BOUNDED);
      const { held, ...record } = await settledOf(id);
      expect(record).toMatchObject({ outcome: 'cancelled', estimated: true, cost: held });
    });
  });

  test.each([
    ['is killed', () => gateway.kill()],
    ['stops', () => gateway.stop()],
  ])('a call of a tool whose gateway %s is paid at its hold', async (_, end) => {
    const { key: own, key_id: id } = await account.createKey();
    upstream.script({ delayMs: 120_000 });
    const hangsUp = HANG_UPS[1]?.[1] ?? expect.fail('There are two ways');
    await hangsUp(own, 'create_chat_completion', BOUNDED);
    await end();
    await gateway.start();
    const { held, ...record } = await settledOf(id);
    expect(held).toBeGreaterThan(0n);
    expect(record).toMatchObject({ outcome: 'abandoned', estimated: true, cost: held });
  });
});

describe('who may do what', () => {
  test('is decided as on HTTP: a tool beyond a key’s scopes is not offered, and refused when it is called', async () => {
    const reader = await account.createKey({ scopes: ['account:read'] });
    await using client = await connect(reader.key);
    const names = (await client.listTools()).tools.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['get_usage', 'get_receipt']));
    expect(names).not.toContain('create_chat_completion');
    expect(await refusal(client, 'create_chat_completion', HELLO)).toMatch(/^scope_required \(403\): .*inference/);
  });

  test('another account’s object is answered exactly as a missing one', async () => {
    const stranger = await Account.signUp(gateway);
    const { key: strange, key_id } = await stranger.createKey();
    await using client = await connect();
    await using owner = await connect(strange);
    const missing = await refusal(client, 'get_key_budget', { key_id: '019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77' });
    expect(await refusal(client, 'get_key_budget', { key_id })).toBe(missing);
    expect((await call(owner, 'get_key_budget', { key_id })).answer).toMatchObject({ key_id });
  });

  test('a revoked key gets no further', async () => {
    const { key: doomed, key_id } = await account.createKey();
    await using client = await connect(doomed);
    await account.revoke(key_id);
    await expect(client.listTools()).rejects.toThrow();
  });

  test('a caller without a credential is shown where it says how to get one', async () => {
    const answer = await post(LIST, {});
    expect(answer.status).toBe(401);
    const [, url = ''] = /^Bearer resource_metadata="([^"]+)"$/.exec(answer.headers.get('www-authenticate') ?? '') ?? [];
    const metadata = ProtectedResourceMetadata.parse(await (await fetch(url)).json());
    expect(metadata).toMatchObject({ resource: `${gateway.url}/mcp`, bearer_methods_supported: ['header'] });
    const wrong = await post(LIST, { authorization: 'Bearer tg_test_nonsense' });
    expect([wrong.status, wrong.headers.get('www-authenticate')]).toEqual([401, expect.stringContaining('error="invalid_token"')]);
  });

  test('a page of another origin, and a name that is not this machine’s, are refused', async () => {
    const headers = { authorization: `Bearer ${key}` };
    expect((await post(LIST, { ...headers, origin: 'http://evil.example' })).status).toBe(403);
    expect((await post(LIST, { ...headers, origin: 'http://localhost:6274' })).status).toBe(200);
  });
});

describe('what no client would send', () => {
  test.each<[string, string, number, number, string]>([
    ['no JSON', '{"jsonrpc":', 400, -32700, 'malformed_json'],
    ['too much', `"${'x'.repeat(10 * 1024 * 1024)}"`, 413, -32000, 'payload_too_large'],
  ])('is refused in JSON-RPC’s words: %s', async (_title, body, status, number, code) => {
    const answer = await post(body);
    expect([answer.status, Refused.parse(await answer.json()).error]).toMatchObject([status, { code: number, data: { code } }]);
  });

  test.each([
    'null',
    '[]',
    '42',
    '{"jsonrpc":"2.0","id":1}',
    '{"jsonrpc":"2.0","id":{},"method":"tools/list"}',
    '{"jsonrpc":"2.0","id":1,"method":"constructor"}',
  ])('is answered for every input: %s', async (body) => {
    const answer = await post(body);
    expect(answer.status).toBeLessThan(500);
    await answer.text();
  });

  test('a session that is unknown is a 404, at which a client begins anew', async () => {
    const answer = await post(LIST, { authorization: `Bearer ${key}`, 'mcp-session-id': 'of-another-server' });
    const { error } = Refused.parse(await answer.json());
    expect([answer.status, error]).toMatchObject([404, { code: -32001, data: { code: 'not_found' } }]);
    // Nothing of sessions is said to those without a credential.
    expect((await post(LIST, { 'mcp-session-id': 'of-another-server' })).status).toBe(401);
  });

  test('GET and DELETE have no session to work on', async () => {
    for (const method of ['GET', 'DELETE'])
      expect(
        (await fetch(`${gateway.url}/mcp`, { method, headers: { authorization: `Bearer ${key}`, accept: 'text/event-stream' } })).status,
      ).toBe(405);
  });
});

test('an agent that knows the address alone finds a model, its price and the way in', async () => {
  const { agent } = z.object({ agent: z.url() }).parse(await (await fetch(gateway.url)).json());
  const { interfaces, models } = AgentDocument.parse(await (await fetch(agent)).json());
  expect(interfaces.find(({ protocol }) => protocol === 'mcp')?.url).toBe(`${gateway.url}/mcp`);
  expect(models.find(({ id }) => id === MODEL)?.prices).toHaveProperty('input_tokens');
});
