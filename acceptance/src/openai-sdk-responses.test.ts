import OpenAI from 'openai';
import { zodResponsesFunction, zodTextFormat } from 'openai/helpers/zod';
import type { ResponseOutputItem, ResponseStreamEvent } from 'openai/resources/responses/responses';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { Gateway } from './gateway.ts';
import { openLedgerAudit } from './ledger-audit.ts';

const MODEL = 'gpt-4o-mini';
const REASONS = 'o4-mini';
const HELLO = { model: MODEL, input: 'Say hello.' };
const Weather = z.object({ city: z.string(), degrees: z.number() });

let gateway: Gateway;
let openai: OpenAI;
const connect = () => {
  const { base_url: baseURL, test_api_key: apiKey } = gateway.bootstrap;
  openai = new OpenAI({ baseURL, apiKey, maxRetries: 0 });
};
beforeAll(async () => {
  gateway = await Gateway.start();
  connect();
});
afterAll(() => gateway?.remove());

async function collect<T>(all: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const one of all) found.push(one);
  return found;
}
const user = (content: string) => ({ type: 'message', role: 'user', content }) as const;
/** Earlier output as new input. The SDK has kinds of items that are no input; there are none here. */
const asInput = (output: readonly ResponseOutputItem[]) =>
  output.filter((item) => item.type === 'message' || item.type === 'reasoning' || item.type === 'compaction');
const ended = async (id: string) => {
  await expect
    .poll(async () => (await openai.responses.retrieve(id)).status, { timeout: 90_000, interval: 200 })
    .toMatch(/completed|failed|cancelled/);
  return openai.responses.retrieve(id);
};

describe('responses', () => {
  test('are created, stored, read, listed and deleted', async () => {
    const made = await openai.responses.create({ ...HELLO, instructions: 'Be brief.', metadata: { topic: 'demo' } });
    expect(made).toMatchObject({
      object: 'response',
      status: 'completed',
      output_text: expect.stringContaining('Say hello.'),
      metadata: { topic: 'demo' },
      usage: { input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 }, cost: expect.any(Number) },
    });
    const { _request_id: _, ...kept } = made;
    expect(await openai.responses.retrieve(made.id)).toEqual(kept);
    const [item] = await collect(openai.responses.inputItems.list(made.id));
    expect(item).toMatchObject({ type: 'message', role: 'user', id: expect.stringMatching(/^msg_/) });
    await openai.responses.delete(made.id);
    await expect(openai.responses.retrieve(made.id)).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    await expect(openai.responses.create({ ...HELLO, previous_response_id: made.id })).rejects.toMatchObject({
      status: 404,
      param: 'previous_response_id',
    });
  });

  test('list their input page by page', async () => {
    const { id } = await openai.responses.create({ model: MODEL, input: ['one', 'two', 'three'].map(user) });
    const items = await collect(openai.responses.inputItems.list(id, { limit: 1, order: 'asc' }));
    const said = (text: string) => [{ type: 'input_text', text }];
    expect(items.map((item) => 'content' in item && item.content)).toEqual([said('one'), said('two'), said('three')]);
  });

  test('are streamed in OpenAI’s order, numbered without gaps', async () => {
    const events: ResponseStreamEvent[] = await collect(await openai.responses.create({ ...HELLO, stream: true }));
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, index) => index));
    expect(events.map(({ type }) => type).filter((type, index, all) => type !== all[index - 1])).toEqual([
      ...['response.created', 'response.in_progress', 'response.output_item.added', 'response.content_part.added'],
      ...['response.output_text.delta', 'response.output_text.done', 'response.content_part.done', 'response.output_item.done'],
      'response.completed',
    ]);
  });

  test('call tools, several at once, and go on from their outputs', async () => {
    const tools = ['weather', 'clock'].map((name) => zodResponsesFunction({ name, parameters: z.object({ city: z.string() }) }));
    const asked = { model: MODEL, input: 'Ask weather and clock.', tools, tool_choice: 'required' } as const;
    const stream = openai.responses.stream(asked);
    const pieces = new Map<number, string>();
    stream.on('response.function_call_arguments.delta', ({ output_index, snapshot }) => pieces.set(output_index, snapshot));
    const calls = (await stream.finalResponse()).output.filter((item) => item.type === 'function_call');
    expect(calls.map(({ name, parsed_arguments }) => [name, parsed_arguments])).toEqual([
      ['weather', { city: expect.any(String) }],
      ['clock', { city: expect.any(String) }],
    ]);
    expect([...pieces.values()]).toEqual(calls.map((call) => call.arguments));

    const first = await openai.responses.create(asked);
    const outputs = first.output.flatMap((item) =>
      item.type === 'function_call'
        ? [{ type: 'function_call_output' as const, call_id: item.call_id, output: `Sun in ${item.name}.` }]
        : [],
    );
    const second = await openai.responses.create({ model: MODEL, tools, input: outputs, previous_response_id: first.id });
    expect(second.output_text).toContain('Sun in');
  });

  test('are parsed by a schema, whole and streamed', async () => {
    const asked = { ...HELLO, text: { format: zodTextFormat(Weather, 'weather') } };
    const parsed = await openai.responses.parse(asked);
    const { output_parsed } = await openai.responses.stream(asked).finalResponse();
    expect(parsed.output_parsed).toEqual({ city: expect.any(String), degrees: expect.any(Number) });
    expect(output_parsed).toEqual(parsed.output_parsed);
  });

  test('that meet their bound are incomplete, whole and streamed', async () => {
    const asked = { model: MODEL, input: `Say this: ${'word '.repeat(100)}`, max_output_tokens: 16 };
    const incomplete = { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' }, output: [{ status: 'incomplete' }] };
    expect(await openai.responses.create(asked)).toMatchObject(incomplete);
    const events = await collect(await openai.responses.create({ ...asked, stream: true }));
    expect(events.at(-1)).toMatchObject({ type: 'response.incomplete', response: incomplete });
  });

  test('show what the model thought only where it was asked for, and go on from it', async () => {
    const asked = { model: REASONS, input: 'Say hello.', reasoning: { effort: 'low', summary: 'auto' } } as const;
    const reasoningOf = ({ output }: { output: { type: string }[] }) => output.find(({ type }) => type === 'reasoning');
    const plain = await openai.responses.create(asked);
    expect(reasoningOf(plain)).not.toHaveProperty('encrypted_content');
    const open = await openai.responses.create({ ...asked, store: false, include: ['reasoning.encrypted_content'] });
    expect(reasoningOf(open)).toMatchObject({ encrypted_content: expect.any(String) });
    await expect(openai.responses.retrieve(open.id)).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    const chained = await openai.responses.create({ ...asked, previous_response_id: plain.id });
    expect([chained.status, chained.previous_response_id]).toEqual(['completed', plain.id]);
    expect((await openai.responses.create({ ...asked, input: [...asInput(open.output), user('Go on.')] })).status).toBe('completed');
  });

  test('that break on the way raise the SDK’s own error, and before the first byte a status', async () => {
    const broken = { headers: { 'X-Sandbox-Fault': 'error-event; after=2' } };
    await expect(openai.responses.create({ ...HELLO, stream: true }, broken).then(collect)).rejects.toBeInstanceOf(OpenAI.APIError);
    const limited = { headers: { 'X-Sandbox-Fault': '429; retry-after=2', 'X-Fallback-Policy': 'none' } };
    await expect(openai.responses.create({ ...HELLO, stream: true }, limited)).rejects.toBeInstanceOf(OpenAI.RateLimitError);
  });

  test('are counted before they are made, and a long dialogue is compacted', async () => {
    const input = [user('My name is Ada.'), { type: 'message', role: 'assistant', content: 'Hello, Ada.' } as const];
    const { object, input_tokens } = await openai.responses.inputTokens.count({ model: MODEL, input });
    expect([object, input_tokens > 5]).toEqual(['response.input_tokens', true]);
    const compacted = await openai.responses.compact({ model: MODEL, input });
    expect(compacted.output.map(({ type }) => type)).toEqual(['message', 'compaction']);
    const next = await openai.responses.create({ model: MODEL, input: [...asInput(compacted.output), user('Go on.')] });
    expect(next.status).toBe('completed');
  });
});

describe('background responses', () => {
  test('are followed by polling, by streaming, and again from where a stream was cut', async () => {
    const queued = await openai.responses.create({ ...HELLO, background: true });
    expect(queued).toMatchObject({ status: 'queued', background: true, output: [] });
    expect((await ended(queued.id)).output_text).toContain('Say hello.');

    const slow = { headers: { 'X-Sandbox-Fault': 'slow; ms=50' } };
    const begun: ResponseStreamEvent[] = [];
    for await (const event of await openai.responses.create({ ...HELLO, background: true, stream: true }, slow)) {
      begun.push(event);
      if (event.type === 'response.output_text.delta') break;
    }
    const [first] = begun;
    if (first?.type !== 'response.created') throw new Error('A stream begins with its creation');
    const { id } = first.response;
    const rest = await collect(await openai.responses.retrieve(id, { stream: true, starting_after: begun.length - 1 }));
    const whole = [...begun, ...rest];
    expect(whole.map(({ sequence_number }) => sequence_number)).toEqual(whole.map((_, index) => index));
    expect(rest.at(-1)).toMatchObject({ type: 'response.completed', response: { id, status: 'completed' } });
    const again = await openai.responses.stream({ response_id: id, starting_after: 4 }).finalResponse();
    expect(again.output_text).toContain('Say hello.');
  });

  test('are stopped by cancelling, as often as one likes', async () => {
    const slow = { headers: { 'X-Sandbox-Fault': 'slow-first-byte; ms=20000' } };
    const { id } = await openai.responses.create({ ...HELLO, background: true }, slow);
    await expect.poll(async () => (await openai.responses.retrieve(id)).status).toBe('in_progress');
    expect((await openai.responses.cancel(id)).status).toBe('cancelled');
    expect((await openai.responses.cancel(id)).status).toBe('cancelled');
    const plain = await openai.responses.create(HELLO);
    await expect(openai.responses.cancel(plain.id)).rejects.toBeInstanceOf(OpenAI.ConflictError);
  });

  test('survive kill -9 at any point, each attempt charged once', async () => {
    const asked = { ...HELLO, background: true };
    const slow = { headers: { 'X-Sandbox-Fault': 'slow; ms=40' } };
    const made = [];
    for (let n = 0; n < 6; n += 1)
      made.push(await openai.responses.create({ ...asked, input: `Say ${n}.` }, n % 2 ? slow : {}).withResponse());
    await gateway.kill();
    await gateway.start();
    connect();
    const done = await Promise.all(made.map(({ data: { id } }) => ended(id)));
    expect(done.map(({ status }) => status)).toEqual(done.map(() => 'completed'));
    await using ledger = await openLedgerAudit(gateway);
    const requestIds = made.map(({ request_id }) => request_id ?? '');
    // A result is shown once it is stored, and settled right after. A provider that was at work when the gateway died is paid its hold, which
    // is an estimate; one that had answered, what it says.
    const settled = async () =>
      [...(await ledger.entriesOf(requestIds)).values()].map(({ records, postings, receipts, estimated }) => ({
        isInAllBooks: postings === records && receipts === records,
        isPaidByUsage: records > estimated,
        attempts: records,
      }));
    const once = { isInAllBooks: true, isPaidByUsage: true, attempts: expect.toSatisfy((attempts) => attempts <= 2) };
    await expect.poll(settled, { timeout: 120_000, interval: 200 }).toEqual(requestIds.map(() => once));
    expect(await ledger.faults()).toEqual([]);
  });
});

describe('conversations', () => {
  test('are made, changed, filled and deleted, item by item', async () => {
    const { id } = await openai.conversations.create({ metadata: { topic: 'demo' }, items: [user('My name is Ada.')] });
    expect(await openai.conversations.retrieve(id)).toMatchObject({ id, object: 'conversation', metadata: { topic: 'demo' } });
    expect((await openai.conversations.update(id, { metadata: { topic: 'other' } })).metadata).toEqual({ topic: 'other' });
    const { data } = await openai.conversations.items.create(id, { items: ['two', 'three'].map(user) });
    const [second] = data;
    const itemId = (second && 'id' in second && second.id) || '';
    expect(await openai.conversations.items.retrieve(itemId, { conversation_id: id })).toEqual(second);
    expect(await collect(openai.conversations.items.list(id, { limit: 1, order: 'asc' }))).toHaveLength(3);
    expect((await openai.conversations.items.delete(itemId, { conversation_id: id })).id).toBe(id);
    expect(await collect(openai.conversations.items.list(id))).toHaveLength(2);
    expect(await openai.conversations.delete(id)).toEqual({ id, object: 'conversation.deleted', deleted: true });
    await expect(openai.conversations.items.list(id)).rejects.toBeInstanceOf(OpenAI.NotFoundError);
  });

  test('gather what responses say in them', async () => {
    const { id } = await openai.conversations.create();
    const first = await openai.responses.create({ ...HELLO, conversation: id });
    await openai.responses.stream({ ...HELLO, conversation: { id } }).finalResponse();
    expect(first.conversation).toEqual({ id });
    const items = await collect(openai.conversations.items.list(id, { order: 'asc' }));
    expect(items.map((item) => 'role' in item && item.role)).toEqual(['user', 'assistant', 'user', 'assistant']);
  });
});

test('stored chat completions are listed, shown, changed, read and deleted', async () => {
  const ask = (text: string) => ({
    ...{ model: MODEL, store: true, metadata: { suite: 'stored' } },
    messages: [{ role: 'user' as const, content: text }],
  });
  const made = await Promise.all(['one', 'two'].map((text) => openai.chat.completions.create(ask(text))));
  const streamed = await openai.chat.completions.stream(ask('three')).finalChatCompletion();
  const ids = [...made, streamed].map(({ id }) => id);
  const listed = await collect(openai.chat.completions.list({ metadata: { suite: 'stored' }, limit: 1 }));
  expect(listed.map(({ id }) => id).sort()).toEqual(ids.sort());
  const id = made[0]?.id ?? '';
  expect((await openai.chat.completions.retrieve(id)).choices).toEqual(made[0]?.choices);
  expect(await openai.chat.completions.update(id, { metadata: { suite: 'other' } })).toMatchObject({ id, metadata: { suite: 'other' } });
  expect(await collect(openai.chat.completions.messages.list(id))).toMatchObject([
    { id: expect.any(String), role: 'user', content: 'one' },
  ]);
  expect(await openai.chat.completions.delete(id)).toEqual({ id, object: 'chat.completion.deleted', deleted: true });
  await expect(openai.chat.completions.retrieve(id)).rejects.toBeInstanceOf(OpenAI.NotFoundError);
});
