import { type FakeUpstream, type Step, startFakeUpstream, steps } from '@tallygate/fake-upstream';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { Account } from './account.ts';
import { type Answered, ask, eventsOf, header, isDone, problemOf, settledOnce } from './chat.ts';
import { allDialects, costOf, DIALECTS, type Dialect, type Tokens } from './dialects.ts';
import { Gateway } from './gateway.ts';
import { nano, usd } from './money.ts';

let upstream: FakeUpstream;
let gateway: Gateway;
let account: Account;
let key: string;
let spent = 0n;

beforeAll(async () => {
  upstream = await startFakeUpstream();
  gateway = await Gateway.start(allDialects(upstream));
  account = await Account.signUp(gateway, { plan: 'enterprise' });
  ({ key } = await account.createKey());
});
afterAll(async () => {
  await gateway?.remove();
  await upstream?.close();
});
beforeEach(() => upstream.reset());

const HELLO = [{ role: 'user', content: 'Say hello.' }];
const PIXEL = 'data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==';
const PICTURE = [
  {
    role: 'user',
    content: [
      { type: 'text', text: 'What is it?' },
      { type: 'image_url', image_url: { url: PIXEL } },
    ],
  },
];
const SCHEMA = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'], additionalProperties: false };
const LOOK = { type: 'function', function: { name: 'look', parameters: { type: 'object', properties: { city: { type: 'string' } } } } };
const CALLS = [
  { name: 'look', arguments: '{"city":"Ulm"}' },
  { name: 'look', arguments: '{"city":"Bonn"}' },
];

const request = ({ model, seeing = model }: Dialect, isStreamed: boolean, body: object) => ({
  model: 'messages' in body && body.messages === PICTURE ? seeing : model,
  messages: HELLO,
  ...body,
  ...(isStreamed && { stream: true, stream_options: { include_usage: true } }),
});

const Said = z.looseObject({
  content: z.string().nullish(),
  tool_calls: z
    .array(
      z.looseObject({
        index: z.number().optional(),
        function: z.object({ name: z.string().optional(), arguments: z.string().optional() }),
      }),
    )
    .optional(),
});
const Choices = z.array(z.looseObject({ finish_reason: z.string().nullish(), message: Said.optional(), delta: Said.optional() }));

/** What an answer says, however it was sent. */
function saidIn(answered: Answered, isStreamed: boolean) {
  const parts = Choices.parse(isStreamed ? eventsOf(answered).flatMap(({ choices }) => choices ?? []) : JSON.parse(answered.text).choices);
  const calls: { name: string; arguments: string }[] = [];
  let content = '';
  for (const { message, delta } of parts) {
    const said = message ?? delta;
    content += said?.content ?? '';
    for (const [at, { index = at, function: called }] of (said?.tool_calls ?? []).entries()) {
      const known = calls[index] ?? { name: '', arguments: '' };
      calls[index] = { name: known.name + (called.name ?? ''), arguments: known.arguments + (called.arguments ?? '') };
    }
  }
  return { content, calls, finish: parts.findLast(({ finish_reason }) => finish_reason)?.finish_reason };
}

describe.each(DIALECTS)('$provider', (dialect) => {
  const { provider, price } = dialect;

  /** Sends a request, and compares the charge in header, answer, trace, receipt and ledger. */
  async function settled(isStreamed: boolean, body: object, step: Step, tokens: Tokens) {
    upstream.script(step);
    const answered = await ask(gateway, key, request(dialect, isStreamed, body));
    expect([answered.status, header(answered, 'x-provider')]).toEqual([200, provider]);
    const cost = costOf(price, tokens);
    spent += cost;
    const { trace, receipt } = await settledOnce(gateway, account, answered);
    expect(trace).toMatchObject({ outcome: 'completed', estimated: false, cost_usd: usd(cost) });
    expect(receipt.cost_nano_usd).toBe(String(cost));
    if (isStreamed) expect(isDone(answered)).toBe(true);
    else expect(header(answered, 'x-cost-usd')).toBe(usd(cost));
    const usage = isStreamed ? eventsOf(answered).findLast((event) => event.usage)?.usage : JSON.parse(answered.text).usage;
    expect(usage?.cost).toBe(Number(usd(cost)));
    return saidIn(answered, isStreamed);
  }

  describe.each([
    ['plain', false],
    ['streamed', true],
  ])('%s', (_, isStreamed) => {
    test('words', async () => {
      const said = await settled(isStreamed, {}, {}, { fresh: 10n, output: 8n });
      expect(said).toEqual({ content: 'tok0 tok1 tok2 tok3 tok4 tok5 tok6 tok7', calls: [], finish: 'stop' });
    });

    test('two tool calls at once', async () => {
      // A name is a token, and so are eight characters of the arguments.
      const said = await settled(isStreamed, { tools: [LOOK] }, { text: '', toolCalls: CALLS }, { fresh: 10n, output: 6n });
      expect(said).toEqual({ content: '', calls: CALLS, finish: 'tool_calls' });
    });

    test('the results of tools, in the next turn', async () => {
      const called = CALLS.map((call, at) => ({ id: `call_${at}`, type: 'function', function: call }));
      const messages = [
        ...HELLO,
        { role: 'assistant', content: null, tool_calls: called },
        ...called.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: 'sun' })),
      ];
      const said = await settled(isStreamed, { messages, tools: [LOOK] }, { text: 'Sun everywhere' }, { fresh: 10n, output: 2n });
      expect(said).toEqual({ content: 'Sun everywhere', calls: [], finish: 'stop' });
    });

    test('a picture', async () => {
      await settled(isStreamed, { messages: PICTURE }, {}, { fresh: 10n, output: 8n });
      expect(JSON.stringify(upstream.requests[0]?.body)).toContain('R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==');
    });

    test('an answer by a JSON Schema', async () => {
      const format = { type: 'json_schema', json_schema: { name: 'person', strict: true, schema: SCHEMA } };
      const said = await settled(isStreamed, { response_format: format }, { text: '{"name": "Ada"}' }, { fresh: 10n, output: 2n });
      expect(JSON.parse(said.content)).toEqual({ name: 'Ada' });
    });

    test('a refusal', async () => {
      const { step, tokens } = dialect.refusal;
      expect((await settled(isStreamed, {}, step, tokens)).finish).toBe('content_filter');
    });

    test('an answer that ends at its bound', async () => {
      const said = await settled(isStreamed, { max_tokens: 3 }, {}, { fresh: 10n, output: 3n });
      expect(said).toMatchObject({ content: 'tok0 tok1 tok2', finish: 'length' });
    });

    test('a prompt of which a part was cached', async () => {
      await settled(isStreamed, {}, dialect.cached.step, dialect.cached.tokens);
    });

    test('an error before the answer costs nothing', async () => {
      upstream.script(dialect.failing);
      const answered = await ask(gateway, key, request(dialect, isStreamed, {}));
      expect(problemOf(answered)).toMatchObject({ status: 502, code: 'upstream_failed' });
      const { trace } = await settledOnce(gateway, account, answered);
      expect(trace).toMatchObject({ outcome: 'failed', cost_usd: '0' });
    });
  });

  test('an error in the middle of a stream: what was sent is paid, at the model’s price', async () => {
    upstream.script(steps.errorMidStream(6));
    const answered = await ask(gateway, key, request(dialect, true, {}));
    expect(eventsOf(answered).at(-1)).toMatchObject({ error: { message: expect.any(String) } });
    expect(isDone(answered)).toBe(false);
    const { trace } = await settledOnce(gateway, account, answered);
    const { input_tokens, output_tokens } = trace.usage;
    expect(trace).toMatchObject({ outcome: 'cut', estimated: true });
    expect(output_tokens).toBeGreaterThan(0);
    const cost = costOf(price, { fresh: BigInt(input_tokens), output: BigInt(output_tokens) });
    expect(nano(trace.cost_usd)).toBe(cost);
    spent += cost;
  });

  // The last of them: while the provider's wait lasts, its deployment is left aside.
  test('a limit comes through, with the provider’s own wait', async () => {
    upstream.script(dialect.limited);
    const answered = await ask(gateway, key, request(dialect, false, {}));
    expect(problemOf(answered)).toMatchObject({ status: 429, code: 'upstream_rate_limited' });
    expect(header(answered, 'retry-after')).toBe('33');
    expect((await settledOnce(gateway, account, answered)).trace).toMatchObject({ outcome: 'failed', cost_usd: '0' });
  });
});

test('the month’s usage is the sum of it all', async () => {
  expect((await account.usage()).total.cost_usd).toBe(usd(spent));
});
