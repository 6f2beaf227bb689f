import { describe, expect, test } from 'vitest';
import { outputLine, readLine } from './batch-line.ts';

const CHAT = '/v1/chat/completions';
const read = (line: object, endpoint = CHAT) =>
  readLine(Buffer.from(JSON.stringify({ custom_id: 'a', method: 'POST', url: CHAT, body: {}, ...line })), endpoint);

describe('a line of the input', () => {
  test('keeps what it asks for, whatever else stands in it', async () => {
    expect(await read({ body: { model: 'm', text: 'ü \u0000' }, more: 1 })).toEqual({
      customId: 'a',
      body: { bytes: Buffer.from('{"model":"m","text":"ü \\u0000"}'), value: { model: 'm', text: 'ü \u0000' } },
    });
  });

  test.each([
    [{ custom_id: undefined }, 'missing_required_parameter', 'custom_id'],
    [{ custom_id: '' }, 'invalid_parameter', 'custom_id'],
    [{ custom_id: 7 }, 'invalid_parameter', 'custom_id'],
    [{ custom_id: 'x'.repeat(513) }, 'invalid_parameter', 'custom_id'],
    [{ custom_id: 'a\0' }, 'invalid_parameter', 'custom_id'],
    [{ custom_id: '\ud800' }, 'invalid_parameter', 'custom_id'],
  ])('with %j cannot be told from others: %s of %s', async (line, code, param) => {
    expect(await read(line)).toMatchObject({ code, param });
  });

  test.each([
    [{ body: undefined }, 'body', 'body is missing'],
    [{ body: [] }, 'body', 'body is not valid'],
    [{ method: undefined }, 'method', 'method is missing'],
    [{ method: 'GET' }, 'method', 'not GET'],
    [{ url: '/v1/embeddings' }, 'url', CHAT],
    [{ url: `${CHAT}/` }, 'url', CHAT],
    [{ body: { stream: true } }, 'stream', 'in a batch'],
    [{ body: { background: true } }, 'background', 'in a batch'],
  ])('with %j fails by itself, over its %s', async (line, param, message) => {
    const problem = { code: 'validation_failed', message: expect.stringContaining(message), extras: { param } };
    expect(await read(line)).toMatchObject({ customId: 'a', problem });
  });

  test.each([[null], ['{"custom_id":'], ['[]'], ['7'], ['null']])('%j is no JSON object', async (text) => {
    expect(await readLine(text === null ? null : Buffer.from(text), CHAT)).toMatchObject({ code: 'invalid_json_line', param: null });
  });

  test.each([
    ['values', { messages: Array.from({ length: 320_001 }, () => 0) }],
    ['fields', Object.fromEntries(Array.from({ length: 5_001 }, (_, at) => [`k${at}`, 0]))],
  ])('of more %s than a request may have is refused before it is parsed', async (_what, body) => {
    expect(await read({ body })).toMatchObject({ code: 'body_too_complex', param: null });
  });
});

describe('a line of the output', () => {
  const ids = { requestId: 'req_1', receiptId: 'r-1', customId: 'a "b"\n' };

  test('is one line, however the body was written', () => {
    const line = outputLine(ids, { status: 200, body: Buffer.from('{\n  "a": "\\n"\n}') });
    expect(line).not.toContain('\n');
    expect(JSON.parse(line)).toEqual({
      ...{ id: 'batch_req_1', custom_id: ids.customId, error: null },
      response: { status_code: 200, request_id: 'req_1', receipt_id: 'r-1', body: { a: '\n' } },
    });
  });

  test('has the promise of its receipt beside the id', () => {
    const { response } = JSON.parse(outputLine(ids, { status: 200, body: Buffer.from('{}'), promise: 'a.b.c' }));
    expect(response).toEqual({ status_code: 200, request_id: 'req_1', receipt_id: 'r-1', receipt_promise: 'a.b.c', body: {} });
  });

  test('names no receipt where there is none', () => {
    const { response } = JSON.parse(outputLine({ ...ids, receiptId: null }, { status: 404, body: Buffer.from('{}') }));
    expect(response).toEqual({ status_code: 404, request_id: 'req_1', body: {} });
  });
});
