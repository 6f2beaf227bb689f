import { hash } from 'node:crypto';
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { admit, HOLD_MS } from './admission.ts';
import { callOf, faulty, NOW, openInference, ScriptedAnswer, ScriptedProvider } from './inference-under-test.ts';
import { relayPlain } from './plain-relay.ts';

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

async function start(
  turns: ConstructorParameters<typeof ScriptedProvider>,
  { headers = {}, body = {}, hangUp = new AbortController() } = {},
) {
  const providers = turns.map((turn) => new ScriptedProvider(turn));
  const opened = openInference({ live: { 'gpt-4o-mini': providers } });
  world = opened;
  const admission = await admit(callOf(body, { livemode: true, headers, signal: hangUp.signal }), opened.deps);
  return { ...opened, providers, admission, hangUp, run: () => relayPlain(admission, opened.deps) };
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

  test('that claims no tokens costs nothing, since the provider’s word counts', async () => {
    const { settled } = await play([new ScriptedAnswer([completion({ usage: { prompt_tokens: 0, completion_tokens: 0 } })])]);
    expect(settled[0]?.record).toMatchObject({ cost: '0', estimated: false });
  });

  test('that costs more than was held is booked whole, the excess as debt', async () => {
    const usage = { prompt_tokens: 90_000, completion_tokens: 90_000, total_tokens: 180_000 };
    const { settled } = await play([new ScriptedAnswer([completion({ usage })])], { body: { max_tokens: 16 } });
    expect(settled[0]?.record.cost).toBe('67500000');
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
    ['an error with status 200', new ScriptedAnswer(['{"error":{"message":"x"}}'])],
    ['half a body', new ScriptedAnswer([completion().slice(0, 20)], 'reset')],
    ['a body without end', new ScriptedAnswer([completion()], 'too_large')],
    ['a stalled body', new ScriptedAnswer([completion()], 'idle_timeout')],
    ['a fault', faulty('failed')],
  ])('%s is tried elsewhere', async (_, first) => {
    const { reply, settled } = await play([first, new ScriptedAnswer([completion()])]);
    expect(reply).toMatchObject({ status: 200, headers: { 'x-fallback': 'deployment', 'x-provider': 'provider-1' } });
    expect(settled).toHaveLength(1);
    expect(settled[0]?.record).toMatchObject({ attempt: 2, outcome: 'completed' });
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

test('a hang-up charges the prompt, and there is no answer to hash', async () => {
  const started = await start(['silence']);
  const running = started.run();
  started.hangUp.abort();
  await running;
  const settled = await started.settled();
  expect(settled).toHaveLength(1);
  expect(settled[0]?.record).toMatchObject({ outcome: 'cancelled', estimated: true, responseSha256: sha256('') });
});

test('a settlement that cannot be written gives no body away', async () => {
  const started = await start([new ScriptedAnswer([completion()])]);
  started.journal.isBroken = true;
  await expect(started.run()).rejects.toMatchObject({ code: 'store_unavailable', status: 503 });
  expect(await started.held(KEY_LANE)).toBeGreaterThan(0n);
});

test('a call that outlives its hold’s first term keeps its place under the cap', async () => {
  const started = await start(['silence']);
  const running = started.run();
  started.clock.at = NOW + HOLD_MS - 1;
  started.heartbeat.beat();
  expect(started.lanes.sweep(NOW + HOLD_MS + 1)).toBe(0);
  started.hangUp.abort();
  await running;
  expect(started.heartbeat.running).toBe(0);
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
      expect(settled).toHaveLength(1);
      expect(settled[0]?.record.responseSha256).toBe(sha256(reply.body));
      expect(settled[0]?.record.outcome === 'completed').toBe(reply.status === 200);
      expect(await held(KEY_LANE)).toBe(0n);
      world?.close();
      world = undefined;
    }),
    { numRuns: 60 },
  );
});
