import { hash } from 'node:crypto';
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { formatUsd, usdForDisplay } from '../../kernel/money.ts';
import { admit } from './admission.ts';
import { relayPlain } from './plain-relay.ts';
import { callOf, faulty, openInference, ScriptedAnswer, ScriptedProvider } from './testing/inference.ts';

const USAGE = { prompt_tokens: 10, completion_tokens: 20, total_tokens: 30 };
const completion = (fields: object = {}) =>
  JSON.stringify({
    id: 'c',
    x_theirs: 1,
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.' } }],
    usage: USAGE,
    ...fields,
  });
const COST = '13500';
const KEY_LANE = 'key:key-1:2026-11';

let world: ReturnType<typeof openInference> | undefined;
afterEach(() => {
  world?.close();
  world = undefined;
});

interface StartOptions extends Pick<NonNullable<Parameters<typeof openInference>[0]>, 'onCancel' | 'mostLeftPerKey'> {
  headers?: Record<string, string>;
  body?: object;
  hangUp?: AbortController;
}

async function start(
  turns: ConstructorParameters<typeof ScriptedProvider>,
  { headers = {}, body = {}, hangUp = new AbortController(), ...options }: StartOptions = {},
) {
  const providers = turns.map((turn) => new ScriptedProvider(turn));
  const opened = openInference({ live: { 'gpt-4o-mini': providers }, ...options });
  world = opened;
  const admission = await admit(callOf(body, { livemode: true, headers, signal: hangUp.signal }), opened.deps);
  const running = opened.deps.running.begin(admission.call);
  return { ...opened, providers, admission, hangUp, running, run: () => relayPlain(admission, running, opened.deps, () => {}) };
}

async function play(...args: Parameters<typeof start>) {
  const started = await start(...args);
  const { served, reply } = await started.run();
  return { ...started, served, reply, settled: await started.settled() };
}

const sha256 = (bytes: Buffer | string) => hash('sha256', bytes, 'hex');

describe('an answer', () => {
  test('comes whole, with its cost, and is settled before it is handed out', async () => {
    const { reply, settled } = await play([new ScriptedAnswer([completion().slice(0, 30), completion().slice(30)])]);
    expect(JSON.parse(reply.body.toString())).toMatchObject({ x_theirs: 1, usage: { ...USAGE, cost: 0.0000135 } });
    expect(reply).toMatchObject({
      status: 200,
      headers: { 'x-cost-usd': '0.0000135', 'x-fallback': 'none', 'content-length': reply.body.length },
    });
    expect(settled).toHaveLength(1);
    expect(settled[0]?.record).toMatchObject({ outcome: 'completed', cost: COST, responseSha256: sha256(reply.body), estimated: false });
  });

  test('without usage is estimated within the hold, and says what was counted', async () => {
    const choices = [{ index: 0, message: { role: 'assistant', content: 'word '.repeat(9_000) } }];
    const { reply, settled } = await play([new ScriptedAnswer([completion({ usage: undefined, choices })])], { body: { max_tokens: 30 } });
    expect(settled[0]?.record).toMatchObject({ estimated: true, usage: { output_tokens: 30 } });
    expect(JSON.parse(reply.body.toString())).toMatchObject({ usage: { completion_tokens: 30 } });
    expect(BigInt(settled[0]?.record.cost ?? 0)).toBeLessThanOrEqual(BigInt(settled[0]?.record.held ?? 0));
  });

  test('that claims to have taken no tokens is estimated, and shows what was counted', async () => {
    const { reply, settled } = await play([new ScriptedAnswer([completion({ usage: { prompt_tokens: 0, completion_tokens: 0 } })])]);
    const usage = settled[0]?.record.usage;
    expect(settled[0]?.record).toMatchObject({ estimated: true, usage: { output_tokens: 2 } });
    expect(JSON.parse(reply.body.toString()).usage).toMatchObject({ prompt_tokens: usage?.input_tokens, completion_tokens: 2 });
  });

  test('that is billed above the hold costs what was held, and the whole bill is on record', async () => {
    const usage = { prompt_tokens: 90_000, completion_tokens: 90_000, total_tokens: 180_000 };
    const { reply, settled } = await play([new ScriptedAnswer([completion({ usage })])], { body: { max_tokens: 16 } });
    const [entry] = settled;
    const held = BigInt(entry?.record.held ?? 0);
    expect(entry).toMatchObject({ charged: 0n, debt: 0n, waived: 67_500_000n - held, record: { cost: '67500000' } });
    expect(reply.headers['x-cost-usd']).toBe(formatUsd(held));
    expect(JSON.parse(reply.body.toString()).usage.cost).toBe(usdForDisplay(held));
  });

  test('shows where the run stands after it', async () => {
    const { reply } = await play([new ScriptedAnswer([completion()])], { headers: { 'x-agent-run-id': 'r', 'x-agent-max-budget': '1' } });
    expect(reply.headers).toMatchObject({
      'x-agent-budget-limit-usd': '1',
      'x-agent-budget-spent-usd': '0.0000135',
      'x-agent-budget-remaining-usd': '0.9999865',
    });
  });
});

describe('what is no answer', () => {
  test.each([
    ['HTML', new ScriptedAnswer(['<html></html>'])],
    ['an empty body', new ScriptedAnswer([])],
    ['a list', new ScriptedAnswer(['[]'])],
    ['JSON without choices', new ScriptedAnswer(['{"choices":[]}'])],
    ['half a body', new ScriptedAnswer([completion().slice(0, 20)], 'reset')],
    ['a body without end', new ScriptedAnswer([completion()], 'too_large')],
    ['a stalled body', new ScriptedAnswer([completion()], 'idle_timeout')],
  ])('%s is tried elsewhere, and paid as well', async (_, first) => {
    const { reply, settled, held } = await play([first, new ScriptedAnswer([completion()])]);
    expect(reply).toMatchObject({ status: 200, headers: { 'x-fallback': 'deployment', 'x-provider': 'provider-1' } });
    expect(settled.map(({ record }) => record)).toMatchObject([
      { attempt: 1, outcome: 'cut', estimated: true, cost: expect.not.stringMatching(/^0$/) },
      { attempt: 2, outcome: 'completed' },
    ]);
    expect(await held(KEY_LANE)).toBe(0n);
  });

  test.each([
    ['an error with status 200', new ScriptedAnswer(['{"error":{"message":"x"}}'])],
    ['a fault', faulty('failed')],
  ])('%s is tried elsewhere', async (_, first) => {
    const { reply, settled } = await play([first, new ScriptedAnswer([completion()])]);
    expect(reply).toMatchObject({ status: 200, headers: { 'x-fallback': 'deployment', 'x-provider': 'provider-1' } });
    expect(settled).toHaveLength(1);
    expect(settled[0]?.record).toMatchObject({ attempt: 1, outcome: 'completed' });
  });

  test('costs nothing when it is all there is', async () => {
    const { reply, settled, held } = await play([faulty('timeout')]);
    expect(reply.status).toBe(504);
    expect(settled).toHaveLength(1);
    expect(settled[0]?.record).toMatchObject({ outcome: 'failed', cost: '0', responseSha256: sha256(reply.body) });
    expect(await held(KEY_LANE)).toBe(0n);
  });

  test('is not tried elsewhere where the caller forbids it', async () => {
    const { reply, providers } = await play([faulty('failed'), new ScriptedAnswer([completion()])], {
      headers: { 'x-fallback-policy': 'none' },
    });
    expect(reply.status).toBe(502);
    expect(providers[1]?.calls).toHaveLength(0);
  });

  test('is tried at five deployments and no more', async () => {
    const { providers } = await play(Array.from({ length: 7 }, () => faulty('failed')));
    expect(providers.filter(({ calls }) => calls.length > 0)).toHaveLength(5);
  });
});

describe('a hang-up', () => {
  const gated = (ending?: 'reset') => {
    const { promise, resolve: open } = Promise.withResolvers<void>();
    return { answer: new ScriptedAnswer([completion()], ending, promise), open };
  };

  test('does not cancel the provider: the answer is read on, and its usage charged', async () => {
    const { answer, open } = gated();
    const started = await start([answer]);
    const running = started.run();
    started.hangUp.abort();
    open();
    await running;
    expect(answer.isAborted).toBe(false);
    const settled = await started.settled();
    expect(settled).toHaveLength(1);
    expect(settled[0]?.record).toMatchObject({ outcome: 'cancelled', estimated: false, cost: COST, responseSha256: sha256('') });
  });

  test('asks no other provider, and charges the hold where the first one breaks its answer off', async () => {
    const { answer, open } = gated('reset');
    const started = await start([answer, new ScriptedAnswer([completion()])]);
    const running = started.run();
    started.hangUp.abort();
    open();
    await running;
    expect(started.providers[1]?.calls).toHaveLength(0);
    const record = (await started.settled())[0]?.record;
    expect(record).toMatchObject({ outcome: 'cancelled', cost: record?.held, estimated: true });
    expect(Number(record?.held)).toBeGreaterThan(0);
  });

  test('before any provider was asked charges nothing', async () => {
    const hangUp = new AbortController();
    const started = await start([new ScriptedAnswer([completion()])], { hangUp });
    hangUp.abort();
    await started.run();
    expect(started.providers[0]?.calls).toHaveLength(0);
    expect((await started.settled())[0]?.record).toMatchObject({ outcome: 'cancelled', cost: '0', estimated: false });
  });

  test.each([
    ['the time to read on is over', 'deadline', 'cancelled'],
    ['the gateway stops', 'shutdown', 'cancelled'],
  ] as const)('charges all that was held where the usage stays unknown: %s', async (_, by, outcome) => {
    const started = await start(['silence'], { body: { max_tokens: 500 } });
    const running = started.run();
    started.hangUp.abort();
    started.running.cut(by);
    await running;
    const [settled] = await started.settled();
    expect(settled?.record).toMatchObject({ outcome: by === 'shutdown' ? 'abandoned' : outcome, estimated: true });
    expect(settled?.record.cost).toBe(settled?.record.held);
  });

  test('cancels where the caller asks for it and the provider stops billing, and charges its bound', async () => {
    const started = await start(['silence'], {
      body: { max_tokens: 500 },
      headers: { 'x-on-disconnect': 'cancel' },
      onCancel: 'stops_billing',
    });
    const running = started.run();
    await new Promise(setImmediate);
    started.hangUp.abort();
    await running;
    const [settled] = await started.settled();
    expect(settled?.record).toMatchObject({ outcome: 'cancelled', estimated: true, usage: { output_tokens: 500 } });
    expect(BigInt(settled?.record.cost ?? 0)).toBeLessThanOrEqual(BigInt(settled?.record.held ?? 0));
  });

  test.each([['finish'], [undefined]])(
    'reads a plain answer on with X-On-Disconnect: %s, though the provider would stop billing',
    async (on) => {
      const { answer, open } = gated();
      const started = await start([answer], { headers: on ? { 'x-on-disconnect': on } : {}, onCancel: 'stops_billing' });
      const running = started.run();
      await new Promise(setImmediate);
      started.hangUp.abort();
      open();
      await running;
      expect((await started.settled())[0]?.record).toMatchObject({ outcome: 'cancelled', estimated: false, cost: COST });
    },
  );
});

test('a gateway that stops settles a call at its hold and tells the client that it did', async () => {
  const started = await start(['silence'], { body: { max_tokens: 500 } });
  const running = started.run();
  await started.deps.running.drain(0);
  const { reply } = await running;
  expect(reply.status).toBe(503);
  const [settled] = await started.settled();
  expect(settled?.record).toMatchObject({ outcome: 'abandoned', estimated: true, responseSha256: sha256(reply.body) });
  expect(settled?.record.cost).toBe(settled?.record.held);
});

test('clients that hang up too often have to wait until their answers have ended', async () => {
  const started = await start(['silence'], { mostLeftPerKey: 1 });
  const running = started.run();
  const another = callOf({}, { livemode: true });
  started.deps.running.requireRoom(another);
  started.hangUp.abort();
  expect(() => started.deps.running.requireRoom(another)).toThrow(expect.objectContaining({ code: 'disconnected_in_flight' }));
  started.deps.running.requireRoom({ grant: { ...another.grant, principal: { ...another.grant.principal, keyId: 'another' } as never } });
  started.running.cut('deadline');
  await running;
  started.running.end();
  started.deps.running.requireRoom(another);
});

test.each([31 * 86_400_000, 3_600_000, -31 * 86_400_000])(
  'a call keeps its place under the cap though the clock leaps by %i ms',
  async (byMs) => {
    const started = await start(['silence']);
    const running = started.run();
    const held = await started.held(KEY_LANE);
    started.clock.at += byMs;
    expect(started.lanes.sweep()).toBe(0);
    expect(await started.held(KEY_LANE)).toBe(held);
    started.running.cut('deadline');
    await running;
    expect(held).toBeGreaterThan(0n);
    expect(await started.held(KEY_LANE)).toBe(0n);
  },
);

test('a settlement that cannot be written gives no body away, and is written as soon as it can be', async () => {
  const started = await start([new ScriptedAnswer([completion()])]);
  const { unsettled } = started.deps;
  started.journal.isBroken = true;
  await expect(started.run()).rejects.toMatchObject({ code: 'store_unavailable', status: 503 });
  await unsettled.tryAgain();
  expect(await started.held(KEY_LANE)).toBeGreaterThan(0n);
  expect(unsettled.size).toBe(1);
  started.journal.isBroken = false;
  await unsettled.tryAgain();
  expect([unsettled.size, await started.held(KEY_LANE)]).toEqual([0, 0n]);
  const [one, ...more] = await started.settled();
  expect(more).toEqual([]);
  expect(one?.record).toMatchObject({ outcome: 'abandoned', estimated: false, responseSha256: sha256('') });
  expect(Number(one?.record.cost)).toBeGreaterThan(0);
});

test('the bound that is held is the bound that is sent', async () => {
  const { providers, settled } = await play([new ScriptedAnswer([completion()])], { body: { max_tokens: 77, n: 2 } });
  expect(providers[0]?.calls[0]).toMatchObject({ maxOutputTokens: 77, model: 'gpt-4o-mini-theirs', stream: false });
  expect(settled[0]?.record.held).toBeDefined();
});

test('whatever providers do, a call is settled exactly once and its hold is gone', async () => {
  const bodies = fc.tuple(
    fc.constantFrom(completion(), completion({ usage: null }), '{}', '<', ''),
    fc.constantFrom('complete', 'reset', 'idle_timeout'),
  );
  const answers = bodies.map(
    ([body, ending]) =>
      () =>
        new ScriptedAnswer([body], ending),
  );
  const faults = fc.constantFrom('failed', 'rate_limited', 'timeout', 'rejected', 'cancelled').map((kind) => () => faulty(kind));
  await fc.assert(
    fc.asyncProperty(fc.array(fc.oneof(answers, faults), { minLength: 1, maxLength: 6 }), async (turns) => {
      const { settled, reply, held } = await play(turns.map((make) => make()));
      const record = settled.at(-1)?.record;
      expect(new Set(settled.map((entry) => entry.record.attempt)).size).toBe(settled.length);
      expect(settled.slice(0, -1).every((entry) => entry.record.outcome === 'cut')).toBe(true);
      expect(record?.responseSha256).toBe(sha256(reply.body));
      expect(record?.outcome === 'completed').toBe(reply.status === 200);
      expect(await held(KEY_LANE)).toBe(0n);
      world?.close();
      world = undefined;
    }),
    { numRuns: 60 },
  );
});
