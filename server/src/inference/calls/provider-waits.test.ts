import { afterEach, describe, expect, test } from 'vitest';
import { completeCall } from './serve.ts';
import { callOf, faulty, openInference, ScriptedAnswer, ScriptedProvider } from './testing/inference.ts';

const USAGE = { prompt_tokens: 10, completion_tokens: 20, total_tokens: 30 };
const answer = () =>
  new ScriptedAnswer([JSON.stringify({ id: 'c', choices: [{ index: 0, message: { content: 'Hello.' } }], usage: USAGE })]);
const limited = (retryAfterMs: number | null) => faulty('rate_limited', { status: 429, retryAfterMs });
const KEY_LANE = 'key:key-1:2026-11';

let world: ReturnType<typeof openInference> | undefined;
afterEach(() => {
  world?.close();
  world = undefined;
});

type Turns = ConstructorParameters<typeof ScriptedProvider>;

interface Wish {
  readonly retryAfterMs?: number;
  readonly headers?: Record<string, string>;
  readonly hangUp?: AbortController;
}

/** One call to deployments that have these turns each. */
async function play(deployments: readonly Turns[], { retryAfterMs = 1_000, headers = {}, hangUp = new AbortController() }: Wish = {}) {
  const providers = deployments.map((turns) => new ScriptedProvider(...turns));
  const opened = openInference({ live: { 'gpt-4o-mini': providers }, retryAfterMs });
  world = opened;
  const asked = completeCall(callOf({}, { livemode: true, headers, signal: hangUp.signal }), opened.deps);
  const ended = async () => {
    const reply = await asked;
    const settled = await opened.settled();
    expect((await opened.held(KEY_LANE)) ?? 0n).toBe(0n);
    return { reply, record: settled[0]?.record, settled: settled.length, calls: providers.map(({ calls }) => calls.length) };
  };
  return { providers, ended: ended() };
}

describe('a provider at its limit that says when it may be asked again', () => {
  test('is waited for when no other is left, and asked once more', async () => {
    const { ended } = await play([[limited(20), answer()]]);
    const { reply, record, settled, calls } = await ended;
    expect([reply.status, reply.headers['x-fallback'], settled, calls]).toEqual([200, 'none', 1, [2]]);
    expect(record).toMatchObject({ outcome: 'completed', attempts: [{ outcome: 'rate_limited' }, { outcome: 'answered' }] });
  });

  test('is waited for as often as it asks for that, and not beyond the most attempts', async () => {
    const { reply, calls } = await (await play([[limited(1), limited(1), limited(1), limited(1), limited(1)]])).ended;
    expect([reply.status, calls]).toEqual([429, [5]]);
  });

  test('of several, the one that is free first is asked', async () => {
    const { reply, calls, record } = await (await play([[limited(900)], [limited(10), answer()]])).ended;
    expect([reply.status, reply.headers['x-fallback'], calls]).toEqual([200, 'deployment', [1, 2]]);
    expect(record?.attempts?.map(({ outcome }) => outcome)).toEqual(['rate_limited', 'rate_limited', 'answered']);
  });

  test.each([
    ['it asks for more time than a request waits', [limited(1_001)], {}],
    ['waiting is switched off', [limited(10)], { retryAfterMs: 0 }],
    ['the caller wants one try', [limited(10)], { headers: { 'x-fallback-policy': 'none' } }],
    ['it does not say when', [limited(null)], {}],
  ] as const)('is not waited for where %s', async (_, turns, wish) => {
    const { reply, calls, record } = await (await play([[...turns]], wish)).ended;
    expect([reply.status, calls, record?.cost]).toEqual([429, [1], '0']);
  });

  test('is not waited for any longer, and costs nothing, once the client hangs up', async () => {
    const hangUp = new AbortController();
    const { providers, ended } = await play([[limited(60_000)]], { retryAfterMs: 120_000, hangUp });
    await expect.poll(() => providers[0]?.calls.length).toBe(1);
    hangUp.abort();
    const { calls, record } = await ended;
    expect([calls, record?.cost]).toEqual([[1], '0']);
  });

  test('is not waited for any longer once the gateway stops', async () => {
    const { providers, ended } = await play([[limited(60_000)]], { retryAfterMs: 120_000 });
    await expect.poll(() => providers[0]?.calls.length).toBe(1);
    await world?.deps.running.stop();
    expect((await ended).record?.cost).toBe('0');
  });
});
