import { type FakeUpstream, startFakeUpstream, steps } from '@tallygate/fake-upstream';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { answered, chatCall, chunksOf, describeUpstreamConformance, pumped } from './conformance.ts';
import { type OpenAiCompatibleOptions, openAiCompatible } from './openai-compatible.ts';
import type { ChatCall, UpstreamProvider } from './port.ts';

describeUpstreamConformance('the OpenAI-compatible adapter', async () => {
  const fake = await startFakeUpstream();
  return { provider: openAiCompatible({ name: 'fake', baseUrl: fake.url }), model: 'fake-model', close: fake.close };
});

const MAX_BYTES = 1024 * 1024;
const KEY = 'sk-provider-secret-0123456789';
const NOW = Date.parse('2026-11-21T08:00:00Z');

let fake: FakeUpstream;
let provider: UpstreamProvider;
const provide = (options: Partial<OpenAiCompatibleOptions> = {}): UpstreamProvider =>
  openAiCompatible({ name: 'fake', baseUrl: fake.url, apiKey: KEY, clock: { now: () => NOW }, ...options });

beforeAll(async () => {
  fake = await startFakeUpstream();
});
afterAll(() => fake.close());
beforeEach(() => {
  fake.reset();
  provider = provide();
});
afterEach(() => provider.close());

type Overrides = Parameters<typeof chatCall>[1];
const call = (overrides: Overrides = {}): ChatCall => chatCall('fake-model', overrides);
const ask = (overrides: Overrides = {}) => answered(provider, call(overrides));
const chat = (overrides: Overrides = {}) => provider.chat(call(overrides));
const sent = async (overrides: Overrides, by = provider) => {
  await (await answered(by, call(overrides))).collect(MAX_BYTES);
  return fake.requests.at(-1);
};

describe('what is sent', () => {
  it('is the request of the caller, with the model of the provider and without the fallbacks', async () => {
    const request = { models: ['a', 'b'], temperature: 0.5, user: 'ü', logit_bias: { '7': -1 }, a_field_of_next_year: [1, null] };
    expect((await sent({ request }))?.body).toEqual({
      model: 'fake-model',
      messages: [{ role: 'user', content: expect.any(String) }],
      temperature: 0.5,
      user: 'ü',
      logit_bias: { '7': -1 },
      a_field_of_next_year: [1, null],
      max_tokens: 256,
    });
  });

  it.each([
    ['the field the caller used', { max_completion_tokens: 9000 }, { max_completion_tokens: 256 }],
    ['the older field where the caller used that', { max_tokens: 9000 }, { max_tokens: 256 }],
    ['both where the caller used both', { max_tokens: 1, max_completion_tokens: 9000 }, { max_tokens: 256, max_completion_tokens: 256 }],
    ['max_tokens where the caller used none', {}, { max_tokens: 256 }],
    ['max_tokens where the caller said null', { max_tokens: null, max_completion_tokens: null }, { max_tokens: 256 }],
  ])('carries the bound in %s', async (_, request, expected) => {
    const body = Object((await sent({ request }))?.body);
    expect({ max_tokens: body.max_tokens, max_completion_tokens: body.max_completion_tokens }).toEqual({
      max_tokens: undefined,
      max_completion_tokens: undefined,
      ...expected,
    });
  });

  it('carries the bound in the configured field where the caller used none', async () => {
    const other = provide({ maxTokensField: 'max_completion_tokens' });
    expect((await sent({}, other))?.body).toMatchObject({ max_completion_tokens: 256 });
    await other.close();
  });

  it('asks for usage in every stream and keeps the other stream options', async () => {
    const request = { stream: true, stream_options: { include_usage: false, include_obfuscation: false } };
    await pumped(await ask({ stream: true, request }));
    expect(fake.requests[0]?.body).toMatchObject({ stream: true, stream_options: { include_usage: true, include_obfuscation: false } });
  });

  it('has only headers of our own: the key of the provider, no compression, nothing of the caller', async () => {
    const other = provide({ headers: { 'X-Title': 'Tallygate', 'User-Agent': 'custom/1' } });
    const { headers } = (await sent({}, other)) ?? {};
    expect(headers).toEqual({
      host: new URL(fake.url).host,
      connection: 'keep-alive',
      'content-type': 'application/json',
      'content-length': expect.any(String),
      accept: 'application/json',
      'accept-encoding': 'identity',
      authorization: `Bearer ${KEY}`,
      'user-agent': 'custom/1',
      'x-title': 'Tallygate',
    });
    await other.close();
  });

  it('goes to the path below the base URL, with its query string', async () => {
    fake.script(() => ({ body: {} }));
    const other = provide({ baseUrl: `${fake.url}/?api-version=2026-01-01` });
    await other.chat(call());
    expect(fake.requests[0]?.path).toBe('/v1/chat/completions?api-version=2026-01-01');
    await other.close();
  });

  it('reuses its connection', async () => {
    await sent({});
    await new Promise((resolve) => setImmediate(resolve)); // One turn of the event loop: undici waits for a late close first.
    await sent({});
    expect(fake.requests.map(({ clientPort }) => clientPort)).toEqual([fake.requests[0]?.clientPort, fake.requests[0]?.clientPort]);
  });
});

describe('a refusal', () => {
  it.each([400, 413, 415, 422])('with status %i is the fault of the request, in the words of the provider', async (status) => {
    fake.script(steps.refused(status, 'Too\u0000 long.\r\n', { param: 'messages', code: 'context_length_exceeded' }));
    expect(await chat()).toEqual({
      ok: false,
      kind: 'rejected',
      retryable: false,
      status,
      retryAfterMs: null,
      message: 'Too long.',
      param: 'messages',
      code: 'context_length_exceeded',
    });
  });

  it.each([401, 402, 403, 404, 408, 409, 410, 500, 502, 503, 504, 529])(
    'with status %i is a failure that another deployment may not have',
    async (status) => {
      fake.script(steps.refused(status, 'No.'));
      expect(await chat()).toMatchObject({ ok: false, kind: 'failed', retryable: true, status, message: 'No.' });
    },
  );

  it.each([
    ['in seconds', { seconds: 3 }, 3000],
    ['in milliseconds, which win', { seconds: 3, ms: 1500.5 }, 1501],
    ['as a date', { date: new Date(NOW + 5000) }, 5000],
    ['as a date in the past', { date: new Date(NOW - 5000) }, 0],
    ['not at all', {}, null],
  ])('with status 429 carries when to come back, %s', async (_, retryAfter, retryAfterMs) => {
    fake.script(steps.rateLimited(retryAfter));
    expect(await chat()).toMatchObject({ kind: 'rate_limited', retryable: true, status: 429, retryAfterMs, code: 'rate_limit_exceeded' });
  });

  it('that redirects is not followed', async () => {
    fake.script(steps.redirect(`${fake.url}/elsewhere`));
    expect(await chat()).toMatchObject({ kind: 'failed', retryable: true, status: 307 });
    expect(fake.requests).toHaveLength(1);
  });

  it('is bounded in what is read and in what is said', async () => {
    fake.script({ status: 400, body: { error: { message: 'x'.repeat(5000) } } }, { ...steps.hugeBody(50_000_000), status: 500 });
    expect(await chat()).toMatchObject({ kind: 'rejected', message: 'x'.repeat(500) });
    const arrival = fake.nextRequest();
    expect(await chat()).toMatchObject({ kind: 'failed', status: 500 });
    expect(await (await arrival).ended).toBe('aborted');
  });

  it('that stalls or breaks off is judged by its status alone', async () => {
    fake.script(
      { ...steps.headThenSilence(), status: 429 },
      { ...steps.cutBody('reset'), status: 400, body: { error: { message: 'm'.repeat(60) } } },
    );
    expect(await chat({ idleTimeoutMs: 30 })).toMatchObject({ kind: 'rate_limited', message: 'The provider answered with status 429.' });
    expect(await chat()).toMatchObject({ kind: 'rejected', status: 400 });
  });

  it('does not give our key away where the provider repeats it', async () => {
    fake.script(steps.refused(400, `Bad header: Bearer ${KEY}`));
    expect(await chat()).toMatchObject({ message: 'Bad header: Bearer [redacted]' });
  });

  it('is understood in the shapes of imitators, and as text', async () => {
    fake.script(
      { status: 400, body: { error: 'plain text' } },
      { status: 400, body: { object: 'error', message: 'flat', code: 40_303 } },
      { status: 400, body: { detail: 'fastapi' } },
      { status: 400, body: [{ error: { message: 'in a list', code: 400 } }] },
      steps.html(502),
      { status: 503, body: '' },
    );
    const messages = [];
    for (let i = 0; i < 6; i++) messages.push(Object(await chat()).message);
    expect(messages).toEqual([
      'plain text',
      'flat',
      'fastapi',
      'in a list',
      '<html><body><h1>Bad gateway</h1></body></html>',
      'The provider answered with status 503.',
    ]);
  });
});

describe('trouble before the first byte', () => {
  it.each([
    ['before the head', steps.resetBeforeHead(), null],
    ['between head and body', steps.resetAfterHead(), 200],
  ])('a reset %s is a failure', async (_, step, status) => {
    fake.script(step);
    expect(await chat()).toMatchObject({ ok: false, kind: 'failed', retryable: true, status });
  });

  it.each([
    ['no head', steps.silence()],
    ['a head and no body', steps.headThenSilence()],
    ['a late head', { delayMs: 5000 }],
    ['a late body', { firstByteDelayMs: 5000 }],
  ])('%s in time is a timeout, and the call is cancelled at the provider', async (_, step) => {
    fake.script(step);
    const arrival = fake.nextRequest();
    expect(await chat({ firstByteTimeoutMs: 50 })).toMatchObject({ kind: 'timeout', retryable: true });
    expect(await (await arrival).ended).toBe('aborted');
  });

  it.each([
    ['no head', steps.silence()],
    ['a head and no body', steps.headThenSilence()],
    ['half a refusal', { ...steps.cutBody('stall'), status: 500, body: 'x'.repeat(100) }],
  ])('a caller who hangs up on %s cancels the call at the provider', async (_, step) => {
    fake.script(step);
    const caller = new AbortController();
    const arrival = fake.nextRequest();
    const outcome = chat({ signal: caller.signal });
    const { ended } = await arrival;
    caller.abort();
    expect(await outcome).toMatchObject({ kind: 'cancelled', retryable: false });
    expect(await ended).toBe('aborted');
  });

  it('a call that times out while it waits for a connection is never sent, and the connection lives on', async () => {
    const narrow = provide({ connections: 1 });
    fake.script({ delayMs: 100 });
    const first = narrow.chat(call());
    expect(await narrow.chat(call({ firstByteTimeoutMs: 20 }))).toMatchObject({ kind: 'timeout', status: null });
    expect((await first).ok).toBe(true);
    expect((await narrow.chat(call())).ok).toBe(true);
    expect(fake.requests.map(({ clientPort }) => clientPort)).toEqual([fake.requests[0]?.clientPort, fake.requests[0]?.clientPort]);
    await narrow.close();
  });

  it('a refused connection, an unknown host and a failed TLS handshake are failures', async () => {
    const gone = await startFakeUpstream();
    await gone.close();
    for (const baseUrl of [gone.url, 'http://no-such-host.invalid/v1', fake.url.replace('http:', 'https:')]) {
      const other = provide({ baseUrl });
      expect(await other.chat(call())).toMatchObject({
        kind: 'failed',
        retryable: true,
        status: null,
        message: expect.stringMatching(/\S/),
      });
      await other.close();
    }
  });

  it('an impossible key is a failure that does not repeat it', async () => {
    const other = provide({ apiKey: 'two\nlines' });
    expect(await other.chat(call())).toMatchObject({ kind: 'failed', message: expect.not.stringContaining('lines') });
    await other.close();
  });

  it('a compressed answer is a failure: it cannot be passed through', async () => {
    fake.script({ headers: { 'content-encoding': 'gzip' }, body: 'not really' });
    expect(await chat()).toMatchObject({ kind: 'failed', status: 200 });
  });
});

describe('a plain body', () => {
  it.each([
    ['malformed JSON', steps.malformedJson(), '{"id": "chatcmpl-1", "choices": ['],
    ['nothing', steps.emptyBody(), ''],
    ['HTML', steps.html(), '<html><body><h1>Bad gateway</h1></body></html>'],
  ])('of %s with status 200 is passed on: it is for the relay to judge', async (_, step, text) => {
    fake.script(step);
    expect((await (await ask()).collect(MAX_BYTES)).toString()).toBe(text);
  });

  it('arrives whole when it comes in pieces, and when it is larger than any buffer', async () => {
    fake.script({ text: 'grüße 👋', pieceBytes: 1 }, { body: 'x'.repeat(10_000_000) });
    expect(JSON.parse((await (await ask()).collect(MAX_BYTES)).toString())).toMatchObject({
      choices: [{ message: { content: 'grüße 👋' } }],
    });
    expect((await (await ask()).collect(10_000_000)).length).toBe(10_000_000);
  });

  it.each(['reset', 'fin'] as const)('that ends short of its length by %s is cut', async (how) => {
    fake.script(steps.cutBody(how));
    await expect((await ask()).collect(MAX_BYTES)).rejects.toMatchObject({ name: 'UpstreamCut', reason: 'reset' });
  });

  it('that stalls is cut and cancelled', async () => {
    fake.script(steps.cutBody('stall'));
    await expect((await ask({ idleTimeoutMs: 40 })).collect(MAX_BYTES)).rejects.toMatchObject({ reason: 'idle_timeout' });
    expect(await fake.requests[0]?.ended).toBe('aborted');
  });

  it('that is too large is cancelled at the provider', async () => {
    fake.script(steps.hugeBody(50_000_000));
    await expect((await ask()).collect(100_000)).rejects.toMatchObject({ reason: 'too_large' });
    expect(await fake.requests[0]?.ended).toBe('aborted');
  });

  it('answers a stream request as it is', async () => {
    fake.script({ body: { object: 'chat.completion' } });
    expect(await pumped(await ask({ stream: true }))).toBe('{"object":"chat.completion"}');
  });
});

describe('a stream', () => {
  it('passes through byte for byte', async () => {
    fake.script({ text: 'grüße 👋 🏳️‍🌈', ...steps.crlf(), ...steps.pings(), ...steps.split(1) });
    const text = await pumped(await ask({ stream: true }));
    expect(text).toContain(': ping\r\n\r\ndata: {');
    expect(
      chunksOf(text)
        .map(({ choices }) => choices[0]?.delta.content ?? '')
        .join(''),
    ).toBe('grüße 👋 🏳️‍🌈');
  });

  it.each(['fin', 'reset', 'garbage'] as const)('that breaks off by %s is cut after the events that came', async (how) => {
    fake.script(steps.cutStream(4, how));
    const answer = await ask({ stream: true });
    let text = '';
    const pump = answer.pump((part) => {
      text += part;
    });
    await expect(pump).rejects.toMatchObject({ name: 'UpstreamCut', reason: 'reset' });
    expect(text.match(/^data: /gm)).toHaveLength(4);
  });

  it('hands over what came before a reset even to a reader that is late', async () => {
    fake.script(steps.cutStream(4, 'reset'));
    const answer = await ask({ stream: true });
    const parts: Buffer[] = [];
    const pump = answer.pump(async (part) => {
      if (parts.length === 0) await fake.requests[0]?.ended;
      parts.push(part);
    });
    await expect(pump).rejects.toMatchObject({ reason: 'reset' });
    expect(Buffer.concat(parts).toString()).toMatch(/^data: /);
  });

  it('that stalls is cut after the idle timeout and cancelled', async () => {
    fake.script(steps.cutStream(3, 'stall'));
    const answer = await ask({ stream: true, idleTimeoutMs: 40 });
    await expect(pumped(answer)).rejects.toMatchObject({ reason: 'idle_timeout' });
    expect(await fake.requests[0]?.ended).toBe('aborted');
  });

  it('that is slow but alive is not cut', async () => {
    fake.script(steps.longStream(20, 15));
    expect(chunksOf(await pumped(await ask({ stream: true, idleTimeoutMs: 100, firstByteTimeoutMs: 100 })))).toHaveLength(23);
  });

  it('without [DONE], or with an error event, is complete for the adapter: the relay judges', async () => {
    fake.script(steps.withoutDone(), steps.errorMidStream(0));
    expect(await pumped(await ask({ stream: true }))).not.toContain('[DONE]');
    expect(await pumped(await ask({ stream: true }))).toMatch(/^data: \{"error":/);
  });

  it('closes its connection at the provider on abort', async () => {
    fake.script(steps.longStream(10_000, 5));
    const answer = await ask({ stream: true });
    let chunks = 0;
    const pump = answer.pump(() => {
      if (++chunks === 3) answer.abort();
    });
    await expect(pump).rejects.toMatchObject({ reason: 'aborted' });
    expect(await fake.requests[0]?.ended).toBe('aborted');
    expect(fake.requests[0]?.aborted).toBe(true);
  });

  it('holds the provider back while the reader is busy', async () => {
    const total = 20_000_000;
    fake.script({ body: 'x'.repeat(total), pieceBytes: 50_000, headers: { 'content-type': 'text/event-stream' } });
    const answer = await ask({ stream: true });
    let bytes = 0;
    let sentWhileHeld = 0;
    await answer.pump((part) => {
      bytes += part.length;
      if (sentWhileHeld > 0) return;
      sentWhileHeld = 1;
      return stillness(() => fake.requests[0]?.bytesSent ?? 0).then((settled) => {
        sentWhileHeld = settled;
      });
    });
    expect(sentWhileHeld).toBeLessThan(total);
    expect(bytes).toBe(total);
  });

  it('holds the provider back until anybody reads', async () => {
    fake.script(steps.hugeBody(20_000_000));
    const answer = await ask();
    expect(await stillness(() => fake.requests[0]?.bytesSent ?? 0)).toBeLessThan(30_000_000);
    expect((await answer.collect(30_000_000)).length).toBeGreaterThan(20_000_000);
  });

  it('is cut when the provider is closed', async () => {
    fake.script(steps.cutStream(2, 'stall'));
    const pump = pumped(await ask({ stream: true }));
    await Promise.all([expect(pump).rejects.toMatchObject({ name: 'UpstreamCut' }), provider.close()]);
  });
});

it.each(['ftp://example.com/v1', 'nonsense', 'https://user:secret@example.com/v1'])(
  'refuses %s as a base URL when it is made',
  (baseUrl) => {
    expect(() => openAiCompatible({ name: 'x', baseUrl })).toThrow(TypeError);
  },
);

/** The value once it has not changed for 100 ms. */
async function stillness(read: () => number): Promise<number> {
  for (let before = -1; ; ) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    if (read() === before) return before;
    before = read();
  }
}
