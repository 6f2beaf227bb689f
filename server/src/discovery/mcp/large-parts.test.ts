import { buffer } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { expectTurns } from '../../kernel/testing/event-loop.ts';
import { createMcpHandler, createMcpServer } from './index.ts';
import { LargeParts } from './large-parts.ts';
import { toolResult } from './tool-result.ts';
import type { Tool } from './tools.ts';

const MESSAGE = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'ask', arguments: {} } };

/** What a client is told of a tool whose operation answers so. */
async function told(value: unknown) {
  const parts = new LargeParts();
  const tool = { call: async () => toolResult({ status: 200, headers: {}, body: Buffer.alloc(0) }, value, parts) } as unknown as Tool;
  const caller = { parts, gateway: () => Promise.reject(new Error('unused')), signal: new AbortController().signal, isOffered: () => true };
  const offer = { version: '1', tools: new Map([['ask', tool]]), resources: {} as never };
  const handler = createMcpHandler(() => createMcpServer(offer, caller, {} as never));
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const { body } = await handler.fetch(new Request('http://localhost/mcp', { method: 'POST', headers }), { parsedBody: MESSAGE });
  return buffer(parts.written(body ?? (await Promise.reject(new Error('no answer')))));
}

const resultIn = (bytes: Buffer) => JSON.parse(bytes.toString().replace(/^[\s\S]*?data: /, '')).result;

test.each([
  ['small', { object: 'list' }],
  ['a long text that is not ASCII', { text: 'привет "\\\n'.repeat(20_000) }],
  ['a long list', Array.from({ length: 30_000 }, (_, at) => ({ at }))],
])('the answer of a tool reaches its client whole: %s', async (_, value) => {
  const { structuredContent, content } = resultIn(await told(value));
  expect(structuredContent).toEqual({ answer: value });
  expect(JSON.parse(content[0].text)).toEqual({ answer: value });
});

test('images reach the client of a tool as images, of any size', async () => {
  const images = ['aGVsbG8=', 'aGVs'.repeat(500_000)];
  const { content, structuredContent } = resultIn(await told({ data: images.map((b64_json) => ({ b64_json })) }));
  expect(content.slice(1)).toEqual(images.map((data) => ({ type: 'image', data, mimeType: 'image/png' })));
  expect(structuredContent).toEqual({ answer: { data: [{}, {}] } });
});

test('an answer of 2,048 embeddings to a tool holds the event loop for 50 ms at most', async () => {
  const embedding = Array.from({ length: 300 }, (_, at) => Math.sin(at));
  const answer = { object: 'list', data: Array.from({ length: 2_048 }, (_, index) => ({ index, embedding })) };
  const size = JSON.stringify(answer).length;
  expect((await expectTurns('an answer of embeddings', size, () => told(answer))).length).toBeGreaterThan(2 * size);
});
