import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectTurns } from '../../kernel/testing/event-loop.ts';
import { type LargeGateway, MODELS, openLargeGateway, type Provider } from './testing/large-gateway.ts';

const MIB = 1024 * 1024;
const MOST_BYTES = 50 * MIB;
const MOST_STORED_BYTES = 10 * MIB;

let gateway: LargeGateway;
beforeAll(async () => {
  gateway = await openLargeGateway();
});
afterAll(() => gateway.close());

/** Of exactly so many bytes. */
function bodyOf(bytes: number, head: string, tail: string): Buffer {
  const body = Buffer.alloc(bytes, 'x');
  body.write(head);
  body.write(tail, bytes - tail.length);
  return body;
}
const chat = (bytes: number, more = '') =>
  bodyOf(bytes, `{"model":"${MODELS.chat}","max_completion_tokens":10,${more}"user":"`, '","messages":[{"role":"user","content":"Hi"}]}');
const response = (bytes: number, more = '') => bodyOf(bytes, `{"model":"${MODELS.chat}","max_output_tokens":16,${more}"input":"`, '"}');

const refusalOf = async (path: string, body: Buffer) => {
  const { status, text } = await gateway.ask(path, body);
  return `${status} ${JSON.parse(text).code}`;
};
const isTaken = async (path: string, body: Buffer) => (await gateway.ask(path, body)).status === 200;

describe('a body', () => {
  test('of exactly 50 MiB is taken, and one of a byte more refused', async () => {
    expect(await isTaken('/v1/chat/completions', chat(MOST_BYTES))).toBe(true);
    expect(await refusalOf('/v1/chat/completions', chat(MOST_BYTES + 1))).toBe('413 payload_too_large');
  });

  test('of exactly 10 MiB is stored, and one of a byte more refused where it would be', async () => {
    expect(await isTaken('/v1/chat/completions', chat(MOST_STORED_BYTES, '"store":true,'))).toBe(true);
    expect(await refusalOf('/v1/chat/completions', chat(MOST_STORED_BYTES + 1, '"store":true,'))).toBe('413 payload_too_large');
    expect(await isTaken('/v1/responses', response(MOST_STORED_BYTES))).toBe(true);
    expect(await refusalOf('/v1/responses', response(MOST_STORED_BYTES + 1))).toBe('413 payload_too_large');
    expect(await isTaken('/v1/responses', response(MOST_STORED_BYTES + 1, '"store":false,'))).toBe(true);
  });
});

const PICTURE = 'iVBORw0KGgoAAAANSUhEUgAA'.repeat(207_000);
const ten = (picture: string): string => Array.from({ length: 10 }, () => picture).join();
const link = `data:image/png;base64,${PICTURE}`;
const pictures = ten(`{"type":"image_url","image_url":{"url":"${link}"}}`);
const inputs = ten(`{"type":"input_image","image_url":"${link}"}`);
const images = ten(`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"${PICTURE}"}}`);
const parts = ten(`{"inlineData":{"mimeType":"image/png","data":"${PICTURE}"}}`);

const text = 'Hello, world. '.repeat(3_500_000);
const escaped = 'Hello, world\\/ '.repeat(3_300_000);
const wide = 'привет '.repeat(3_770_000);
const said = (content: string) => `"max_completion_tokens":10,"messages":[{"role":"user","content":"${content}"}]`;

const TEXTS: readonly (readonly [string, Provider, string, string])[] = [
  ['of ASCII', 'openai', '/v1/responses', `"store":false,"max_output_tokens":16,"input":"${text}"`],
  ['with escapes', 'chat', '/v1/responses', `"store":false,"max_output_tokens":16,"input":"${escaped}"`],
  ['outside of Latin-1', 'chat', '/v1/chat/completions', said(wide)],
];

const ROWS: readonly (readonly [Provider, string, string])[] = [
  ['openai', '/v1/chat/completions', `"max_completion_tokens":10,"messages":[{"role":"user","content":[${pictures}]}]`],
  ['google', '/v1/chat/completions', `"max_completion_tokens":10,"messages":[{"role":"user","content":[${pictures}]}]`],
  ['openai', '/v1/responses', `"store":false,"max_output_tokens":16,"input":[{"role":"user","content":[${inputs}]}]`],
  ['chat', '/v1/responses', `"store":false,"max_output_tokens":16,"input":[{"role":"user","content":[${inputs}]}]`],
  ['anthropic', '/v1/messages', `"max_tokens":10,"messages":[{"role":"user","content":[${images}]}]`],
  ['google', `/v1beta/models/${MODELS.google}:generateContent`, `"contents":[{"role":"user","parts":[${parts}]}]`],
];

test.each(TEXTS)('one text of 49 MB holds the event loop for 50 ms at most: %s, %s, %s', async (_what, provider, path, fields) => {
  const body = Buffer.from(`{"model":"${MODELS[provider]}",${fields}}`);
  const { status, text: answer } = await expectTurns(path, body.length, () => {
    gateway.forgetRateLimits();
    return gateway.ask(path, body);
  });
  expect(status, answer.slice(0, 300)).toBe(200);
});

test('a text of more characters than a turn has time for is refused where they take two bytes each', async () => {
  const body = Buffer.from(`{"model":"${MODELS.chat}",${said(`\u{1F600}${'x'.repeat(49_000_000)}`)}}`);
  expect(await expectTurns('a wide text', body.length, () => refusalOf('/v1/chat/completions', body))).toBe('413 body_too_complex');
});

test.each(ROWS)('ten pictures of 50 MB hold the event loop for 50 ms at most: %s, %s', async (provider, path, fields) => {
  const body = Buffer.from(path.startsWith('/v1beta') ? `{${fields}}` : `{"model":"${MODELS[provider]}",${fields}}`);
  const { status, text } = await expectTurns(path, body.length, () => {
    gateway.forgetRateLimits();
    return gateway.ask(path, body);
  });
  expect(status, text.slice(0, 300)).toBe(200);
});
