import { hash } from 'node:crypto';
import { once } from 'node:events';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { UpstreamCut } from '../../adapters/upstream/port.ts';
import { admit } from './admission.ts';
import { relayStream } from './stream-relay.ts';
import { ACCOUNT, callOf, faulty, openInference, ScriptedAnswer, ScriptedProvider } from './testing/inference.ts';

const delta = (content: string) =>
  `data: ${JSON.stringify({ id: 'c', created: 7, model: 'm', choices: [{ index: 0, delta: { content }, finish_reason: null }] })}\n\n`;
const FINISH = `data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}\n\n`;
const USAGE = `data: ${JSON.stringify({ id: 'c', choices: [], usage: { prompt_tokens: 10, completion_tokens: 20, total_tokens: 30 } })}\n\n`;
const DONE = 'data: [DONE]\n\n';
const WHOLE = [delta('Hel'), delta('lo'), FINISH, USAGE, DONE];
/** 10 × 0.15 + 20 × 0.60 USD per million. */
const COST = 13_500n;
const FUNDS = `test:${ACCOUNT}:2026-11`;

type World = ReturnType<typeof openInference>;
let world: World | undefined;
afterEach(() => {
  world?.close();
  world = undefined;
  vi.useRealTimers();
});

/** One streamed call with these answers, from admission to its end. */
interface StartOptions extends Pick<NonNullable<Parameters<typeof openInference>[0]>, 'onCancel'> {
  body?: object;
  live?: boolean;
  hangUp?: AbortController;
  headers?: Record<string, string>;
  model?: string;
}

async function start(
  turns: ConstructorParameters<typeof ScriptedProvider>,
  { body = {}, live = false, hangUp = new AbortController(), headers = {}, onCancel, model = 'gpt-4o-mini' }: StartOptions = {},
) {
  const provider = new ScriptedProvider(...turns);
  const opened = openInference({
    sandbox: provider,
    live: { [model]: turns.map((turn) => new ScriptedProvider(turn)) },
    ...(onCancel && { onCancel }),
  });
  world = opened;
  const call = callOf({ model, stream: true, ...body }, { livemode: live, headers, signal: hangUp.signal });
  const { res, socket } = opened.openClient();
  const admission = await admit(call, opened.deps);
  const running = opened.deps.running.begin(admission.call);
  return { ...opened, provider, socket, res, admission, hangUp, running, run: () => relayStream(admission, running, res, opened.deps) };
}

async function play(...args: Parameters<typeof start>) {
  const started = await start(...args);
  const served = await started.run();
  const settled = await started.settled();
  return { ...started, served, settled, text: started.socket.body.toString() };
}

const REASONING = 'o4-mini';
const sha256 = (bytes: Buffer | string) => hash('sha256', bytes, 'hex');

describe('an answer', () => {
  test('reaches the client as the bytes it came in, without the usage that was not asked for', async () => {
    const { text, settled, socket, served } = await play([new ScriptedAnswer(WHOLE)]);
    expect(text).toBe(delta('Hel') + delta('lo') + FINISH + DONE);
    expect(settled).toHaveLength(1);
    expect(settled[0]).toMatchObject({
      record: { outcome: 'completed', estimated: false, cost: `${COST}`, stream: true, held: expect.any(String) },
    });
    expect(settled[0]?.record.responseSha256).toBe(sha256(socket.body));
    expect(socket.head).toMatch(/^HTTP\/1.1 200[\s\S]*x-receipt-id: [\s\S]*text\/event-stream/);
    expect(served.overheadMs).toBeGreaterThanOrEqual(0);
  });

  test('has no usage in any chunk where it was not asked for, though the provider was asked', async () => {
    const chunks = WHOLE.map((piece) => (piece === USAGE ? piece : piece.replace('}\n\n', ',"usage":null}\n\n')));
    for (const body of [{}, { stream_options: { include_usage: false } }]) {
      const { text, settled, socket } = await play([new ScriptedAnswer(chunks)], { body });
      expect(text).toContain('"delta"');
      expect(text).not.toContain('usage');
      expect(settled[0]?.record).toMatchObject({ outcome: 'completed', cost: `${COST}`, responseSha256: sha256(socket.body) });
      world?.close();
      world = undefined;
    }
  });

  test('ends with usage and cost where they were asked for, and the hash is over them too', async () => {
    const { text, settled, socket } = await play([new ScriptedAnswer(WHOLE)], { body: { stream_options: { include_usage: true } } });
    const last = text.split('\n\n').at(-3)?.slice('data: '.length) ?? '';
    expect(JSON.parse(last)).toMatchObject({ id: 'c', created: 7, choices: [], usage: { total_tokens: 30, cost: 0.0000135 } });
    expect(text.endsWith(DONE)).toBe(true);
    expect(settled[0]?.record.responseSha256).toBe(sha256(socket.body));
  });

  test('is in the journal before its last bytes are written', async () => {
    const { order } = await play([new ScriptedAnswer(WHOLE)]);
    expect(order.filter((step) => step === 'settled')).toHaveLength(1);
    expect(order.at(-1)).toBe('wrote');
    expect(order.indexOf('settled')).toBe(order.length - 2);
    expect(order[0]).toBe('wrote');
  });

  test('is over when it says so, though the provider keeps the connection', async () => {
    const { text } = await play([new ScriptedAnswer(WHOLE, 'open')]);
    expect(text.endsWith(DONE)).toBe(true);
  });

  test('without usage is estimated, and never above what is held', async () => {
    const { settled } = await play([new ScriptedAnswer([delta('word '.repeat(5_000)), FINISH, DONE])], { body: { max_tokens: 20 } });
    const record = settled[0]?.record;
    expect(record).toMatchObject({ estimated: true, usage: { output_tokens: 20 } });
    expect(BigInt(record?.cost ?? 0)).toBeLessThanOrEqual(BigInt(record?.held ?? 0));
  });
});

describe('before the first byte', () => {
  test.each([
    ['a fault', faulty('failed')],
    ['a rate limit', faulty('rate_limited')],
    ['a timeout', faulty('timeout')],
    ['an error event', new ScriptedAnswer([`data: {"error":{"message":"busy"}}\n\n`])],
    ['an error event behind comments', new ScriptedAnswer([': processing\n\n', `data: {"error":{"message":"busy"}}\n\n`])],
  ])('%s sends the call to the next deployment, and one settlement has both attempts', async (_, first) => {
    const { text, settled, socket } = await play([first, new ScriptedAnswer(WHOLE)], { live: true });
    expect(text.endsWith(DONE)).toBe(true);
    expect(socket.head).toContain('x-fallback: deployment');
    expect(settled).toHaveLength(1);
    expect(settled[0]?.record).toMatchObject({ attempt: 1, fallback: 'deployment', outcome: 'completed' });
    expect(settled[0]?.record.attempts.map(({ outcome }) => outcome)).toEqual([expect.not.stringMatching('answered'), 'answered']);
  });

  test.each([
    ['a cut', new ScriptedAnswer(['data: {"id"'], 'reset')],
    ['a stall', new ScriptedAnswer([], 'idle_timeout')],
    ['HTML', new ScriptedAnswer(['<html>\n\n</html>'])],
    ['a JSON body', new ScriptedAnswer(['{"choices":[]}'])],
    ['an empty stream', new ScriptedAnswer([DONE])],
  ])('%s sends the call to the next deployment, and is paid as well', async (_, first) => {
    const { text, settled, socket } = await play([first, new ScriptedAnswer(WHOLE)], { live: true });
    expect(text.endsWith(DONE)).toBe(true);
    expect(socket.head).toContain('x-fallback: deployment');
    expect(settled.map(({ record }) => record)).toMatchObject([
      { attempt: 1, outcome: 'cut', estimated: true, cost: expect.not.stringMatching(/^0$/) },
      { attempt: 2, fallback: 'deployment', outcome: 'completed' },
    ]);
    expect(settled[1]?.record.attempts.map(({ outcome }) => outcome)).toEqual([expect.not.stringMatching('answered'), 'answered']);
  });

  test('a rejection goes to the caller and to no other deployment, and charges nothing', async () => {
    const { socket, settled } = await play([faulty('rejected', { status: 400 }), new ScriptedAnswer(WHOLE)], { live: true });
    expect(socket.head).toMatch(/^HTTP\/1.1 400/);
    expect(settled).toHaveLength(1);
    expect(settled[0]?.record).toMatchObject({ outcome: 'failed', cost: '0', responseSha256: sha256(socket.body) });
    expect(settled[0]?.record.attempts).toHaveLength(1);
  });

  test('when every deployment fails the client gets a plain problem, and nothing is charged', async () => {
    const { socket, settled, held } = await play([faulty('failed'), faulty('failed')], { live: true });
    expect(socket.head).toMatch(/^HTTP\/1.1 502[\s\S]*problem\+json/);
    expect(settled).toHaveLength(1);
    expect(settled[0]).toMatchObject({ charged: 0n, record: { outcome: 'failed', cost: '0', responseSha256: sha256(socket.body) } });
    expect(await held(`key:key-1:2026-11`)).toBe(0n);
  });
});

describe('after the first byte', () => {
  test.each([
    ['a reset', new ScriptedAnswer([delta('a')], 'reset')],
    ['a stall', new ScriptedAnswer([delta('a'), 'data: {"half'], 'idle_timeout')],
    ['an end without an end', new ScriptedAnswer([delta('a')])],
    [
      'an error event',
      new ScriptedAnswer([delta('a'), 'data: {"error":{"message":"gone","type":"server_error","code":null}}\n\n', delta('b'), DONE]),
    ],
  ])('%s ends the stream with an error event and no [DONE], and nobody else is asked', async (_, first) => {
    const { text, settled, socket } = await play([first, new ScriptedAnswer(WHOLE)], { live: true });
    expect(text.startsWith(delta('a'))).toBe(true);
    expect(text).toMatch(/data: \{"error":\{"message":"[^"]+","type":"server_error","code":[^}]+,"param":null\}\}\n\n$/);
    expect(text).not.toContain('[DONE]');
    expect(settled).toHaveLength(1);
    expect(settled[0]?.record).toMatchObject({ outcome: 'cut', estimated: true, attempt: 1, responseSha256: sha256(socket.body) });
  });

  test('a settlement that cannot be written withholds the end of the answer, and the hold stands until it can be', async () => {
    const started = await start([new ScriptedAnswer(WHOLE)]);
    started.journal.isBroken = true;
    await expect(started.run()).rejects.toMatchObject({ code: 'store_unavailable', status: 503 });
    expect(started.socket.body.toString()).not.toContain('[DONE]');
    expect(await started.settled()).toHaveLength(0);
    expect(await started.held(FUNDS)).toBeGreaterThan(0n);
    expect(started.heartbeat.running).toBe(0);
    started.journal.isBroken = false;
    await started.deps.unsettled.tryAgain();
    expect(await started.settled()).toMatchObject([{ record: { outcome: 'abandoned', estimated: false } }]);
    expect(await started.held(FUNDS)).toBe(0n);
  });
});

test('of usages that a stream tells of, the largest counts, and none that text comes behind', async () => {
  const small = USAGE.replace('"completion_tokens":20', '"completion_tokens":1');
  const shrunk = await play([new ScriptedAnswer([delta('word'), USAGE, FINISH, small, DONE])]);
  expect(shrunk.settled[0]?.record).toMatchObject({ estimated: false, usage: { output_tokens: 20 } });
  const early = await play([new ScriptedAnswer([delta('word '), small, delta('word '.repeat(30)), FINISH, DONE])]);
  expect(early.settled[0]?.record.estimated).toBe(true);
  expect(early.settled[0]?.record.usage.output_tokens).toBeGreaterThanOrEqual(30);
});

describe('a hang-up', () => {
  /** Hangs up once the first chunk has been relayed. */
  async function hangUpOn(answer: ScriptedAnswer, options: StartOptions = {}) {
    const started = await start([answer], { live: true, ...options });
    const pump = answer.pump.bind(answer);
    answer.pump = (onChunk) =>
      pump((chunk) => {
        const taken = onChunk(chunk);
        if (answer.handed === 1) started.hangUp.abort();
        return taken;
      });
    const finished = started.run();
    await vi.waitUntil(() => started.hangUp.signal.aborted, { timeout: 60_000 });
    return { ...started, finished };
  }

  test('does not cancel the provider: the stream is read on until its usage, which is charged', async () => {
    const answer = new ScriptedAnswer([...Array(50).fill(delta('word ')), ...WHOLE]);
    const { finished, socket, settled } = await hangUpOn(answer);
    expect(await finished).toMatchObject({ outcome: 'cancelled', estimated: false });
    expect(answer.isAborted).toBe(false);
    const [entry] = await settled();
    expect(entry?.record).toMatchObject({ cost: `${COST}`, usage: { output_tokens: 20 }, responseSha256: sha256(socket.body) });
    expect(socket.body.toString()).not.toContain('[DONE]');
  });

  test('behind the visible answer and before the usage of a reasoning model costs what its reasoning costs', async () => {
    const usage = { prompt_tokens: 10, completion_tokens: 9_000, completion_tokens_details: { reasoning_tokens: 8_990 } };
    const last = `data: ${JSON.stringify({ id: 'c', choices: [], usage })}\n\n`;
    const { finished } = await hangUpOn(new ScriptedAnswer([delta('Hello'), FINISH, last, DONE]), { body: { max_tokens: 10_000 } });
    expect(await finished).toMatchObject({
      outcome: 'cancelled',
      estimated: false,
      usage: { output_tokens: 9_000, reasoning_tokens: 8_990 },
    });
  });

  test('charges all that was held where the provider never comes to its end', async () => {
    const { finished, running, settled } = await hangUpOn(new ScriptedAnswer([delta('a')], 'open'), { body: { max_tokens: 700 } });
    running.cut('deadline');
    expect(await finished).toMatchObject({ outcome: 'cancelled', estimated: true, usage: { output_tokens: 700 } });
    const [entry] = await settled();
    expect(entry?.record.cost).toBe(entry?.record.held);
  });

  test.each<[string, ConstructorParameters<typeof ScriptedAnswer>]>([
    ['breaks off later', [[delta('some words'), delta(' that came')], 'reset']],
    ['breaks off behind its finish reason', [[delta('some words'), FINISH], 'reset']],
    ['comes to its end without a usage', [[delta('some words'), FINISH, DONE]]],
    ['had told of its usage in between, and breaks off', [[delta('some words'), USAGE, delta(' that came')], 'reset']],
    ['had told of its usage in between, and not at its end', [[delta('some words'), USAGE, delta(' that came'), FINISH, DONE]]],
  ])('charges all that was held where the provider %s', async (_, answer) => {
    const { finished, settled } = await hangUpOn(new ScriptedAnswer(...answer), { body: { max_tokens: 700 } });
    expect(await finished).toMatchObject({ outcome: 'cancelled', estimated: true });
    const [entry] = await settled();
    expect(entry?.record.cost).toBe(entry?.record.held);
  });

  test('cancels a provider that stops billing, and charges what came with what may be on its way', async () => {
    const answer = new ScriptedAnswer([delta('some words')], 'open');
    const { finished, settled } = await hangUpOn(answer, { body: { max_tokens: 5_000 }, onCancel: 'stops_billing' });
    const served = await finished;
    expect(answer.isAborted).toBe(true);
    expect(served).toMatchObject({ outcome: 'cancelled', estimated: true });
    expect(served.usage.output_tokens).toBeGreaterThan(500);
    expect(served.usage.output_tokens).toBeLessThan(600);
    const [entry] = await settled();
    expect(BigInt(entry?.record.cost ?? 0)).toBeLessThan(BigInt(entry?.record.held ?? 0));
  });

  test('cancels a reasoning model that stops billing, and charges its whole bound: what it thought is not seen', async () => {
    const options: StartOptions = { model: REASONING, body: { max_completion_tokens: 5_000 }, onCancel: 'stops_billing' };
    const { finished } = await hangUpOn(new ScriptedAnswer([delta('some words')], 'open'), options);
    expect(await finished).toMatchObject({ outcome: 'cancelled', usage: { output_tokens: 5_000 } });
  });

  test('with X-On-Disconnect: finish is read on, though the provider would stop billing', async () => {
    const answer = new ScriptedAnswer(WHOLE);
    const { finished } = await hangUpOn(answer, { headers: { 'x-on-disconnect': 'finish' }, onCancel: 'stops_billing' });
    expect(await finished).toMatchObject({ outcome: 'cancelled', estimated: false });
    expect(answer.isAborted).toBe(false);
  });

  test('with X-On-Disconnect: cancel is finished all the same where the provider keeps billing', async () => {
    const answer = new ScriptedAnswer(WHOLE);
    const { finished } = await hangUpOn(answer, { headers: { 'x-on-disconnect': 'cancel' } });
    expect(await finished).toMatchObject({ outcome: 'cancelled', estimated: false });
    expect(answer.isAborted).toBe(false);
  });
});

test('a gateway that stops ends its streams with an error, and settles them at their holds', async () => {
  const answer = new ScriptedAnswer([delta('a')], 'open');
  const started = await start([answer], { live: true, body: { max_tokens: 300 } });
  const running = started.run();
  await vi.waitUntil(() => started.socket.body.length > 0, { timeout: 60_000 });
  void started.deps.running.drain(0);
  expect(await running).toMatchObject({ outcome: 'abandoned', estimated: true, usage: { output_tokens: 300 } });
  const [entry] = await started.settled();
  expect(entry?.record.cost).toBe(entry?.record.held);
  expect(entry?.record.responseSha256).toBe(sha256(started.socket.body));
  expect(started.socket.body.toString()).toContain('"code":"store_unavailable"');
});

describe('a slow client', () => {
  const big = Array.from({ length: 200 }, () => delta('x'.repeat(8_192)));

  test('slows the provider down, and gets everything in the end', async () => {
    const answer = new ScriptedAnswer([...big, FINISH, USAGE, DONE]);
    const started = await start([answer]);
    started.socket.isStalled = true;
    const running = started.run();
    await vi.waitUntil(() => started.res.writableNeedDrain, { timeout: 60_000 });
    for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
    expect(answer.handed).toBeLessThan(20);
    started.socket.readOn();
    await running;
    expect(started.socket.body.toString()).toBe(big.join('') + FINISH + DONE);
  });

  test('that reads nothing for a minute is dropped, and its answer read to the end', async () => {
    const started = await start([new ScriptedAnswer([...big, FINISH, USAGE, DONE])]);
    started.res.once('close', () => started.hangUp.abort());
    started.socket.isStalled = true;
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const running = started.run();
    await vi.waitUntil(() => started.res.writableNeedDrain, { timeout: 60_000 });
    vi.advanceTimersByTime(59_000);
    expect(started.res.destroyed || started.socket.destroyed).toBe(false);
    const closed = once(started.res, 'close');
    vi.advanceTimersByTime(1_000);
    await closed;
    expect(await running).toMatchObject({ outcome: 'cancelled', estimated: false });
    expect(await started.settled()).toHaveLength(1);
  });
});

describe('the heartbeat', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));

  test('pings a silent stream between its events and no other, and the ping is in the hash', async () => {
    const answer = new ScriptedAnswer([`${delta('a')}data: {"half`], 'open');
    const started = await start([answer]);
    const running = started.run();
    started.heartbeat.beat();
    expect(started.socket.body).toHaveLength(0);
    await vi.waitUntil(() => started.socket.body.length > 0, { timeout: 60_000 });
    started.heartbeat.beat();
    vi.advanceTimersByTime(15_000);
    started.heartbeat.beat();
    started.heartbeat.beat();
    answer.abort();
    await running;
    const text = started.socket.body.toString();
    expect(text.startsWith(`${delta('a')}: ping\n\ndata: {"error"`)).toBe(true);
    expect((await started.settled())[0]?.record.responseSha256).toBe(sha256(started.socket.body));
    expect(started.heartbeat.running).toBe(0);
  });
});

test('whatever happens, a call is settled exactly once, its hold is gone, and the hash is that of the bytes the client got', async () => {
  const pieces = fc.array(
    fc.constantFrom(delta('a'), delta('b'), ': c\n\n', FINISH, USAGE, 'data: {"ha', 'garbage\n\n', 'data: {"error":"x"}\n\n', DONE),
    { maxLength: 6 },
  );
  const endings = fc.constantFrom('complete', 'reset', 'idle_timeout', 'too_large') satisfies fc.Arbitrary<
    'complete' | UpstreamCut['reason']
  >;
  const answers = fc.tuple(pieces, endings).map(
    ([chunks, ending]) =>
      () =>
        new ScriptedAnswer(chunks, ending),
  );
  const faults = fc.constantFrom('failed', 'rate_limited', 'timeout', 'rejected', 'cancelled').map((kind) => () => faulty(kind));
  await fc.assert(
    fc.asyncProperty(fc.array(fc.oneof(answers, answers, faults), { minLength: 1, maxLength: 4 }), fc.boolean(), async (turns, include) => {
      const { settled, socket, held, text } = await play(
        turns.map((make) => make()),
        { live: true, body: { stream_options: { include_usage: include } } },
      );
      const record = settled.at(-1)?.record;
      expect(new Set(settled.map((entry) => entry.record.attempt)).size).toBe(settled.length);
      expect(settled.slice(0, -1).every((entry) => entry.record.outcome === 'cut')).toBe(true);
      expect(record?.responseSha256).toBe(sha256(socket.body));
      expect(await held('key:key-1:2026-11')).toBe(0n);
      expect(/^data: \[DONE\]$/m.test(text)).toBe(record?.outcome === 'completed');
      if (record?.outcome === 'failed') expect(record.cost).toBe('0');
      world?.close();
      world = undefined;
    }),
    { numRuns: 100 },
  );
});
