import { isOpenAiPath, UserResponse } from '@tallygate/contract';
import { readDocument } from '@tallygate/contract/read-document';
import { type FakeUpstream, startFakeUpstream } from '@tallygate/fake-upstream';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { Account } from './account.ts';
import { type Answered, ask, HELLO, header, MODEL, problemOf } from './chat.ts';
import { Gateway } from './gateway.ts';
import { openSocket, readAnswer, sendRaw } from './raw-http.ts';

const ANY_ID = '019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77';

let upstream: FakeUpstream;
let gateway: Gateway;
let account: Account;
let key: string;
beforeAll(async () => {
  upstream = await startFakeUpstream();
  gateway = await Gateway.start({
    providers: [{ name: 'fake', base_url: upstream.url, models: [MODEL] }],
    env: { BODY_TIMEOUT_MS: '6000' },
  });
  account = await Account.signUp(gateway, { plan: 'enterprise' });
  ({ key } = await account.createKey());
});
afterAll(async () => {
  await gateway?.remove();
  await upstream?.close();
});
afterEach(() => upstream.reset());

/** The refusal as one line, and the proof that no provider heard of it. */
function refusal(answered: Answered): string {
  expect(upstream.requests).toHaveLength(0);
  const { status, code, error } = problemOf(answered);
  return `${status} ${code}${error.param === null ? '' : ` ${error.param}`}`;
}
const refused = async (body: object | string, headers: Record<string, string> = {}) => refusal(await ask(gateway, key, body, headers));
const isMakers = (answer: string): boolean => {
  const [path = ''] = (answer.split(' ')[2] ?? '').split('?');
  return path.startsWith('/v1/messages') || path.startsWith('/v1beta/') || isOpenAiPath(path);
};
const withText = (text: string) => `{"model":"${MODEL}","max_tokens":16,"messages":[{"role":"user","content":"Hi"}],${text}}`;
const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;

describe('a body', () => {
  test('that is no JSON is refused with the position where it stops', async () => {
    for (const body of ['', '{', '{"model": gpt}', '[1,2', 'hello', '{"model":"a"} trailing', "{'model':'a'}", '\u0000'])
      expect(await refused(body)).toMatch(body === '' ? /^4(00|22) / : '400 malformed_json');
    expect(problemOf(await ask(gateway, key, '{"model": gpt}')).detail).toContain('position 10');
  });

  test('that is JSON but no object is refused', async () => {
    for (const body of ['null', '[]', '"text"', '42', 'true']) expect(await refused(body)).toBe('400 validation_failed');
  });

  test.each([
    ['model', '{"messages":[{"role":"user","content":"Hi"}]}'],
    ['messages', `{"model":"${MODEL}"}`],
    ['messages', `{"model":"${MODEL}","messages":[]}`],
    ['messages', `{"model":"${MODEL}","messages":"Hi"}`],
    ['messages[0].role', `{"model":"${MODEL}","messages":[{"role":"wizard","content":"Hi"}]}`],
    ['messages[0].content', `{"model":"${MODEL}","messages":[{"role":"user","content":42}]}`],
    ['max_tokens', withText('"max_tokens":-1')],
    ['max_tokens', withText('"max_tokens":1.5')],
    ['max_tokens', withText('"max_tokens":1e308')],
    ['max_tokens', withText('"max_tokens":1e400')],
    ['max_tokens', withText('"max_tokens":"16"')],
    ['max_completion_tokens', withText('"max_completion_tokens":9007199254740993')],
    ['n', withText('"n":0')],
    ['n', withText('"n":129')],
    ['n', withText('"n":-1')],
    ['temperature', withText('"temperature":2.01')],
    ['stream', withText('"stream":"yes"')],
    ['tools[0].function.name', withText('"tools":[{"type":"function","function":{"name":""}}]')],
    ['response_format.type', withText('"response_format":{"type":"xml"}')],
  ])('with a wrong `%s` is refused, naming it', async (param, body) => {
    expect(await refused(body)).toBe(`400 validation_failed ${param}`);
    const { errors } = JSON.parse((await ask(gateway, key, body)).text) as { errors: { loc: (string | number)[] }[] };
    expect(errors.map(({ loc }) => loc[0])).toContain('body');
  });

  test('for a model that does not exist is refused', async () => {
    expect(await refused({ ...HELLO, model: 'gpt-0' })).toBe('404 model_not_found model');
    expect(await refused({ ...HELLO, model: '__proto__' })).toBe('404 model_not_found model');
    expect(await refused({ ...HELLO, model: '../../etc/passwd' })).toBe('404 model_not_found model');
  });

  test('with members that would reach an object’s prototype does no harm', async () => {
    const poison = '"__proto__":{"polluted":true,"max_tokens":999999},"constructor":{"prototype":{"polluted":true}}';
    const answered = await ask(gateway, key, withText(poison));
    expect(answered.status).toBe(200);
    expect(upstream.requests[0]?.body).toMatchObject({ max_tokens: 16 });
    upstream.reset();
    const after = await ask(gateway, key, HELLO);
    expect(after.status).toBe(200);
    expect(upstream.requests[0]?.body).not.toHaveProperty('polluted');
  });

  test('with a bound above what the model gives reaches the provider with the bound of the model', async () => {
    expect((await ask(gateway, key, withText('"max_tokens":16385'))).status).toBe(200);
    expect(upstream.requests[0]?.body).toMatchObject({ max_tokens: 16_384 });
  });

  test('with a repeated member counts the last one, for the hold and for the provider alike', async () => {
    const answered = await ask(gateway, key, withText('"max_tokens":16,"max_tokens":7'));
    expect(answered.status).toBe(200);
    expect(upstream.requests[0]?.rawBody.toString('utf8').match(/"max_tokens":\d+/g)).toEqual(['"max_tokens":7']);
  });

  test.each([1_000, 100_000])('nested %i levels deep is answered, not crashed upon', async (levels) => {
    for (const body of [
      withText(`"extra":${nested(levels)}`),
      nested(levels),
      withText(`"tools":[{"type":"function","function":{"name":"f","parameters":{"a":${nested(levels)}}}}]`),
    ]) {
      const answered = await ask(gateway, key, body);
      expect(answered.status).toBeLessThan(500);
      if (answered.status !== 200) problemOf(answered);
    }
    const test = await ask(gateway, gateway.bootstrap.test_api_key, withText(`"extra":${nested(levels)}`));
    expect(test.status).toBeLessThan(500);
  });

  test('that is not UTF-8 is refused', async () => {
    const body = Buffer.from(withText('"user":"X"')).map((byte) => (byte === 0x58 ? 0xff : byte));
    const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body,
    });
    expect(refusal({ status: answer.status, headers: answer.headers, text: await answer.text() })).toBe('400 malformed_json');
  });

  test('that arrives too slowly is refused, with any content', async () => {
    const socket = openSocket(gateway);
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{`,
    );
    const drip = setInterval(() => socket.write(' '), 100);
    const { status, body } = await readAnswer(socket).finally(() => clearInterval(drip));
    expect(status).toBe(408);
    expect(JSON.parse(body)).toMatchObject({ code: 'request_timeout' });
  });

  test('in another format than JSON is refused', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp', 'application/json; charset=latin1'])
      expect(await refused(HELLO, { 'content-type': type })).toBe('415 unsupported_media_type');
    expect(await refused(HELLO, { 'content-encoding': 'zstd' })).toBe('415 unsupported_media_type');
    expect(await refused(HELLO, { 'content-encoding': 'gzip' })).toBe('400 malformed_json');
  });
});

describe('a header', () => {
  const run = { 'x-agent-run-id': 'run-1' };

  test.each(['-1', '1e9', 'abc', '', ' ', '0.0000000001', '1,5', '+1', 'NaN', 'Infinity', '0x10', '1000000000', '٣'.normalize()])(
    'X-Agent-Max-Budget of "%s" is refused',
    async (budget) => {
      if (/[^\x20-\x7e]/.test(budget)) return; // No client can send it.
      expect(await refused(HELLO, { ...run, 'x-agent-max-budget': budget })).toBe('400 validation_failed x-agent-max-budget');
    },
  );

  test('X-Agent-Max-Budget without a run is refused, since a ceiling belongs to one', async () => {
    expect(await refused(HELLO, { 'x-agent-max-budget': '1' })).toBe('400 validation_failed x-agent-run-id');
  });

  test.each([
    ['x-agent-run-id', 'a b'],
    ['x-agent-run-id', '../../etc'],
    ['x-agent-run-id', 'x'.repeat(129)],
    ['x-budget-policy', 'loose'],
    ['x-fallback-policy', 'all'],
    ['x-vaas-anchor', 'yes'],
  ])('%s of "%s" is refused', async (name, value) => {
    expect(await refused(HELLO, { [name]: value })).toBe(`400 validation_failed ${name}`);
  });

  test('that comes twice with two ceilings is refused', async () => {
    const { status } = await sendRaw(
      gateway,
      `POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nX-Agent-Run-Id: r\r\nX-Agent-Max-Budget: 1\r\nX-Agent-Max-Budget: 5\r\nContent-Length: 2\r\n\r\n{}`,
    );
    expect(status).toBe(400);
  });

  test('that is enormous is refused without harm', async () => {
    const { status } = await sendRaw(
      gateway,
      `GET /v1/models HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Big: ${'x'.repeat(100_000)}\r\n\r\n`,
    );
    expect(status).toBe(431);
  });

  test('with a line end in it cannot add a header to the answer', async () => {
    const { status, head } = await sendRaw(
      gateway,
      'GET /v1/models HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Request-Id: abcdefgh\n injected: yes\r\n\r\n',
    );
    expect(status).toBeLessThan(500);
    expect(head).not.toMatch(/^injected:/im);
    const answered = await ask(gateway, key, HELLO, { 'x-request-id': 'spaces are not well-formed' });
    expect(header(answered, 'x-request-id')).toMatch(/^req_/);
  });

  test('that is no HTTP ends the connection, not the server', async () => {
    for (const bytes of [
      'GET / HTTP/9.9\r\n\r\n',
      'POST /v1/chat/completions HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n',
      '\x16\x03\x01\x02\x00',
    ])
      expect((await sendRaw(gateway, bytes, '\r\n\r\n')).status).toBeLessThan(500);
    expect((await fetch(`${gateway.url}/health/live`)).status).toBe(200);
  });
});

describe('a credential', () => {
  const asked = async (headers: Record<string, string>) => refusal(await ask(gateway, undefined, HELLO, headers));

  test('that is missing, unknown or mistyped is refused', async () => {
    expect(await asked({})).toBe('401 missing_credentials');
    for (const wrong of ['sk-123', 'tg_live_', `${key}x`, key.slice(0, -1), key.toUpperCase(), `tg_test_${key.slice(8)}`])
      expect(await asked({ authorization: `Bearer ${wrong}` })).toBe('401 invalid_credentials');
    expect(await asked({ authorization: `Basic ${key}` })).toBe('401 invalid_credentials');
  });

  test('beside another one is refused, whichever is good', async () => {
    const { key: other } = await account.createKey();
    expect(await asked({ authorization: `Bearer ${key}`, 'x-api-key': other })).toBe('401 ambiguous_credentials');
    expect(await asked({ ...account.session, 'x-api-key': key })).toBe('401 ambiguous_credentials');
    const same = await ask(gateway, key, HELLO, { 'x-api-key': key });
    expect(same.status).toBe(200);
  });

  test('is never repeated in an answer or in the log', async () => {
    const secret = 'tg_live_ThisIsNotAKeyButASecretAllTheSame0000000000000000';
    const { text } = await ask(gateway, secret, HELLO);
    expect(text).not.toContain(secret);
    await ask(gateway, key, HELLO);
    expect(gateway.process.output).not.toContain(secret);
    expect(gateway.process.output).not.toContain(key.slice(20));
  });
});

describe('another account’s', () => {
  test('keys and requests are answered exactly as missing ones', async () => {
    const stranger = await Account.signUp(gateway);
    const { key_id } = await account.createKey();
    const requestId = header(await ask(gateway, key, HELLO), 'x-request-id');
    await account.trace(requestId);
    const seen = async (path: string) => {
      const answer = await fetch(`${gateway.url}${path}`, { headers: stranger.session });
      const { instance: _, ...problem } = await answer.json();
      return { status: answer.status, problem };
    };
    expect(await seen(`/v1/keys/${key_id}`)).toEqual(await seen('/v1/keys/019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77'));
    expect(await seen(`/v1/requests/${requestId}`)).toEqual(await seen('/v1/requests/req_019aa2f1c2d37b6e8c4d1f00aa55ee77'));
    expect((await seen(`/v1/keys/${key_id}`)).status).toBe(404);
  });
});

const OpenApi = z.object({
  paths: z.record(
    z.string(),
    z.record(z.string(), z.object({ parameters: z.array(z.object({ name: z.string(), in: z.string() })).default([]) })),
  ),
});

/** Every path and method there is, with a null character once in each of its parameters. */
function* withNullCharacters({ paths }: z.infer<typeof OpenApi>): Generator<{ method: string; target: string }> {
  for (const [path, operations] of Object.entries(paths))
    for (const [method, { parameters }] of Object.entries(operations))
      for (const odd of parameters) {
        const target = path.replaceAll(/{(\w+)}/g, (_, name) => (odd.in === 'path' && name === odd.name ? 'a%00b' : ANY_ID));
        if (odd.in === 'path') yield { method: method.toUpperCase(), target };
        if (odd.in === 'query') yield { method: method.toUpperCase(), target: `${target}?${odd.name}=a%00b` };
      }
}

describe('a path', () => {
  test('that does not exist is a 404 problem, also for one that climbs', async () => {
    for (const path of [
      '/v1/nothing',
      '/v1/chat/completions//',
      '//v1/models',
      '/v1/../../etc/passwd',
      '/v1/models/..%2f..%2fetc%2fpasswd',
      '/docs/errors/..%2f..%2fx',
      '/v1/receipts/%00',
      '/%',
    ]) {
      const { status, body } = await sendRaw(
        gateway,
        `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${key}\r\n\r\n`,
      );
      expect([path, status]).toEqual([path, expect.toSatisfy((code: number) => code >= 400 && code < 500)]);
      // Where the docs site is built, it has its own 404 page.
      if (!path.startsWith('/docs/')) expect(JSON.parse(body)).toMatchObject({ status, code: expect.any(String) });
    }
  });

  test('of any route, with a null character in it or in its query, is refused and breaks nothing', async () => {
    const { internal_secret: internal, admin_email: email, admin_password: password } = gateway.bootstrap;
    const login = await fetch(`${gateway.url}/v1/users/login`, {
      ...{ method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ email, password }) },
    });
    const { session } = UserResponse.parse(await login.json());
    const headers = { authorization: `Bearer ${session?.token}`, 'x-internal-secret': internal };
    const openApi = OpenApi.parse(readDocument(await (await fetch(`${gateway.url}/openapi.json`)).text()));
    const answers = [...withNullCharacters(openApi)].map(async ({ method, target }) => {
      const { status } = await fetch(`${gateway.url}${target}`, { method, headers });
      return `${status} ${method} ${target}`;
    });
    // OpenAI’s operations and Anthropic’s have 400 where ours have 422.
    const isInput = (answer: string) => answer.startsWith(isMakers(answer) ? '400 ' : '422 ');
    expect((await Promise.all(answers)).filter((answer) => !answer.startsWith('404 ') && !isInput(answer))).toEqual([]);
  });

  test('that exists with another method is a 405 that names the right one', async () => {
    const answer = await fetch(`${gateway.url}/v1/chat/completions`, { method: 'PUT', headers: { authorization: `Bearer ${key}` } });
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, expect.stringContaining('POST')]);
  });
});

test('nothing that was refused is charged', async () => {
  const { key: own } = await (await Account.signUp(gateway)).createKey();
  const before = await account.usage();
  for (const body of ['{', '[]', withText('"n":0'), withText('"model":"gpt-0"')]) {
    expect((await ask(gateway, key, body)).status).toBeGreaterThanOrEqual(400);
    expect((await ask(gateway, own, body)).status).toBeGreaterThanOrEqual(400);
  }
  // A request that is settled after them all is in the ledger: then they would be there too.
  await account.trace(header(await ask(gateway, key, HELLO), 'x-request-id'));
  expect((await account.usage()).total.requests).toBe(before.total.requests + 1);
});
