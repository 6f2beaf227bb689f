import { verifyReceipt } from '@tallygate/receipts';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { sweepCachedAnswers } from '../../inference/calls/index.ts';
import { MovableClock, newKey, send, signUp } from './testing/account-api.ts';
import { CHAT, chat, type InferenceWorld, MOST_CACHED_BYTES, openInferenceWorld } from './testing/inference-api.ts';

const START = Date.UTC(2026, 10, 21, 12);
const HOUR = { 'x-cache': 'max-age=3600' };
const clock = new MovableClock();
let world: InferenceWorld;
let owner: Awaited<ReturnType<typeof signUp>>;
let auth: Record<string, string>;

beforeAll(async () => {
  world = await openInferenceWorld(clock);
});
beforeEach(async () => {
  clock.stoppedAtMs = START;
  owner = await signUp(world.account);
  ({ auth } = await newKey(world.account, owner.auth, { livemode: false }));
});
afterAll(() => world?.close());

const ask = (headers: Record<string, string>, body: object | string = CHAT, path?: string) =>
  chat(world, { ...auth, ...headers }, body, path);
const stateOf = async (headers: Record<string, string>, body?: object, path?: string) => {
  const answer = await ask(headers, body, path);
  expect([answer.status, answer.text]).toEqual([200, expect.anything()]);
  return answer.headers.get('x-cache');
};
const kept = async (): Promise<number> =>
  Number((await world.database.pool.query('select count(*) from cached_answers where account_id = $1', [owner.accountId])).rows[0].count);
const question = (content: string) => ({ ...CHAT, messages: [{ role: 'user', content }] });

describe('an equal request of the same key', () => {
  const google = { contents: [{ parts: [{ text: 'Say hello.' }] }] };
  const claude = { model: 'claude-sonnet-4-6', max_tokens: 500, messages: [{ role: 'user', content: 'Say hello.' }] };
  const response = { model: 'gpt-4o-mini', input: 'Say hello.', store: false };
  const anthropic = { 'anthropic-version': '2023-06-01' };
  const surfaces: [string, string, object, Record<string, string>?][] = [
    ['a chat', '/v1/chat/completions', CHAT],
    ['a streamed chat', '/v1/chat/completions', { ...CHAT, stream: true, stream_options: { include_usage: true } }],
    ['a completion', '/v1/completions', { model: 'gpt-3.5-turbo-instruct', prompt: 'Say hello.', max_tokens: 200 }],
    ['a response', '/v1/responses', response],
    ['a streamed response', '/v1/responses', { ...response, stream: true }],
    ['a message', '/v1/messages', claude, anthropic],
    ['a streamed message', '/v1/messages', { ...claude, stream: true }, anthropic],
    ['Google’s content', '/v1beta/models/gemini-3.5-flash:generateContent', google],
    ['Google’s stream', '/v1beta/models/gemini-3.5-flash:streamGenerateContent?alt=sse', google],
    ['Google’s embedding', '/v1beta/models/gemini-embedding-001:embedContent', { content: { parts: [{ text: 'hello' }] } }],
    ['an embedding', '/v1/embeddings', { model: 'text-embedding-3-small', input: 'hello' }],
    ['a ranking', '/v1/rerank', { model: 'rerank-v4.0-fast', query: 'hello', documents: ['a', 'b'] }],
  ];

  test.each(surfaces)('for %s is told the same bytes again', async (_, path, body, headers = {}) => {
    const first = await ask({ ...headers, ...HOUR }, body, path);
    expect([first.status, first.headers.get('x-cache'), first.headers.has('age')]).toEqual([200, 'MISS', false]);
    clock.stoppedAtMs = START + 5_000;
    const again = await ask({ ...headers, ...HOUR }, body, path);
    expect([again.status, again.headers.get('x-cache'), again.headers.get('age')]).toEqual([200, 'HIT', '5']);
    expect(again.text).toBe(first.text);
    for (const name of ['content-type', 'x-model-served', 'x-provider']) expect(again.headers.get(name)).toBe(first.headers.get(name));
    expect(again.headers.get('x-receipt-id')).not.toBe(first.headers.get('x-receipt-id'));
    expect(again.headers.get('x-cost-usd')).toBe('0');
  });

  test('is equal in whichever order its fields come, and another where one of them differs', async () => {
    expect(await stateOf(HOUR, { ...CHAT, temperature: 0, seed: 1 })).toBe('MISS');
    expect(await stateOf(HOUR, { seed: 1, temperature: 0, ...CHAT })).toBe('HIT');
    expect(await stateOf(HOUR, { ...CHAT, temperature: 0, seed: 2 })).toBe('MISS');
    expect(await stateOf(HOUR, { ...CHAT, temperature: 0, seed: 1, unknown: true })).toBe('MISS');
    expect(await stateOf(HOUR, { ...CHAT, temperature: 0, seed: 1, model: 'gpt-4.1' })).toBe('MISS');
    expect(await stateOf(HOUR, { ...CHAT, temperature: 0, seed: 1, stream: true })).toBe('MISS');
    expect(await stateOf({ ...HOUR, 'x-fallback-policy': 'none' }, { ...CHAT, temperature: 0, seed: 1 })).toBe('MISS');
    expect(await stateOf({ ...HOUR, 'x-request-id': 'mine' }, { ...CHAT, temperature: 0, seed: 1 })).toBe('HIT');
  });

  test('is asked anew without the header, with no-cache, or when what is kept is too old', async () => {
    expect(await stateOf({})).toBeNull();
    expect(await kept()).toBe(0);
    expect(await stateOf({ 'x-cache': 'no-store, max-age=60' })).toBe('MISS');
    expect(await kept()).toBe(0);
    expect(await stateOf({ 'x-cache': 'max-age=60' })).toBe('MISS');
    clock.stoppedAtMs = START + 30_000;
    expect(await stateOf({ 'x-cache': 'max-age=60' })).toBe('HIT');
    expect(await stateOf({ 'x-cache': 'max-age=30' })).toBe('MISS');
    expect(await stateOf({ 'x-cache': 'max-age=30' })).toBe('HIT');
    expect(await stateOf({ 'x-cache': 'max-age=30,no-cache' })).toBe('MISS');
    clock.stoppedAtMs = START + 60_000;
    expect(await stateOf(HOUR)).toBe('MISS');
    for (const wrong of ['max-age=1d', 'private', 'max-age=2592001'])
      expect([(await ask({ 'x-cache': wrong })).code, wrong]).toEqual(['validation_failed', wrong]);
  });
});

describe('a kept answer', () => {
  test('is never given to another key of the account, nor to another account', async () => {
    expect(await stateOf(HOUR)).toBe('MISS');
    const other = await newKey(world.account, owner.auth, { livemode: false });
    expect(await stateOf({ ...HOUR, ...other.auth })).toBe('MISS');
    const stranger = await signUp(world.account);
    const theirs = await newKey(world.account, stranger.auth, { livemode: false });
    expect(await stateOf({ ...HOUR, ...theirs.auth })).toBe('MISS');
    expect(await stateOf(HOUR)).toBe('HIT');
  });

  test('costs nothing, and its receipt and its usage record say so', async () => {
    const first = await ask(HOUR);
    const again = await ask(HOUR);
    await world.written();
    const receiptOf = async ({ headers }: typeof first) =>
      (await send(world.account, `/v1/receipts/${headers.get('x-receipt-id')}`, { headers: auth })).body;
    const [before, receipt] = [await receiptOf(first), await receiptOf(again)];
    expect(receipt.payload).toMatchObject({
      outcome: 'cached',
      cost_nano_usd: '0',
      usage: { input_tokens: 0, output_tokens: 0 },
      kind: 'usage',
    });
    expect(receipt.payload.response_sha256).toBe(before.payload.response_sha256);
    expect(receipt.payload.payment.covered).toEqual({});
    const keys = (await send(world.account, '/.well-known/vaas-keys.json')).body;
    expect(verifyReceipt(receipt, keys)).toMatchObject({ valid: true });
    const { rows } = await world.database.pool.query(
      'select outcome, cost_nano::text, input_tokens from usage_records where receipt_id = $1',
      [again.headers.get('x-receipt-id')],
    );
    expect(rows).toEqual([{ outcome: 'cached', cost_nano: '0', input_tokens: 0n }]);
  });

  test('is one of the requests of the rate limit, and takes none of its tokens', async () => {
    const limited = await newKey(world.account, owner.auth, {
      livemode: false,
      rate_limits: { requests_per_minute: 3, tokens_per_minute: 40_000 },
    });
    const hits = { ...HOUR, ...limited.auth };
    const left = ({ headers }: Awaited<ReturnType<typeof ask>>, what: string) => headers.get(`x-ratelimit-remaining-${what}`);
    const [first, again] = [await ask(hits), await ask(hits)];
    expect([left(first, 'requests'), left(again, 'requests')]).toEqual(['2', '1']);
    expect(left(again, 'tokens')).toBe(left(await ask(hits), 'tokens'));
    expect((await ask(hits)).status).toBe(429);
  });

  test('is given where the budget of its key refuses a new one', async () => {
    const poor = await newKey(world.account, owner.auth, { livemode: false, monthly_cap_usd: '0.12' });
    const ofPoor = { ...HOUR, ...poor.auth };
    const system = { role: 'system', content: 'word '.repeat(10_000) };
    const dear = { model: 'gpt-4.1', max_tokens: 500, messages: [system, ...CHAT.messages] };
    expect(await stateOf(ofPoor, dear)).toBe('MISS');
    expect((await ask(ofPoor, { ...dear, seed: 1 })).status).toBe(402);
    expect(await stateOf(ofPoor, dear)).toBe('HIT');
  });

  test('is a call of its agent run, and spends nothing of it', async () => {
    await ask(HOUR);
    const run = { 'x-agent-run-id': 'run-1', 'x-agent-max-budget': '0.5', 'x-agent-max-calls': '1', 'x-fallback-policy': 'deployment' };
    const again = await ask({ ...HOUR, ...run });
    expect([
      again.headers.get('x-cache'),
      again.headers.get('x-agent-budget-spent-usd'),
      again.headers.get('x-agent-calls-remaining'),
    ]).toEqual(['HIT', '0', '0']);
    expect((await ask({ ...HOUR, ...run })).status).toBe(402);
  });

  test('is sealed with the key of the account, for its place alone', async () => {
    const secret = 'the launch codes are 0000';
    const first = await ask(HOUR, question(`Repeat: ${secret}`));
    expect(first.text).toContain(secret);
    const { rows } = await world.database.pool.query('select answer, digest, caller from cached_answers where account_id = $1', [
      owner.accountId,
    ]);
    expect(rows[0].answer.includes(secret)).toBe(false);
    await ask(HOUR, question('Another.'));
    await world.database.pool.query('update cached_answers set answer = $1 where account_id = $2', [rows[0].answer, owner.accountId]);
    expect(await stateOf(HOUR, question('Another.'))).toBe('MISS');
  });
});

describe('nothing is kept', () => {
  test('of a request with a number that is another one once it is read', async () => {
    const asking = (number: string) =>
      JSON.stringify({ ...CHAT, tools: [{ type: 'function', function: { name: 'f', parameters: { const: 7 } } }] }).replace('7', number);
    const states = async (number: string) => (await ask(HOUR, asking(number))).headers.get('x-cache');
    expect([await states('9007199254740993'), await states('9007199254740992'), await states('9007199254740993')]).toEqual([
      'BYPASS',
      'MISS',
      'BYPASS',
    ]);
  });

  test('of what stores, begins or lets the provider run something, and the answer says so', async () => {
    const respond = (more: object) => stateOf(HOUR, { model: 'gpt-4o-mini', input: 'Say hello.', ...more }, '/v1/responses');
    expect(await stateOf(HOUR, { ...CHAT, store: true })).toBe('BYPASS');
    expect(await respond({})).toBe('BYPASS');
    expect(await respond({ store: false, tools: [{ type: 'web_search' }] })).toBe('BYPASS');
    expect(await stateOf(HOUR, { model: 'omni-moderation-latest', input: 'hello' }, '/v1/moderations')).toBe('BYPASS');
    expect(await kept()).toBe(0);
  });

  test('of a failed, a cut or a truncated answer', async () => {
    expect([(await ask({ ...HOUR, 'x-sandbox-fault': '500' })).status, await kept()]).toEqual([502, 0]);
    const short = await ask(HOUR, { ...question('Tell me a long story of a heron.'), max_tokens: 1 });
    expect([short.body.choices[0].finish_reason, short.headers.get('x-cache')]).toEqual(['length', 'MISS']);
    const streamed = await ask(HOUR, { ...question('Tell me a long story of a heron.'), max_tokens: 1, stream: true });
    expect(streamed.text).toContain('"finish_reason":"length"');
    expect(await kept()).toBe(0);
  });

  test('where the account has switched storing off, and what was kept is deleted', async () => {
    await ask(HOUR);
    await send(world.account, '/v1/users/me', { method: 'PATCH', headers: owner.auth, json: { stores_content: false } });
    expect(await stateOf(HOUR)).toBe('BYPASS');
    expect(await stateOf(HOUR, question('Something else.'))).toBe('BYPASS');
    expect(await kept()).toBe(0);
  });

  test('beyond the room of the account: the oldest go first', async () => {
    const size = 6_000;
    for (let count = 0; count < 40; count += 1) {
      clock.stoppedAtMs = START + count * 1_000;
      await ask(HOUR, question(`Repeat: ${String(count).padEnd(size, 'x')}`));
    }
    const { rows } = await world.database.pool.query(
      'select sum(bytes)::int as bytes, min(kept_at) as oldest from cached_answers where account_id = $1',
      [owner.accountId],
    );
    expect(rows[0].bytes).toBeGreaterThan(MOST_CACHED_BYTES / 2);
    expect(rows[0].bytes).toBeLessThanOrEqual(MOST_CACHED_BYTES * 1.05);
    expect(rows[0].oldest.getTime()).toBeGreaterThan(START);
    expect(await stateOf(HOUR, question(`Repeat: ${'39'.padEnd(size, 'x')}`))).toBe('HIT');
  });

  test('longer than it was asked for', async () => {
    await ask({ 'x-cache': 'max-age=60' });
    await ask(HOUR, question('Another.'));
    const sweep = () => sweepCachedAnswers(world.cachedAnswers).run({ signal: new AbortController().signal } as never);
    await sweep();
    expect(await kept()).toBe(2);
    clock.stoppedAtMs = START + 60_000;
    await sweep();
    expect(await kept()).toBe(1);
  });
});
