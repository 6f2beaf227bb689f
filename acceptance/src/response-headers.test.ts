import { type FakeUpstream, startFakeUpstream, steps } from '@tallygate/fake-upstream';
import { verifyPromise } from '@tallygate/receipts';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Account } from './account.ts';
import { ask, HELLO, header, MODEL } from './chat.ts';
import { Gateway } from './gateway.ts';

const RUN = { 'x-agent-run-id': 'headers', 'x-agent-max-budget': '0.5' };
const STREAM = { ...HELLO, stream: true };

let upstream: FakeUpstream;
let gateway: Gateway;
let key: string;
beforeAll(async () => {
  upstream = await startFakeUpstream();
  gateway = await Gateway.start({ process: 'shared', providers: [{ name: 'house', base_url: upstream.url, models: [MODEL] }] });
  ({ key } = await (await Account.signUp(gateway, { plan: 'enterprise' })).createKey());
});
afterAll(async () => {
  await gateway?.remove();
  await upstream?.close();
});
beforeEach(() => upstream.reset());

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const DECIMAL = /^\d+(\.\d{1,9})?$/;

describe.each([
  ['a plain answer', HELLO, undefined],
  ['a streamed answer', STREAM, undefined],
  ['a refusal of the provider', HELLO, steps.refused(400, 'No.')],
  ['a stream that never began', STREAM, steps.refused(400, 'No.')],
])('%s', (_, body, fault) => {
  test('says who served it, under which receipt, and how long the gateway took', async () => {
    if (fault) upstream.script(() => fault);
    const answered = await ask(gateway, key, body);
    expect(header(answered, 'x-request-id')).toMatch(/^req_[0-9a-f]{32}$/);
    expect(header(answered, 'x-receipt-id')).toMatch(UUID_V7);
    expect(header(answered, 'x-model-served')).toBe(MODEL);
    expect(header(answered, 'x-provider')).toBe('house');
    expect(header(answered, 'x-fallback')).toBe('none');
    expect(Number(header(answered, 'x-overhead-ms'))).toBeGreaterThan(0);
  });

  test('promises its receipt, signed by a key that is published', async () => {
    if (fault) upstream.script(() => fault);
    const answered = await ask(gateway, key, body);
    const keys: unknown = await (await fetch(`${gateway.url}/.well-known/vaas-keys.json`)).json();
    const asked = { headers: answered.headers, requestBody: Buffer.from(JSON.stringify(body)), now: Date.now() };
    expect(verifyPromise(String(header(answered, 'x-receipt-promise')), keys, asked)).toMatchObject({
      valid: true,
      state: 'pending',
      promise: { receipt_id: header(answered, 'x-receipt-id'), model: MODEL },
    });
  });

  test('says how much of the rate limits is left, as OpenAI does', async () => {
    if (fault) upstream.script(() => fault);
    const answered = await ask(gateway, key, body);
    for (const unit of ['requests', 'tokens']) {
      const [limit, remaining] = ['limit', 'remaining'].map((what) => Number(header(answered, `x-ratelimit-${what}-${unit}`)));
      expect(remaining).toBeGreaterThan(0);
      expect(remaining).toBeLessThanOrEqual(Number(limit));
      expect(header(answered, `x-ratelimit-reset-${unit}`)).toMatch(/^(\d+(\.\d+)?(ms|s|m|h))+$/);
    }
  });

  test('does not count the provider’s time as the gateway’s', async () => {
    upstream.script(() => ({ ...fault, delayMs: 2_000 }));
    const answered = await ask(gateway, key, body);
    expect(Number(header(answered, 'x-overhead-ms'))).toBeLessThan(1_500);
  });

  test('has the state of the agent run', async () => {
    if (fault) upstream.script(() => fault);
    const answered = await ask(gateway, key, body, RUN);
    expect(header(answered, 'x-agent-budget-limit-usd')).toBe('0.5');
    for (const name of ['x-agent-budget-spent-usd', 'x-agent-budget-remaining-usd']) expect(header(answered, name)).toMatch(DECIMAL);
  });

  test('keeps a well-formed request id of the caller, under which the trace is found', async () => {
    if (fault) upstream.script(() => fault);
    expect(header(await ask(gateway, key, body, { 'x-request-id': 'my-own-request-id' }), 'x-request-id')).toBe('my-own-request-id');
  });
});

test('the cost is a header of a plain answer and never of a stream', async () => {
  expect(header(await ask(gateway, key, HELLO), 'x-cost-usd')).toBe('0.0000063');
  expect((await ask(gateway, key, STREAM)).headers.get('x-cost-usd')).toBeNull();
});

test('the ceiling of a run can only be tightened', async () => {
  const limit = async (ceiling: string) =>
    header(await ask(gateway, key, HELLO, { 'x-agent-run-id': 'tightened', 'x-agent-max-budget': ceiling }), 'x-agent-budget-limit-usd');
  expect([await limit('0.5'), await limit('0.9'), await limit('0.25'), await limit('0.5')]).toEqual(['0.5', '0.5', '0.25', '0.25']);
});

test('what is refused before a provider is asked has a request id too', async () => {
  for (const answered of [
    await ask(gateway, 'tg_live_nothing', HELLO),
    await ask(gateway, key, '{'),
    await ask(gateway, key, { ...HELLO, model: 'gpt-0' }),
  ])
    expect(header(answered, 'x-request-id')).toMatch(/^req_/);
});
