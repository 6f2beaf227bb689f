import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { createRequire } from 'node:module';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import type { Arrival } from '../memory-reservation.ts';
import { expectTurns } from '../testing/event-loop.ts';
import { handshakeAnswer } from './handshake.ts';
import { WebSocketConnection, type WebSocketOptions } from './web-socket.ts';

const WS = createRequire(import.meta.url).resolve('ws');
const MOST_BYTES = 16 * 1024 * 1024;
let server: Server;
let url: string;
beforeEach(async () => {
  server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => server.close());

/** The server's end of the next connection. */
async function accepted(
  mostBytes = MOST_BYTES,
  newReservation?: WebSocketOptions['newReservation'],
): Promise<{ served: WebSocketConnection; socket: Socket }> {
  const [req, socket, head] = await once(server, 'upgrade');
  socket.write(handshakeAnswer({ key: req.headers['sec-websocket-key'], protocol: undefined, headers: {} }));
  return { served: new WebSocketConnection(socket, { role: 'server', mostBytes, head, newReservation }), socket };
}

/** Another maker's client. */
async function opened(mostBytes?: number, newReservation?: WebSocketOptions['newReservation']) {
  const accepting = accepted(mostBytes, newReservation);
  const client = new WebSocket(url);
  const [{ served, socket }] = await Promise.all([accepting, once(client, 'open')]);
  return { served, socket, client };
}

describe('a connection', () => {
  test.each([0, 1, 125, 126, 65_535, 65_536, 65_537, 3_000_000])('carries texts of %i bytes both ways, in order', async (length) => {
    const { served, client } = await opened();
    const end = served.pump(async (frame, isText) => {
      expect(isText).toBe(true);
      await served.send(frame);
      await served.send('next');
    });
    const received: string[] = [];
    client.on('message', (data) => {
      if (received.push(String(data)) === 4) client.close(1000, 'enough');
    });
    client.send('ж'.repeat(Math.floor(length / 2)) + 'x'.repeat(length % 2));
    client.send('x');
    expect(await end).toEqual({ code: 1000, reason: 'enough' });
    expect(received.map((text) => Buffer.byteLength(text))).toEqual([length, 4, 1, 4]);
  });

  test('answers pings, and says what is binary', async () => {
    const { served, client } = await opened();
    const kinds: boolean[] = [];
    const end = served.pump((_frame, isText) => void kinds.push(isText));
    const pong = once(client, 'pong');
    client.ping('there?');
    expect(String((await pong)[0])).toBe('there?');
    client.send(Buffer.from([1]));
    client.close();
    expect(await end).toEqual({ code: 1005, reason: '' });
    expect(kinds).toEqual([false]);
  });

  test('is closed with its code and reason, also while the other side’s messages wait to be taken', async () => {
    const { served, client } = await opened();
    const taking = Promise.withResolvers<void>();
    const end = served.pump(() => taking.promise);
    for (let count = 0; count < 10; count += 1) client.send('x'.repeat(300_000));
    const closed = once(client, 'close');
    served.close(4000, 'ж'.repeat(100));
    const [code, reason] = await closed;
    expect([code, String(reason)]).toEqual([4000, 'ж'.repeat(60)]);
    taking.resolve();
    expect(await end).toMatchObject({ code: 4000 });
  });

  test('that breaks off has ended with 1006, after what had come was taken', async () => {
    const { served, client, socket } = await opened();
    const taken: string[] = [];
    const end = served.pump((frame) => {
      taken.push(frame.toString());
      client.terminate();
      return new Promise((resolve) => socket.once('close', () => resolve()));
    });
    client.send('first');
    expect(await end).toEqual({ code: 1006, reason: '' });
    expect(taken).toEqual(['first']);
    expect(served.send('nobody')).toBeUndefined();
    served.close(1000, 'nobody');
  });

  test.each(['end', 'destroy', 'resetAndDestroy'] as const)('of a client that left by %s before the handshake has ended', async (leave) => {
    const client = connect(Number(new URL(url).port), '127.0.0.1').resume();
    client.write('GET / HTTP/1.1\r\nhost: x\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\r\n');
    const [, socket, head] = (await once(server, 'upgrade')) as [unknown, Socket, Buffer];
    socket.on('error', () => {});
    const told = new Promise<void>((resolve) => socket.once('end', resolve).once('close', () => resolve()));
    client[leave]();
    await told;
    const served = new WebSocketConnection(socket, { role: 'server', mostBytes: MOST_BYTES, head });
    expect(await served.pump(() => {})).toEqual({ code: 1006, reason: '' });
    expect(socket.destroyed).toBe(true);
  });

  test('of a client that does not read makes the sender wait, and reads no more of it than fits', async () => {
    const { served, client } = await opened();
    client.pause();
    let waited: Promise<void> | undefined;
    for (let count = 0; count < 1_000 && !waited; count += 1) {
      const sent = served.send('x'.repeat(60_000));
      if (sent) waited = sent;
    }
    expect(waited).toBeInstanceOf(Promise);
    client.resume();
    await waited;
    client.terminate();
  });
});

test.each<[string, number, string]>([
  ['a frame that is too large', 1009, 'the event is too large'],
  ['a text that is no UTF-8', 1007, 'a text has to be in UTF-8'],
  ['a frame that is not masked', 1002, 'this is no WebSocket frame'],
])('%s closes the connection with %i and the reason', async (what, expected, why) => {
  const { served, client } = await opened(1_000);
  const closed = once(client, 'close');
  const frames: string[] = [];
  const end = served.pump((frame) => void frames.push(frame.toString()));
  client.send('small');
  if (expected === 1009) client.send('x'.repeat(5_000_000));
  else if (expected === 1007) client.send(Buffer.from([0x7b, 0xff]), { binary: false });
  else client.send('{}', { mask: false });
  const [code, reason] = await closed;
  expect([what, code, String(reason), frames]).toEqual([what, expected, why, ['small']]);
  expect(await end).toMatchObject({ code: expect.any(Number) });
});

describe('a large message', () => {
  /** Of one message; what is asked of it. */
  function reservationOfOne(room: () => Promise<void> = async () => {}) {
    const asked: (number | string)[] = [];
    const arrivals: Arrival[] = [];
    const reservation = {
      acquire: (arrival: Arrival) => {
        arrivals.push(arrival);
        asked.push(arrival.most);
        return room();
      },
      complete: (bytes: number) => void asked.push(`all ${bytes}`),
      release: () => void asked.push('left'),
    };
    return { asked, arrivals, newReservation: () => reservation };
  }

  test('has room from its second megabyte until it was taken, and small ones need none', async () => {
    const { asked, newReservation } = reservationOfOne();
    const { served, client } = await opened(MOST_BYTES, newReservation);
    const during: unknown[] = [];
    const end = served.pump((frame) => void during.push([frame.length, ...asked]));
    client.send('small');
    client.send('x'.repeat(2_000_000));
    client.send('x'.repeat(1_000_000));
    client.close();
    await end;
    expect(during).toEqual([[5], [2_000_000, 2_000_000, 'all 2000000'], [1_000_000, 2_000_000, 'all 2000000', 'left']]);
  });

  test.each(['waits', 'arrives'])('gives its room back where its sender leaves while it %s', async (when) => {
    const { asked, newReservation } = reservationOfOne(when === 'waits' ? () => new Promise(() => {}) : undefined);
    const { served, client, socket } = await opened(MOST_BYTES, newReservation);
    const end = served.pump(() => {});
    client.send('x'.repeat(2_000_000), { fin: false });
    await vi.waitFor(() => expect(asked).toEqual([MOST_BYTES]), { timeout: 30_000 });
    if (when === 'waits') socket.destroy();
    else client.terminate();
    expect(await end).toMatchObject({ code: 1006 });
    expect(asked).toEqual([MOST_BYTES, 'left']);
  });

  test('that there is no room for ends the connection with 1013, and nothing of it is taken', async () => {
    const { asked, newReservation } = reservationOfOne(() => Promise.reject(new Error('full')));
    const { served, client } = await opened(MOST_BYTES, newReservation);
    const frames: unknown[] = [];
    const end = served.pump((frame) => void frames.push(frame));
    const closed = once(client, 'close');
    client.send('x'.repeat(2_000_000));
    expect((await closed)[0]).toBe(1013);
    await end;
    expect([frames, asked]).toEqual([[], [2_000_000, 'left']]);
  });

  test('that comes too slowly for others who wait ends the connection with 1013, and gives its room back', async () => {
    const { asked, arrivals, newReservation } = reservationOfOne();
    const { served, client } = await opened(MOST_BYTES, newReservation);
    const end = served.pump(() => {});
    const closed = once(client, 'close');
    client.send('x'.repeat(2_000_000), { fin: false });
    await vi.waitFor(() => expect(arrivals).toHaveLength(1), { timeout: 30_000 });
    await vi.waitFor(() => expect(arrivals[0]?.come()).toBe(2_000_000), { timeout: 30_000 });
    arrivals[0]?.giveWay();
    expect((await closed)[0]).toBe(1013);
    await end;
    expect(asked).toEqual([MOST_BYTES, 'left']);
  });
});

describe('many small frames hold the event loop for 50 ms at most', () => {
  /** Of a server, as they come at once. */
  const flood = (frame: readonly number[]) => Buffer.alloc(65_536, Buffer.from(frame));
  /** In another thread, whose work does not count. */
  const sink = () =>
    new Worker(
      `const net = require('node:net'); const { parentPort } = require('node:worker_threads');
       const server = net.createServer((socket) => socket.resume().on('end', () => socket.end())).listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));`,
      { eval: true, execArgv: [] },
    );

  test.each([
    ['events', [0x81, 0x02, 0x7b, 0x7d]],
    ['pings', [0x89, 0x00]],
    ['fragments without content', [0x00, 0x00]],
  ])('%s', async (what, frame) => {
    const other = sink();
    const [port] = await once(other, 'message');
    await expectTurns(what, 1, async () => {
      const socket = connect(port, '127.0.0.1');
      await once(socket, 'connect');
      const begin = frame[0] === 0x00 ? Buffer.from([0x01, 0x00]) : Buffer.alloc(0);
      const head = Buffer.concat([begin, flood(frame), flood(frame)]);
      const connection = new WebSocketConnection(socket, { role: 'client', mostBytes: MOST_BYTES, head });
      const ended = connection.pump(() => connection.send('{"type":"error","error":{"message":"There is no such event."}}'));
      // Behind all that came before.
      socket.emit('data', Buffer.from(begin.length > 0 ? [0x80, 0x00, 0x88, 0x00] : [0x88, 0x00]));
      expect(await ended).toMatchObject({ code: 1005 });
      socket.destroy();
    });
    await other.terminate();
  });
});

describe('a large message holds the event loop for 50 ms at most', () => {
  /** In another thread, whose work does not count. */
  const sender = (message: string) =>
    new Worker(`const ws = new (require('${WS}').WebSocket)('${url}'); ws.on('open', () => ws.send(${message}, { binary: false }));`, {
      eval: true,
      execArgv: [],
    });

  test.each([
    ['of 32 MiB in one frame', "'x'.repeat(32 * 1024 * 1024)"],
    ['of 32 MiB outside of ASCII', "'ж'.repeat(16 * 1024 * 1024)"],
  ])('%s, when it comes', async (what, message) => {
    await expectTurns(what, 2 * MOST_BYTES, async () => {
      const accepting = accepted(2 * MOST_BYTES);
      const worker = sender(message);
      const { served } = await accepting;
      let length = 0;
      await served.pump((frame) => {
        length = frame.length;
        served.close(1000, '');
      });
      expect(length).toBe(2 * MOST_BYTES);
      await worker.terminate();
    });
  });

  test('of 32 MiB, when it is sent with a mask', async () => {
    const bytes = Buffer.alloc(32 * 1024 * 1024, 'x');
    const sink = new Worker(
      `const net = require('node:net'); const { parentPort } = require('node:worker_threads');
       const server = net.createServer((socket) => socket.resume().on('end', () => socket.end())).listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));`,
      { eval: true, execArgv: [] },
    );
    const [port] = await once(sink, 'message');
    await expectTurns('sent', bytes.length, async () => {
      const socket = connect(port, '127.0.0.1');
      await once(socket, 'connect');
      const client = new WebSocketConnection(socket, { role: 'client', mostBytes: MOST_BYTES, head: Buffer.alloc(0) });
      await client.send(bytes);
      socket.destroy();
    });
    await sink.terminate();
  });
});
