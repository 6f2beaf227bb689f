import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { type FakeUpstream, startFakeUpstream } from '../index.ts';

let upstream: FakeUpstream;
beforeAll(async () => {
  upstream = await startFakeUpstream();
});
afterAll(() => upstream.close());

test('a response that is canceled as it is asked for is created, and then done', async () => {
  const client = new WebSocket(`${upstream.url.replace('http', 'ws')}/realtime?model=gpt-realtime`, {
    headers: { authorization: 'Bearer any' },
  });
  const types: string[] = [];
  const isOver = new Promise<void>((resolve) => {
    client.on('message', (data) => {
      const { type } = JSON.parse(String(data));
      types.push(type);
      if (type === 'rate_limits.updated') resolve();
    });
  });
  await once(client, 'open');
  // In one piece on the network: the provider reads them in one turn.
  Object(client)._socket.cork();
  for (const type of ['response.create', 'response.cancel']) client.send(JSON.stringify({ type }));
  Object(client)._socket.uncork();
  await isOver;
  client.terminate();
  expect(types.filter((type) => type.startsWith('response.'))).toEqual([
    ...['response.created', 'response.output_item.added', 'response.content_part.added'],
    ...['response.content_part.done', 'response.output_item.done', 'response.done'],
  ]);
});
