import { Model } from '@tallygate/contract';
import { type FakeUpstream, type Step, startFakeUpstream, steps } from '@tallygate/fake-upstream';
import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Account } from './account.ts';
import { ask, completionOf, eventsOf, HELLO, header, isDone, MODEL, problemOf, settledOnce } from './chat.ts';
import { Gateway } from './gateway.ts';
import { openLedgerAudit } from './ledger-audit.ts';
import { nano, usd } from './money.ts';

/** As short as a busy machine allows: a provider that answers at once must not time out. */
const FIRST_BYTE_MS = 5_000;
const IDLE_MS = 3_000;
/**
 * A deployment that fails three times in a row at a model is left aside: every case asks a model that the last few cases did not ask, and
 * where one deployment is left aside all the same, there are two others.
 */
const ROTATION = [
  'gpt-5.6-sol',
  'gpt-5.4',
  'gpt-5.4-nano',
  'gpt-4.1',
  'claude-opus-4-8',
  'claude-sonnet-4-6',
  'claude-haiku-4-5',
  'gemini-2.5-pro',
  'grok-4.3',
  'deepseek-v4-pro',
];
/** What fails at every deployment asks one that no other case has failed at, twice: none of its three is left aside. */
const EVERYWHERE = { plain: 'o4-mini', streamed: 'mistral-large-2512' };
/** Each is at its limit for seconds, and asked once. */
const LIMITED = { plain: 'gemini-3.5-flash', streamed: MODEL };
const STREAM = { ...HELLO, stream: true, stream_options: { include_usage: true } };

let upstream: FakeUpstream;
let gateway: Gateway;
let account: Account;
let key: string;
beforeAll(async () => {
  upstream = await startFakeUpstream();
  const deployment = { base_url: upstream.url, models: [...ROTATION, ...Object.values(EVERYWHERE), ...Object.values(LIMITED)] };
  gateway = await Gateway.start({
    process: 'shared',
    providers: [
      { name: 'first', ...deployment },
      { name: 'second', ...deployment },
      { name: 'third', ...deployment },
    ],
    env: {
      PLAIN_FIRST_BYTE_TIMEOUT_MS: `${FIRST_BYTE_MS}`,
      STREAM_FIRST_BYTE_TIMEOUT_MS: `${FIRST_BYTE_MS}`,
      STREAM_IDLE_TIMEOUT_MS: `${IDLE_MS}`,
    },
  });
  account = await Account.signUp(gateway, { plan: 'enterprise' });
  ({ key } = await account.createKey());
});
afterAll(async () => {
  await gateway?.remove();
  await upstream?.close();
});
beforeEach(() => upstream.reset());

const FAULTS: [string, Step][] = [
  ['is rate limited', steps.rateLimited()],
  ['fails', steps.serverError()],
  ['is overloaded', steps.serverError(503)],
  ['resets the connection before its head', steps.resetBeforeHead()],
  ['answers an HTML error', steps.html(502)],
  ['answers an HTML page', steps.html()],
  ['redirects to another server', steps.redirect('http://127.0.0.1:1/v1/chat/completions')],
  ['says nothing at all', steps.silence()],
  ['says nothing after its head', steps.headThenSilence()],
];

/** Of an answer that was begun and could not be read. */
const BEGUN: [string, Step][] = [
  ['resets the connection after its head', steps.resetAfterHead()],
  ['answers half of a JSON document', steps.malformedJson()],
  ['answers nothing', steps.emptyBody()],
  ['breaks its body off', steps.cutBody('fin')],
];

let asked = 0;
function nextModel(): string {
  asked += 1;
  return ROTATION[asked % ROTATION.length] ?? '';
}

/** What ten tokens in and eight out cost. */
async function priceOf(model: string): Promise<string> {
  const answer = await fetch(`${gateway.url}/v1/models/${model}`, { headers: { authorization: `Bearer ${key}` } });
  const { pricing } = Model.parse(await answer.json());
  return usd(10n * nano(pricing?.prices['input_tokens'] ?? '') + 8n * nano(pricing?.prices['output_tokens'] ?? ''));
}

describe.each([
  ['plain', HELLO],
  ['streamed', STREAM],
] as const)('a provider that, asked for a %s answer,', (form, messages) => {
  test.each(FAULTS)('%s: another deployment of the model answers', async (_, fault) => {
    const model = nextModel();
    upstream.script(fault, {});
    const answered = await ask(gateway, key, { ...messages, model });
    expect([answered.status, header(answered, 'x-fallback')]).toEqual([200, 'deployment']);
    expect(answered.text).toContain('tok7');
    expect(upstream.requests).toHaveLength(2);
    const { trace } = await settledOnce(gateway, account, answered);
    expect(trace).toMatchObject({
      fallback: 'deployment',
      outcome: 'completed',
      estimated: false,
      attempts: [{}, { outcome: 'answered' }],
    });
    expect(trace.attempts[0]?.outcome).not.toBe('answered');
    expect(trace.cost_usd).toBe(await priceOf(model));
  });

  test.each(BEGUN)('%s: another deployment of the model answers, and both are paid', async (_, fault) => {
    const model = nextModel();
    upstream.script(fault, {});
    const answered = await ask(gateway, key, { ...messages, model });
    expect([answered.status, header(answered, 'x-fallback')]).toEqual([200, 'deployment']);
    expect(upstream.requests).toHaveLength(2);
    const requestId = header(answered, 'x-request-id') ?? '';
    await using ledger = await openLedgerAudit(gateway);
    const entry = async () => (await ledger.entriesOf([requestId])).get(requestId);
    await expect.poll(async () => (await entry())?.records).toBe(2);
    const trace = await account.trace(requestId);
    expect(trace).toMatchObject({ receipt_id: header(answered, 'x-receipt-id'), outcome: 'completed', estimated: false });
    expect(trace.cost_usd).toBe(await priceOf(model));
    expect((await entry())?.cost).toBeGreaterThan(nano(trace.cost_usd));
    expect(await ledger.faults()).toEqual([]);
  });

  test('begins an answer that cannot be read at every deployment: each of the three is paid', async () => {
    upstream.script(() => steps.malformedJson());
    const answered = await ask(gateway, key, { ...messages, model: EVERYWHERE[form] });
    expect(problemOf(answered)).toMatchObject({ status: 502, code: 'upstream_failed', detail: expect.stringContaining('That is charged') });
    const requestId = header(answered, 'x-request-id') ?? '';
    await using ledger = await openLedgerAudit(gateway);
    await expect.poll(async () => (await ledger.entriesOf([requestId])).get(requestId)?.records).toBe(3);
    expect(await account.trace(requestId)).toMatchObject({ outcome: 'cut', estimated: true });
  });

  test.each([
    [steps.rateLimited({ seconds: 37 }), 429, 'upstream_rate_limited'],
    [steps.serverError(), 502, 'upstream_failed'],
    [steps.html(), 502, 'upstream_failed'],
    [steps.refused(400, 'No.'), 400, 'upstream_rejected'],
  ])('always refuses (case %#): the caller gets the error and is charged nothing', async (fault, status, code) => {
    upstream.script(() => fault);
    const model = status === 429 ? LIMITED[form] : nextModel();
    const answered = await ask(gateway, key, { ...messages, model });
    expect(problemOf(answered)).toMatchObject({ status, code });
    if (status === 429) expect(header(answered, 'retry-after')).toBe('37');
    const { trace, receipt } = await settledOnce(gateway, account, answered);
    expect(trace).toMatchObject({ outcome: 'failed', cost_usd: '0', charged_usd: '0', usage: { input_tokens: 0, output_tokens: 0 } });
    expect(receipt.cost_nano_usd).toBe('0');
  });

  test('is late at every deployment: the caller gets a timeout, and each bill is charged', async () => {
    const model = EVERYWHERE[form];
    // Of its own: calls of the silent providers above may still be read on, and a key has a number of them.
    const { key: own } = await account.createKey();
    upstream.script(() => ({ delayMs: FIRST_BYTE_MS + 2_000 }));
    const answered = await ask(gateway, own, { ...messages, model });
    expect(problemOf(answered)).toMatchObject({ status: 504, code: 'upstream_timeout' });
    const requestId = header(answered, 'x-request-id') ?? '';
    await using ledger = await openLedgerAudit(gateway);
    const entry = async () => (await ledger.entriesOf([requestId])).get(requestId);
    await expect.poll(async () => (await entry())?.records).toBe(3);
    expect(await entry()).toMatchObject({ postings: 3, receipts: 3, cost: 3n * nano(await priceOf(model)) });
    const trace = await account.trace(requestId);
    expect(trace).toMatchObject({ receipt_id: header(answered, 'x-receipt-id'), outcome: 'abandoned', estimated: false });
    expect(trace.attempts.map(({ outcome }) => outcome)).toEqual(['timeout', 'timeout', 'timeout']);
    expect(await ledger.faults()).toEqual([]);
  });

  test(`is asked only once where the caller wants no ${form} fallback`, async () => {
    upstream.script(steps.serverError(), {});
    const answered = await ask(gateway, key, { ...messages, model: nextModel() }, { 'x-fallback-policy': 'none' });
    expect(answered.status).toBe(502);
    expect(upstream.requests).toHaveLength(1);
  });
});

describe('a stream that has begun and then', () => {
  const BROKEN: [string, Step][] = [
    ['is reset', steps.cutStream(5, 'reset')],
    ['is closed too early', steps.cutStream(5, 'fin')],
    ['turns into garbage', steps.cutStream(5, 'garbage')],
    ['brings an error', steps.errorMidStream(5)],
  ];
  test.each(BROKEN)('%s ends in an error event of OpenAI’s form, and what was delivered is paid', async (_, fault) => {
    upstream.script(fault);
    const answered = await ask(gateway, key, STREAM);
    expect(answered.status).toBe(200);
    const events = eventsOf(answered);
    expect(events.at(-1)).toMatchObject({ error: { message: expect.any(String), type: expect.any(String), param: null } });
    expect(isDone(answered)).toBe(false);
    expect(upstream.requests).toHaveLength(1);

    const { trace } = await settledOnce(gateway, account, answered);
    expect(trace).toMatchObject({ outcome: 'cut', estimated: true });
    expect(trace.usage.output_tokens).toBeGreaterThan(0);
    expect(trace.usage.output_tokens).toBeLessThan(60);
  });
});

describe('an event that cannot be read', () => {
  test.each([
    ['that is none', 'data: {{{garbage\n\n'],
    ['of which half is there', 'data: {"id":"c","choices":[{"index":0,"delta":{"con\n\n'],
  ])('%s ends a stream for OpenAI’s client with an error that says so, and the provider is paid what it bills', async (_, event) => {
    upstream.script({ tokens: 50, inserted: { at: 5, event } });
    const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: key, maxRetries: 0 });
    const { data: stream, response } = await client.chat.completions
      .create({ model: MODEL, messages: [{ role: 'user', content: 'Say hello.' }], stream: true })
      .withResponse();
    let said = '';
    const reading = (async () => {
      for await (const { choices } of stream) said += choices[0]?.delta.content ?? '';
    })();
    await expect(reading).rejects.toBeInstanceOf(OpenAI.APIError);
    await expect(reading).rejects.toMatchObject({ code: 'upstream_failed' });
    expect(said).toBe('tok0 tok1 tok2 tok3');
    const requestId = response.headers.get('x-request-id') ?? '';
    await expect
      .poll(() => account.trace(requestId), { timeout: 120_000 })
      .toMatchObject({
        ...{ outcome: 'abandoned', estimated: false, usage: { input_tokens: 10, output_tokens: 50 } },
      });
  });
});

describe('a stream in an unusual form', () => {
  const FORMS: [string, Step][] = [
    ['without [DONE]', steps.withoutDone()],
    ['with CRLF', steps.crlf()],
    ['with comments between its events', steps.pings()],
    ['a byte at a time', steps.split(1)],
    ['with CRLF, two bytes at a time', { ...steps.crlf(), ...steps.split(2) }],
    ['with its usage on the last choice', { usageAt: 'last_choice' }],
    ['with usage in every chunk', { usageAt: 'every_chunk' }],
    ['of letters of four bytes, three bytes at a time', { text: 'a 😀 b ü c 漢 d e', ...steps.split(3) }],
  ];
  test.each(FORMS)('%s arrives whole, with its exact cost', async (_, form) => {
    upstream.script(form);
    const answered = await ask(gateway, key, STREAM);
    const events = eventsOf(answered);
    const said = events.map(({ choices }) => choices?.[0]?.delta.content ?? '').join('');
    expect(said).toBe(form.text ?? 'tok0 tok1 tok2 tok3 tok4 tok5 tok6 tok7');
    expect(isDone(answered)).toBe(true);
    expect(events.flatMap(({ usage }) => usage ?? [])).toEqual([
      expect.objectContaining({ prompt_tokens: 10, completion_tokens: 8, cost: 0.0000063 }),
    ]);
    const { trace } = await settledOnce(gateway, account, answered);
    expect(trace).toMatchObject({ outcome: 'completed', estimated: false, cost_usd: '0.0000063' });
  });
});

test('usage that is written as strings is read', async () => {
  upstream.script(steps.usageStrings());
  const answered = await ask(gateway, key, HELLO);
  const { trace } = await settledOnce(gateway, account, answered);
  expect(trace).toMatchObject({ outcome: 'completed', estimated: false });
  expect(completionOf(answered).usage).toMatchObject({
    completion_tokens: trace.usage.output_tokens,
    prompt_tokens: trace.usage.input_tokens,
  });
});

describe('usage that cannot be trusted', () => {
  const WRONG: [string, Step][] = [
    ['missing', steps.usageMissing()],
    ['zero', steps.usageZero()],
    ['negative', steps.usageNegative()],
    ['absurd', steps.usageAbsurd()],
  ];
  test.each(WRONG)('because it is %s is estimated, and flagged', async (_, fault) => {
    for (const body of [HELLO, STREAM]) {
      upstream.script(fault);
      const answered = await ask(gateway, key, { ...body, max_tokens: 100 });
      const { trace, receipt } = await settledOnce(gateway, account, answered);
      expect(trace).toMatchObject({ outcome: 'completed', estimated: true });
      expect(trace.usage.output_tokens).toBeGreaterThan(7);
      expect(trace.usage.output_tokens).toBeLessThanOrEqual(100);
      expect(receipt.estimated).toBe(true);
      const shown = body === HELLO ? completionOf(answered).usage : eventsOf(answered).findLast(({ usage }) => usage)?.usage;
      expect(shown).toMatchObject({ completion_tokens: trace.usage.output_tokens, prompt_tokens: trace.usage.input_tokens });
    }
  });

  test('of zero is a provider’s word where the answer is empty, and costs nothing', async () => {
    for (const body of [HELLO, STREAM]) {
      upstream.script({ ...steps.usageZero(), text: '' });
      const { trace } = await settledOnce(gateway, account, await ask(gateway, key, body));
      expect(trace).toMatchObject({ estimated: false, cost_usd: '0', usage: { input_tokens: 0, output_tokens: 0 } });
    }
  });

  test('with more cached tokens than tokens never makes the input cheaper than all of it cached', async () => {
    upstream.script(steps.usageCachedAbovePrompt());
    const { trace } = await settledOnce(gateway, account, await ask(gateway, key, HELLO));
    expect(trace.usage).toMatchObject({ input_tokens: 10 });
    expect(trace.usage.cached_input_tokens).toBeLessThanOrEqual(10);
  });
});

describe('a provider that bills more than its bound', () => {
  test('is on record whole, its customer pays what was held, and the key’s cap is not overspent', async () => {
    const { key: capped } = await account.createKey({ monthly_cap_usd: '0.0001' });
    upstream.script({ tokens: 1_000, exceedsBound: true });
    const overrun = await ask(gateway, capped, { ...HELLO, max_tokens: 16 });
    expect(overrun.status).toBe(200);
    const { trace, receipt } = await settledOnce(gateway, account, overrun);
    expect(trace).toMatchObject({ usage: { output_tokens: 1_000 } });
    expect(nanoOf(trace.cost_usd) + nanoOf(trace.waived_usd)).toBe(601_500);
    expect(receipt).toMatchObject({ cost_nano_usd: String(nanoOf(trace.cost_usd)), waived_nano_usd: String(nanoOf(trace.waived_usd)) });

    upstream.script({ tokens: 1_000, exceedsBound: true });
    const refused = problemOf(await ask(gateway, capped, { ...HELLO, max_tokens: 1_000 }));
    expect(refused).toMatchObject({ code: 'budget_exceeded', budget: { limit_source: 'key', spent_usd: trace.cost_usd, held_usd: '0' } });
    expect(nanoOf(trace.cost_usd)).toBeLessThan(100_000);
  });
});

const nanoOf = (usd: string | undefined): number => Math.round(Number(usd) * 1e9);
