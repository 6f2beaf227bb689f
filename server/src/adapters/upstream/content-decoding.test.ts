import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { brotliCompressSync, constants, createBrotliCompress, createGzip, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { answered, chatCall } from './conformance-calls.ts';
import { openAiCompatible } from './openai-compatible.ts';
import type { UpstreamProvider } from './port.ts';

/** Some servers, and what stands in front of them, encode an answer although it is asked for as it is. */

let respond: RequestListener = () => undefined;
const server: Server = createServer((request, response) => respond(request, response));
let provider: UpstreamProvider;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  provider = openAiCompatible({ name: 'a', baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
});
afterAll(async () => {
  await provider.close();
  await new Promise((resolve) => server.close(resolve));
});

const MOST = 64 * 1024 * 1024;
const TEXT = JSON.stringify({ text: 'grüße 👋 '.repeat(20_000), usage: { prompt_tokens: 3, completion_tokens: 4 } });
const head = (response: ServerResponse, encoding: string) =>
  response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': encoding });
const ask = () => answered(provider, chatCall('m'));

describe.each([
  ['gzip', gzipSync(TEXT)],
  ['X-GZIP', gzipSync(TEXT)],
  ['deflate', deflateSync(TEXT)],
  ['deflate', deflateRawSync(TEXT)],
  ['br', brotliCompressSync(TEXT)],
])('an answer in %s (case %#)', (encoding, encoded) => {
  it('is read as if it had come as it is', async () => {
    respond = (_, response) => head(response, encoding).end(encoded);
    expect((await (await ask()).collect(MOST)).toString()).toBe(TEXT);
  });

  it('is read whole where its pieces are cut anywhere and its reader is slow', async () => {
    respond = (_, response) => {
      head(response, encoding);
      for (let at = 0; at < encoded.length; at += 37) response.write(encoded.subarray(at, at + 37));
      response.end();
    };
    const parts: Buffer[] = [];
    await (await ask()).pump(async (part) => {
      parts.push(Buffer.from(part));
      await new Promise(setImmediate);
    });
    expect(Buffer.concat(parts).toString()).toBe(TEXT);
  });

  it('that is cut short breaks off, with what came of it', async () => {
    respond = (_, response) => head(response, encoding).end(encoded.subarray(0, encoded.length - 20));
    const cut = await (await ask()).collect(MOST).catch((error: unknown) => error);
    expect(cut).toMatchObject({ name: 'UpstreamCut', reason: 'reset' });
    expect(TEXT.startsWith((cut as { came: Buffer }).came.toString().slice(0, 1000))).toBe(true);
    expect((cut as { came: Buffer }).came.length).toBeGreaterThan(0);
  });
});

it.each([
  ['gzip', () => createGzip({ flush: constants.Z_SYNC_FLUSH })],
  ['br', () => createBrotliCompress({ flush: constants.BROTLI_OPERATION_FLUSH })],
] as const)('an event of a stream in %s is read as soon as it has come', async (encoding, create) => {
  const encoder = create();
  respond = (_, response) => {
    encoder.pipe(head(response, encoding));
    encoder.write('data: 1\n\n');
  };
  const heard: string[] = [];
  await (await ask()).pump((part) => {
    heard.push(part.toString());
    if (heard.length === 1) encoder.write('data: 2\n\n');
    else encoder.end();
  });
  expect(heard).toEqual(['data: 1\n\n', 'data: 2\n\n']);
});

it('bytes that are not in the encoding that their head names break off', async () => {
  respond = (_, response) => head(response, 'gzip').end('{}');
  await expect((await provider.call(chatCall('m'))) as object).toMatchObject({ ok: false, status: 200, begun: { bytes: Buffer.alloc(0) } });
});

it('a body that decodes to hundreds of times its size is given up, and so is its call', async () => {
  const bomb = brotliCompressSync(Buffer.alloc(4 * 1024 * 1024, '{"a":"x"},'), {
    params: { [constants.BROTLI_PARAM_QUALITY]: 5 },
  });
  const closed = new Promise<void>((resolve) => {
    respond = (request, response) => {
      request.socket.once('close', () => resolve());
      head(response, 'br').write(bomb);
    };
  });
  let read = 0;
  const pumped = (await ask()).pump((part) => {
    read += part.length;
  });
  await expect(pumped).rejects.toMatchObject({ name: 'UpstreamCut', reason: 'reset' });
  expect(read).toBeLessThan(2 * 1024 * 1024);
  await closed;
});

it('no more of a body is decoded than its reader has taken', async () => {
  const text = Array.from({ length: 400_000 }, (_, at) => `${at}:`).join('');
  respond = (_, response) => head(response, 'gzip').end(gzipSync(text));
  const answer = await ask();
  let read = 0;
  let go: () => void = () => undefined;
  const first = new Promise<void>((resolve) => {
    go = resolve;
  });
  const before = process.memoryUsage().arrayBuffers;
  const pumped = answer.pump((part) => {
    read += part.length;
    return first;
  });
  await new Promise((resolve) => setTimeout(resolve, 30));
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(text.length / 2);
  go();
  await pumped;
  expect(read).toBe(text.length);
});

it('what a provider says in an encoding of why it refuses is read', async () => {
  const error = { message: 'max_tokens is too large', type: 'invalid_request_error', param: 'max_tokens' };
  respond = (_, response) =>
    response.writeHead(400, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end(gzipSync(JSON.stringify({ error })));
  expect(await provider.call(chatCall('m'))).toMatchObject({ ok: false, kind: 'rejected', param: 'max_tokens', message: error.message });
});

it('an encoding that nobody here reads is named', async () => {
  respond = (_, response) => head(response, 'compress').end('x');
  expect(await provider.call(chatCall('m'))).toMatchObject({
    ok: false,
    kind: 'failed',
    status: 200,
    message: 'The provider answered in the encoding compress, which was not asked for.',
    begun: { bytes: Buffer.alloc(0) },
  });
});
