import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { contract, SCOPES } from '@tallygate/contract';
import { type AppRoute, type AppRouter, isAppRoute } from '@ts-rest/core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { testDatabase } from '../../adapters/postgres/test-database.ts';
import { readConfig } from '../config.ts';
import { type RunningServer, startServer } from '../server.ts';
import { createAnswerHeaders } from './answer-headers.ts';
import { metadataOf } from './endpoint.ts';

/** The whole service as it is composed: an answer is judged by what gives it there. */
let server: RunningServer;
let bearer: Record<string, string>;
let sessionOf: Record<string, string>;
const endings: (() => unknown)[] = [];

beforeAll(async () => {
  const { url, drop } = await testDatabase();
  const dataDir = mkdtempSync(join(tmpdir(), 'tallygate-headers-'));
  endings.push(() => rmSync(dataDir, { recursive: true, force: true }), drop);
  server = await startServer(
    readConfig({ DATABASE_URL: url, DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'silent', REFUSED_REQUESTS_PER_MINUTE: '1000000' }),
    () => {},
  );
  endings.push(() => server.close());
  const { admin_email: email, admin_password: password } = server.bootstrap;
  const login = { email, password };
  const { session } = await post('/v1/users/login', {}, login);
  sessionOf = { authorization: `Bearer ${session.token}` };
  const { key } = await post('/v1/keys', sessionOf, { name: 'test', scopes: SCOPES });
  bearer = { authorization: `Bearer ${key}` };
});

afterAll(async () => {
  for (const end of endings.reverse()) await end();
});

async function post(path: string, headers: Record<string, string>, json: object) {
  const init = { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(json) };
  return (await fetch(server.url + path, init)).json();
}

const NO_SCRIPT = "default-src 'none'; frame-ancestors 'none'; sandbox";
const PAGE = /^default-src '(?:none|self)'(?=.*; frame-ancestors 'none')(?=.*; base-uri 'none')/;
const EVERY = {
  'cache-control': 'no-store',
  'content-security-policy': NO_SCRIPT,
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};
const API = { ...EVERY, 'access-control-allow-origin': '*' };

/** The headers that are the same for every kind of route; for CORS only their presence. */
function compared(headers: Headers): Record<string, string | null> {
  const names = [...Object.keys(EVERY), 'access-control-allow-origin'];
  return Object.fromEntries(names.flatMap((name) => (headers.has(name) ? [[name, headers.get(name)]] : [])));
}

const ANY_ID = '019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77';
const inRouter = (router: AppRouter): AppRoute[] =>
  Object.values(router).flatMap((entry) => (isAppRoute(entry) ? [entry] : inRouter(entry)));
const routes = inRouter(contract);
const pathOf = ({ path }: AppRoute) => path.replaceAll(/:\w+/g, ANY_ID);

async function ask(method: string, path: string, headers: Record<string, string> = {}, body?: string) {
  const answer = await fetch(server.url + path, { method, headers, redirect: 'manual', ...(body !== undefined && { body }) });
  await answer.body?.cancel();
  return answer;
}

const WEBHOOKS = new Set<AppRoute>(Object.values(contract.paymentWebhooks));
const queried = routes.filter((route) => !WEBHOOKS.has(route) && metadataOf(route).tag !== 'Discovery');
const isOfModels = (route: AppRoute): boolean => metadataOf(route).scope === 'inference';

test('a query parameter that the operation does not have is refused, unless it describes the service', async () => {
  const secret = { 'x-internal-secret': server.bootstrap.internal_secret };
  const taken: unknown[] = [];
  for (const route of queried) {
    const answer = await fetch(`${server.url}${pathOf(route)}?no_such_parameter=1`, {
      method: route.method,
      headers: { ...(isOfModels(route) ? bearer : sessionOf), ...secret },
      ...(route.method !== 'GET' && { body: '{}' }),
    });
    const { errors } = await answer.json();
    if (![400, 422].includes(answer.status) || errors?.[0]?.loc.join() !== 'query,no_such_parameter')
      taken.push([route.method, route.path, answer.status]);
  }
  expect(queried.length).toBeGreaterThan(180);
  expect(taken).toEqual([]);
});

test('a refused query parameter is named with those there are', async () => {
  const refusal = async (path: string) => (await fetch(server.url + path, { headers: bearer })).json();
  expect(await refusal('/v1/keys?limit=5')).toMatchObject({
    detail: 'The query parameter `limit` is not known: this operation takes none.',
    error: { param: 'limit' },
  });
  const { errors } = await refusal('/v1/plans/invoices?limit=5&page=2&sort=up');
  expect(errors.map(({ loc }: { loc: string[] }) => loc[1])).toEqual(['page', 'sort']);
});

/** Query parameters that are numbers, with what has to come beside them. */
const numeric = routes.flatMap((route) =>
  route.query instanceof z.ZodObject
    ? Object.entries<z.ZodType>(route.query.shape).flatMap(([name, schema]) =>
        z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }).type === 'integer' ? [{ route, name, schema }] : [],
      )
    : [],
);
const queryStatus = async ({ method, path }: AppRoute, query: string) => {
  const keyOrSession = path.startsWith('/v1beta/') ? bearer : sessionOf;
  const answer = await fetch(`${server.url}${path.replaceAll(/:\w+/g, ANY_ID)}?${query}`, { method, headers: keyOrSession });
  return { status: answer.status, text: await answer.text() };
};
const NOT_DIGITS = ['%205', '5%20', '%2B5', '5.0', '5e0', '1e3', '0x5', '05', '-0', '', '5_0', 'five', '%D9%A5', '5&NAME=5'];

test('every number in a query is written in digits alone', async () => {
  const taken: unknown[] = [];
  for (const { route, name } of numeric)
    for (const written of NOT_DIGITS) {
      const { status, text } = await queryStatus(route, `${name}=${written.replace('NAME', name)}`);
      if (![400, 422].includes(status) || !text.includes(name)) taken.push([route.path, name, written, status, text.slice(0, 200)]);
    }
  expect(taken).toEqual([]);
  expect(numeric.length).toBeGreaterThan(40);
});

test('every number in a query is taken where it is in digits and in its bounds', () => {
  const taken = numeric.map(({ schema }) => schema.parse('5'));
  expect(taken).toEqual(numeric.map(() => 5));
  expect(numeric.filter(({ schema }) => schema.safeParse(String(2 ** 53)).success)).toEqual([]);
});

test('a query parameter of one value that comes twice is refused, in exports and streams too', async () => {
  const month = new Date().toISOString().slice(0, 7);
  const twice = [`/v1/receipts/export?month=${month}&month=2026-01`, '/v1/live?stream=true&stream=false', '/v1/runs?limit=1&limit=2'];
  const refusals = await Promise.all(twice.map(async (path) => (await ask('GET', path, bearer)).status));
  expect(refusals).toEqual([422, 422, 422]);
});

const GENERATE = '/v1beta/models/gpt-4o-mini:generateContent';
const STREAM = GENERATE.replace('generate', 'streamGenerate');

describe('in an address of Google’s', () => {
  const ofTests = () => ({ authorization: `Bearer ${server.bootstrap.test_api_key}` });
  const asked = async (target: string, headers: Record<string, string> = ofTests()) => {
    const body = JSON.stringify({ contents: [{ parts: [{ text: 'Hello' }] }] });
    const answer = await fetch(server.url + target, { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body });
    const text = await answer.text();
    return { status: answer.status, text, ...(answer.status >= 400 && { error: JSON.parse(text).error }) };
  };

  test.each(['alt=json', '$alt=json&prettyPrint=true', 'alt=json&$alt=json', '%24alt=json%3Benum-encoding%3Dint'])(
    'an answer is asked for with %s',
    async (query) => {
      expect((await asked(`${GENERATE}?${query}`)).status).toBe(200);
    },
  );
  test.each(['alt=sse', '$alt=sse&alt=sse', 'alt=sse&prettyPrint=false'])('a stream is asked for with %s', async (query) => {
    expect(await asked(`${STREAM}?${query}`)).toMatchObject({ status: 200, text: expect.stringMatching(/^data: /) });
  });
  test.each([
    [GENERATE, 'alt=sse', 'alt'],
    [GENERATE, 'alt=proto', 'alt'],
    [GENERATE, 'alt=', 'alt'],
    [STREAM, 'alt=SSE', 'alt'],
    [STREAM, '$alt=media', '$alt'],
    [STREAM, 'alt=json&$alt=sse', '$alt'],
    [STREAM, 'alt=sse&alt=json', 'alt'],
    [STREAM, 'alt=sse&prettyPrint=1', 'prettyPrint'],
    [STREAM, 'fields=candidates', 'fields'],
  ])('%s?%s is refused', async (path, query, field) => {
    expect(await asked(`${path}?${query}`)).toMatchObject({
      status: 400,
      error: { code: 400, status: 'INVALID_ARGUMENT', details: [{ fieldViolations: [{ field }] }] },
    });
  });
  test('two keys are refused, and one that comes twice is not', async () => {
    const key = server.bootstrap.test_api_key ?? '';
    expect((await asked(`${GENERATE}?key=${key}&key=${key}`, {})).status).toBe(200);
    const other = bearer['authorization']?.slice('Bearer '.length) ?? '';
    for (const [query, headers] of [
      [`key=${key}&key=${other}`, {}],
      [`key=${key}`, { 'x-goog-api-key': other }],
      [`key=${other}`, ofTests()],
    ] as const)
      expect(await asked(`${GENERATE}?${query}`, headers)).toMatchObject({
        error: { message: expect.stringContaining('different credentials') },
      });
  });
});

test.each(['/v1/chat/completions?limit=1&metadata[topic]=demo', '/health/live?probe=1', '/openapi.json?v=2'])(
  '%s is served',
  async (path) => {
    expect((await ask('GET', path, bearer)).status).toBe(200);
  },
);

describe('every operation passes every step', () => {
  const bearers = routes.filter((route) => metadataOf(route).auth === 'bearer');
  /** Where the credentials are looked at after the origin of a page, or the bytes of a form are. */
  const refusalOf = async (
    route: AppRoute,
    headers: Record<string, string>,
    { method = route.method as string, path = pathOf(route) } = {},
  ) => {
    const hasBody = !['GET', 'PROPFIND'].includes(method);
    const type = hasBody && { 'content-type': 'application/json' };
    const answer = await fetch(server.url + path, { method, headers: { ...type, ...headers }, ...(hasBody && { body: '{}' }) });
    const text = await answer.text();
    const isRefusal = answer.status >= 400 && /^application\/(?:problem\+)?json$/.test(answer.headers.get('content-type') ?? '');
    const { code, request_id, instance = request_id } = isRefusal ? JSON.parse(text) : { code: text.slice(0, 80) };
    return { status: answer.status, code, isToldAs: instance === answer.headers.get('x-request-id'), answer };
  };
  /** The operations that are refused otherwise than by this code, with its status and the request id in the document. */
  async function others(some: readonly AppRoute[], code: string, how: (route: AppRoute) => Parameters<typeof refusalOf>) {
    const found: unknown[] = [];
    for (const route of some) {
      const refused = await refusalOf(...how(route));
      if (refused.code !== code || !refused.isToldAs) found.push([route.method, route.path, refused.status, refused.code]);
    }
    return found;
  }
  const keyWith = async (json: object) => ({ authorization: `Bearer ${(await post('/v1/keys', sessionOf, { name: 'x', ...json })).key}` });

  test('request id: the caller’s own comes back', async () => {
    const different: unknown[] = [];
    for (const route of routes) {
      const { answer } = await refusalOf(route, { 'x-request-id': 'my-own-id-1' });
      if (answer.headers.get('x-request-id') !== 'my-own-id-1') different.push([route.method, route.path]);
    }
    expect(different).toEqual([]);
  });

  test('path and method: another method gets the allowed ones', async () => {
    expect(await others(routes, 'method_not_allowed', (route) => [route, sessionOf, { method: 'PROPFIND' }])).toEqual([]);
  });

  test('authenticate: no credential, and a malformed one', async () => {
    expect(bearers.length).toBeGreaterThan(150);
    expect(await others(bearers, 'missing_credentials', (route) => [route, {}])).toEqual([]);
    expect(await others(bearers, 'invalid_credentials', (route) => [route, { authorization: 'Bearer tg_test_nothing' }])).toEqual([]);
    const internal = routes.filter((route) => metadataOf(route).auth === 'internal');
    expect(await others(internal, 'invalid_credentials', (route) => [route, { 'x-internal-secret': 'guessed' }])).toEqual([]);
  });

  test('authorise: a key without the scope, and a key where people are meant', async () => {
    for (const scope of ['inference', 'keys:write'] as const) {
      const other = await keyWith({ livemode: false, scopes: [scope] });
      const lacking = bearers.filter((route) => {
        const metadata = metadataOf(route);
        return !metadata.session && metadata.scope !== undefined && metadata.scope !== scope;
      });
      expect(await others(lacking, 'scope_required', (route) => [route, other])).toEqual([]);
      const forPeople = bearers.filter((route) => metadataOf(route).session);
      expect(await others(forPeople, 'session_required', (route) => [route, other])).toEqual([]);
    }
  });

  test('signature: a key that only signs opens nothing unsigned', async () => {
    const { x: signing_public_key } = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' });
    const signing = await keyWith({ scopes: SCOPES, signing_public_key, require_signature: true });
    const forms: readonly AppRoute[] = routes.filter((route) => 'contentType' in route && route.contentType === 'multipart/form-data');
    const verified = bearers.filter((route) => !forms.includes(route) || !Object.values<AppRoute>(contract.inference).includes(route));
    expect(await others(verified, 'signature_required', (route) => [route, signing])).toEqual([]);
  });

  test('query and path: null characters are in no id', async () => {
    const named = routes.filter(({ path }) => path.includes('/:'));
    const headers = { ...sessionOf, 'x-internal-secret': server.bootstrap.internal_secret };
    expect(named.length).toBeGreaterThan(80);
    expect(
      await others(named, 'validation_failed', (route) => [route, headers, { path: route.path.replaceAll(/:\w+/g, 'a%00b') }]),
    ).toEqual([]);
  });
});

test('every operation has the same headers for every caller, also for OPTIONS', async () => {
  const different: unknown[] = [];
  const cacheable = new Set<string>();
  for (const route of routes)
    for (const [method, headers] of [
      [route.method, {}],
      [route.method, bearer],
      ['OPTIONS', { origin: 'https://app.example', 'access-control-request-method': route.method }],
      ['PROPFIND', {}],
    ] as const) {
      const hasBody = !['GET', 'HEAD', 'OPTIONS', 'PROPFIND'].includes(method);
      const answer = await ask(
        method,
        pathOf(route),
        { ...headers, ...(hasBody && { 'content-type': 'application/json' }) },
        hasBody ? '{}' : undefined,
      );
      const found = compared(answer.headers);
      if (found['cache-control'] !== 'no-store' && answer.ok) {
        cacheable.add(`${route.method} ${route.path}: ${found['cache-control']}`);
        found['cache-control'] = 'no-store';
      }
      const id = answer.headers.get('x-request-id');
      const exposed = answer.headers.get('access-control-expose-headers') ?? '';
      if (JSON.stringify(found) !== JSON.stringify(API) || !id?.startsWith('req_') || !exposed.includes('X-Request-Id'))
        different.push([method, route.path, answer.status, found, id]);
    }
  expect(different).toEqual([]);
  expect([...cacheable].sort()).toMatchInlineSnapshot(`
    [
      "GET /.well-known/agent-card.json: public, max-age=300",
      "GET /.well-known/agent.json: public, max-age=300",
      "GET /.well-known/oauth-protected-resource/mcp: public, max-age=300",
      "GET /.well-known/oauth-protected-resource: public, max-age=300",
      "GET /.well-known/security.txt: public, max-age=300",
      "GET /agents.md: public, max-age=300",
      "GET /llms-full.txt: public, max-age=300",
      "GET /llms.txt: public, max-age=300",
      "GET /openapi.json: public, max-age=300",
      "GET /openapi.yaml: public, max-age=300",
      "GET /v1/content: public, max-age=30",
      "GET /v1/events/vibethon: public, max-age=30",
      "GET /v1/events: public, max-age=30",
    ]
  `);
});

test.each([
  ['/v1/responses/input_tokens', { input: 'Hello' }, { input: 0 }, 400],
  ['/v1/messages/count_tokens?beta=true', { messages: [{ role: 'user', content: 'Hello' }] }, { messages: 0 }, 400],
  ['/v1beta/models/gpt-4o-mini:countTokens', { contents: [{ parts: [{ text: 'Hello' }] }] }, { contents: 0 }, 400],
])('counting tokens at %s is one of the requests that a key may make', async (path, right, wrong, refusal) => {
  const { key } = await post('/v1/keys', sessionOf, { name: 'counted', livemode: false, rate_limits: { requests_per_minute: 2 } });
  const count = (body: object) =>
    ask(
      'POST',
      path,
      { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      JSON.stringify(path.startsWith('/v1beta/') ? body : { model: 'gpt-4o-mini', ...body }),
    );
  const first = await count(right);
  expect([first.status, first.headers.get('x-ratelimit-remaining-requests')]).toEqual([200, '1']);
  expect([(await count(wrong)).status, (await count(right)).status]).toEqual([refusal, 429]);
});

test('models are listed in the form of Anthropic to its clients, page by page', async () => {
  const told = async (path: string) =>
    (await fetch(server.url + path, { headers: { 'x-api-key': server.bootstrap.test_api_key, 'anthropic-version': '2023-06-01' } })).json();
  const first = await told('/v1/models?limit=2&beta=true');
  expect(first).toMatchObject({ has_more: true, first_id: first.data[0].id, last_id: first.data[1].id });
  const second = await told(`/v1/models?limit=2&after_id=${first.last_id}`);
  expect(await told(`/v1/models?limit=2&before_id=${second.first_id}`)).toMatchObject({ data: first.data, has_more: false });
  expect(await told(`/v1/models/${first.first_id}`)).toEqual(first.data[0]);
  expect(await told('/v1/models/nothing')).toMatchObject({ type: 'error', error: { type: 'not_found_error' } });
  expect(await told('/v1/models?after=x')).toMatchObject({ type: 'error', error: { type: 'invalid_request_error' } });
});

test.each([
  ['/v1/models?after_id=nothing', 'after_id', { 'anthropic-version': '2023-06-01' }],
  ['/v1/models?before_id=nothing', 'before_id', { 'anthropic-version': '2023-06-01' }],
  ['/v1beta/models?pageToken=nothing', 'pageToken', {}],
])('%s is refused: no page of models ends there', async (path, param, headers) => {
  const answer = await fetch(server.url + path, { headers: { 'x-api-key': server.bootstrap.test_api_key, ...headers } });
  expect([answer.status, await answer.json()]).toMatchObject([400, { code: 'validation_failed', param }]);
});

test.each(['after_id', 'before_id'])('a page of batches of messages behind a %s that is none is refused by that name', async (param) => {
  const headers = { 'x-api-key': server.bootstrap.test_api_key, 'anthropic-version': '2023-06-01' };
  const answer = await fetch(`${server.url}/v1/messages/batches?${param}=nothing`, { headers });
  expect([answer.status, await answer.json()]).toMatchObject([400, { code: 'validation_failed', param }]);
});

describe('inference', () => {
  const HELLO = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello' }] };
  test.each([
    ['a plain answer', '/v1/chat/completions', HELLO],
    ['a stream', '/v1/chat/completions', { ...HELLO, stream: true }],
    ['a message', '/v1/messages', { ...HELLO, max_tokens: 64 }],
    ['a stream of responses', '/v1/responses', { model: HELLO.model, input: 'Hello', stream: true }],
    ['embeddings', '/v1/embeddings', { model: 'text-embedding-3-small', input: 'Hello' }],
    ['speech', '/v1/audio/speech', { model: 'tts-1', input: 'Hello', voice: 'alloy' }],
  ])('%s has the headers of every answer', async (_, path, body) => {
    const answer = await ask(
      'POST',
      path,
      { authorization: `Bearer ${server.bootstrap.test_api_key}`, 'content-type': 'application/json' },
      JSON.stringify(body),
    );
    expect([answer.status, compared(answer.headers)]).toEqual([200, API]);
    expect(answer.headers.get('x-request-id')).toMatch(/^req_/);
  });
});

test.each([
  '/docs/',
  '/docs/nowhere',
  '/docs/errors/not_found',
  '/favicon.ico',
  '/verify-email?token=x',
  '/reset-password?token=x',
  '/device?user_code=x',
  '/billing/done',
  '/unsubscribe?token=x',
  '/marketing-consent?token=x',
  '/events/nothing',
  '/events/nothing/pay?token=x',
  '/sandbox/payments/pay/x',
])('the page at %s is in no frame, runs nothing of others and is read by no other origin', async (path) => {
  const answer = await ask('GET', path);
  const { 'content-security-policy': policy, 'cache-control': caching, ...rest } = compared(answer.headers);
  const { 'content-security-policy': _policy, 'cache-control': _caching, ...owed } = EVERY;
  expect(rest).toEqual(owed);
  expect(policy).toMatch(PAGE);
  expect(caching).toMatch(/^(no-store|no-cache|public, max-age=\d+)$/);
  expect(answer.headers.get('x-request-id')).toMatch(/^req_/);
});

test('the page of no error has the headers of every page', async () => {
  const answer = await ask('GET', '/docs/errors/nothing');
  const { 'content-security-policy': policy, ...rest } = compared(answer.headers);
  const { 'content-security-policy': noScript, ...owed } = EVERY;
  expect([answer.status, rest]).toEqual([404, owed]);
  // Where the docs site is built, it has its own 404 page.
  expect(policy === noScript || PAGE.test(policy ?? '')).toBe(true);
});

test.each(['/metrics', '/docs/', '/device'])('%s grants no preflight', async (path) => {
  const answer = await ask('OPTIONS', path, { origin: 'https://app.example', 'access-control-request-method': 'GET' });
  expect([answer.status, answer.headers.get('allow'), compared(answer.headers)]).toEqual([405, 'GET, HEAD', EVERY]);
});

test('metrics are not for pages of other origins, and are not cached', async () => {
  const answer = await ask('GET', '/metrics', { authorization: `Bearer ${server.bootstrap.metrics_token}` });
  expect([answer.status, compared(answer.headers)]).toEqual([200, EVERY]);
});

test.each([
  ['a path that is not there', 'GET', '/v1/nothing', {}],
  ['a method that is not there', 'DELETE', '/v1/models', {}],
  ['MCP without a credential', 'POST', '/mcp', {}],
  ['HEAD', 'HEAD', '/v1/models', {}],
])('%s has the headers of every answer', async (_, method, path, headers) => {
  expect(compared((await ask(method, path, headers)).headers)).toEqual(API);
});

test('a document that the caller has already comes with the headers of the document', async () => {
  const { headers } = await ask('GET', '/openapi.json');
  const again = await ask('GET', '/openapi.json', { 'if-none-match': headers.get('etag') ?? '' });
  expect([again.status, compared(again.headers)]).toEqual([304, compared(headers)]);
});

test.each([
  ['what the parser refuses', 'hello\r\n\r\n'],
  ['a request of two hosts', 'GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n'],
  ['an unmet expectation', 'GET / HTTP/1.1\r\nHost: x\r\nExpect: zz\r\n\r\n'],
])('%s has the headers of every answer', async (_, bytes) => {
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
  await once(socket, 'connect');
  socket.write(bytes);
  const [head = '', body = '{}'] = (await text(socket)).split('\r\n\r\n');
  const lines = head.split('\r\n').slice(1);
  const headers = new Headers(lines.map((line): [string, string] => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]));
  expect(compared(headers)).toEqual(API);
  expect(headers.get('x-request-id')).toBe(JSON.parse(body).instance);
});

test('HSTS is sent only where clients reach the service over TLS', () => {
  expect(createAnswerHeaders({ isHttps: false }).api).not.toHaveProperty('strict-transport-security');
  expect(createAnswerHeaders({ isHttps: true }).api).toMatchObject({ 'strict-transport-security': 'max-age=31536000' });
});
