import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { initContract } from '@ts-rest/core';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import * as z from 'zod';
import { mistyped } from '../../kernel/testing/mistyped.ts';
import { endpointsOf } from './endpoint.ts';
import { INTERNAL_SECRET, type Instance, newKey, openTestDatabase, send, signUp, startInstance } from './testing/account-api.ts';

const c = initContract();
const { broken } = c.router({
  broken: {
    crash: {
      method: 'GET',
      path: '/v1/broken',
      responses: { 200: z.object({}) },
      metadata: { auth: 'none', tag: 'Test', operationId: 'crash' } as const,
    },
    late: {
      method: 'GET',
      path: '/v1/broken/late',
      responses: { 200: z.object({ secret: z.string() }) },
      metadata: { auth: 'bearer', scope: 'account:read', tag: 'Test', operationId: 'late' } as const,
    },
    admins: {
      method: 'POST',
      path: '/v1/broken/admins',
      body: z.strictObject({ list: z.array(z.object({ n: z.int() })) }),
      query: z.object({ limit: z.coerce.number().int().max(5).optional() }),
      responses: { 200: z.object({}) },
      metadata: { auth: 'bearer', role: 'admin', tag: 'Test', operationId: 'admins' } as const,
    },
  },
});

let db: Awaited<ReturnType<typeof openTestDatabase>>;
let api: Instance;
let member: Awaited<ReturnType<typeof signUp>>;
let admin: Awaited<ReturnType<typeof signUp>>;
const logged: string[] = [];
/** Of the operation that answers late. */
const [asked, answering] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
/** Longer than a credential that was checked is taken for good. */
const NOT_FRESH_MS = 600;

beforeAll(async () => {
  db = await openTestDatabase();
  const endpoints = endpointsOf(broken, {
    crash: async () => {
      throw new Error('secret of the stack');
    },
    late: async () => {
      asked.resolve();
      await answering.promise;
      return { status: 200, body: { secret: 'of the account' } };
    },
    admins: async () => ({ status: 200, body: {} }),
  });
  api = await startInstance(db.database, db.url, {
    endpoints,
    log: pino({ level: 'info' }, { write: (line) => void logged.push(line) }),
  });
  member = await signUp(api);
  admin = await signUp(api, 'admin');
});

afterAll(async () => {
  await api?.close();
  await db?.close();
});

describe('every answer', () => {
  test.each(['/v1/keys', '/nowhere', '/v1/broken'])('%s carries a request id, CORS and security headers', async (path) => {
    const { headers } = await send(api, path);
    expect(headers.get('x-request-id')).toMatch(/^req_[0-9a-f]{32}$/);
    expect(headers.get('access-control-allow-origin')).toBe('*');
    expect(headers.get('access-control-allow-credentials')).toBeNull();
    expect(headers.get('access-control-expose-headers')).toContain('X-Request-Id');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('x-powered-by')).toBeNull();
    expect(headers.get('etag')).toBeNull();
  });

  test('echoes a well-formed request id and replaces any other', async () => {
    const given = await send(api, '/v1/keys', { headers: { 'x-request-id': 'my-request-0001' } });
    expect(given.headers.get('x-request-id')).toBe('my-request-0001');
    expect(given.body.instance).toBe('my-request-0001');
    const replaced = await send(api, '/v1/keys', { headers: { 'x-request-id': 'a b' } });
    expect(replaced.headers.get('x-request-id')).toMatch(/^req_/);
  });

  test('a preflight is granted without credentials', async () => {
    const { status, headers } = await send(api, '/v1/keys', {
      method: 'OPTIONS',
      headers: { origin: 'https://app.example', 'access-control-request-headers': 'authorization,x-stainless-os' },
    });
    expect(status).toBe(204);
    expect(headers.get('access-control-allow-headers')).toBe('authorization,x-stainless-os');
    expect(headers.get('access-control-allow-methods')).toContain('DELETE');
  });
});

test('a read that took long is answered to nobody whose session ended meanwhile', async () => {
  const leaver = await signUp(api);
  const reading = send(api, '/v1/broken/late', { headers: leaver.auth });
  await asked.promise;
  expect((await send(api, '/v1/users/logout', { method: 'POST', headers: leaver.auth })).status).toBe(204);
  await setTimeout(NOT_FRESH_MS);
  answering.resolve();
  const { status, body } = await reading;
  expect([status, body.code]).toEqual([401, 'invalid_credentials']);
});

describe('problem documents', () => {
  test('are RFC 9457 with all four keys of OpenAI’s error', async () => {
    const { status, headers, body } = await send(api, '/v1/keys');
    expect(status).toBe(401);
    expect(headers.get('content-type')).toBe('application/problem+json');
    expect(headers.get('www-authenticate')).toBe('Bearer');
    expect(body).toEqual({
      type: 'https://tallygate.test/docs/errors/missing_credentials',
      title: 'No credential',
      status: 401,
      detail: expect.any(String),
      instance: headers.get('x-request-id'),
      code: 'missing_credentials',
      error: { message: body.detail, type: 'authentication_error', code: 'missing_credentials', param: null },
    });
  });

  test('a bug is a 500 that says nothing of itself, and is logged with its request id and its stack', async () => {
    const { status, body, headers, text: sent } = await send(api, '/v1/broken');
    expect(status).toBe(500);
    expect(body.code).toBe('internal_error');
    expect(sent).not.toMatch(/secret of the stack|\.ts:|node_modules/);
    const entry = logged.find((line) => line.includes(String(headers.get('x-request-id'))));
    expect(entry).toMatch(/secret of the stack.*account-api\.test\.ts/);
  });
});

describe('paths and methods', () => {
  test.each(['/nowhere', '/v1', '/v1//keys', '/V1/keys', '/v1/keys/a/b/c', '/v1/chat'])(
    '%s is an unknown path, with any credential',
    async (path) => {
      for (const headers of [{}, member.auth]) {
        const { status, body } = await send(api, path, { headers });
        expect([status, body.code]).toEqual([404, 'unknown_path']);
      }
    },
  );

  test('a percent-encoded character of a path is an unknown path', async () => {
    expect((await send(api, '/v1/%6Beys', { headers: member.auth })).status).toBe(404);
  });

  test('an unknown path is answered before any body is read', async () => {
    const answer = await rawRequest(
      'POST /nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n{',
    );
    expect(answer).toMatch(/^HTTP\/1.1 404 /);
  });

  test('a known path with another method is a 405 that lists the methods, inference included', async () => {
    const put = await send(api, '/v1/keys', { method: 'PUT' });
    expect([put.status, put.body.code, put.headers.get('allow')]).toEqual([405, 'method_not_allowed', 'GET, HEAD, POST']);
    const get = await send(api, '/v1/chat/completions');
    expect([get.status, get.headers.get('allow')]).toEqual([405, 'POST']);
  });

  test('HEAD is GET without the body', async () => {
    const { status, text: sent } = await send(api, '/v1/keys', { method: 'HEAD', headers: member.auth });
    expect([status, sent]).toEqual([200, '']);
    expect((await send(api, '/v1/keys', { method: 'HEAD' })).status).toBe(401);
  });
});

describe('bodies', () => {
  const create = (raw: BodyInit, contentType = 'application/json') =>
    send(api, '/v1/keys', { raw, headers: { ...member.auth, 'content-type': contentType } });

  test('malformed JSON is a 400 that names the position', async () => {
    const { status, body } = await create('{"name": }');
    expect([status, body.code]).toEqual([400, 'malformed_json']);
    expect(body.detail).toContain('position 9');
  });

  test('invalid UTF-8 is a 400', async () => {
    const { status, body } = await create(new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x7d]));
    expect([status, body.code]).toEqual([400, 'malformed_json']);
  });

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'application/json; charset=latin1', 'application/jsonp'])(
    'the content type %s is a 415',
    async (contentType) => {
      expect((await create('{"name":"a"}', contentType)).status).toBe(415);
    },
  );

  test('JSON with a charset parameter is JSON', async () => {
    expect((await create('{"name":"a"}', 'application/json; charset=UTF-8')).status).toBe(201);
  });

  test('a body over the limit is a 413, and the connection stays open', async () => {
    const { status, body } = await create(JSON.stringify({ name: 'a'.repeat(300_000) }));
    expect([status, body.code]).toEqual([413, 'payload_too_large']);
    const chunked = new ReadableStream({
      start(controller) {
        for (let part = 0; part < 10; part++) controller.enqueue(new Uint8Array(40_000).fill(0x20));
        controller.close();
      },
    });
    const streamed: RequestInit & { duplex: 'half' } = {
      method: 'POST',
      headers: { ...member.auth, 'content-type': 'application/json' },
      body: chunked,
      duplex: 'half',
    };
    expect((await fetch(`${api.baseUrl}/v1/keys`, streamed)).status).toBe(413);
  });

  test('a body that does not arrive is a 408 that closes the connection', async () => {
    const impatient = await startInstance(db.database, db.url, { bodyTimeoutMs: 100 });
    onTestFinished(() => impatient.close());
    const answer = await rawRequest(
      `POST /v1/keys HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${member.token}\r\nContent-Length: 100\r\nContent-Type: application/json\r\n\r\n{"na`,
      impatient,
    );
    expect(answer).toMatch(/^HTTP\/1.1 408 /);
    expect(answer).toMatch(/connection: close/i);
  });

  test('a body that is missing is a 422 at the body', async () => {
    const { status, body } = await send(api, '/v1/keys', { method: 'POST', headers: member.auth });
    expect(status).toBe(422);
    expect(body.errors[0].loc).toEqual(['body']);
  });

  test('prototype keys are unknown fields and pollute nothing', async () => {
    const { status, body } = await create('{"name":"a","__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}');
    expect(status).toBe(422);
    expect(body.errors.map(({ loc }: { loc: string[] }) => loc)).toEqual([
      ['body', '__proto__'],
      ['body', 'constructor'],
    ]);
    expect('polluted' in {}).toBe(false);
  });

  test('a quarter of a megabyte of brackets is refused by name', async () => {
    const { status, body } = await create('['.repeat(262_144));
    expect([status, body.code]).toEqual([413, 'body_too_complex']);
  });
});

describe('validation', () => {
  test('names every fault with where it is', async () => {
    const { status, body } = await send(api, '/v1/broken/admins?limit=9', {
      headers: admin.auth,
      json: { list: [{ n: 1 }, { n: 'x' }], budgte: 1 },
    });
    expect(status).toBe(422);
    expect(body.errors.map(({ loc, type }: { loc: unknown; type: string }) => [loc, type])).toEqual([
      [['query', 'limit'], 'too_big'],
      [['body', 'list', 1, 'n'], 'invalid_type'],
      [['body', 'budgte'], 'unrecognized_keys'],
    ]);
    expect(body.code).toBe('validation_failed');
    expect(body.error.param).toBe('limit');
  });

  test('faults in the path and in headers say so', async () => {
    const path = await send(api, '/v1/keys/not-a-uuid', { headers: member.auth });
    expect([path.status, path.body.errors[0].loc]).toEqual([422, ['path', 'key_id']]);
    const header = await send(api, '/v1/keys', { headers: { ...member.auth, 'idempotency-key': 'k'.repeat(256) }, json: { name: 'a' } });
    expect([header.status, header.body.errors[0].loc]).toEqual([422, ['header', 'idempotency-key']]);
  });

  test('is not reached without a credential: 401 before 422', async () => {
    expect((await send(api, '/v1/keys', { json: { nonsense: true } })).status).toBe(401);
    expect((await send(api, '/v1/keys/not-a-uuid')).status).toBe(401);
  });
});

describe('credentials', () => {
  const me = (headers: Record<string, string>) => send(api, '/v1/users/me', { headers });

  test('are taken as bearer in any case, as x-api-key and as x-web-session-token', async () => {
    const { key } = await newKey(api, member.auth);
    const accepted = [
      { authorization: `bearer ${key}` },
      { authorization: `BEARER  ${member.token}` },
      { 'x-api-key': key },
      { 'x-web-session-token': member.token },
      { authorization: `Bearer ${key}`, 'x-api-key': key },
      { authorization: `Bearer ${member.token}`, 'x-web-session-token': member.token },
      { authorization: `Bearer ${member.token}`, 'x-internal-secret': INTERNAL_SECRET },
    ];
    for (const headers of accepted) expect((await me(headers)).body.user_id).toBe(member.userId);
  });

  test('of two identities are ambiguous, even when both are good', async () => {
    const { key } = await newKey(api, member.auth);
    const other = await newKey(api, member.auth);
    const ambiguous = [
      { authorization: `Bearer ${key}`, 'x-web-session-token': member.token },
      { authorization: `Bearer ${key}`, 'x-api-key': other.key },
      { 'x-api-key': key, 'x-web-session-token': member.token },
    ];
    for (const headers of ambiguous) {
      const { status, body } = await me(headers);
      expect([status, body.code]).toEqual([401, 'ambiguous_credentials']);
    }
  });

  test('of two identities are ambiguous in two Authorization headers too, and the same one twice is one', async () => {
    const { key } = await newKey(api, member.auth);
    const twice = (second: string) =>
      rawRequest(
        `GET /v1/users/me HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${key}\r\nAUTHORIZATION: ${second}\r\n\r\n`,
      );
    for (const second of [`Bearer ${member.token}`, 'Bearer', 'Basic dTpw'])
      expect(await twice(second)).toContain('"ambiguous_credentials"');
    expect(await twice(`Bearer ${key}`)).toMatch(/^HTTP\/1.1 200 /);
  });

  test('that are none are refused alike', async () => {
    const { key } = await newKey(api, member.auth);
    const bad = [
      { authorization: 'Bearer sk-something' },
      { authorization: 'Bearer a b' },
      { authorization: 'Basic dTpw' },
      { authorization: `Bearer ${mistyped(key)}` },
      { authorization: `Bearer ${mistyped(member.token)}` },
      { 'x-api-key': member.token },
      { 'x-web-session-token': key },
      { authorization: `Bearer ${key}`, 'x-web-session-token': key },
      { 'x-api-key': key, 'x-web-session-token': key },
    ];
    for (const headers of bad) {
      const { status, body, headers: answered } = await me(headers);
      expect([status, body.code, answered.get('www-authenticate')]).toEqual([401, 'invalid_credentials', 'Bearer']);
    }
  });

  test('an empty bearer is a missing credential', async () => {
    expect((await me({ authorization: 'Bearer' })).body.code).toBe('missing_credentials');
    expect((await me({ 'x-internal-secret': INTERNAL_SECRET })).body.code).toBe('missing_credentials');
  });

  test('a role the caller lacks is a 403, for their keys too', async () => {
    const json = { list: [] };
    const memberKey = await newKey(api, member.auth, { scopes: ['inference', 'account:read', 'account:write', 'keys:write'] });
    for (const { auth } of [member, memberKey]) {
      const { status, body } = await send(api, '/v1/broken/admins', { headers: auth, json });
      expect([status, body.code]).toEqual([403, 'forbidden']);
    }
    const adminKey = await newKey(api, admin.auth);
    for (const { auth } of [admin, adminKey]) expect((await send(api, '/v1/broken/admins', { headers: auth, json })).status).toBe(200);
  });
});

test('no credential and no password is ever logged', async () => {
  const { key, auth } = await newKey(api, member.auth);
  await send(api, '/v1/broken/admins', { headers: auth, json: { list: [] } });
  await send(api, '/v1/users/login', { json: { email: member.email, password: 'a wrong password' } });
  expect(logged.length).toBeGreaterThan(0);
  for (const secret of [key, member.token, INTERNAL_SECRET, 'a wrong password']) expect(logged.join('')).not.toContain(secret);
});

/** What the server sends on a separate connection until it closes it. */
async function rawRequest(request: string, { port } = api): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write(request);
  return await text(socket);
}
