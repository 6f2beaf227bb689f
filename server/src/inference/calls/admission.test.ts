import { MessagesRequest } from '@tallygate/contract';
import fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { LARGEST_HOLD } from '../../adapters/lanes/port.ts';
import type { UpstreamEndpoint } from '../../adapters/upstream/port.ts';
import { loadCatalog } from '../../money/catalog/index.ts';
import { admit as admitSoon, worstCaseOf } from './admission.ts';
import { messageWork } from './messages/message-work.ts';
import { unmet } from './offers.ts';
import { requirementsOf } from './requirements.ts';
import { ACCOUNT, callOf, KEY, openInference, ScriptedProvider } from './testing/inference.ts';

type Options = Parameters<typeof openInference>[0];
let world: ReturnType<typeof openInference> | undefined;
afterEach(() => {
  world?.close();
  world = undefined;
});

const open = (options: Options = {}) => {
  world?.close();
  world = openInference(options);
  return world;
};
const everywhere = (...models: string[]) => Object.fromEntries(models.map((model) => [model, [new ScriptedProvider()]]));
const admit = async (...args: Parameters<typeof admitSoon>) => admitSoon(...args);
const take = (call: ReturnType<typeof callOf>, options: Options = {}) => admit(call, open(options).deps);
const refusalOf = (admitted: Promise<unknown>) =>
  admitted.then(
    () => undefined,
    (problem: { code: string; extras: Record<string, unknown> }) => problem,
  );

/** Template tokens of a request with one message. */
const TEMPLATE = 64 + 16;

describe('a hold', () => {
  test('is the bytes and the template at the input price, and the bound at the output price, to the nano-dollar', async () => {
    const call = callOf({ max_tokens: 100 });
    // gpt-4o-mini: 150 nano-USD per token in, 600 out.
    const expected = BigInt(call.body.length + TEMPLATE) * 150n + 100n * 600n;
    const admission = await take(call);
    expect(admission.hold.amount).toBe(expected);
    expect(await world?.held(`key:${KEY}:2026-11`)).toBe(expected);
    expect(await world?.held(`test:${ACCOUNT}:2026-11`)).toBe(expected);
    expect(admission).toMatchObject({ maxOutputTokens: 100, isBoundOurs: false, funding: 'test' });
  });

  test('has the output once for every choice', async () => {
    const call = callOf({ max_tokens: 100, n: 3 });
    const admission = await take(call);
    expect(admission.hold.amount).toBe(BigInt(call.body.length + TEMPLATE) * 150n + 300n * 600n);
    expect(admission.maxOutputTokens).toBe(100);
  });

  test('has a prediction once more, as output that may be rejected', async () => {
    const prediction = { type: 'content', content: 'x'.repeat(50) };
    const call = callOf({ max_tokens: 100, prediction });
    const bytes = JSON.stringify(prediction).length;
    expect((await take(call)).hold.amount).toBe(BigInt(call.body.length + TEMPLATE) * 150n + BigInt(100 + bytes) * 600n);
  });

  test('is at the price of the long-context tier where the bytes may reach it', async () => {
    // gpt-5.4: 2,500 and 15,000 nano-USD; above 272,000 tokens in, 5,000 and 22,500.
    const content = 'x'.repeat(300_000);
    const call = callOf({ model: 'gpt-5.4', messages: [{ role: 'user', content }], max_tokens: 100 });
    expect((await take(call)).hold.amount).toBe(BigInt(call.body.length + TEMPLATE) * 5_000n + 100n * 22_500n);
    const short = callOf({ model: 'gpt-5.4', max_tokens: 100 });
    expect((await take(short)).hold.amount).toBe(BigInt(short.body.length + TEMPLATE) * 2_500n + 100n * 15_000n);
  });

  test('has the dearest way to count the input: the hour-long cache write, where there is one', async () => {
    const call = callOf({ model: 'claude-haiku-4-5', max_tokens: 10 });
    expect((await take(call)).hold.amount).toBe(BigInt(call.body.length + TEMPLATE) * 2_000n + 10n * 5_000n);
  });

  test('is the model’s own maximum where the caller names no bound and no cap is near', async () => {
    const admission = await take(callOf({}));
    expect(admission).toMatchObject({ maxOutputTokens: 16_384, isBoundOurs: true });
  });

  test('takes the lower of two bounds', async () => {
    expect(await take(callOf({ max_tokens: 100, max_completion_tokens: 40 }))).toMatchObject({ maxOutputTokens: 40, isBoundOurs: false });
  });
});

describe('a cap that is near', () => {
  const input = (call: ReturnType<typeof callOf>) => BigInt(call.body.length + TEMPLATE) * 150n;
  const fixed = (body: object) => input(callOf(body));

  /** Its tokenizer is not published, so its bytes are all there is to go by. */
  const uncounted = { model: 'claude-haiku-4-5' };
  const uncountedInput = (body: object) => BigInt(callOf({ ...uncounted, ...body }).body.length + TEMPLATE) * 2_000n;

  test('lets the largest bound through that fits, where the caller named none', async () => {
    const cap = uncountedInput({}) + 50n * 5_000n + 4_999n;
    expect(await take(callOf(uncounted, { monthlyCap: cap }))).toMatchObject({ maxOutputTokens: 50, isBoundOurs: true });
  });

  test('lowers a named bound only under clamp', async () => {
    const cap = uncountedInput({ max_tokens: 100 }) + 50n * 5_000n;
    const headers = { 'x-budget-policy': 'clamp' };
    const clamped = await take(callOf({ ...uncounted, max_tokens: 100 }, { monthlyCap: cap, headers }));
    expect(clamped).toMatchObject({ maxOutputTokens: 50, isBoundOurs: true });
    const problem = await refusalOf(take(callOf({ ...uncounted, max_tokens: 4_000 }, { monthlyCap: cap })));
    expect(problem).toMatchObject({ code: 'budget_exceeded', extras: { budget: { limit_source: 'key', spent_usd: '0', held_usd: '0' } } });
  });

  test('counts the prompt before it lowers a bound: bytes would leave fewer tokens than there is money for', async () => {
    const cap = fixed({}) + 50n * 600n;
    const { maxOutputTokens, hold } = await take(callOf({}, { monthlyCap: cap, livemode: true }), { live: everywhere('gpt-4o-mini') });
    expect(maxOutputTokens).toBeGreaterThan(50);
    expect(hold.amount).toBeLessThanOrEqual(cap);
  });

  test('refuses what leaves fewer than sixteen tokens a choice, though the prompt is counted', async () => {
    for (const headers of [{}, { 'x-budget-policy': 'clamp' }]) {
      const problem = await refusalOf(take(callOf({ n: 2 }, { monthlyCap: 30n * 600n, headers })));
      expect(problem).toMatchObject({ code: 'budget_exceeded' });
    }
  });

  test('is met by counting the prompt where its bytes do not fit', async () => {
    const messages = [{ role: 'user', content: 'hello '.repeat(1_000) }];
    const bytes = callOf({ messages }).body.length;
    const cap = BigInt(Math.ceil(bytes / 3)) * 150n + 10n * 600n;
    const call = { messages, max_tokens: 10 };
    const admission = await take(callOf(call, { monthlyCap: cap, livemode: true }), { live: everywhere('gpt-4o-mini') });
    expect(admission.hold.amount).toBeLessThanOrEqual(cap);
    expect(admission.hold.amount).toBeGreaterThan(1_000n * 150n);
    // Whoever serves test keys counts by a rule of its own: the bytes stay the bound.
    expect(await refusalOf(take(callOf(call, { monthlyCap: cap })))).toMatchObject({ code: 'budget_exceeded' });
  });

  test('asks to wait where running requests hold what is missing', async () => {
    const cap = fixed({ max_tokens: 100 }) + 150n * 600n;
    const { deps } = open();
    await admit(callOf({ max_tokens: 100 }, { monthlyCap: cap }), deps);
    expect(await refusalOf(admit(callOf({ max_tokens: 100 }, { monthlyCap: cap }), deps))).toMatchObject({
      code: 'budget_in_flight',
      extras: { retryAfterSeconds: 1, budget: { limit_source: 'key' } },
    });
  });

  test('holds whatever is asked at the same time: settled and held never exceed it', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ max_tokens: fc.integer({ min: 1, max: 300 }), n: fc.integer({ min: 1, max: 3 }) }), {
          minLength: 1,
          maxLength: 20,
        }),
        fc.bigInt({ min: 0n, max: 600_000n }),
        async (bodies, cap) => {
          const { deps, held, close } = openInference();
          await Promise.allSettled(bodies.map((body) => admit(callOf(body, { monthlyCap: cap }), deps)));
          expect((await held(`key:${KEY}:2026-11`)) ?? 0n).toBeLessThanOrEqual(cap);
          close();
        },
      ),
      { numRuns: 30 },
    );
  });
});

describe('the account', () => {
  const live = { livemode: true };

  test('on a plan that blocks is refused beyond its quota, by the name of it', async () => {
    const problem = await refusalOf(
      take(callOf({}, { ...live, plan: 'free' }), { live: everywhere('gpt-4o-mini'), quotaUsed: { requests: 1_000n } }),
    );
    const quota = { meter: 'requests', included: 1_000, used: 1_000, held: 0, required: 1 };
    expect(problem).toMatchObject({ code: 'budget_exceeded', extras: { budget: { limit_source: 'plan_quota', quota } } });
    expect(problem).toHaveProperty(
      'message',
      'Your plan includes 1000 requests a month, and none are left: get a larger plan (POST /v1/plans/checkout), or wait for the next month.',
    );
  });

  test('on a prepaid plan pays from its balance beyond the quota, and is refused without one', async () => {
    const beyond = { live: everywhere('gpt-4o-mini'), quotaUsed: { requests: 50_000n } };
    expect(await take(callOf({ max_tokens: 10 }, live), { ...beyond, balance: 1_000_000_000n })).toMatchObject({ funding: 'balance' });
    expect(await refusalOf(take(callOf({ max_tokens: 10 }, live), beyond))).toMatchObject({
      extras: { budget: { limit_source: 'balance' } },
    });
  });

  test('of a session spends real money and has no key lane', async () => {
    const call = callOf({ max_tokens: 10 });
    const { deps, held } = open({ live: everywhere('gpt-4o-mini') });
    const principal = { kind: 'session', sessionId: 's', accountId: ACCOUNT, userId: 'u', role: 'member' } as const;
    const admission = await admit({ ...call, grant: { principal, monthlyCap: null, plan: 'pro' } }, deps);
    expect(admission).toMatchObject({ funding: 'balance', hold: { lanes: [] } });
    expect(await held(`key:${KEY}:2026-11`)).toBe(0n);
  });
});

describe('the model', () => {
  test.each([
    ['that nobody knows', { model: 'gpt-99' }, 'model_not_found', 'model'],
    ['of another endpoint', { model: 'text-embedding-3-small' }, 'model_not_found', 'model'],
    ['unknown among the fallbacks', { models: ['gpt-99'] }, 'model_not_found', 'models'],
    [
      'that cannot do it',
      { model: 'deepseek-v4-pro', messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://a.test/i' } }] }] },
      'validation_failed',
      'messages[0].content[0]',
    ],
  ])('%s is refused by the field', async (_, body, code, param) => {
    expect(await refusalOf((async () => take(callOf(body)))())).toMatchObject({ code, extras: { param } });
  });

  test.each([{ max_tokens: 32_000 }, { max_completion_tokens: 32_000 }, { max_tokens: 32_000, n: 2 }])(
    'that gives fewer tokens than %o asks for is asked for as many as it gives',
    async (body) => {
      const { maxOutputTokens, hold } = await take(callOf(body));
      const most = await take(callOf({ ...body, ...('max_tokens' in body ? { max_tokens: 16_384 } : { max_completion_tokens: 16_384 }) }));
      expect([maxOutputTokens, hold.amount]).toEqual([16_384, most.hold.amount]);
    },
  );

  test('that no deployment serves is refused to live keys, with the variable to set', async () => {
    const problem = await refusalOf(take(callOf({ model: 'claude-haiku-4-5' }, { livemode: true })));
    expect(problem).toMatchObject({ code: 'no_provider_configured', message: expect.stringContaining('ANTHROPIC_API_KEY') });
  });

  test('that is served, but not as it is asked for, is refused without a word of a variable that is set', async () => {
    class Unable extends ScriptedProvider {
      override serves(): boolean {
        return false;
      }
    }
    const taken = take(callOf({}, { livemode: true }), { live: { 'gpt-4o-mini': [new Unable()] } });
    expect(await refusalOf(taken)).toMatchObject({
      code: 'no_provider_configured',
      message: 'The providers of gpt-4o-mini do not serve /v1/chat/completions as it is asked here: name another model or provider.',
    });
  });

  test('of Messages with Anthropic’s own tools is refused by the field where its providers have chats only', async () => {
    class ChatsOnly extends ScriptedProvider {
      override serves(endpoint: UpstreamEndpoint): boolean {
        return endpoint === '/v1/chat/completions';
      }
    }
    const tools = [{ type: 'bash_20250124', name: 'bash' }];
    const given = { model: 'gpt-4o-mini', max_tokens: 10, messages: [{ role: 'user', content: 'Hi' }], tools };
    const work = messageWork(MessagesRequest.parse(given), { bytes: Buffer.from(JSON.stringify(given)), sha256: () => 'x' });
    const taken = take({ ...callOf({}, { livemode: true }), work }, { live: { 'gpt-4o-mini': [new ChatsOnly()] } });
    expect(await refusalOf(taken)).toMatchObject({
      code: 'validation_failed',
      message: expect.stringContaining('input_schema'),
      extras: { param: 'tools' },
    });
  });

  test('is followed by the caller’s fallbacks in order, held for the dearest, without those that cannot do it', async () => {
    const body = { models: ['gpt-5.4', 'gpt-4o-mini', 'gpt-4.1'], max_tokens: 100 };
    const call = callOf(body, { livemode: true });
    const admission = await take(call, { live: everywhere('gpt-4o-mini', 'gpt-5.4', 'gpt-4.1') });
    expect(admission.targets.map(({ model }) => model.id)).toEqual(['gpt-4o-mini', 'gpt-5.4', 'gpt-4.1']);
    expect(admission.hold.amount).toBe(BigInt(call.body.length + TEMPLATE) * 2_500n + 100n * 15_000n);
  });

  test('stands alone where the caller wants no fallback', async () => {
    const call = callOf({ models: ['gpt-5.4'] }, { headers: { 'x-fallback-policy': 'none' } });
    expect((await take(call)).targets.map(({ model }) => model.id)).toEqual(['gpt-4o-mini']);
  });
});

describe('semantic degradation', () => {
  const image = { role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://a.test/i.png' } }] };
  const { models } = openCatalog();

  test('offers no model that is dearer, lacks a capability, or whose window does not take the prompt, over the whole catalogue', async () => {
    const chat = models.filter((model) => model.endpoints.has('/v1/chat/completions'));
    const requests = fc.record({
      model: fc.constantFrom(...chat.map(({ id }) => id)),
      tools: fc.constantFrom([], [{ type: 'function', function: { name: 'f' } }]),
      response_format: fc.constantFrom({ type: 'text' }, { type: 'json_schema', json_schema: { name: 's' } }),
      messages: fc.constantFrom([{ role: 'user', content: 'hi' }], [image], [{ role: 'user', content: 'x'.repeat(250_000) }]),
      max_tokens: fc.constantFrom(16, 20_000),
    });
    const run = { headers: { 'x-agent-run-id': 'r' } };
    let steps = 0;
    await fc.assert(
      fc.asyncProperty(requests, async (body) => {
        const { deps, close } = openInference();
        const call = callOf(body, run);
        const admission = await admit(call, deps).catch(() => undefined);
        close();
        if (!admission) return;
        const [first, ...others] = admission.targets;
        const alone = await admitAlone(body);
        expect(first?.model.id).toBe(body.model);
        expect(admission.hold.amount).toBe(alone);
        for (const { model } of others) {
          steps += 1;
          expect(unmet(model, requirementsOf(call.request))).toBeUndefined();
          const price = model.priceAt(call.startedAt);
          const tokens = call.work.bound(model).inputTokens;
          expect(tokens).toBeLessThanOrEqual(model.contextWindow ?? Number.POSITIVE_INFINITY);
          expect(price).toBeDefined();
        }
        expect(others.length).toBeLessThanOrEqual(3);
      }),
      { numRuns: 150 },
    );
    expect(steps).toBeGreaterThan(50);
  });

  /** What is held for the model alone. */
  async function admitAlone(body: object): Promise<bigint> {
    const { deps, close } = openInference();
    const { hold } = await admit(callOf(body, { headers: { 'x-fallback-policy': 'none' } }), deps);
    close();
    return hold.amount;
  }
});

function openCatalog() {
  const { deps, close } = openInference();
  close();
  return deps.catalog;
}

test.each([
  ['whose worst case is beyond what can be held', '999999.999999', { max_tokens: 10_000_001 }, 'may cost up to'],
  ['with more tokens than can be held, at no price', '0', {}, 'may use up to'],
])('a request %s is refused before anything is held', async (_, usd, body, words) => {
  const definition = { context_window: Number.MAX_SAFE_INTEGER };
  const prices = [{ usd_per_million: { input_tokens: usd, output_tokens: usd }, cited: null }];
  const world = open();
  const deps = { ...world.deps, catalog: loadCatalog([{ id: 'endless', definition, prices }]) };
  const call = callOf({ model: 'endless', ...body });
  const hold = vi.spyOn(world.lanes, 'hold');
  const refusal = { code: 'validation_failed', message: expect.stringContaining(words) };
  expect(await refusalOf(admit(call, deps))).toMatchObject(refusal);
  expect(await refusalOf((async () => worstCaseOf(call, deps))())).toMatchObject(refusal);
  expect(hold).not.toHaveBeenCalled();
});

test.each([
  ['2026-11-29T23:59:59.999Z', undefined],
  ['2026-11-30T00:00:00Z', 'was retired by its provider on 2026-11-30. Ask for claude-sonnet-5-5 in its place.'],
])('at %s claude-sonnet-4-5 is refused with: %s', async (time, words) => {
  const world = open();
  const call = { ...callOf({ model: 'claude-sonnet-4-5' }), startedAt: Date.parse(time) };
  if (words === undefined) expect((await admit(call, world.deps)).targets[0]?.model.id).toBe('claude-sonnet-4-5');
  else expect(await refusalOf(admit(call, world.deps))).toMatchObject({ code: 'model_not_found', message: expect.stringContaining(words) });
});

test('the most that a hold can come to leaves room for hundreds of them in 64 bits', () => {
  expect(500n * LARGEST_HOLD).toBeLessThan(2n ** 63n);
});

test('a store that cannot be read refuses, it never waves through', async () => {
  const { deps, lanes } = open();
  vi.spyOn(lanes, 'hold').mockImplementation(() => Promise.reject(new Error('ECONNREFUSED')));
  expect(await refusalOf(admit(callOf({}), deps))).toMatchObject({ code: 'store_unavailable', status: 503 });
});
