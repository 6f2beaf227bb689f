import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { contract, SCOPES } from '@tallygate/contract';
import { type AppRoute, type AppRouter, isAppRoute } from '@ts-rest/core';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { testDatabase } from '../../adapters/postgres/test-database.ts';
import { expectTurns } from '../../kernel/testing/event-loop.ts';
import { readConfig } from '../config.ts';
import { type RunningServer, startServer } from '../server.ts';
import { metadataOf } from './endpoint.ts';
import { MovableClock } from './testing/account-api.ts';

const MIB = 1024 * 1024;
/** A refusal echoes no more of what was sent, bytes. */
const MOST_REFUSAL = 16_384;
type Headers = Readonly<Record<string, string>>;

const clock = new MovableClock();
/** The whole service as it is composed. */
let server: RunningServer;
let key: Headers;
let session: Headers;
const endings: (() => unknown)[] = [];
beforeAll(async () => {
  const { url, drop } = await testDatabase();
  const dataDir = mkdtempSync(join(tmpdir(), 'tallygate-hostile-'));
  endings.push(() => rmSync(dataDir, { recursive: true, force: true }), drop);
  server = await startServer(
    readConfig({ DATABASE_URL: url, DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'silent', REFUSED_REQUESTS_PER_MINUTE: '1000000' }),
    () => {},
    clock,
    () => clock.now(),
  );
  endings.push(() => server.close());
  const told = async (path: string, headers: Headers, json: object) => {
    const init = { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(json) };
    return (await fetch(server.url + path, init)).json();
  };
  const { admin_email: email, admin_password: password, internal_secret } = server.bootstrap;
  const login = await told('/v1/users/login', {}, { email, password });
  const internal = { 'x-internal-secret': internal_secret ?? '' };
  session = { ...internal, authorization: `Bearer ${login.session.token}` };
  const created = await told('/v1/keys', session, { name: 'test', livemode: false, scopes: SCOPES });
  key = { ...internal, authorization: `Bearer ${created.key}` };
  await post(CHAT, Buffer.from(JSON.stringify(CHAT.example)));
});
afterAll(async () => {
  for (const end of endings.reverse()) await end();
});

interface Door {
  readonly path: string;
  readonly method: string;
  readonly contentType: string;
  readonly bytes: number;
  /** The places of a hostile value. */
  readonly fields: readonly string[];
  /** A body that is in order. */
  readonly example: unknown;
}

const model = '"model":"gpt-4o-mini"';
const CHAT: Door = {
  path: '/v1/chat/completions',
  method: 'POST',
  contentType: 'application/json',
  bytes: 10 * MIB,
  fields: [],
  example: { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hi' }] },
};
const COMPLETION: Door = { ...CHAT, path: '/v1/completions' };
const EMBEDDINGS: Door = { ...CHAT, path: '/v1/embeddings' };
const COMPACT: Door = { ...CHAT, path: '/v1/responses/compact' };
const RESPONSES: Door = { ...CHAT, path: '/v1/responses' };
const INPUT_TOKENS: Door = { ...CHAT, path: '/v1/responses/input_tokens' };
const CONVERSATIONS: Door = { ...CHAT, path: '/v1/conversations' };

const Media = z.looseObject({
  schema: z.looseObject({ $ref: z.string().optional(), properties: z.record(z.string(), z.unknown()).optional() }).optional(),
  example: z.unknown().optional(),
  examples: z.record(z.string(), z.object({ value: z.unknown() })).optional(),
});
const Document = z.object({
  paths: z.record(
    z.string(),
    z.record(z.string(), z.object({ requestBody: z.object({ content: z.record(z.string(), Media) }).optional() })),
  ),
  components: z.object({
    schemas: z.record(
      z.string(),
      z.looseObject({
        properties: z.record(z.string(), z.unknown()).optional(),
        examples: z.array(z.unknown()).optional(),
        example: z.unknown().optional(),
      }),
    ),
  }),
});

const ANY_ID = '019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77';

/** Every operation that takes a body, with the fields of its schema and the example of the document. */
function everyDoor(): Door[] {
  const { paths, components } = Document.parse(
    JSON.parse(readFileSync(new URL('../../../../contract/openapi.json', import.meta.url), 'utf8')),
  );
  const kinds = new Map(routesIn(contract).map((route) => [`${route.method} ${documentedPath(route)}`, metadataOf(route)]));
  const models = new Set(routesIn(contract.inference).map(metadataOf));
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([name, { requestBody }]) => {
      const method = name.toUpperCase();
      const metadata = kinds.get(`${method} ${path}`);
      if (requestBody && !metadata) throw new Error(`${method} ${path} is in the document and not in the contract`);
      return Object.entries(requestBody?.content ?? {}).map(([contentType, { schema, example, examples }]): Door => {
        const named = components.schemas[schema?.$ref?.split('/').at(-1) ?? ''];
        return {
          path: path.replaceAll(/\{\w+\}/g, ANY_ID),
          method,
          contentType,
          bytes: !isJson(contentType) || metadata?.body === 'inference' || (metadata && models.has(metadata)) ? 10 * MIB : 256 * 1024,
          fields: Object.keys({ ...schema?.properties, ...named?.properties }),
          example: example ?? Object.values(examples ?? {})[0]?.value ?? named?.example ?? named?.examples?.[0] ?? {},
        };
      });
    }),
  );
}

const documentedPath = (route: AppRoute): string => {
  const named = route.path.replaceAll(/:(\w+)/g, '{$1}');
  return metadataOf(route).customMethod ? named.replace(/\/(?=[^/]+$)/, ':') : named;
};
const isJson = (contentType: string): boolean => contentType === 'application/json';
const routesIn = (router: AppRouter): AppRoute[] =>
  Object.values(router).flatMap((entry) => (isAppRoute(entry) ? [entry] : routesIn(entry)));

const filled = (unit: string, bytes: number) => unit.repeat(Math.floor(bytes / unit.length));
const listOf = (item: string) => (bytes: number) => `[${filled(`${item},`, bytes - item.length - 2)}${item}]`;
const namesOf = (value: string) => (bytes: number) => {
  const members: string[] = [];
  for (let size = 2; size < bytes - 40; size += members.at(-1)?.length ?? 0) members.push(`"k${members.length}":${value},`);
  return `{${members.join('').slice(0, -1)}}`;
};
/** Values that cost more than their bytes, of a given size. */
const SHAPES: Readonly<Record<string, (bytes: number) => string>> = {
  zeros: listOf('0'),
  'empty lists': listOf('[]'),
  'empty objects': listOf('{}'),
  'short strings': listOf('"a"'),
  'wrong parts': listOf('{"type":"text"}'),
  'wrong messages': listOf('{"role":"user","content":[{"type":"text"},0]}'),
  'lists of lists': listOf('[0,[0,[0]]]'),
  'many names': namesOf('0'),
  'names of lists': namesOf('[0]'),
  'open brackets': (bytes) => '['.repeat(bytes - 2),
  'open objects': (bytes) => filled('{"a":', bytes - 2),
  'a nest': (bytes) => `${'['.repeat(bytes / 2 - 1)}${']'.repeat(bytes / 2 - 1)}`,
  'a number': (bytes) => '1'.repeat(bytes),
  'a name': (bytes) => `{"${'k'.repeat(bytes - 8)}":0}`,
  'a string': (bytes) => `"${'a'.repeat(bytes - 2)}"`,
  'a string of escapes': (bytes) => `"${filled('\\u00e9\\n', bytes - 2)}"`,
  'a string cut short': (bytes) => `"${filled('\\"', bytes - 2)}`,
  blanks: (bytes) => ' '.repeat(bytes),
};

/** The same for what is no JSON. */
const FORM_BOUNDARY = 'b0';
const field = (name: string, value: string) => `--${FORM_BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
const OTHER_SHAPES: Readonly<Record<string, Readonly<Record<string, (bytes: number) => string>>>> = {
  'multipart/form-data': {
    'many fields': (bytes) => `${filled(field('a', 'b'), bytes - 20)}--${FORM_BOUNDARY}--\r\n`,
    'many names': (bytes) => {
      const fields = Array.from({ length: Math.floor(bytes / 90) }, (_, at) => field(`k${at}`, '0'));
      return `${fields.join('')}--${FORM_BOUNDARY}--\r\n`;
    },
    'a long field': (bytes) => `${field('prompt', 'a'.repeat(bytes - 200))}--${FORM_BOUNDARY}--\r\n`,
    'a long name': (bytes) => `${field('a'.repeat(bytes - 200), 'b')}--${FORM_BOUNDARY}--\r\n`,
    'many files': (bytes) =>
      `${filled(field('file', 'b').replace('name="file"', 'name="file"; filename="a.png"'), bytes - 20)}--${FORM_BOUNDARY}--\r\n`,
    'no boundary': (bytes) => filled('\r\n--b', bytes),
  },
  'text/csv': {
    'many columns': (bytes) => filled('a,', bytes),
    'many lines': (bytes) => `email\n${filled('a\n', bytes - 6)}`,
    'a quote that never closes': (bytes) => `email\n"${filled('""', bytes - 8)}`,
    'a long cell': (bytes) => `email\n${'a'.repeat(bytes - 6)}`,
  },
  'message/rfc822': {
    'many headers': (bytes) => filled('A: b\r\n', bytes),
    'a long header': (bytes) => `A: ${'b'.repeat(bytes - 3)}`,
    'many groups of addresses': (bytes) => `Reply-To: ${filled('a:;', bytes - 10)}`,
    'many addresses': (bytes) => filled(`To: ${filled('a@b,', 900)}\r\n`, bytes),
    'many quoted names': (bytes) => `To: ${filled('"a\\\\" <a@b>, ', bytes - 4)}`,
    'folded lines': (bytes) => `A: b\r\n${filled(' c\r\n', bytes - 6)}`,
    'many parts': (bytes) => `Content-Type: multipart/mixed; boundary=b\r\n\r\n${filled('--b\r\n\r\n', bytes - 50)}`,
  },
};

interface Answer {
  readonly status: number;
  readonly bytes: number;
  readonly beginning: string;
}

/** By node:http and in pieces: the client is on the same thread, and must not be what is measured. */
function post(
  { path, method, contentType }: Pick<Door, 'path' | 'method' | 'contentType'>,
  body: Buffer,
  auth: Headers = key,
): Promise<Answer> {
  const { hostname: host, port } = new URL(server.url);
  const boundary = contentType === 'multipart/form-data' ? `; boundary=${FORM_BOUNDARY}` : '';
  const headers = { ...auth, 'content-type': contentType + boundary, 'content-length': body.length };
  return new Promise((resolve, reject) => {
    const sent = request({ host, port, path, method, headers }, (response) => {
      let bytes = 0;
      let beginning = '';
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (beginning.length < MOST_REFUSAL) beginning += chunk.toString('latin1', 0, MOST_REFUSAL);
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, bytes, beginning }));
    });
    sent.on('error', reject);
    const sendFrom = (at: number): void => {
      if (at >= body.length) sent.end();
      else sent.write(body.subarray(at, at + 65_536), () => setImmediate(sendFrom, at + 65_536));
    };
    sendFrom(0);
  });
}

/** @param answerBytes at least as large is the answer, whose size counts then */
async function expectHarmless(
  door: Door,
  body: Buffer,
  { auth = key, answerBytes = 0, what = '' }: { auth?: Headers; answerBytes?: number; what?: string } = {},
): Promise<Answer> {
  const answer = await expectTurns(`${door.method} ${door.path} ${what}`, Math.max(body.length, answerBytes), () => {
    // The rate limits of the time before are not its subject.
    clock.offsetMs += 60_000;
    return post(door, body, auth);
  });
  expect(answer.bytes).toBeGreaterThanOrEqual(answerBytes);
  return answer;
}

interface Attack {
  readonly what: string;
  body(): Buffer;
}

/** A body that is in order but for one hostile value, or is nothing else. */
const attackOn = (door: Door): fc.Arbitrary<Attack> => {
  const bytes = fc.constantFrom(1, 1 / 16, 1 / 16, 1 / 16).map((share) => Math.floor(door.bytes * share));
  const others = OTHER_SHAPES[door.contentType];
  const shapes = fc.constantFrom(...Object.entries(others ?? SHAPES));
  if (others)
    return fc
      .tuple(shapes, bytes)
      .map(([[what, shape], size]) => ({ what: `${what}, ${size} bytes`, body: () => Buffer.from(shape(size)) }));
  return fc.tuple(fc.constantFrom('', 'x', ...door.fields), shapes, bytes).map(([name, [shapeName, shape], size]) => ({
    what: `${shapeName} as ${name || 'the body'}, ${size} bytes`,
    body() {
      if (name === '') return Buffer.from(shape(size - 10));
      const { [name]: _, ...rest } = Object(door.example);
      const beginning = JSON.stringify(rest).slice(0, -1);
      const start = `${beginning}${beginning === '{' ? '' : ','}"${name}":`;
      return Buffer.from(`${start}${shape(size - start.length - 10)}}`);
    },
  }));
};

describe('a body made to cost more than its bytes', () => {
  // The success of a close would end the session that asks.
  const doors = everyDoor().filter(({ path }) => !path.endsWith('/close'));

  test('walks every operation that takes one', () => {
    expect(doors.length).toBeGreaterThan(85);
    expect(doors.filter(({ bytes }) => bytes > MIB).length).toBeGreaterThan(20);
  });

  test.each(['key', 'session'] as const)(
    'holds the event loop for 50 ms at most and takes 8 times its size at most, sent with a %s to any operation',
    async (kind) => {
      await fc.assert(
        fc.asyncProperty(fc.tuple(...doors.map(attackOn)), async (attacks) => {
          for (const [index, door] of doors.entries()) {
            const attack = attacks[index];
            if (!attack) throw new Error('There is an attack for each door');
            const auth = kind === 'key' ? key : session;
            const { status, bytes: answered, beginning } = await expectHarmless(door, attack.body(), { auth, what: attack.what });
            // What a session asks for is live, and there is no provider, nor one of payments.
            if (!/no_provider_configured|payments_unavailable/.test(beginning))
              expect(status, `${door.method} ${door.path}: ${attack.what}`).toBeLessThan(500);
            if (status >= 400) expect(answered).toBeLessThan(MOST_REFUSAL);
          }
        }),
        { numRuns: 1, endOnFailure: true },
      );
    },
  );

  test.each([
    ['messages that are numbers', `{${model},"messages":[${filled('0,', 10 * MIB - 100)}0]}`, 413],
    ['brackets that never close', '['.repeat(10 * MIB), 413],
    ['parts that are none', `{${model},"messages":[{"role":"user","content":[${filled('{"type":"a"},', 10 * MIB - 100)}0]}]}`, 413],
    ['fields that are not known', `{${model},"messages":[],${namesOf('0')(10 * MIB - 100).slice(1)}`, 413],
    [
      '128 choices with 20 log probabilities for each token',
      `{${model},"messages":[{"role":"user","content":"Hi"}],"n":128,"logprobs":true,"top_logprobs":20}`,
      400,
    ],
    ['wrong elements within every bound', `{${model},"messages":[${filled('0,', 600_000)}0]}`, 400],
  ])('of %s is refused', async (_what, body, status) => {
    expect((await expectHarmless(CHAT, Buffer.from(body))).status).toBe(status);
  });
});

const MAIL_SHAPES = Object.entries(OTHER_SHAPES['message/rfc822'] ?? {});
test.each(MAIL_SHAPES)('a mail of %s holds the event loop for 50 ms at most', async (what, shape) => {
  const door: Door = { ...CHAT, path: '/v1/marketing/emails/bounces', contentType: 'message/rfc822' };
  for (const bytes of [60_000, 900_000])
    expect((await expectHarmless(door, Buffer.from(shape(bytes)), { auth: session, what })).status).toSatisfy((status) =>
      [413, 422].includes(status),
    );
});

describe('a large request that is in order', () => {
  const text = 'Hello, world. '.repeat(700_000);
  const item = JSON.stringify({ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hello, world.' }] });
  const message = JSON.stringify({ role: 'user', content: 'Hello, world. '.repeat(230) });
  test.each([
    ['one message of 10 MB', CHAT, `{${model},"messages":[{"role":"user","content":"${text}"}]}`],
    ['10 MB that are not ASCII', CHAT, `{${model},"messages":[{"role":"user","content":"${'привет '.repeat(750_000)}"}]}`],
    ['3,000 messages of 3 KB', CHAT, `{${model},"messages":[${`${message},`.repeat(2_999)}${message}]}`],
    ['14,000 messages', CHAT, `{${model},"messages":[${listOf('{"role":"user","content":"a"}')(14_000 * 29).slice(1)}}`],
    ['a conversation of 10 MB to compact', COMPACT, `{${model},"input":"${text}"}`],
    [
      'a response with 3,000 items that is not stored',
      RESPONSES,
      `{"model":"gpt-4.1-mini","store":false,"input":[${`${item},`.repeat(2_999)}${item}]}`,
    ],
    ['10 MB whose tokens are counted', INPUT_TOKENS, `{${model},"input":"${text}"}`],
    ['10 MB that are not ASCII whose tokens are counted', INPUT_TOKENS, `{${model},"input":"${'привет '.repeat(750_000)}"}`],
    ['3,000 items whose tokens are counted', INPUT_TOKENS, `{${model},"input":[${`${message},`.repeat(2_999)}${message}]}`],
    ['a conversation of 10 MB', CONVERSATIONS, `{"items":[{"role":"user","content":"${text}"}]}`],
    ['300,000 tokens', COMPLETION, `{"model":"gpt-3.5-turbo-instruct","prompt":[${'1,'.repeat(299_999)}1]}`],
  ])('of %s is answered and holds the event loop for 50 ms at most', async (_what, door, body) => {
    expect((await expectHarmless(door, Buffer.from(body))).status).toBe(200);
  });
});

describe('an answer of the sandbox that is much larger than its request', () => {
  const completion = '"model":"gpt-3.5-turbo-instruct"';
  const prompts = (count: number, characters: number) => `[${`"${'a '.repeat(characters / 2)}",`.repeat(count).slice(0, -1)}]`;
  const properties = (count: number) =>
    JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, at) => [`p${at}`, { type: 'string' }])));
  const schema = `{"type":"json_schema","json_schema":{"name":"a","schema":{"type":"object","properties":${properties(2_000)}}}}`;
  const said = (content: string) => `"messages":[{"role":"user","content":"${content}"}]`;
  /** Each definition is the next one twice: the sampler works up to its bound. */
  const doubling = (ofNext: (ref: object) => object) =>
    JSON.stringify({
      type: 'object',
      properties: { a: { $ref: '#/$defs/a0' } },
      required: ['a'],
      $defs: Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`a${at}`, ofNext({ $ref: `#/$defs/a${at + 1}` })])),
    });
  const lists = doubling((ref) => ({ type: 'array', prefixItems: [ref, ref], minItems: 2 }));
  const objects = doubling((ref) => ({ type: 'object', properties: { x: ref, y: ref }, required: ['x', 'y'] }));
  const long = JSON.stringify({ type: 'object', properties: { a: { type: 'array', minItems: 7_000, items: {} } }, required: ['a'] });
  const answered = (wanted: string) => `{"type":"json_schema","json_schema":{"name":"a","schema":${wanted}}}`;
  const tools = (wanted: string, count: number) =>
    Array.from({ length: count }, (_, at) => `{"type":"function","function":{"name":"f${at}","parameters":${wanted}}}`).join();
  const names = Array.from({ length: 16 }, (_, at) => `f${at}`).join(' ');
  test.each([
    ['lists that double', CHAT, `{${model},"response_format":${answered(lists)},${said('Hi')}}`],
    ['objects that double', CHAT, `{${model},"response_format":${answered(objects)},${said('Hi')}}`],
    ['a long list', CHAT, `{${model},"response_format":${answered(long)},${said('Hi')}}`],
    ['a call with lists that double', CHAT, `{${model},"tools":[${tools(lists, 1)}],${said('Hi')}}`],
    ['16 calls with a long list each', CHAT, `{${model},"tools":[${tools(long, 16)}],${said(names)}}`],
    ['16 calls with 100 properties each', CHAT, `{${model},"tools":[${tools(`{"properties":${properties(100)}}`, 16)}],${said(names)}}`],
    ['2,000 streamed choices', COMPLETION, `{${completion},"stream":true,"n":10,"max_tokens":4000,"prompt":${prompts(200, 100)}}`],
    ['2,040 long prompts', COMPLETION, `{${completion},"prompt":${prompts(2_040, 4_000)}}`],
    ['2,040 long prompts, streamed', COMPLETION, `{${completion},"stream":true,"prompt":${prompts(2_040, 4_000)}}`],
    ['2,040 prompts that come back', COMPLETION, `{${completion},"echo":true,"prompt":${prompts(2_040, 4_000)}}`],
    ['1,000 short prompts that come back', COMPLETION, `{${completion},"echo":true,"prompt":${prompts(1_000, 500)}}`],
    ['100 prompts of 40,000 characters', COMPLETION, `{${completion},"prompt":${prompts(100, 40_000)}}`],
    [
      'one prompt that comes back with log probabilities',
      COMPLETION,
      `{${completion},"echo":true,"logprobs":5,"prompt":"${'a '.repeat(3_000)}"}`,
    ],
    ['128 streamed choices', CHAT, `{${model},"stream":true,"n":128,${said('a '.repeat(50_000))}}`],
    ['60 streamed choices', CHAT, `{${model},"stream":true,"n":60,${said('a '.repeat(50_000))}}`],
    ['10 choices with 20 log probabilities', CHAT, `{${model},"n":10,"logprobs":true,"top_logprobs":20,${said('Hi')}}`],
    ['objects of 2,000 properties', CHAT, `{${model},"n":8,"response_format":${schema},${said('Hi')}}`],
    ['streamed objects of 2,000 properties', CHAT, `{${model},"stream":true,"n":8,"response_format":${schema},${said('Hi')}}`],
    [
      '1 MB of instructions',
      RESPONSES,
      `{"model":"gpt-4.1-mini","stream":true,"store":false,"input":"Hi","instructions":"${'a '.repeat(500_000)}"}`,
    ],
  ])('holds the event loop for 50 ms at most: %s', async (what, door, body) => {
    const { status, bytes } = await expectHarmless(door, Buffer.from(body), { what });
    expect([200, 400]).toContain(status);
    expect(bytes).toBeLessThanOrEqual(2 * MIB);
  });
});

test('an answer of 2,048 embeddings holds the event loop for 50 ms at most and takes 8 times its size at most', async () => {
  const body = `{"model":"text-embedding-3-small","input":${listOf('"Hello, world."')(2_048 * 16)}}`;
  expect((await expectHarmless(EMBEDDINGS, Buffer.from(body), { answerBytes: 8_000_000 })).status).toBe(200);
});

test('of a body with many errors the first is reported, of one with few all of them', async () => {
  const wrong = (count: number) => Buffer.from(`{${model},"messages":[${'{"role":0},'.repeat(count - 1)}{"role":0}]}`);
  const told = async (count: number) => JSON.parse((await post(CHAT, wrong(count))).beginning).errors?.length;
  expect([await told(3), await told(10_000)]).toEqual([3, 1]);
});
