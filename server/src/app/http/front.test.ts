import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import type { Readable } from 'node:stream';
import { afterEach, describe, expect, test } from 'vitest';
import type { Exchange } from './exchange.ts';
import { drain, listenOn } from './front.ts';
import { openFrontUnderTest } from './testing/front.ts';

const PATIENCE_MS = 10_000;

let answers: ServerResponse[] = [];
const agent = new Agent({ keepAlive: true });
afterEach(() => {
  answers = [];
  agent.destroy();
});

async function openFront(lingerMs?: number, answer = ({ res }: Exchange): unknown => answers.push(res)) {
  const { server, port } = await openFrontUnderTest(
    () => (['GET', 'POST'] as const).map((method) => ({ method, path: '/*', kind: 'api', answer })),
    { ...(lingerMs !== undefined && { lingerMs }) },
  );
  return { front: server, port };
}

/** Whether it is over long before its time-out, which would cut everything. */
async function isQuick(ending: Promise<void>): Promise<boolean> {
  const startedAt = performance.now();
  await ending;
  return performance.now() - startedAt < PATIENCE_MS / 2;
}

test('a connection that never sent a request does not hold up the end', async () => {
  const { front, port } = await openFront();
  const accepted = once(front, 'connection');
  const unused = connect(port, '127.0.0.1');
  const closed = once(unused, 'close');
  await accepted;
  expect(await isQuick(drain(front, PATIENCE_MS))).toBe(true);
  await closed;
});

test('a request on a kept connection is answered by a gateway that has begun to stop just before', async () => {
  const { front, port } = await openFront();
  const ask = (): Promise<unknown[]> => once(request({ port, host: '127.0.0.1', agent }).end(), 'response');
  for (const said of ['first', 'second']) {
    const arrived = once(front, 'request');
    const asked = ask();
    await arrived;
    answers.at(-1)?.end(said);
    const [response] = await asked;
    expect(String(Buffer.concat(await (response as Readable).toArray()))).toBe(said);
  }
  const arrived = once(front, 'request');
  const ending = drain(front, PATIENCE_MS);
  const asked = ask();
  await arrived;
  answers.at(-1)?.end('third');
  const [response] = await asked;
  expect(String(Buffer.concat(await (response as Readable).toArray()))).toBe('third');
  expect(await isQuick(ending)).toBe(true);
});

test('a keep-alive connection is closed when its running request ends', async () => {
  const { front, port } = await openFront();
  const arrived = once(front, 'request');
  const sent = request({ port, host: '127.0.0.1', agent }).end();
  const answered = once(sent, 'response');
  await arrived;
  answers[0]?.writeHead(200).write('first half, ');
  const [response] = await answered;
  const ending = drain(front, PATIENCE_MS);
  answers[0]?.end('second half');
  expect(Buffer.concat(await response.toArray()).toString()).toBe('first half, second half');
  expect(await isQuick(ending)).toBe(true);
});

/** Connections that found no room to wait to be accepted, of all programs of this computer: their clients try again a second later. */
const turnedAway = (): number => {
  const [names = [], values = []] = readFileSync('/proc/net/netstat', 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('TcpExt:'))
    .map((line) => line.split(' '));
  return Number(values[names.indexOf('ListenOverflows')]);
};
const SOMAXCONN = '/proc/sys/net/core/somaxconn';
const takesBursts = existsSync(SOMAXCONN) && Number(readFileSync(SOMAXCONN, 'utf8')) >= 2_000;

test.runIf(takesBursts)('two thousand connections at once find room to wait', async () => {
  const { port } = await openFront();
  const before = turnedAway();
  const burst = Array.from({ length: 2_000 }, () => connect(port, '127.0.0.1'));
  await Promise.all(burst.map((socket) => once(socket, 'connect')));
  expect(turnedAway()).toBe(before);
  for (const socket of burst) socket.destroy();
});

/** Everything that the server says to these bytes, until it closes the connection. */
async function say(port: number, bytes: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  let said = '';
  socket.setEncoding('latin1').on('data', (text) => {
    said += text;
  });
  socket.on('error', () => {});
  socket.write(bytes, 'latin1');
  await once(socket, 'close');
  return said;
}

const CHUNKS = '2\r\nab\r\n0\r\n\r\n';
const post = (headers: string, body = 'ab') => `POST /v1/x HTTP/1.1\r\nHost: x\r\n${headers}\r\n${body}`;
test.each([
  ['no HTTP', 'hello\r\n\r\n', '400'],
  ['a TLS hello', '\u0016\u0003\u0001\u0002\u0000\u0001', '400'],
  ['headers without end', `GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`, '431'],
  ['Content-Length with Transfer-Encoding', post('Content-Length: 1\r\nTransfer-Encoding: chunked\r\n', CHUNKS), '400'],
  ['Transfer-Encoding with Content-Length', post('Transfer-Encoding: chunked\r\nContent-Length: 1\r\n', CHUNKS), '400'],
  ['two different lengths', post('Content-Length: 1\r\nContent-Length: 2\r\n'), '400'],
  ['the same length twice', post('Content-Length: 2\r\nContent-Length: 2\r\n'), '400'],
  ['a list of lengths', post('Content-Length: 2, 2\r\n'), '400'],
  ['a signed length', post('Content-Length: +2\r\n'), '400'],
  ['an unknown transfer coding', post('Transfer-Encoding: xchunked\r\n', CHUNKS), '400'],
  ['a transfer coding before chunked', post('Transfer-Encoding: gzip, chunked\r\n', CHUNKS), '400'],
  ['two transfer codings in two headers', post('Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n', CHUNKS), '400'],
  ['a space before the colon', post('Transfer-Encoding : chunked\r\n', CHUNKS), '400'],
  ['chunks in HTTP/1.0', post('Transfer-Encoding: chunked\r\n', CHUNKS).replace('1.1', '1.0'), '400'],
  ['a folded header', 'GET / HTTP/1.1\r\nHost: x\r\nX-A: b\r\n c\r\n\r\n', '400'],
  ['a header that begins with a space', 'GET / HTTP/1.1\r\n Host: x\r\n\r\n', '400'],
  ['lines that end in a bare LF', 'GET / HTTP/1.1\nHost: x\n\n', '400'],
  ['one line that ends in a bare LF', 'GET / HTTP/1.1\r\nHost: x\nX-B: c\r\n\r\n', '400'],
  ['a bare CR in a header', 'GET / HTTP/1.1\r\nHost: x\rX-B: c\r\n\r\n', '400'],
  ['a null character in a header', 'GET / HTTP/1.1\r\nHost: x\r\nX-A: b\0c\r\n\r\n', '400'],
  ['two Host headers', 'GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n', '400'],
  ['the same Host header twice', 'GET / HTTP/1.1\r\nHost: x\r\nHOST: x\r\n\r\n', '400'],
  ...['Content-Type', 'Idempotency-Key', 'Range', 'Origin', 'Stripe-Signature', 'X-API-Key', 'X-Web-Session-Token', 'X-Internal-Secret']
    .concat('X-Agent-Run-Id', 'X-Agent-Parent-Run-Id', 'X-Agent-Max-Budget', 'X-Agent-Max-Calls', 'X-Agent-Deadline', 'X-On-Disconnect')
    .concat('X-Budget-Policy', 'X-Fallback-Policy', 'X-Sandbox-Fault', 'X-Event-Email', 'X-VaaS-Anchor')
    .map((name): [string, string, string] => [
      `two ${name} headers`,
      post(`${name}: a\r\nContent-Length: 2\r\n${name.toLowerCase()}: b\r\n`),
      '400',
    ]),
  ['no Host header', 'GET / HTTP/1.1\r\n\r\n', '400'],
  ['two names in one Host header', 'GET / HTTP/1.1\r\nHost: x, y\r\n\r\n', '400'],
  ['a user in the Host header', 'GET / HTTP/1.1\r\nHost: a@x\r\n\r\n', '400'],
  ['a path in the Host header', 'GET / HTTP/1.1\r\nHost: x/y\r\n\r\n', '400'],
  ['a URL of another host', 'GET http://y/v1/models HTTP/1.1\r\nHost: x\r\n\r\n', '400'],
  ['a URL of another port', 'GET http://x:1/v1/models HTTP/1.1\r\nHost: x\r\n\r\n', '400'],
  ['a URL that is not of HTTP', 'GET file:///etc/passwd HTTP/1.1\r\nHost: x\r\n\r\n', '400'],
  ['a request without a version', 'GET /\r\n\r\n', '400'],
  ['HTTP/2 in clear text', 'GET / HTTP/2.0\r\nHost: x\r\n\r\n', '400'],
  ['CONNECT', 'CONNECT x:443 HTTP/1.1\r\nHost: x:443\r\n\r\n', '405'],
])('%s is refused with a problem document, and the connection closed', async (_, bytes, status) => {
  const { front, port } = await openFront();
  const said = await say(port, bytes);
  expect(said).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(answers).toEqual([]);
  const [head = '', body = ''] = said.split('\r\n\r\n');
  expect(head).toContain('content-type: application/problem+json');
  expect(head).toContain(`content-length: ${body.length}`);
  expect(head).toContain('x-content-type-options: nosniff');
  const { instance } = JSON.parse(body);
  expect(JSON.parse(body)).toMatchObject({ status: Number(status), instance: expect.stringMatching(/^req_/) });
  expect(head).toContain(`x-request-id: ${instance}`);
  await drain(front, PATIENCE_MS);
});

test.each([
  ['a URL of the same host', 'GET http://X/v1/models?a=1 HTTP/1.1\r\nHost: x\r\n\r\n', '/v1/models?a=1'],
  ['a URL without a path', 'GET http://x:80 HTTP/1.1\r\nHost: x:80\r\n\r\n', '/'],
  ['no Host header in HTTP/1.0', 'GET /v1/models HTTP/1.0\r\n\r\n', '/v1/models'],
  ['a list in two headers', 'GET /v1/models HTTP/1.1\r\nHost: x\r\nAccept: a/b\r\nAccept: c/d\r\n\r\n', '/v1/models'],
  ['an address of each proxy', 'GET / HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ::1\r\nX-Forwarded-For: ::1\r\n\r\n', '/'],
  ['an IPv6 host', 'GET /v1/models HTTP/1.1\r\nHost: [::1]:8080\r\n\r\n', '/v1/models'],
])('%s is taken', async (_, bytes, target) => {
  const { front, port } = await openFront();
  const asked = once(front, 'request');
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  socket.write(bytes);
  await asked;
  expect(answers.map(({ req }) => req.url)).toEqual([target]);
  socket.destroy();
  await drain(front, PATIENCE_MS);
});

test('an expectation other than 100-continue is refused with a problem document', async () => {
  const { front, port } = await openFront();
  const said = await say(port, 'GET /v1/models HTTP/1.1\r\nHost: x\r\nExpect: zz\r\n\r\n');
  const [head = '', body = ''] = said.split('\r\n\r\n');
  expect(head).toMatch(/^HTTP\/1.1 417 .*content-type: application\/problem\+json/s);
  expect(JSON.parse(body)).toMatchObject({ status: 417, code: 'expectation_failed', instance: expect.stringMatching(/^req_/) });
  expect(answers).toEqual([]);
  await drain(front, PATIENCE_MS);
});

test.each([
  ['/v1/keys/%E0%A4%A?a=%zz', '/v1/keys/%25E0%25A4%25A?a=%zz'],
  ['/v1/keys/%zz/budget', '/v1/keys/%25zz/budget'],
  ['/v1/models/a%2Fb', '/v1/models/a%2Fb'],
])('an id in %s that cannot be decoded is taken literally', async (path, target) => {
  const { front, port } = await openFront();
  const asked = once(front, 'request');
  const sent = request({ port, host: '127.0.0.1', path }).end();
  await asked;
  expect(answers[0]?.req.url).toBe(target);
  answers[0]?.end();
  await once(sent, 'response');
  await drain(front, PATIENCE_MS);
});

test('garbage behind a request breaks the connection and puts nothing into the answer that is on its way', async () => {
  const { front, port } = await openFront();
  const socket = connect(port, '127.0.0.1');
  let said = '';
  socket.setEncoding('latin1').on('data', (text) => {
    said += text;
  });
  socket.on('error', () => {});
  const asked = once(front, 'request');
  socket.write('POST /v1/x HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n');
  await asked;
  answers[0]?.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n');
  await once(socket, 'data');
  socket.write('zz\r\nno chunk');
  await once(socket, 'close');
  expect(said).toContain('data: 1');
  expect(said).not.toContain('400 Bad Request');
  await drain(front, PATIENCE_MS);
});

describe('a body that still arrives after its request is answered', () => {
  const HEAD = 'POST /v1/keys HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n';

  async function answered(lingerMs: number) {
    const { front, port } = await openFront(lingerMs);
    const asked = once(front, 'request');
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    socket.write(`${HEAD}{`);
    await asked;
    answers[0]?.writeHead(401, { 'content-length': 2 }).end('no');
    const [said] = await once(socket.setEncoding('latin1'), 'data');
    expect(said).toMatch(/^HTTP\/1.1 401 .*no$/s);
    return { front, socket };
  }

  test('is cut off after a short time, however slowly it trickles', async () => {
    const { front, socket } = await answered(20);
    const trickle = setInterval(() => socket.write(' '), 5);
    // Writing to the cut connection is a separate error.
    await new Promise((resolve) => socket.once('close', resolve));
    clearInterval(trickle);
    await drain(front, PATIENCE_MS);
  });

  /** What a route may have done to its request by the time that it answers. */
  const ROUTES: Record<string, (req: Exchange['req']) => unknown> = {
    'leaves it': () => {},
    'pauses it': (req) => req.pause(),
    'destroys it': (req) => req.destroy(),
    'destroys it with an error': (req) => req.destroy(new Error('too slow')),
    'ends a loop over it early': async (req) => {
      for await (const _ of req) break;
    },
  };

  test.each(Object.entries(ROUTES))('is cut off and ends nothing else, where the route %s', async (_does, act) => {
    const { front, port } = await openFront(20, async ({ req, res }) => {
      if (req.method === 'POST') await act(req);
      res.end('no');
    });
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    socket.write(`${HEAD}{`);
    await new Promise((resolve) => socket.resume().once('close', resolve));
    expect((await fetch(`http://127.0.0.1:${port}/v1/models`)).status).toBe(200);
    await drain(front, PATIENCE_MS);
  });

  test('is taken to its end by then, and the connection is used again', async () => {
    const { front, socket } = await answered(PATIENCE_MS);
    const asked = once(front, 'request');
    socket.write(`${' '.repeat(999_999)}GET /v1/models HTTP/1.1\r\nHost: x\r\n\r\n`);
    await asked;
    answers[1]?.end('yes');
    const [said] = await once(socket, 'data');
    expect(said).toMatch(/^HTTP\/1.1 200 .*yes/s);
    socket.destroy();
    await drain(front, PATIENCE_MS);
  });
});

test('a port that is taken is named, with what to do', async () => {
  const { front, port } = await openFront();
  const { front: second } = await openFront();
  await drain(second, PATIENCE_MS);
  await expect(listenOn(second, { host: '127.0.0.1', port, variable: 'OPERATIONS_PORT' })).rejects.toThrow(
    `Port ${port} on 127.0.0.1 is in use: stop that program, or set OPERATIONS_PORT to another one.`,
  );
  await drain(front, PATIENCE_MS);
});
