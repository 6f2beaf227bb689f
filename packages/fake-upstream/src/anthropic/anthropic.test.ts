import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { anthropicSteps, type FakeUpstream, startFakeUpstream, steps } from '../index.ts';

let fake: FakeUpstream;
beforeAll(async () => {
  fake = await startFakeUpstream();
});
afterAll(() => fake.close());
beforeEach(() => fake.reset());

const user = (content: unknown) => ({ role: 'user', content });
const assistant = (content: unknown) => ({ role: 'assistant', content });
const PLAIN = { model: 'claude', max_tokens: 100, messages: [user('Hi.')] };
const LOOK = { name: 'look', input_schema: { type: 'object', properties: { city: { type: 'string' } } } };
const USE = { type: 'tool_use', id: 'toolu_1', name: 'look', input: {} };
const RESULT = { type: 'tool_result', tool_use_id: 'toolu_1', content: 'rain' };

const post = (body: object, headers: Record<string, string> = { 'anthropic-version': '2023-06-01' }): Promise<Response> =>
  fetch(`${fake.url}/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
const asked = async (fields: object = {}) => (await post({ ...PLAIN, ...fields })).json();
const eventsOf = async (fields: object = {}) =>
  (await (await post({ ...PLAIN, ...fields, stream: true })).text())
    .split('\n\n')
    .filter(Boolean)
    .map((event) => {
      const [name = '', data = ''] = event.split('\n');
      return { name: name.slice('event: '.length), ...JSON.parse(data.slice('data: '.length)) };
    });

describe('the default answer', () => {
  it('is a message of eight words with exact usage', async () => {
    expect(await asked()).toMatchObject({
      type: 'message',
      role: 'assistant',
      model: 'claude',
      content: [{ type: 'text', text: 'tok0 tok1 tok2 tok3 tok4 tok5 tok6 tok7' }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 10, cache_read_input_tokens: 0, output_tokens: 8 },
    });
  });

  it('streams the same text, each event named by its type', async () => {
    const events = await eventsOf();
    expect(events.every(({ name, type }) => name === type)).toBe(true);
    expect(events.map(({ type }) => type)).toEqual([
      ...['message_start', 'content_block_start'],
      ...Array.from({ length: 8 }, () => 'content_block_delta'),
      ...['content_block_stop', 'message_delta', 'message_stop'],
    ]);
    expect(events[0]).toMatchObject({ message: { content: [], stop_reason: null, usage: { input_tokens: 10, output_tokens: 1 } } });
    expect(events.at(-2)).toMatchObject({ delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 8 } });
  });

  it('calls the required tool, fills in the given schema, and reasons on request', async () => {
    expect(await asked({ tools: [LOOK], tool_choice: { type: 'any' } })).toMatchObject({
      content: [{ type: 'tool_use', name: 'look', input: { city: 'text' } }],
      stop_reason: 'tool_use',
    });
    const schema = { type: 'object', properties: { a: { type: 'integer' } }, additionalProperties: false };
    expect((await asked({ output_config: { format: { type: 'json_schema', schema } } })).content[0].text).toBe('{"a":1}');
    const { content } = await asked({ max_tokens: 2000, thinking: { type: 'enabled', budget_tokens: 1024 } });
    expect(content.map(({ type }: { type: string }) => type)).toEqual(['thinking', 'text']);
  });

  it('ends at the bound', async () => {
    expect(await asked({ max_tokens: 3 })).toMatchObject({ stop_reason: 'max_tokens', usage: { output_tokens: 3 } });
  });
});

describe('a script', () => {
  it('says everything there is to say, streamed and whole alike', async () => {
    const said = {
      reasoning: 'Hm.',
      text: 'I look.',
      toolCalls: [{ name: 'look', arguments: '{"city":"Köln"}' }],
      anthropic: { redactedThinking: 'eA==' },
    };
    fake.script(said, said);
    expect((await asked()).content.map(({ type }: { type: string }) => type)).toEqual([
      'redacted_thinking',
      'thinking',
      'text',
      'tool_use',
    ]);
    const deltas = (await eventsOf()).flatMap(({ index, delta }) => (index === undefined ? [] : [{ index, ...delta }]));
    expect(deltas.find(({ type }) => type === 'signature_delta')).toMatchObject({ index: 1, signature: expect.stringMatching(/./) });
    const json = deltas.map(({ partial_json: part }) => part ?? '').join('');
    expect(JSON.parse(json)).toEqual({ city: 'Köln' });
  });

  it('counts the cache, refuses, and breaks a stream off in Anthropic’s words', async () => {
    fake.script(
      anthropicSteps.cached({ read: 5, write5m: 3, write1h: 2 }),
      anthropicSteps.refusal('No.'),
      steps.errorMidStream(2),
      steps.withoutDone(),
    );
    expect((await asked()).usage).toMatchObject({
      cache_read_input_tokens: 5,
      cache_creation_input_tokens: 5,
      cache_creation: { ephemeral_5m_input_tokens: 3, ephemeral_1h_input_tokens: 2 },
    });
    expect(await asked()).toMatchObject({ stop_reason: 'refusal', stop_details: { explanation: 'No.' } });
    expect((await eventsOf()).at(-1)).toMatchObject({ type: 'error', error: { type: 'overloaded_error' } });
    expect((await eventsOf()).at(-1)).toMatchObject({ type: 'message_delta' });
  });

  it('answers 429 with the time to come back, and 529', async () => {
    fake.script(anthropicSteps.rateLimited(3), anthropicSteps.overloaded());
    const limited = await post(PLAIN);
    expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '3']);
    expect(await (await post(PLAIN)).json()).toMatchObject({ type: 'error', error: { type: 'overloaded_error' } });
  });

  it('is not used up by a request that is refused', async () => {
    fake.script({ text: 'scripted' });
    expect((await post({ ...PLAIN, messages: [] })).status).toBe(400);
    expect((await asked()).content[0].text).toBe('scripted');
  });
});

describe('a request that Anthropic would refuse', () => {
  it('is one without the version', async () => {
    expect((await post(PLAIN, {})).status).toBe(400);
  });

  it.each([
    ['an unknown field', { seed: 1 }, /^seed: Extra inputs/],
    ['no bound', { max_tokens: undefined }, /^max_tokens: Field required/],
    ['a system message among the messages', { messages: [{ role: 'system', content: 'a' }] }, /Unexpected role/],
    ['two turns of one side', { messages: [user('a'), user('b')] }, /must alternate/],
    ['an assistant who speaks first', { messages: [assistant('a'), user('b')] }, /first message/],
    ['a turn that says nothing', { messages: [user([])] }, /non-empty/],
    ['a blank text', { messages: [user(' ')] }, /non-whitespace/],
    ['white space at the end', { messages: [user('a'), assistant('b ')] }, /trailing whitespace/],
    ['an http image', { messages: [user([{ type: 'image', source: { type: 'url', url: 'http://a/b' } }])] }, /HTTPS/],
    [
      'a picture of a kind nobody sees',
      { messages: [user([{ type: 'image', source: { type: 'base64', media_type: 'image/bmp', data: 'AA' } }])] },
      /media_type/,
    ],
    ['a call without a result', { tools: [LOOK], messages: [user('a'), assistant([USE]), user('b')] }, /without `tool_result`/],
    ['a result without a call', { tools: [LOOK], messages: [user([RESULT])] }, /unexpected `tool_use_id`/],
    [
      'a result behind a text',
      { tools: [LOOK], messages: [user('a'), assistant([USE]), user([{ type: 'text', text: 'b' }, RESULT])] },
      /must come first/,
    ],
    ['calls without tools', { messages: [user('a'), assistant([USE]), user([RESULT])] }, /must define tools/],
    [
      'arguments that are no object',
      { tools: [LOOK], messages: [user('a'), assistant([{ ...USE, input: '{}' }]), user([RESULT])] },
      /dictionary/,
    ],
    ['a thought without a signature', { messages: [user('a'), assistant([{ type: 'thinking', thinking: 'x' }])] }, /signature/],
    ['a choice without tools', { tool_choice: { type: 'auto' } }, /while providing tools/],
    ['a choice of a tool that is not there', { tools: [LOOK], tool_choice: { type: 'tool', name: 'hear' } }, /not found/],
    ['a budget that is too small', { thinking: { type: 'enabled', budget_tokens: 10 } }, /greater than or equal to 1024/],
    ['a budget above the bound', { thinking: { type: 'enabled', budget_tokens: 1024 } }, /max_tokens/],
    ['thoughts before a forced call', { thinking: { type: 'adaptive' }, tools: [LOOK], tool_choice: { type: 'any' } }, /forces tool use/],
    ['thoughts at a temperature', { thinking: { type: 'adaptive' }, temperature: 0 }, /temperature/],
    ['a temperature beyond one', { temperature: 1.5 }, /temperature/],
    ['temperature and top_p', { temperature: 0.5, top_p: 0.5 }, /cannot both/],
    ['a blank stop', { stop_sequences: ['\n'] }, /non-whitespace/],
    ['an open object', { output_config: { format: { type: 'json_schema', schema: { type: 'object' } } } }, /additionalProperties/],
    ['a length in a schema', { output_config: { format: { type: 'json_schema', schema: { type: 'string', minLength: 2 } } } }, /minLength/],
  ])('is one with %s', async (_, fields, message) => {
    const refused = await post({ ...PLAIN, ...fields });
    expect(refused.status).toBe(400);
    expect(await refused.json()).toMatchObject({
      type: 'error',
      error: { type: 'invalid_request_error', message: expect.stringMatching(message) },
    });
  });
});
