import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chatCall } from './conformance-calls.ts';
import { openAiCompatible } from './openai-compatible.ts';

let heads = 0;
/** Answers each request with so many heads ahead of the answer. */
const server = createServer((socket) => {
  socket.on('error', () => undefined);
  socket.once('data', () => {
    for (let head = 0; head < heads; head += 1) socket.write('HTTP/1.1 102 Processing\r\n\r\n');
    socket.end('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}');
  });
});
beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
afterAll(() => new Promise((resolve) => server.close(resolve)));

it.each([
  [100, { ok: true, status: 200 }],
  [101, { ok: false, kind: 'failed', status: 102 }],
])('a provider may send a hundred heads ahead of its answer, no more: %s', async (sent, outcome) => {
  heads = sent;
  const provider = openAiCompatible({ name: 'a', baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
  expect(await provider.call(chatCall('m'))).toMatchObject(outcome);
  await provider.close();
});

describe('a provider may be at work where', () => {
  const LARGE = { request: { messages: [{ role: 'user' as const, content: 'x'.repeat(40_000_000) }] } };

  async function callTo(connected: (socket: Socket) => void, overrides = {}) {
    const peer: Server = createServer((socket) => connected(socket.on('error', () => undefined)));
    await new Promise<void>((resolve) => peer.listen(0, '127.0.0.1', resolve));
    const provider = openAiCompatible({ name: 'a', baseUrl: `http://127.0.0.1:${(peer.address() as AddressInfo).port}` });
    const outcome = await provider.call(chatCall('m', overrides));
    await provider.close();
    peer.close();
    return outcome;
  }
  const answering = (bytes: string) => (socket: Socket) => void socket.once('data', () => socket.end(bytes));
  const refusal = (status: number, body: string) => answering(`HTTP/1.1 ${status} No\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
  const closing = (socket: Socket) => void socket.once('data', () => socket.destroy());

  it.each<[string, (socket: Socket) => void]>([
    ['its connection is closed', closing],
    ['its connection is reset', (socket) => void socket.once('data', () => socket.resetAndDestroy())],
    ['half a status line comes', answering('HTTP/1.1 20')],
    ['half a head comes', answering('HTTP/1.1 200 OK\r\nContent-Ty')],
    ['what comes is no HTTP', answering('garbage\r\n\r\n')],
    ['a proxy timed out', refusal(504, 'upstream request timeout')],
    ['a proxy timed out and says it in JSON', refusal(504, '{"message":"Endpoint request timed out"}')],
    ["Cloudflare's proxy timed out", refusal(524, '<html>A timeout occurred</html>')],
  ])('%s', async (_, connected) => {
    expect(await callTo(connected)).toMatchObject({ ok: false, kind: 'failed', retryable: true, mayBeAtWork: true });
  });

  it.each<[string, (socket: Socket) => void, object]>([
    ['it takes no part of the request', (socket) => socket.resetAndDestroy(), LARGE],
    ['its connection ends in the middle of the request', closing, LARGE],
    ['it says that it timed out', refusal(504, '{"error":{"code":504,"message":"Deadline expired","status":"DEADLINE_EXCEEDED"}}'), {}],
    ['a proxy does not reach it', refusal(502, '<html>Bad gateway</html>'), {}],
    ['it refuses', refusal(500, ''), {}],
  ])('not where %s', async (_, connected, overrides) => {
    const outcome = await callTo(connected, overrides);
    expect(outcome).toMatchObject({ ok: false, kind: 'failed', retryable: true });
    expect(outcome).not.toHaveProperty('mayBeAtWork');
  });

  it('not where nothing listens', async () => {
    const provider = openAiCompatible({ name: 'a', baseUrl: 'http://127.0.0.1:1' });
    expect(await provider.call(chatCall('m'))).not.toHaveProperty('mayBeAtWork');
    await provider.close();
  });
});
