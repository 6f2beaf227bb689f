import { describe, expect, test } from 'vitest';
import type { UpstreamCall, UpstreamFault } from '../adapters/upstream/port.ts';
import { completeCall, Deployments } from '../inference/calls/index.ts';
import { callOf, faulty, openInference, ScriptedAnswer, ScriptedProvider } from '../inference/calls/testing/inference.ts';
import { ProviderAllowance, type ProviderLimits, withinLimits } from './provider-limits.ts';

const NONE: ProviderLimits = { requestsPerMinute: null, tokensPerMinute: null, concurrency: null };
const MINUTE_MS = 60_000;
const USAGE = { prompt_tokens: 10, completion_tokens: 20, total_tokens: 30 };
const answer = () =>
  new ScriptedAnswer([JSON.stringify({ id: 'c', choices: [{ index: 0, message: { content: 'Hello.' } }], usage: USAGE })]);
const CALL = { signal: new AbortController().signal } as UpstreamCall;

function open(limits: Partial<ProviderLimits>, turns: ConstructorParameters<typeof ScriptedProvider>) {
  const clock = { at: 1_000_000 };
  const allowance = new ProviderAllowance({ ...NONE, ...limits }, () => clock.at);
  const provider = new ScriptedProvider(...turns);
  return { clock, allowance, provider, upstream: withinLimits(provider, allowance) };
}

const isRefused = (result: { readonly ok: boolean } | UpstreamFault) => !result.ok && 'isOwnLimit' in result && result.isOwnLimit === true;

describe('a provider with limits', () => {
  test('is asked for no more requests than they allow, and says when it may be asked again', async () => {
    const { clock, provider, upstream } = open({ requestsPerMinute: 2 }, [answer(), answer(), answer()]);
    const results = await Promise.all([upstream.call(CALL), upstream.call(CALL), upstream.call(CALL)]);
    expect(results.map(isRefused)).toEqual([false, false, true]);
    expect(results[2]).toMatchObject({ kind: 'rate_limited', retryable: true, retryAfterMs: MINUTE_MS / 2 });
    clock.at += MINUTE_MS / 2;
    expect(isRefused(await upstream.call(CALL))).toBe(false);
    expect(provider.calls).toHaveLength(3);
  });

  test.each([
    ['is read', (one: ScriptedAnswer) => one.collect(1_000)],
    ['is streamed', (one: ScriptedAnswer) => one.pump(() => {})],
    ['is cut', async (one: ScriptedAnswer) => one.abort()],
  ])('has a place free again once an answer %s', async (_, end) => {
    const { allowance, upstream } = open({ concurrency: 1 }, [answer(), answer()]);
    const first = await upstream.call(CALL);
    expect([allowance.freeInMs() > 0, isRefused(await upstream.call(CALL))]).toEqual([true, true]);
    await end(first as ScriptedAnswer);
    expect(allowance.freeInMs()).toBe(0);
    expect(isRefused(await upstream.call(CALL))).toBe(false);
  });

  test('has its place free again at once where it fails', async () => {
    const { allowance, upstream } = open({ concurrency: 1 }, [faulty('failed')]);
    await upstream.call(CALL);
    expect(allowance.freeInMs()).toBe(0);
  });

  test('is left alone while more tokens than they allow were used, however many one call had', () => {
    const { clock, allowance } = open({ tokensPerMinute: 600 }, []);
    allowance.used(599);
    expect(allowance.freeInMs()).toBe(0);
    allowance.used(601);
    expect(allowance.freeInMs()).toBe(MINUTE_MS);
    clock.at += MINUTE_MS;
    expect(allowance.freeInMs()).toBe(0);
  });

  test('is passed over for another while they are used up; with none left the request waits, or is refused', async () => {
    const { clock, allowance, provider, upstream } = open({ requestsPerMinute: 1 }, [answer(), answer()]);
    const other = new ScriptedProvider(answer());
    const opened = openInference({ retryAfterMs: MINUTE_MS - 1 });
    try {
      const common = { upstreamModel: 'm', countsLikeMaker: true, onCancel: 'keeps_billing' } as const;
      const limited = { ...common, name: 'limited', provider: 'limited', upstream, allowance, weight: 1_000 };
      const free = { ...common, name: 'free', provider: 'free', upstream: other, weight: 1e-9 };
      const deps = (all: (typeof limited | typeof free)[]) => ({
        ...opened.deps,
        deployments: new Deployments(new Map([['gpt-4o-mini', all]]), new ScriptedProvider(), () => 0.5),
      });
      const ask = (all: (typeof limited | typeof free)[]) => completeCall(callOf({}, { livemode: true }), deps(all));
      const servedBy = async (all: (typeof limited | typeof free)[]) => (await ask(all)).headers['x-provider'];
      expect([await servedBy([limited, free]), await servedBy([limited, free])]).toEqual(['limited', 'free']);
      expect([(await ask([limited])).status, provider.calls.length]).toEqual([429, 1]);
      clock.at += MINUTE_MS - 20;
      expect([(await ask([limited])).status, provider.calls.length]).toEqual([429, 1]);
      clock.at += 20;
      expect([(await ask([limited])).status, provider.calls.length]).toEqual([200, 2]);
    } finally {
      opened.close();
    }
  });
});
