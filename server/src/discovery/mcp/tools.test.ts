import { readDocument } from '@tallygate/contract/read-document';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { PUBLIC_URL, surface } from '../testing/discovery.ts';
import type { CallGateway, GatewayAnswer, GatewayRequest } from './gateway-call.ts';
import { LargeParts } from './large-parts.ts';
import type { Arguments } from './tool-request.ts';
import { toolsOf } from './tools.ts';

const tools = toolsOf(surface);
const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, strictTypes: false, strictRequired: false });
formats.default(ajv);
ajv.addFormat('binary', true);

const Examples = z.object({
  paths: z.record(
    z.string(),
    z.record(
      z.string(),
      z.object({
        operationId: z.string(),
        responses: z.record(
          z.string(),
          z.object({ content: z.record(z.string(), z.object({ example: z.unknown().optional() })).optional() }),
        ),
      }),
    ),
  ),
});
/** What openapi.json shows as the answer of each operation. */
const exampleAnswers = new Map(
  Object.values(Examples.parse(readDocument(surface.openApi(PUBLIC_URL))).paths).flatMap((methods) =>
    Object.values(methods).map(({ operationId, responses }) => {
      const success = Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1];
      return [operationId, Object.values(success?.content ?? {})[0]?.example] as const;
    }),
  ),
);

function toolNamed(name: string) {
  const tool = tools.get(name);
  if (!tool) throw new Error(`There is no tool ${name}`);
  return tool;
}

/** What a call asks the gateway for, and what becomes of its answer. */
async function call(name: string, given: Arguments, answer: Partial<GatewayAnswer> & { json?: unknown } = {}) {
  const asked: GatewayRequest[] = [];
  const gateway: CallGateway = async (request) => {
    asked.push(request);
    const { json, status = 200, headers = {}, body = Buffer.from(JSON.stringify(json ?? {})) } = answer;
    return { status, body, headers: { 'content-type': 'application/json', 'x-request-id': 'req_1', ...headers } };
  };
  const result = await toolNamed(name).call(given, { gateway, signal: new AbortController().signal, parts: new LargeParts() });
  return { result, request: asked[0] };
}
const bodyOf = (request: GatewayRequest | undefined) => Buffer.from(request?.body ?? []).toString('utf8');
const textsOf = ({ content }: { content: readonly { type: string }[] }) =>
  content.map((block) => ('text' in block ? String(block.text) : block.type));

describe('every tool', () => {
  test('has self-contained schemas in JSON Schema 2020-12', () => {
    for (const [name, { description }] of tools) {
      expect(name).toMatch(/^[a-z_]{3,64}$/);
      for (const schema of [description.inputSchema, description.outputSchema]) {
        expect(() => ajv.compile(schema), name).not.toThrow();
        expect(JSON.stringify(schema)).not.toContain('#/components');
      }
    }
  });

  test('costs an agent no more of its context than sixty thousand characters, all tools together', () => {
    const listed = JSON.stringify([...tools.values()].map(({ description }) => description));
    expect(listed.length).toBeLessThan(60_000);
  });

  test('is answered as its outline says, by what the documentation shows', () => {
    for (const { description, operation } of tools.values()) {
      if (operation.id === 'downloadFile') continue;
      const structuredContent = { answer: exampleAnswers.get(operation.id), request_id: 'req_1' };
      expect(structuredContent.answer, operation.id).toBeDefined();
      expect(ajv.validate(description.outputSchema, structuredContent), `${operation.id}: ${ajv.errorsText()}`).toBe(true);
      const { answer } = Object(description.outputSchema['properties']);
      if (answer.properties)
        expect(Object.keys(answer.properties)).toEqual(expect.arrayContaining(Object.keys(structuredContent.answer ?? {})));
    }
  });

  test('takes no credential, and asks for no stream', () => {
    const taken = [...tools.values()].flatMap(({ description }) => Object.keys(Object(description.inputSchema['properties'])));
    expect(taken.length).toBeGreaterThan(100);
    expect(taken.filter((argument) => /api_key|session_token|internal_secret|signature|^stream/.test(argument))).toEqual([]);
  });

  test('says that it only reads exactly where its operation does', () => {
    for (const { description, operation } of tools.values()) {
      const { readOnlyHint = false, destructiveHint } = description.annotations;
      expect(readOnlyHint, operation.id).toBe(operation.method === 'GET' || operation.id.startsWith('preview'));
      // Destructive is what MCP takes a tool for that changes something and says nothing.
      const destroys = !readOnlyHint && destructiveHint === undefined;
      expect(destroys, operation.id).toBe(/^(?:delete|cancelBatch|close|update)/.test(operation.id));
    }
  });
});

test('everything that takes the headers of an agent run and is a tool says that it reaches beyond the gateway', () => {
  const spending = [...tools.values()].filter(({ operation }) => operation.parameters.some(({ name }) => name === 'x-agent-run-id'));
  expect(spending.map(({ description }) => description.name).sort()).toEqual([
    'create_batch',
    'create_chat_completion',
    'create_embedding',
    'create_image',
  ]);
  for (const { description } of tools.values())
    expect(description.annotations.openWorldHint ?? true).toBe(spending.some((one) => one.description === description));
});

describe('a call', () => {
  test('puts arguments where the operation has them: path, query, headers, body', async () => {
    expect((await call('get_run', { run_id: 'a b', livemode: false, limit: 5 })).request).toMatchObject({
      method: 'GET',
      path: '/v1/runs/a%20b?livemode=false&limit=5',
    });
    const { request } = await call('create_chat_completion', {
      model: 'm',
      messages: [],
      agent_run_id: 'r',
      agent_max_budget: '0.5',
      idempotency_key: 'k',
      new_field: 1,
    });
    expect(request).toMatchObject({
      path: '/v1/chat/completions',
      headers: { 'x-agent-run-id': 'r', 'x-agent-max-budget': '0.5', 'idempotency-key': 'k', 'content-type': 'application/json' },
    });
    expect(JSON.parse(bodyOf(request))).toEqual({ model: 'm', messages: [], new_field: 1 });
  });

  test.each<[string, string, Arguments]>([
    ['leaves the operation’s path', 'get_run', { run_id: '..' }],
    ['has an empty id', 'get_receipt', { receipt_id: '' }],
    ['has no id', 'get_receipt', {}],
    ['has an id that is no text', 'get_file', { file_id: { a: 1 } }],
    ['has an id that is a number', 'get_model', { model: 5 }],
    ['has a number that is a text', 'list_runs', { limit: '5' }],
    ['has a number that is no whole one', 'list_runs', { limit: 1.5 }],
    ['has a text for true', 'get_usage', { livemode: 'true' }],
    ['has true for a text', 'get_usage', { model: true }],
    ['would begin a header of its own', 'create_chat_completion', { model: 'm', agent_run_id: 'r\r\nauthorization: x' }],
    ['asks for a stream', 'create_chat_completion', { model: 'm', stream: true }],
    ['has an argument that is not known', 'list_models', { provider: 'openai' }],
    ['uploads nothing', 'create_file', { filename: 'a', purpose: 'batch' }],
    ['uploads two things', 'create_file', { filename: 'a', purpose: 'batch', content: 'a', content_base64: 'YQ==' }],
    ['reads a piece that is too large', 'download_file', { file_id: 'f', max_bytes: 1024 * 1024 + 1 }],
  ])('that %s is refused before the gateway is asked', async (_title, name, given) => {
    const { result, request } = await call(name, given);
    expect([result.isError, request]).toEqual([true, undefined]);
    expect(textsOf(result)[0]).toMatch(/^validation_failed \(422\): /);
  });

  test('says which argument is of the wrong type, and of which type it is', async () => {
    expect(textsOf((await call('get_model', { model: 5 })).result)[0]).toBe(
      "validation_failed (422): `model` must be a string, as the tool's input schema says.",
    );
    expect(textsOf((await call('list_runs', { limit: '5' })).result)[0]).toContain('`limit` must be a whole number');
    expect(textsOf((await call('list_runs', { livemode: 'x' })).result)[0]).toContain('`livemode` must be true or false');
  });

  test('cannot name another operation by an id', async () => {
    const { request } = await call('get_file', { file_id: '../keys?x=#y' });
    expect(request?.path).toBe('/v1/files/..%2Fkeys%3Fx%3D%23y');
  });
});

describe('an answer', () => {
  test('carries what was spent and the receipt of it, and fits the tool’s schema', async () => {
    const json = {
      object: 'list',
      data: [{ object: 'embedding', index: 0, embedding: [0.5] }],
      model: 'm',
      usage: { prompt_tokens: 1, total_tokens: 1, cost: 0.1 },
    };
    const headers = { 'x-receipt-id': 'rcpt', 'x-cost-usd': '0.1', 'x-model-served': 'm-50%25', 'x-agent-budget-remaining-usd': '0.4' };
    const { result } = await call('create_embedding', { model: 'm', input: 'x' }, { json, headers });
    expect(result.structuredContent).toEqual({
      answer: json,
      request_id: 'req_1',
      receipt_id: 'rcpt',
      cost_usd: '0.1',
      model_served: 'm-50%',
      run_remaining_usd: '0.4',
    });
    expect(ajv.validate(toolNamed('create_embedding').description.outputSchema, result.structuredContent), ajv.errorsText()).toBe(true);
    expect(JSON.parse(textsOf(result)[0] ?? '')).toEqual(result.structuredContent);
  });

  test('hands pictures over as pictures, once', async () => {
    const json = { created: 1, output_format: 'webp', data: [{ b64_json: 'UklGRg==', revised_prompt: 'a cat' }] };
    const { result } = await call('create_image', { model: 'm', prompt: 'x' }, { json });
    expect(result.content[1]).toEqual({ type: 'image', data: 'UklGRg==', mimeType: 'image/webp' });
    expect(JSON.stringify(result.structuredContent)).not.toContain('UklGRg');
    expect(result.structuredContent).toMatchObject({ answer: { data: [{ revised_prompt: 'a cat' }] } });
  });

  test('that refuses is an error with the problem’s code, what to do, and when', async () => {
    const problem = {
      code: 'budget_in_flight',
      status: 429,
      detail: 'Wait.',
      title: 'T',
      error: { message: 'Wait.' },
      budget: { cap_usd: '1' },
    };
    const { result } = await call(
      'create_chat_completion',
      { model: 'm', messages: [] },
      { status: 429, json: problem, headers: { 'retry-after': '3' } },
    );
    expect(result.isError).toBe(true);
    expect(result.structuredContent).toBeUndefined();
    const [sentence, details = ''] = textsOf(result);
    expect(sentence).toBe('budget_in_flight (429): Wait. Repeat it after 3 seconds.');
    expect(JSON.parse(details)).toEqual({
      code: 'budget_in_flight',
      status: 429,
      detail: 'Wait.',
      title: 'T',
      budget: { cap_usd: '1' },
      retry_after_seconds: 3,
    });
  });
});

describe('files', () => {
  test('are uploaded as a form, from text or base64', async () => {
    for (const content of [{ content: 'häl' }, { content_base64: 'aMOkbA==' }]) {
      const { request } = await call('create_file', { filename: 'a.txt', purpose: 'user_data', ...content });
      const form = await new Response(Buffer.from(request?.body ?? []), {
        headers: { 'content-type': request?.headers['content-type'] ?? '' },
      }).formData();
      const file = form.get('file');
      expect([form.get('purpose'), file instanceof File && file.name, file instanceof File && (await file.text())]).toEqual([
        'user_data',
        'a.txt',
        'häl',
      ]);
    }
  });

  const piece = (bytes: Uint8Array, range: string) =>
    call(
      'download_file',
      { file_id: 'f', offset: 10, max_bytes: 4 },
      { status: 206, body: Buffer.from(bytes), headers: { 'content-type': 'application/octet-stream', 'content-range': range } },
    );

  test('are read piece by piece, and no piece ends within a character', async () => {
    const { request, result } = await piece(Buffer.from('abcä').subarray(0, 4), 'bytes 10-13/20');
    expect(request?.headers['range']).toBe('bytes=10-13');
    expect(result.structuredContent).toMatchObject({ answer: { content: 'abc', offset: 10, next_offset: 13, total_bytes: 20 } });
  });

  test('that are no text come in base64, and the last piece says that it is the last', async () => {
    const { result } = await piece(new Uint8Array([0xff, 0xd8, 0x00]), 'bytes 17-19/20');
    expect(result.structuredContent).toMatchObject({ answer: { content_base64: '/9gA', offset: 17, next_offset: null, total_bytes: 20 } });
  });
});
