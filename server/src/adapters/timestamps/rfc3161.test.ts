import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  hasOpenssl,
  startTimeStampingAuthority,
  type TimeStampingAuthority,
} from '../../../../packages/receipts/scripts/time-stamping-authority.ts';
import { rfc3161Authority } from './rfc3161.ts';

const FOREVER = new AbortController().signal;
const digest = createHash('sha256').update('a state').digest();

describe.skipIf(!hasOpenssl)('a time-stamping authority', () => {
  let authority: TimeStampingAuthority;
  beforeAll(async () => {
    authority = await startTimeStampingAuthority();
  });
  afterAll(() => authority?.close());

  test('stamps a hash with the time of its clock', async () => {
    const before = Date.now();
    const { token, time } = await rfc3161Authority(authority.url).stamp(digest, FOREVER);
    // To the second.
    expect(time.getTime()).toBeGreaterThan(before - 2_000);
    expect(time.getTime()).toBeLessThan(Date.now() + 2_000);
    expect(token.includes(digest)).toBe(true);
  });

  test.each([
    ['refuses', Buffer.from('300530030201023000', 'hex').subarray(0, 7), 'PKI status 2'],
    ['answers with something else', Buffer.from('hello, this is no DER'), ''],
    ['answers with nothing', Buffer.alloc(0), 'no DER'],
  ])('that %s gives no timestamp', async (_, answer, reason) => {
    authority.answerWith(answer);
    await expect(rfc3161Authority(authority.url).stamp(digest, FOREVER)).rejects.toThrow(reason);
    authority.answerWith(undefined);
  });

  test('that stamps another hash, or answers an earlier query, gives no timestamp', async () => {
    const other = await fetchAnswer(authority.url, createHash('sha256').update('another').digest());
    authority.answerWith(other);
    await expect(rfc3161Authority(authority.url).stamp(digest, FOREVER)).rejects.toThrow('another hash');
    authority.answerWith(undefined);
    authority.answerWith(await fetchAnswer(authority.url, digest));
    await expect(rfc3161Authority(authority.url).stamp(digest, FOREVER)).rejects.toThrow('another query');
    authority.answerWith(undefined);
  });
});

test('an authority that answers a byte at a time is given up, and its connection closed', async () => {
  const closed: Promise<unknown>[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => {}).resume();
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 10000\r\n\r\n');
    const beat = setInterval(() => socket.write(' '), 20);
    closed.push(new Promise<void>((resolve) => socket.once('close', resolve)).then(() => clearInterval(beat)));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
  await expect(rfc3161Authority(url, { timeoutMs: 200 }).stamp(digest, FOREVER)).rejects.toThrow();
  await Promise.all(closed);
  server.close();
});

/** The whole answer to a query with a nonce of its own. */
async function fetchAnswer(url: string, hash: Buffer): Promise<Buffer> {
  const imprint = `3031300d060960864801650304020105000420${hash.toString('hex')}`;
  const query = Buffer.from(`3043020101${imprint}02084242424242424242${'0101ff'}`, 'hex');
  return Buffer.from(await (await fetch(url, { method: 'POST', body: query })).arrayBuffer());
}
