import { type Message, MessagesRequest } from '@tallygate/contract';
import { describe, expect, test } from 'vitest';
import { loadCatalog } from '../../../money/catalog/index.ts';
import type { AnswerForm } from '../answer-form.ts';
import { costCheckOf } from '../cost-fields/index.ts';
import type { Dialect, ProviderTraits } from '../dialect.ts';
import { messageWork } from './message-work.ts';

const COST = {
  usage: {
    input_tokens: 30,
    cached_input_tokens: 10,
    cache_write_tokens: 5,
    cache_write_1h_tokens: 3,
    output_tokens: 7,
    reasoning_tokens: 0,
  },
  costUsd: 0.25,
};
const catalog = loadCatalog();
const modelNamed = (id: string) => {
  const model = catalog.find(id);
  if (!model) throw new Error(id);
  return model;
};

function workOf(fields: object) {
  const given = { model: 'gpt-4o-mini', max_tokens: 100, messages: [{ role: 'user', content: 'Hello.' }], ...fields };
  const bytes = Buffer.from(JSON.stringify(given));
  return messageWork(MessagesRequest.parse(given), { bytes, sha256: () => 'x' });
}

function chatFor(fields: object, model = 'gpt-4o-mini', at: ProviderTraits = { readsGoogleFields: false }): Dialect {
  const found = workOf(fields).dialects.find(
    ({ endpoint, suits }) => endpoint !== '/v1/messages' && (suits?.(modelNamed(model), at) ?? true),
  );
  if (!found) throw new Error('no chat');
  return found;
}
const native = () => workOf({}).dialects[0].form;

const dataOf = (text: string) => [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data ?? ''));
/** Fed in pieces of several sizes, which must not change what is said. */
async function streamed(form: AnswerForm, text: string): Promise<string> {
  const ways = [1, 7, 10_000].map(async (pieceBytes) => {
    const filter = form.openStream('text/event-stream');
    const bytes = Buffer.from(text);
    let said = '';
    for (let at = 0; at < bytes.length; at += pieceBytes) said += (await filter.push(bytes.subarray(at, at + pieceBytes))).toString();
    said += (await filter.end()).toString();
    expect(filter.isComplete).toBe(true);
    return (said + (await filter.lastBytes(COST)).toString()).replaceAll(/msg_[0-9a-f]{32}/g, 'msg_ours');
  });
  const said = await Promise.all(ways);
  expect(new Set(said).size).toBe(1);
  return said[0] ?? '';
}
const plain = async (form: AnswerForm, answer: object): Promise<Message> => {
  const read = await form.read(Buffer.from(JSON.stringify(answer)), null);
  if (!read) throw new Error('no answer');
  return JSON.parse((await read.toBytes(COST)).toString());
};
const shownUsage = {
  input_tokens: 12,
  cache_creation_input_tokens: 8,
  cache_read_input_tokens: 10,
  cache_creation: { ephemeral_5m_input_tokens: 5, ephemeral_1h_input_tokens: 3 },
  output_tokens: 7,
  cost: 0.25,
};

const tool = (name: string) => ({ name, input_schema: { type: 'object' } });
const USED_TOOL = { type: 'tool_use', id: 'a', name: 'f', input: {} };

describe('a request to a provider with chat completions', () => {
  test('keeps turns, tools, results, pictures and documents in their order', () => {
    const PNG = { type: 'base64', media_type: 'image/png', data: 'AAAA' };
    const fields = {
      system: [
        { type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral', ttl: '1h' } },
        { type: 'text', text: 'Be kind.' },
      ],
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is this?' },
            { type: 'image', source: PNG },
            { type: 'image', source: { type: 'url', url: 'https://x.test/a.png' } },
            { type: 'document', title: 'Notes', source: { type: 'text', media_type: 'text/plain', data: 'one' } },
            { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'JVBE' } },
          ],
        },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' },
            { type: 'text', text: 'I look.' },
            { type: 'tool_use', id: 'a', name: 'look', input: { at: 'x' } },
            { type: 'tool_use', id: 'b', name: 'look', input: {}, extra_content: { google: { thought_signature: 's' } } },
          ],
        },
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 'a',
              content: [
                { type: 'text', text: 'seen' },
                { type: 'image', source: PNG },
              ],
            },
            { type: 'tool_result', tool_use_id: 'b', content: 'broken', is_error: true },
            { type: 'text', text: 'And?' },
          ],
        },
      ],
      tools: [{ name: 'look', description: 'Looks.', input_schema: { type: 'object', properties: { at: { type: 'string' } } } }],
      tool_choice: { type: 'any', disable_parallel_tool_use: true },
      stop_sequences: ['END'],
      metadata: { user_id: 'u1' },
      temperature: 0.5,
      service_tier: 'standard_only',
    };
    const { request } = chatFor(fields, 'gemini-2.5-pro', { readsGoogleFields: true });
    expect(request).toEqual({
      model: 'gpt-4o-mini',
      temperature: 0.5,
      stop: ['END'],
      user: 'u1',
      service_tier: 'default',
      tools: [
        {
          type: 'function',
          function: { name: 'look', description: 'Looks.', parameters: { type: 'object', properties: { at: { type: 'string' } } } },
        },
      ],
      tool_choice: 'required',
      parallel_tool_calls: false,
      messages: [
        { role: 'system', content: 'Be brief.\n\nBe kind.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is this?' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
            { type: 'image_url', image_url: { url: 'https://x.test/a.png' } },
            { type: 'text', text: 'Notes\none' },
            { type: 'file', file: { filename: 'document.pdf', file_data: 'data:application/pdf;base64,JVBE' } },
          ],
        },
        {
          role: 'assistant',
          content: 'I look.',
          tool_calls: [
            { id: 'a', type: 'function', function: { name: 'look', arguments: '{"at":"x"}' } },
            {
              id: 'b',
              type: 'function',
              function: { name: 'look', arguments: '{}' },
              extra_content: { google: { thought_signature: 's' } },
            },
          ],
        },
        { role: 'tool', tool_call_id: 'a', content: 'seen' },
        { role: 'tool', tool_call_id: 'b', content: 'Error: broken' },
        {
          role: 'user',
          content: [
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
            { type: 'text', text: 'And?' },
          ],
        },
      ],
    });
  });

  test.each([
    [{ thinking: { type: 'enabled', budget_tokens: 2_000 } }, 'low'],
    [{ thinking: { type: 'enabled', budget_tokens: 10_000 } }, 'medium'],
    [{ thinking: { type: 'enabled', budget_tokens: 60_000 } }, 'high'],
    [{ output_config: { effort: 'medium' } }, 'medium'],
    [{ output_config: { effort: 'max' } }, 'high'],
    [{ thinking: { type: 'adaptive' } }, undefined],
    [{ thinking: { type: 'disabled' } }, undefined],
  ])('asks a model that reasons, and no other, for the effort: %j', (fields, effort) => {
    expect(chatFor(fields, 'o4-mini').request).toMatchObject(effort === undefined ? {} : { reasoning_effort: effort });
    expect(chatFor(fields).request).not.toHaveProperty('reasoning_effort');
  });

  test('holds the answer to a schema, strictly where OpenAI can', () => {
    const closed = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false };
    const of = (schema: object) => chatFor({ output_config: { format: { type: 'json_schema', schema } } }).request;
    expect(of(closed)).toMatchObject({ response_format: { json_schema: { name: 'answer', schema: closed, strict: true } } });
    expect(of({ ...closed, required: [] })).not.toMatchObject({ response_format: { json_schema: { strict: true } } });
  });

  test('shortens the name of a tool that is too long, and gives the caller its own name back', async () => {
    const name = `mcp__${'server_'.repeat(12)}_look`;
    const { request, form } = chatFor({ tools: [{ name, input_schema: { type: 'object' } }], tool_choice: { type: 'tool', name } });
    const { tools } = request as { tools: { function: { name: string } }[] };
    const short = tools[0]?.function.name ?? '';
    expect(short).toHaveLength(64);
    expect(request).toMatchObject({ tool_choice: { function: { name: short } } });
    const message = {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'c', type: 'function', function: { name: short, arguments: '{}' } }],
    };
    expect((await plain(form, { choices: [{ index: 0, message, finish_reason: 'tool_calls' }] })).content).toEqual([
      { type: 'tool_use', id: 'c', name, input: {} },
    ]);
  });

  test.each([
    ['a field that a chat has with another form', { stop: 7 }, 'stop'],
    ['more tools than a chat has', { tools: Array.from({ length: 600 }, (_, at) => tool(`f${at}`)) }, 'tools'],
    ['a turn of which a chat has nothing', { messages: [{ role: 'user', content: [] }] }, 'messages'],
    ['only a call in the turn of the user', { messages: [{ role: 'user', content: [USED_TOOL] }] }, 'messages'],
  ])('suits no model, and says why, with %s', (_, fields, param) => {
    const dialects = workOf(fields).dialects.filter(({ endpoint }) => endpoint !== '/v1/messages');
    expect(dialects.map(({ suits }) => suits?.(modelNamed('gpt-4o-mini'), { readsGoogleFields: false }))).toEqual([false]);
    expect(dialects.map(({ refusal }) => refusal?.())).toMatchObject([{ code: 'validation_failed', extras: { param } }]);
  });

  test('says nothing that would be kept at the provider', () => {
    expect(chatFor({ store: true }).request).not.toHaveProperty('store');
  });

  test('is not there where Anthropic’s own tools are described by their type', () => {
    expect(workOf({ tools: [{ type: 'bash_20250124', name: 'bash' }] }).dialects).toHaveLength(1);
  });
});

test('the prompt is held as it is written anew, where a number may be longer than it came in', () => {
  const asked = {
    model: 'gpt-4o-mini',
    max_tokens: 10,
    messages: [{ role: 'assistant', content: [{ ...USED_TOOL, input: { many: ['MANY'] } }] }],
  };
  const bytes = Buffer.from(JSON.stringify(asked).replace('"MANY"', Array(1_000).fill('1e20').join()));
  const request = MessagesRequest.parse(JSON.parse(bytes.toString()));
  const { inputTokens } = messageWork(request, { bytes, sha256: () => 'x' }).bound(modelNamed('gpt-4o-mini'));
  expect(inputTokens).toBeGreaterThanOrEqual(JSON.stringify(request).length);
});

describe('what calls itself a picture and is none is held as a file, which may fill the window', () => {
  const inline = (media_type: string) => ({ type: 'base64', media_type, data: 'A'.repeat(1_000) });
  const heldFor = (source: object) => {
    const content = [{ type: 'tool_result', tool_use_id: 'a', content: [{ type: 'image', source }] }];
    return workOf({ messages: [{ role: 'user', content }] }).bound(modelNamed('gemini-2.5-flash')).inputTokens;
  };
  const window = modelNamed('gemini-2.5-flash').contextWindow ?? 0;

  test.each([
    ['a PDF', inline('application/pdf')],
    ['a film', inline('video/mp4')],
    ['a sound', inline('Audio/wav')],
    ['a PDF at a data URL', { type: 'url', url: 'data:application/pdf;base64,AAAA' }],
  ])('%s', (_, source) => {
    expect(heldFor(source)).toBeGreaterThan(window);
  });

  test.each([
    ['inline', inline('image/png')],
    ['at an address', { type: 'url', url: 'https://x.test/a.png' }],
    ['at a data URL', { type: 'url', url: 'data:image/png;base64,AAAA' }],
  ])('but not a picture %s', (_, source) => {
    expect(heldFor(source)).toBeLessThan(window / 10);
  });
});

describe('a chat completion as a message', () => {
  const call = (index: number, json: string) => ({
    index,
    id: `call.${index}`,
    type: 'function',
    function: { name: 'look', arguments: json },
  });
  const answer = {
    model: 'm',
    choices: [
      {
        index: 0,
        finish_reason: 'tool_calls',
        message: { role: 'assistant', reasoning_content: 'Hm.', content: 'I look.', tool_calls: [call(0, '{"at":"x"}'), call(1, '[1]')] },
      },
    ],
    usage: { prompt_tokens: 30, completion_tokens: 7 },
  };
  const content = [
    { type: 'thinking', thinking: 'Hm.', signature: '' },
    { type: 'text', text: 'I look.' },
    { type: 'tool_use', id: 'call_0', name: 'look', input: { at: 'x' } },
    { type: 'tool_use', id: 'call_1', name: 'look', input: { arguments: [1] } },
  ];

  test('has thoughts, text and calls, and the usage that is settled', async () => {
    expect(await plain(chatFor({}).form, answer)).toMatchObject({
      type: 'message',
      role: 'assistant',
      model: 'm',
      content,
      stop_reason: 'tool_use',
      usage: shownUsage,
    });
  });

  test.each([
    ['stop', 'end_turn'],
    ['length', 'max_tokens'],
    ['content_filter', 'refusal'],
  ])('that ended with %s has the stop reason %s', async (finish_reason, stop_reason) => {
    const choices = [{ index: 0, finish_reason, message: { role: 'assistant', content: 'a' } }];
    expect(await plain(chatFor({}).form, { choices })).toMatchObject({ stop_reason });
  });

  test('streams as Anthropic’s events, one block after the other', async () => {
    const chunk = (delta: object, finish_reason: string | null = null) =>
      `data: ${JSON.stringify({ id: 'c', model: 'm', choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
    const said = await streamed(
      chatFor({}).form,
      chunk({ role: 'assistant', reasoning_content: 'Hm.' }) +
        chunk({ content: 'I ' }) +
        chunk({ content: 'look.' }) +
        chunk({ tool_calls: [call(0, '{"at":')] }) +
        chunk({ tool_calls: [{ index: 0, function: { arguments: '"x"}' } }] }) +
        chunk({ tool_calls: [call(1, '{}')] }) +
        chunk({}, 'tool_calls') +
        'data: {"choices":[],"usage":{"prompt_tokens":30,"completion_tokens":7}}\n\ndata: [DONE]\n\n',
    );
    expect(dataOf(said)).toEqual([
      { type: 'message_start', message: expect.objectContaining({ id: 'msg_ours', content: [], stop_reason: null }) },
      { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'Hm.' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'I ' } },
      { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'look.' } },
      { type: 'content_block_stop', index: 1 },
      { type: 'content_block_start', index: 2, content_block: { type: 'tool_use', id: 'call_0', name: 'look', input: {} } },
      { type: 'content_block_delta', index: 2, delta: { type: 'input_json_delta', partial_json: '{"at":' } },
      { type: 'content_block_delta', index: 2, delta: { type: 'input_json_delta', partial_json: '"x"}' } },
      { type: 'content_block_stop', index: 2 },
      { type: 'content_block_start', index: 3, content_block: { type: 'tool_use', id: 'call_1', name: 'look', input: {} } },
      { type: 'content_block_delta', index: 3, delta: { type: 'input_json_delta', partial_json: '{}' } },
      { type: 'content_block_stop', index: 3 },
      { type: 'message_delta', delta: { stop_reason: 'tool_use', stop_sequence: null }, usage: shownUsage },
      { type: 'message_stop' },
    ]);
  });
});

describe('an answer of a provider that has Messages', () => {
  const event = (value: { type: string }) => `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`;
  const USED = {
    input_tokens: 12,
    cache_creation_input_tokens: 8,
    cache_read_input_tokens: 10,
    cache_creation: { ephemeral_5m_input_tokens: 5, ephemeral_1h_input_tokens: 3 },
  };
  const start = event({ type: 'message_start', message: { id: 'msg_1', usage: { ...USED, output_tokens: 1 } } } as { type: string });
  const middle =
    event({ type: 'content_block_start', index: 0, content_block: { type: 'redacted_thinking', data: 'eA==' } } as { type: string }) +
    event({ type: 'content_block_delta', index: 1, delta: { type: 'signature_delta', signature: 'c2ln' } } as { type: string });
  const end = (usage: object) =>
    event({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage } as { type: string }) + event({ type: 'message_stop' });

  test('passes byte for byte but for the cost at its end', async () => {
    const said = await streamed(native(), start + event({ type: 'ping' }) + middle + end({ output_tokens: 7 }));
    expect(said.startsWith(start + event({ type: 'ping' }) + middle)).toBe(true);
    expect(dataOf(said).slice(-2)).toEqual([
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 7, cost: 0.25 } },
      { type: 'message_stop' },
    ]);
    const message = {
      id: 'msg_1',
      type: 'message',
      content: [{ type: 'text', text: 'a', citations: null }],
      usage: { ...USED, output_tokens: 7 },
    };
    expect(await plain(native(), message)).toEqual({ ...message, usage: { ...message.usage, cost: 0.25 } });
  });

  test('is settled by its whole usage: what the cache wrote and read, by lifetime', async () => {
    const expected = COST.usage;
    const filter = native().openStream(null);
    await filter.push(Buffer.from(start + middle));
    expect([filter.usage, filter.usageSaid]).toEqual([undefined, { ...expected, output_tokens: 1 }]);
    await filter.push(Buffer.from(end({ output_tokens: 7 })));
    expect(filter.usage).toEqual(expected);
    expect(
      (await native().read(Buffer.from(JSON.stringify({ type: 'message', content: [], usage: { ...USED, output_tokens: 7 } })), null))
        ?.usage,
    ).toEqual(expected);
  });

  test('is left for another provider where it is overloaded before its first content', async () => {
    const filter = native().openStream(null);
    const overloaded = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
    expect((await filter.push(Buffer.from(start + event({ type: 'ping' }) + event(overloaded)))).toString()).toBe('');
    expect(filter.error).toMatchObject({ code: 'overloaded_error', message: 'Overloaded' });
  });

  test('that breaks off ends with an error in Anthropic’s words', () => {
    const told = (code: string | null) => dataOf(String(native().openStream(null).errorBytes({ message: 'No.', type: 'x', code })));
    expect(told('overloaded_error')).toEqual([{ type: 'error', error: { type: 'overloaded_error', message: 'No.' } }]);
    expect(told('upstream_timeout')).toMatchObject([{ error: { type: 'timeout_error' } }]);
    expect(told(null)).toMatchObject([{ error: { type: 'api_error' } }]);
  });
});

describe('the worst case of a prompt', () => {
  const sonnet = modelNamed('claude-sonnet-4-6');
  const boundOf = (content: unknown[]) => workOf({ messages: [{ role: 'user', content }] }).bound(sonnet).inputTokens;
  const data = 'A'.repeat(400_000);

  test('has a picture at the most that one can cost, whatever its bytes, inside of results too', () => {
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data } };
    const bare = boundOf([{ type: 'text', text: '' }]);
    expect(boundOf([image]) - bare).toBeLessThan((sonnet.imageTokenBound ?? 0) + 200);
    const inResult = { type: 'tool_result', tool_use_id: 'a', content: [image] };
    expect(boundOf([inResult])).toBeGreaterThanOrEqual(bare + (sonnet.imageTokenBound ?? 0));
    expect(boundOf([inResult])).toBeLessThan(bare + (sonnet.imageTokenBound ?? 0) + 300);
  });

  test.each([
    ['a PDF', { type: 'base64', media_type: 'application/pdf', data }],
    ['a document at an address', { type: 'url', url: 'https://x.test/a.pdf' }],
  ])('has the whole window for %s', (_, source) => {
    expect(boundOf([{ type: 'document', source }])).toBeGreaterThan(sonnet.contextWindow ?? Infinity);
  });

  test('has a text by its bytes', () => {
    expect(boundOf([{ type: 'document', source: { type: 'text', media_type: 'text/plain', data } }])).toBeGreaterThan(400_000);
  });
});

test.each([
  [{ tools: [{ type: 'web_search_20250305', name: 'web_search' }] }, 'tools[0]'],
  [{ mcp_servers: [{ type: 'url', url: 'https://x.test' }] }, 'mcp_servers'],
  [{ container: 'c' }, 'container'],
  [{ speed: 'fast' }, 'speed'],
  [{ n: 3 }, 'n'],
  [{ service_tier: 'priority' }, 'service_tier'],
  [{ context_management: { edits: [{ type: 'compact_20260112' }] } }, 'context_management.edits[0]'],
  [{ messages: [{ role: 'user', content: [{ type: 'container_upload', file_id: 'f' }] }] }, 'messages[0].content[0]'],
  [
    { messages: [{ role: 'user', content: [{ type: 'document', source: { type: 'file', file_id: 'f' } }] }] },
    'messages[0].content[0].source',
  ],
])('what has no price is refused with its place: %j', (fields, param) => {
  expect(() => costCheckOf('/v1/messages')(fields)).toThrow(
    expect.objectContaining({ code: 'unpriced_feature', extras: expect.objectContaining({ param }) }),
  );
});

test.each([
  [{ context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] } }],
  [{ tools: [{ type: 'text_editor_20250728', name: 'str_replace_based_edit_tool', max_characters: 100 }] }],
  [{ speed: 'standard', inference_geo: 'global', service_tier: 'standard_only', output_config: { effort: 'high' } }],
  [{ cache_control: { type: 'ephemeral', ttl: '1h' }, metadata: { user_id: 'u' }, diagnostics: {} }],
])('what costs nothing of its own passes: %j', (fields) => {
  expect(() => costCheckOf('/v1/messages')(fields)).not.toThrow();
});

test('of two usages under one name in an event of a stream the larger counts, also behind its end', async () => {
  const stream = native().openStream('text/event-stream');
  const event = (type: string, rest: string) => `event: ${type}\ndata: {"type":"${type}",${rest}}\n\n`;
  await stream.push(Buffer.from(event('message_start', '"message":{"id":"m","usage":{"input_tokens":10,"output_tokens":1}}')));
  await stream.push(Buffer.from(event('message_delta', '"delta":{},"usage":{"output_tokens":900},"usage":{"output_tokens":7}')));
  expect(stream.usageSaid).toMatchObject({ output_tokens: 900 });
  await stream.push(Buffer.from('event: message_stop\ndata: {"type":"message_stop"}\n\n'));
  await stream.push(Buffer.from(event('message_delta', '"delta":{},"usage":{"output_tokens":950}')));
  expect(stream.usageSaid).toMatchObject({ output_tokens: 950 });
});
