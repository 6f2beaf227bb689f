import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { chainIdOf, confirmAnchor } from './confirm-anchor.ts';
import type { AnchoredReceipt } from './receipt-anchor.ts';

/** A node over a real socket that does what the test says with every connection. */
const servers: Server[] = [];
const sockets: Socket[] = [];
async function node(behave: (socket: Socket) => void): Promise<string> {
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => {});
    // Nobody reads it, so that a close would not be noticed.
    socket.resume();
    behave(socket);
  }).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
}
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const server of servers.splice(0)) server.close();
});

const anchored: AnchoredReceipt = {
  ...{
    state: 'finalized' as const,
    id: '019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77',
    chain_id: 1,
    contract: `0x${'11'.repeat(20)}`,
    tree_size: 3,
  },
  ...{ root: `0x${'5f'.repeat(32)}`, transaction_hash: null, block_number: null, block_time: null, index: 0 },
};

/** Headers at once, then a byte of the body for every beat. */
const drip = (socket: Socket) => {
  socket.write('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100000\r\n\r\n');
  const beat = setInterval(() => socket.write(' '), 20);
  socket.on('close', () => clearInterval(beat));
};

it.each([
  ['hangs after it has taken the connection', () => {}],
  ['sends half of its headers', (socket: Socket) => void socket.write('HTTP/1.1 200 OK\r\ncontent-')],
  ['answers a byte at a time', drip],
])('gives a node up that %s, and closes the connection', async (_, behave) => {
  const rpcUrl = await node(behave);
  await expect(chainIdOf({ rpcUrl, timeoutMs: 200 })).rejects.toThrow('The node has not answered within 0.2 seconds.');
  await expect.poll(() => sockets[0]?.destroyed).toBe(true);
});

it('gives all answers of a node together so much time', async () => {
  let asked = 0;
  const rpcUrl = await node((socket) => {
    socket.on('data', () => {
      asked += 1;
      if (asked > 1) return;
      const body = '{"jsonrpc":"2.0","id":1,"result":"0x1"}';
      socket.write(`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
    });
  });
  await expect(confirmAnchor(anchored, { rpcUrl, timeoutMs: 300 })).rejects.toThrow('The node has not answered within 0.3 seconds.');
  expect(asked).toBe(2);
});

it('takes no endless answer', async () => {
  const rpcUrl = await node((socket) => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n');
    const more = () => {
      while (!socket.destroyed && socket.write(' '.repeat(65_536)));
    };
    socket.on('drain', more);
    more();
  });
  await expect(chainIdOf({ rpcUrl })).rejects.toThrow('more than 1000000 bytes');
});

it('ends with the signal of its caller', async () => {
  const rpcUrl = await node(() => {});
  const caller = new AbortController();
  const asked = chainIdOf({ rpcUrl, signal: caller.signal });
  caller.abort(new Error('enough'));
  await expect(asked).rejects.toThrow('enough');
});
