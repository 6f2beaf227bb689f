import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { WsSocket } from './ws-socket.ts';

const MOST_BYTES = 1_000;
let server: WebSocketServer;
beforeAll(async () => {
  server = new WebSocketServer({ port: 0, host: '127.0.0.1', maxPayload: MOST_BYTES });
  await once(server, 'listening');
});
afterAll(() => server.close());

test('a frame that is too large closes the connection with 1009 and the reason', async () => {
  const accepted = once(server, 'connection');
  const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const closed = once(client, 'close');
  const [[ws]] = await Promise.all([accepted, once(client, 'open')]);
  const frames: string[] = [];
  const end = new WsSocket(ws).pump((frame) => void frames.push(frame.toString()));
  client.send('small');
  client.send('x'.repeat(5_000_000));
  const [code, reason] = await closed;
  expect([code, String(reason), frames]).toEqual([1009, 'the event is too large', ['small']]);
  expect(await end).toMatchObject({ code: expect.any(Number) });
});
