import { type AddressInfo, createServer } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
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
