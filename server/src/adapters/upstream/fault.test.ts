import { startFakeUpstream, steps } from '@tallygate/fake-upstream';
import { describe, expect, it } from 'vitest';
import { againstFakeUpstream, KEY, NOW } from './against-fake-upstream.ts';
import { chatCall } from './conformance-calls.ts';

const { fake, provide, chat } = againstFakeUpstream();

describe('a refusal', () => {
  it.each([400, 413, 415, 422])('with status %i is the fault of the request, in the words of the provider', async (status) => {
    fake().script(steps.refused(status, 'Too\u0000 long.\r\n', { param: 'messages', code: 'context_length_exceeded' }));
    expect(await chat()).toEqual({
      ok: false,
      kind: 'rejected',
      isQuoted: true,
      retryable: false,
      status,
      retryAfterMs: null,
      message: 'Too long.',
      param: 'messages',
      code: 'context_length_exceeded',
      type: 'invalid_request_error',
    });
  });

  it.each([401, 402, 403, 404, 408, 409, 410, 500, 502, 503, 504, 529])(
    'with status %i is a failure that another deployment may not have',
    async (status) => {
      fake().script(steps.refused(status, 'No.'));
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
    fake().script(steps.rateLimited(retryAfter));
    expect(await chat()).toMatchObject({ kind: 'rate_limited', retryable: true, status: 429, retryAfterMs, code: 'rate_limit_exceeded' });
  });

  it('that redirects is not followed', async () => {
    fake().script(steps.redirect(`${fake().url}/elsewhere`));
    expect(await chat()).toMatchObject({ kind: 'failed', retryable: true, status: 307 });
    expect(fake().requests).toHaveLength(1);
  });

  it('is bounded in what is read and in what is said', async () => {
    fake().script({ status: 400, body: { error: { message: 'x'.repeat(5000) } } }, { ...steps.hugeBody(50_000_000), status: 500 });
    expect(await chat()).toMatchObject({ kind: 'rejected', message: 'x'.repeat(500) });
    const arrival = fake().nextRequest();
    expect(await chat()).toMatchObject({ kind: 'failed', status: 500 });
    expect(await (await arrival).ended).toBe('aborted');
  });

  it('that stalls or breaks off is judged by its status alone', async () => {
    fake().script(
      { ...steps.headThenSilence(), status: 429 },
      { ...steps.cutBody('reset'), status: 400, body: { error: { message: 'm'.repeat(60) } } },
    );
    expect(await chat({ idleTimeoutMs: 30 })).toMatchObject({ kind: 'rate_limited', message: 'The provider answered with status 429.' });
    expect(await chat()).toMatchObject({ kind: 'rejected', status: 400 });
  });

  it('does not give our key away where the provider repeats it', async () => {
    fake().script(steps.refused(400, `Bad header: Bearer ${KEY}`));
    expect(await chat()).toMatchObject({ message: 'Bad header: Bearer [redacted]' });
  });

  it('is understood in the shapes of imitators, and as text', async () => {
    fake().script(
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
    fake().script(step);
    expect(await chat()).toMatchObject({ ok: false, kind: 'failed', retryable: true, status });
  });

  it.each([
    ['no head', steps.silence()],
    ['a head and no body', steps.headThenSilence()],
    ['a late head', { delayMs: 5000 }],
    ['a late body', { firstByteDelayMs: 5000 }],
  ])('%s in time is a timeout, and the call is cancelled at the provider', async (_, step) => {
    fake().script(step);
    const arrival = fake().nextRequest();
    expect(await chat({ firstByteTimeoutMs: 50 })).toMatchObject({ kind: 'timeout', retryable: true });
    expect(await (await arrival).ended).toBe('aborted');
  });

  it.each([
    ['no head', steps.silence()],
    ['a head and no body', steps.headThenSilence()],
    ['half a refusal', { ...steps.cutBody('stall'), status: 500, body: 'x'.repeat(100) }],
  ])('a caller who hangs up on %s cancels the call at the provider', async (_, step) => {
    fake().script(step);
    const caller = new AbortController();
    const arrival = fake().nextRequest();
    const outcome = chat({ signal: caller.signal });
    const { ended } = await arrival;
    caller.abort();
    expect(await outcome).toMatchObject({ kind: 'cancelled', retryable: false });
    expect(await ended).toBe('aborted');
  });

  it('a call that times out while it waits for a connection is never sent, and the connection lives on', async () => {
    const narrow = provide({ connections: 1 });
    fake().script({ delayMs: 100 });
    const first = narrow.call(chatCall('fake-model'));
    expect(await narrow.call(chatCall('fake-model', { firstByteTimeoutMs: 20 }))).toMatchObject({ kind: 'timeout', status: null });
    expect((await first).ok).toBe(true);
    expect((await narrow.call(chatCall('fake-model'))).ok).toBe(true);
    expect(fake().requests.map(({ clientPort }) => clientPort)).toEqual([fake().requests[0]?.clientPort, fake().requests[0]?.clientPort]);
    await narrow.close();
  });

  it('a refused connection, an unknown host and a failed TLS handshake are failures', async () => {
    const gone = await startFakeUpstream();
    await gone.close();
    for (const baseUrl of [gone.url, 'http://no-such-host.invalid/v1', fake().url.replace('http:', 'https:')]) {
      const other = provide({ baseUrl });
      expect(await other.call(chatCall('fake-model'))).toMatchObject({
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
    expect(await other.call(chatCall('fake-model'))).toMatchObject({ kind: 'failed', message: expect.not.stringContaining('lines') });
    await other.close();
  });

  it('a compressed answer is a failure: it cannot be passed through', async () => {
    fake().script({ headers: { 'content-encoding': 'gzip' }, body: 'not really' });
    expect(await chat()).toMatchObject({ kind: 'failed', status: 200 });
  });
});
