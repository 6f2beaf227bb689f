import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { collect } from '../testing/collect.ts';
import { chunks, completion, DONE, event, inferenceAnswerHeaders, RECEIPT_ID, refusal } from '../testing/fixtures.ts';
import { type StubGateway, startStubGateway } from '../testing/stub-gateway.ts';
import { AbortError, BudgetExceededError, ConnectionError, Tallygate, TimeoutError, UpstreamError } from './index.ts';

let gateway: StubGateway;
let tallygate: Tallygate;
beforeEach(async () => {
  gateway = await startStubGateway();
  tallygate = new Tallygate({ apiKey: 'tg_test_secret', baseUrl: gateway.baseUrl });
});
afterEach(() => gateway[Symbol.asyncDispose]());

const hello = { model: 'gpt-4o-mini', messages: [{ role: 'user' as const, content: 'Say hello.' }] };
const pieces = [': ping\n\n', ...chunks('Hel', 'lo.').map(event)];
const textOf = async (stream: AsyncIterable<{ choices: { delta: { content?: string | null | undefined } }[] }>) =>
  (await collect(stream)).map(({ choices }) => choices[0]?.delta.content ?? '').join('');

it('says what the options say in the gateway’s headers', async () => {
  gateway.script({ json: completion });
  await tallygate.chat.completions.create(hello, {
    agentRun: { id: 'run-7', maxBudgetUsd: '0.50' },
    budgetPolicy: 'clamp',
    fallbackPolicy: 'none',
    onDisconnect: 'finish',
    cacheSeconds: 60,
    anchorReceipt: true,
  });
  expect(gateway.requests[0]?.headers).toMatchObject({
    authorization: 'Bearer tg_test_secret',
    'x-agent-run-id': 'run-7',
    'x-agent-max-budget': '0.50',
    'x-budget-policy': 'clamp',
    'x-fallback-policy': 'none',
    'x-on-disconnect': 'finish',
    'x-cache': 'max-age=60',
    'x-vaas-anchor': 'true',
  });
});

it('passes fields on that it does not know', async () => {
  gateway.script({ json: completion });
  await tallygate.chat.completions.create({ ...hello, parameter_of_tomorrow: { deep: true } });
  expect(gateway.requests[0]?.body).toEqual({ ...hello, parameter_of_tomorrow: { deep: true } });
});

describe('a stream', () => {
  const stream = (options = {}) => tallygate.chat.completions.create({ ...hello, stream: true }, options);

  it('gives the chunks in order, cost last, and the receipt id at once', async () => {
    gateway.script({ pieces: [...pieces, DONE], end: true, headers: inferenceAnswerHeaders });
    const { data, receiptId } = await stream().withResponse();
    expect(receiptId).toBe(RECEIPT_ID);
    const received = await collect(data);
    expect(received).toEqual(chunks('Hel', 'lo.'));
    expect(received.at(-1)?.usage?.cost).toBe(0.00000255);
    expect(gateway.requests[0]?.headers['idempotency-key']).toBeUndefined();
  });

  it('hangs up when the loop is left early', async () => {
    gateway.script({ pieces });
    for await (const _ of await stream()) break;
    expect(await gateway.requests[0]?.ended).toBe('hung up');
  });

  it('ends quietly when its own controller aborts', async () => {
    gateway.script({ pieces });
    const answer = await stream();
    for await (const { choices } of answer) if (choices.length === 0) answer.controller.abort();
    expect(await gateway.requests[0]?.ended).toBe('hung up');
  });

  it('gives nothing more once its controller aborts, although more has arrived', async () => {
    gateway.script({ pieces: [pieces.join('')] });
    const answer = await stream();
    let received = 0;
    for await (const _ of answer) {
      received += 1;
      answer.controller.abort();
    }
    expect(received).toBe(1);
  });

  it('throws AbortError when the caller’s signal aborts', async () => {
    gateway.script({ pieces });
    const abort = new AbortController();
    const read = async () => {
      for await (const _ of await stream({ signal: abort.signal })) abort.abort();
    };
    await expect(read()).rejects.toBeInstanceOf(AbortError);
    expect(await gateway.requests[0]?.ended).toBe('hung up');
  });

  it('throws TimeoutError when it falls silent', async () => {
    gateway.script({ pieces });
    await expect(textOf(await stream({ timeoutMs: 50 }))).rejects.toBeInstanceOf(TimeoutError);
  });

  it('throws the typed error of an error event', async () => {
    const error = { message: 'The provider broke off.', type: 'server_error', code: 'upstream_failed', param: null };
    gateway.script({ pieces: [...pieces, `event: error\n${event({ error })}`], end: true, headers: inferenceAnswerHeaders });
    const failure = await textOf(await stream()).catch((reason: unknown) => reason);
    expect(failure).toBeInstanceOf(UpstreamError);
    expect(failure).toMatchObject({
      message: 'The provider broke off.',
      code: 'upstream_failed',
      requestId: inferenceAnswerHeaders['x-request-id'],
    });
  });

  it('never passes a cut stream off as a whole one', async () => {
    gateway.script({ pieces, end: true });
    const failure = await textOf(await stream()).catch((reason: unknown) => reason);
    expect(failure).toBeInstanceOf(ConnectionError);
    expect(failure).toMatchObject({ code: 'stream_cut' });
  });

  it('is repeated before its first byte and never after', async () => {
    gateway.script(refusal('store_unavailable', { headers: { 'retry-after-ms': '1' } }), { pieces, end: true });
    await expect(textOf(await stream())).rejects.toThrow('broke off');
    expect(gateway.requests).toHaveLength(2);
  });

  it('that is refused throws before it begins', async () => {
    gateway.script(refusal('budget_exceeded'));
    await expect(stream()).rejects.toBeInstanceOf(BudgetExceededError);
  });

  it('can be read only once', async () => {
    gateway.script({ pieces: [...pieces, DONE], end: true });
    const answer = await stream();
    expect(await textOf(answer)).toBe('Hello.');
    await expect(textOf(answer)).rejects.toThrow('only once');
  });
});
