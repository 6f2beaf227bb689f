import { AnthropicError } from '@tallygate/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MovableClock, newKey, signUp } from './testing/account-api.ts';
import { type InferenceWorld, openInferenceWorld } from './testing/inference-api.ts';

let world: InferenceWorld;
let key: string;
let session: Awaited<ReturnType<typeof signUp>>;
beforeAll(async () => {
  world = await openInferenceWorld(new MovableClock());
  session = await signUp(world.account);
  key = keyOf(await newKey(world.account, session.auth, { livemode: false }));
});
afterAll(() => world?.close());

const keyOf = ({ auth }: Awaited<ReturnType<typeof newKey>>): string => String(auth['authorization']).replace('Bearer ', '');
const HELLO = { model: 'claude-sonnet-4-6', max_tokens: 64, messages: [{ role: 'user', content: 'Say hello.' }] };

async function ask(body: unknown, headers: Record<string, string> = { 'x-api-key': key }) {
  const sent = { 'content-type': 'application/json', 'anthropic-version': '2023-06-01', ...headers };
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const answer = await fetch(`http://${world.authority}/v1/messages`, { method: 'POST', headers: sent, body: text });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
}

const eventsOf = (text: string) =>
  [...text.matchAll(/^event: (\S+)\ndata: (.*)$/gm)].map(([, name, data]) => ({ name, ...JSON.parse(data ?? '') }));

describe('a message', () => {
  test('is answered with its usage, its cost and the headers of every answer', async () => {
    const { status, headers, text } = await ask(HELLO);
    const { id, content, stop_reason, usage } = JSON.parse(text);
    expect([status, content[0].type, stop_reason]).toEqual([200, 'text', 'end_turn']);
    expect(id).toMatch(/^msg_[0-9a-f]{32}$/);
    expect(usage.cost).toBe(Number(headers.get('x-cost-usd')));
    expect(headers.get('request-id')).toBe(headers.get('x-request-id'));
    for (const name of ['x-receipt-id', 'x-model-served', 'x-ratelimit-remaining-requests']) expect(headers.get(name), name).not.toBeNull();
  });

  test('takes the key as a bearer token, and belongs to its agent run', async () => {
    const run = { 'x-agent-run-id': 'run-of-messages', 'x-agent-max-budget': '1' };
    const { status, headers } = await ask(HELLO, { authorization: `Bearer ${key}`, ...run });
    expect([status, headers.get('x-agent-budget-limit-usd')]).toEqual([200, '1']);
  });

  test('streams each event under its name, from its beginning to its end', async () => {
    const { text, headers } = await ask({ ...HELLO, stream: true });
    const events = eventsOf(text);
    expect(headers.get('content-type')).toMatch(/^text\/event-stream/);
    expect(events.every(({ name, type }) => name === type)).toBe(true);
    expect([...new Set(events.map(({ type }) => type))]).toEqual([
      ...['message_start', 'content_block_start', 'content_block_delta', 'content_block_stop', 'message_delta', 'message_stop'],
    ]);
    expect(events.at(-2)?.usage.cost).toBeGreaterThan(0);
  });

  test('asks a model for no more tokens than it gives, whatever its client asks of any model', async () => {
    const { status, text } = await ask({ ...HELLO, model: 'gpt-4o-mini', max_tokens: 128_000 });
    expect([status, JSON.parse(text).model]).toEqual([200, 'gpt-4o-mini']);
  });

  test('with an idempotency key is answered once', async () => {
    const headers = { 'x-api-key': key, 'idempotency-key': 'messages-1' };
    const first = await ask(HELLO, headers);
    const again = await ask(HELLO, headers);
    expect([again.text, again.headers.get('idempotent-replayed')]).toEqual([first.text, 'true']);
  });
});

describe('a refusal is in Anthropic’s form, with its status', () => {
  const refused = async (...given: Parameters<typeof ask>) => {
    const { status, headers, text } = await ask(...given);
    const { error, code, request_id } = AnthropicError.parse(JSON.parse(text));
    expect(headers.get('content-type')).toBe('application/json');
    expect(headers.get('request-id')).toBe(request_id);
    return [status, error.type, code];
  };
  const capped = async (limits: object) => ({
    'x-api-key': keyOf(await newKey(world.account, session.auth, { livemode: false, ...limits })),
  });
  const faulty = (fault: string) => ({ 'x-api-key': key, 'x-sandbox-fault': fault });

  test.each([
    ['no key', () => refused(HELLO, {}), [401, 'authentication_error', 'missing_credentials']],
    ['a wrong key', () => refused(HELLO, { 'x-api-key': 'tg_test_nothing' }), [401, 'authentication_error', 'invalid_credentials']],
    ['a body that is no JSON', () => refused('{'), [400, 'invalid_request_error', 'malformed_json']],
    ['a field that is missing', () => refused({ ...HELLO, max_tokens: undefined }), [400, 'invalid_request_error', 'validation_failed']],
    [
      'a tool without a price',
      () => refused({ ...HELLO, tools: [{ type: 'web_search_20250305', name: 'web_search' }] }),
      [400, 'invalid_request_error', 'unpriced_feature'],
    ],
    ['a model that is not there', () => refused({ ...HELLO, model: 'nothing' }), [404, 'not_found_error', 'model_not_found']],
    [
      'a body that is too large',
      () => refused({ ...HELLO, system: 'x'.repeat(1_100_000) }),
      [413, 'request_too_large', 'payload_too_large'],
    ],
    [
      'a model that the key may not use',
      async () => refused(HELLO, await capped({ allowed_models: ['gpt-4o-mini'] })),
      [403, 'permission_error', 'model_not_allowed'],
    ],
    [
      'an endpoint that the key may not use',
      async () => refused(HELLO, await capped({ allowed_endpoints: ['/v1/embeddings'] })),
      [403, 'permission_error', 'endpoint_not_allowed'],
    ],
    [
      'a cap',
      async () => refused(HELLO, { 'x-api-key': key, 'x-agent-run-id': 'poor', 'x-agent-max-budget': '0.000001' }),
      [402, 'billing_error', 'budget_exceeded'],
    ],
    ['a provider at its limit', () => refused(HELLO, faulty('429')), [429, 'rate_limit_error', 'upstream_rate_limited']],
    ['a provider that fails', () => refused(HELLO, faulty('500')), [502, 'api_error', 'upstream_failed']],
  ] as const)('%s', async (_name, provoked, expected) => {
    expect(await provoked()).toEqual(expected);
  });

  test('too many requests of a minute', async () => {
    const headers = await capped({ rate_limits: { requests_per_minute: 1 } });
    await ask(HELLO, headers);
    expect(await refused(HELLO, headers)).toEqual([429, 'rate_limit_error', 'rate_limited']);
  });

  test('a method that is not there', async () => {
    const answer = await fetch(`http://${world.authority}/v1/messages`, { headers: { 'x-api-key': key } });
    expect([answer.status, (await answer.json()).error.type]).toEqual([405, 'invalid_request_error']);
  });

  test('a stream that breaks off, as its last event', async () => {
    const { text } = await ask({ ...HELLO, stream: true }, faulty('cut'));
    expect(eventsOf(text).at(-1)).toMatchObject({ name: 'error', type: 'error', error: { type: 'api_error' } });
  });
});
