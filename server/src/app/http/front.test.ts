import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { createLog } from '../../kernel/log.ts';
import { createFront, drain, listenOn } from './front.ts';

const PATIENCE_MS = 10_000;
const nothing = { handles: () => false, serve: async () => false };

let answers: ServerResponse[] = [];
const agent = new Agent({ keepAlive: true });
afterEach(() => {
  answers = [];
  agent.destroy();
});

async function openFront() {
  const front = createFront({
    inference: { handles: () => false, serve: async () => {} },
    pages: nothing,
    accountApi: (_req, res) => void answers.push(res),
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
