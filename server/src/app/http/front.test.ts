import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { createLog } from '../../kernel/log.ts';
import { createFront, drain, listenOn } from './front.ts';
import { toProblemDocument } from './problem-document.ts';

const PATIENCE_MS = 10_000;
const nothing = { handles: () => false, serve: async () => false };

const problemReply: Parameters<typeof createFront>[0]['problemReply'] = (problem, { requestId }) => {
  const { status, headers, body } = toProblemDocument(problem, { requestId, publicUrl: 'https://tallygate.test' });
  return { status, headers, body: Buffer.from(JSON.stringify(body)) };
};

let answers: ServerResponse[] = [];
const agent = new Agent({ keepAlive: true });
afterEach(() => {
  answers = [];
  agent.destroy();
});

async function openFront() {
  const front = createFront({
    inference: { handles: () => false, serve: async () => {} },
    files: { handles: () => false, serve: async () => {} },
    documents: { handles: () => false, serve: async () => {} },
    mcp: { handles: () => false, serve: async () => {} },
    people: { handles: () => false, serve: async () => {} },
    events: { handles: () => false, serve: async () => {} },
    mailAnswers: { handles: () => false, serve: async () => {} },
    payments: { handles: () => false, serve: async () => {} },
    receipts: { handles: () => false, serve: async () => {} },
    responses: { handles: () => false, serve: async () => {} },
    videos: { handles: () => false, serve: async () => {} },
    docs: { handles: () => false, serve: () => {} },
    pages: nothing,
    accountApi: (_req, res) => void answers.push(res),
    problemReply,
    log: createLog('silent'),
  });
  return { front, port: await listenOn(front, '127.0.0.1', 0) };
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

test('a kept connection is closed when the request that runs on it ends', async () => {
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

test.each([
  ['no HTTP', 'hello\r\n\r\n', '400'],
  ['a TLS hello', '\u0016\u0003\u0001\u0002\u0000\u0001', '400'],
  ['headers without end', `GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`, '431'],
  ['two lengths', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n', '400'],
])('%s is told so, and the connection closed', async (_, bytes, status) => {
  const { front, port } = await openFront();
  const said = await say(port, bytes);
  expect(said).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  const [head = '', body = ''] = said.split('\r\n\r\n');
  expect(head).toContain('content-type: application/problem+json');
  expect(head).toContain(`content-length: ${body.length}`);
  expect(JSON.parse(body)).toMatchObject({ status: Number(status), instance: expect.stringMatching(/^req_/) });
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
])('an id in %s is asked for as it stands where it cannot be decoded', async (path, target) => {
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

test('a port that is taken is named, with what to do', async () => {
  const { front, port } = await openFront();
  const second = createFront({
    inference: { handles: () => false, serve: async () => {} },
    files: { handles: () => false, serve: async () => {} },
    documents: { handles: () => false, serve: async () => {} },
    mcp: { handles: () => false, serve: async () => {} },
    people: { handles: () => false, serve: async () => {} },
    events: { handles: () => false, serve: async () => {} },
    mailAnswers: { handles: () => false, serve: async () => {} },
    payments: { handles: () => false, serve: async () => {} },
    receipts: { handles: () => false, serve: async () => {} },
    responses: { handles: () => false, serve: async () => {} },
    videos: { handles: () => false, serve: async () => {} },
    docs: { handles: () => false, serve: () => {} },
    pages: nothing,
    accountApi: () => {},
    problemReply,
    log: createLog('silent'),
  });
  await expect(listenOn(second, '127.0.0.1', port)).rejects.toThrow(
    `Port ${port} on 127.0.0.1 is in use: stop that program, or set PORT to another one.`,
  );
  await drain(front, PATIENCE_MS);
});
