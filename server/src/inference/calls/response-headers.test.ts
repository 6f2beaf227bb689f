import { expect, test } from 'vitest';
import { admit } from './admission.ts';
import { agentRunHeaders } from './agent-run-headers.ts';
import { answerHeaders } from './response-headers.ts';
import { callOf, openInference } from './testing/inference.ts';

async function headersOf(...args: Parameters<typeof callOf>) {
  const world = openInference();
  const admission = await admit(callOf(...args), world.deps);
  world.close();
  const [target] = admission.targets;
  if (!target) throw new Error('no target');
  return answerHeaders(admission, { target, fallback: 'none' }, 1.23456, {});
}

test('an answer says who served it, how, and what the gateway took', async () => {
  expect(await headersOf({ max_tokens: 10 })).toMatchObject({
    'x-request-id': 'req_1',
    'x-receipt-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
    'x-model-served': 'gpt-4o-mini',
    'x-provider': 'sandbox',
    'x-overhead-ms': '1.235',
    'x-fallback': 'none',
  });
});

test('the head of an answer promises its receipt, for the model that answers and at most what is held', async () => {
  const world = openInference();
  const admission = await admit(callOf({ max_tokens: 10 }), world.deps);
  world.close();
  const [target] = admission.targets;
  if (!target) throw new Error('no target');
  const asked: unknown[] = [];
  const promises = { of: (promised: unknown) => `promise ${asked.push(promised)}` };
  const journey = { target, fallback: 'none' } as const;
  const { 'x-receipt-promise': promise, ...headers } = answerHeaders(admission, journey, 1, { promises, isSettled: true });
  expect(promise).toBe('promise 1');
  expect(asked).toMatchObject([
    {
      receiptId: headers['x-receipt-id'],
      model: 'gpt-4o-mini',
      worstCost: admission.hold.amount,
      isSettled: true,
      requestSha256: expect.any(String),
    },
  ]);
  const { head } = asked[0] as { head: object };
  expect(headers).toMatchObject(head);
});

test.each([
  ['日本/語-1 é', '%E6%97%A5%E6%9C%AC/%E8%AA%9E-1%20%C3%A9'],
  ['é', '%C3%A9'],
  ['%C3%A9', '%25C3%25A9'],
  ['100%', '100%25'],
  ['meta-llama/Llama-4:8b', 'meta-llama/Llama-4:8b'],
])('the name %s is %s in a header: percent-encoded where it is no ASCII, or a percent sign, and so to be read back', async (id, text) => {
  const world = openInference();
  const admission = await admit(callOf({}), world.deps);
  world.close();
  const [target] = admission.targets;
  if (!target) throw new Error('no target');
  const named = { ...target, model: Object.assign(Object.create(target.model), { id }) };
  const headers = answerHeaders(admission, { target: named, fallback: 'none' }, 1, {});
  expect(headers['x-model-served']).toBe(text);
  expect(() => new Headers({ 'x-model-served': String(headers['x-model-served']) })).not.toThrow();
  expect(decodeURIComponent(String(headers['x-model-served']))).toBe(id);
});

test('the token bound is named where it is ours, and only there', async () => {
  expect(await headersOf({})).toMatchObject({ 'x-budget-max-tokens': '16384' });
  expect(await headersOf({ max_tokens: 10 })).not.toHaveProperty('x-budget-max-tokens');
});

test('a run’s headers show its ceiling, its spend and what is left, never less than nothing', () => {
  const lane = { id: 'run', source: 'agent_run', cap: 1_000_000_000n, spent: 1n, held: 999n } as const;
  expect(agentRunHeaders([lane])).toEqual({
    'x-agent-budget-limit-usd': '1',
    'x-agent-budget-spent-usd': '0.000000001',
    'x-agent-budget-remaining-usd': '0.999999',
  });
  expect(agentRunHeaders([{ ...lane, spent: 2_000_000_000n }])).toMatchObject({ 'x-agent-budget-remaining-usd': '0' });
  expect(agentRunHeaders([{ ...lane, cap: null }])).toEqual({ 'x-agent-budget-spent-usd': '0.000000001' });
  const above = { ...lane, id: 'above', spent: 999_999_000n, held: 0n };
  expect(agentRunHeaders([lane, above])).toMatchObject({ 'x-agent-budget-limit-usd': '1', 'x-agent-budget-remaining-usd': '0.000001' });
  expect(agentRunHeaders([])).toEqual({});
});
