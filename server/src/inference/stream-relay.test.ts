import { hash } from 'node:crypto';
import { once } from 'node:events';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { UpstreamCut } from '../adapters/upstream/port.ts';
import { admit, HOLD_MS } from './admission.ts';
import { ACCOUNT, callOf, faulty, NOW, openInference, ScriptedAnswer, ScriptedProvider } from './inference-under-test.ts';
import { relayStream } from './stream-relay.ts';

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
async function start(
  turns: ConstructorParameters<typeof ScriptedProvider>,
  { body = {}, live = false, hangUp = new AbortController() } = {},
) {
  const provider = new ScriptedProvider(...turns);
  const opened = openInference({ sandbox: provider, live: { 'gpt-4o-mini': turns.map((turn) => new ScriptedProvider(turn)) } });
  world = opened;
  const call = callOf({ stream: true, ...body }, { livemode: live, signal: hangUp.signal });
  const { res, socket } = opened.openClient();
  const admission = await admit(call, opened.deps);
  return { ...opened, provider, socket, res, admission, hangUp, run: () => relayStream(admission, res, opened.deps) };
}

async function play(...args: Parameters<typeof start>) {
  const started = await start(...args);
  const served = await started.run();
  const settled = await started.settled();
  return { ...started, served, settled, text: started.socket.body.toString() };
}

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
    ['a cut', new ScriptedAnswer(['data: {"id"'], 'reset')],
    ['a stall', new ScriptedAnswer([], 'idle_timeout')],
    ['HTML', new ScriptedAnswer(['<html>\n\n</html>'])],
    ['a JSON body', new ScriptedAnswer(['{"choices":[]}'])],
    ['an empty stream', new ScriptedAnswer([DONE])],
  ])('%s sends the call to the next deployment, and one settlement has both attempts', async (_, first) => {
    const { text, settled, socket } = await play([first, new ScriptedAnswer(WHOLE)], { live: true });
    expect(text.endsWith(DONE)).toBe(true);
    expect(socket.head).toContain('x-fallback: deployment');
    expect(settled).toHaveLength(1);
    expect(settled[0]?.record).toMatchObject({ attempt: 2, fallback: 'deployment', outcome: 'completed' });
    expect(settled[0]?.record.attempts.map(({ outcome }) => outcome)).toEqual([expect.not.stringMatching('answered'), 'answered']);
  });

  test('a rejection goes to the caller and to no other deployment, and charges nothing', async () => {
    const { socket, settled } = await play([faulty('rejected', { status: 400 }), new ScriptedAnswer(WHOLE)], { live: true });
    expect(socket.head).toMatch(/^HTTP\/1.1 400/);
    expect(settled).toHaveLength(1);
    expect(settled[0]?.record).toMatchObject({ outcome: 'failed', cost: '0', responseSha256: sha256(socket.body) });
    expect(settled[0]?.record.attempts).toHaveLength(1);
  });

  test('when every deployment fails the client gets a plain problem, and nothing is charged', async () => {
    const { socket, settled, held } = await play([faulty('failed'), new ScriptedAnswer([], 'reset')], { live: true });
    expect(socket.head).toMatch(/^HTTP\/1.1 502[\s\S]*problem\+json/);
    expect(settled).toHaveLength(1);
    expect(settled[0]).toMatchObject({ charged: 0n, record: { outcome: 'failed', cost: '0', responseSha256: sha256(socket.body) } });
    expect(await held(`key:key-1:2026-11`)).toBe(0n);
  });

  test('a hang-up cancels the provider and charges the prompt that it was reading', async () => {
    const started = await start(['silence']);
    const running = started.run();
    started.hangUp.abort();
    const served = await running;
    expect(served.outcome).toBe('cancelled');
    const settled = await started.settled();
    expect(settled).toHaveLength(1);
    expect(settled[0]?.record).toMatchObject({
      outcome: 'cancelled',
      estimated: true,
      usage: { output_tokens: 0 },
      responseSha256: sha256(''),
    });
    expect(settled[0]?.record.usage.input_tokens).toBeGreaterThan(0);
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

  test('a hang-up cancels the provider, and what was delivered is charged', async () => {
    const answer = new ScriptedAnswer([delta('some words that were read')], 'open');
    const started = await start([answer]);
    const running = started.run();
    await vi.waitUntil(() => answer.handed === 1);
    started.hangUp.abort();
    const served = await running;
    expect(answer.isAborted).toBe(true);
    expect(served).toMatchObject({ outcome: 'cancelled', estimated: true });
    expect(served.usage.output_tokens).toBeGreaterThan(3);
    const settled = await started.settled();
    expect(settled).toHaveLength(1);
    expect(settled[0]?.record.responseSha256).toBe(sha256(delta('some words that were read')));
  });

  test('a settlement that cannot be written withholds the end of the answer, and the hold stands', async () => {
    const started = await start([new ScriptedAnswer(WHOLE)]);
    started.journal.isBroken = true;
    await expect(started.run()).rejects.toMatchObject({ code: 'store_unavailable', status: 503 });
    expect(started.socket.body.toString()).not.toContain('[DONE]');
    expect(await started.settled()).toHaveLength(0);
    expect(await started.held(FUNDS)).toBeGreaterThan(0n);
    expect(started.heartbeat.running).toBe(0);
  });
});

describe('a slow client', () => {
  const big = Array.from({ length: 200 }, () => delta('x'.repeat(8_192)));

  test('slows the provider down, and gets everything in the end', async () => {
    const answer = new ScriptedAnswer([...big, FINISH, USAGE, DONE]);
    const started = await start([answer]);
    started.socket.isStalled = true;
    const running = started.run();
    await vi.waitUntil(() => started.res.writableNeedDrain);
    for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
    expect(answer.handed).toBeLessThan(20);
    started.socket.readOn();
    await running;
    expect(started.socket.body.toString()).toBe(big.join('') + FINISH + DONE);
  });

  test('that reads nothing for a minute is dropped', async () => {
    const started = await start([new ScriptedAnswer([...big, DONE])]);
    started.res.once('close', () => started.hangUp.abort());
    started.socket.isStalled = true;
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const running = started.run();
    await vi.waitUntil(() => started.res.writableNeedDrain);
    vi.advanceTimersByTime(59_000);
    expect(started.res.destroyed || started.socket.destroyed).toBe(false);
    const closed = once(started.res, 'close');
    vi.advanceTimersByTime(1_000);
    await closed;
    expect(await running).toMatchObject({ outcome: 'cancelled' });
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
    await vi.waitUntil(() => started.socket.body.length > 0);
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

  test('renews the hold of a long stream, and survives a store that does not', async () => {
    const answer = new ScriptedAnswer([delta('a')], 'open');
    const started = await start([answer]);
    const running = started.run();
    started.clock.at = NOW + HOLD_MS - 1;
    started.heartbeat.beat();
    expect(started.lanes.sweep(NOW + HOLD_MS + 1)).toBe(0);
    const renew = vi.spyOn(started.lanes, 'renew').mockImplementation(() => {
      throw new Error('unreachable');
    });
    started.heartbeat.beat();
    expect(renew).toHaveBeenCalledOnce();
    renew.mockRestore();
    expect(started.lanes.sweep(NOW + 2 * HOLD_MS)).toBe(1);
    answer.abort();
    await running;
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
      expect(settled).toHaveLength(1);
      const record = settled[0]?.record;
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
