import { ResponseObject, ResponseRequest } from '@tallygate/contract';
import { describe, expect, it } from 'vitest';
import { loadCatalog } from '../../../money/catalog/index.ts';
import type { Dialect } from '../dialect.ts';
import { inputItems } from './response-input.ts';
import { responseWork } from './response-work.ts';

const FRAME = { id: 'resp_1', previous_response_id: null, store: true, metadata: {} };
const COST = {
  usage: { input_tokens: 5, cached_input_tokens: 0, cache_write_tokens: 0, output_tokens: 7, reasoning_tokens: 0 },
  costUsd: 0.25,
};

function workOf(fields: object) {
  const request = ResponseRequest.parse({ model: 'gpt-4o-mini', input: 'Say hello.', ...fields });
  const items = inputItems(request);
  const bytes = Buffer.byteLength(JSON.stringify({ ...request, input: items }));
  return responseWork(request, { items, bytes, frame: FRAME, requestSha256: () => 'x' });
}

const dialects = (fields: object = {}): { native: Dialect; chat: Dialect } => {
  const [native, chat] = workOf(fields).dialects;
  if (!chat) throw new Error('no chat dialect');
  return { native, chat };
};

const eventsIn = (text: string) => [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data ?? ''));

/** Feeds the stream in pieces of every size, which must not change what is said. */
async function streamed({ form }: Dialect, text: string, pieceBytes: number) {
  const filter = form.openStream('text/event-stream');
  const bytes = Buffer.from(text);
  let said = '';
  for (let at = 0; at < bytes.length; at += pieceBytes) said += (await filter.push(bytes.subarray(at, at + pieceBytes))).toString();
  said += (await filter.end()).toString();
  return { filter, said };
}

const chunk = (delta: object, finish_reason: string | null = null) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 7, model: 'm', choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
const USAGE = `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 7, model: 'm', choices: [], usage: { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 } })}\n\n`;

describe('a provider with chat completions only', () => {
  it('is asked in chat’s words', () => {
    const { chat } = dialects({
      instructions: 'Be brief.',
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'Weather?' },
            { type: 'input_image', image_url: 'https://x.test/a.png', detail: 'low' },
          ],
        },
        { type: 'reasoning', id: 'rs_1', summary: [] },
        { type: 'function_call', call_id: 'a', name: 'weather', arguments: '{"at":"Bern"}' },
        { type: 'function_call', call_id: 'b', name: 'weather', arguments: '{"at":"Zug"}' },
        { type: 'function_call_output', call_id: 'a', output: 'sun' },
        { type: 'function_call_output', call_id: 'b', output: [{ type: 'input_text', text: 'rain' }] },
      ],
      tools: [{ type: 'function', name: 'weather', parameters: { type: 'object' }, strict: true }],
      tool_choice: { type: 'function', name: 'weather' },
      text: { format: { type: 'json_schema', name: 'answer', schema: { type: 'object' } } },
      reasoning: { effort: 'low' },
      temperature: 0.5,
    });
    expect(chat.request).toEqual({
      model: 'gpt-4o-mini',
      temperature: 0.5,
      reasoning_effort: 'low',
      messages: [
        { role: 'system', content: 'Be brief.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Weather?' },
            { type: 'image_url', image_url: { url: 'https://x.test/a.png', detail: 'low' } },
          ],
        },
        {
          role: 'assistant',
          content: null,
          tool_calls: [
            { id: 'a', type: 'function', function: { name: 'weather', arguments: '{"at":"Bern"}' } },
            { id: 'b', type: 'function', function: { name: 'weather', arguments: '{"at":"Zug"}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'a', content: 'sun' },
        { role: 'tool', tool_call_id: 'b', content: 'rain' },
      ],
      tools: [{ type: 'function', function: { name: 'weather', parameters: { type: 'object' }, strict: true } }],
      tool_choice: { type: 'function', function: { name: 'weather' } },
      response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: { type: 'object' } } },
    });
  });

  it('answers with a whole response', async () => {
    const completion = {
      created: 7,
      model: 'm',
      choices: [{ index: 0, finish_reason: 'length', message: { role: 'assistant', content: 'Hel', reasoning_content: 'Hm.' } }],
      usage: { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 },
    };
    const answer = await dialects().chat.form.read(Buffer.from(JSON.stringify(completion)), null);
    const response = ResponseObject.parse(JSON.parse(String(await answer?.toBytes(COST))));
    expect(response).toMatchObject({
      id: 'resp_1',
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      output: [
        { type: 'reasoning', content: [{ type: 'reasoning_text', text: 'Hm.' }] },
        { type: 'message', status: 'incomplete', content: [{ type: 'output_text', text: 'Hel' }] },
      ],
      usage: { input_tokens: 5, output_tokens: 7, total_tokens: 12, cost: 0.25 },
    });
    expect(answer?.usage).toMatchObject({ input_tokens: 5, output_tokens: 7 });
  });

  it('is asked for the probabilities of tokens, and they come with the text', async () => {
    const { chat } = dialects({ stream: true, top_logprobs: 2, include: ['message.output_text.logprobs'] });
    expect(chat.request).toMatchObject({ logprobs: true, top_logprobs: 2 });
    const [one, two] = [
      { token: 'Hel', logprob: -0.1, bytes: [], top_logprobs: [] },
      { token: 'lo', logprob: -0.2, bytes: [], top_logprobs: [] },
    ];
    const said = (content: string, logprob: object) => ({
      ...{ id: 'c', object: 'chat.completion.chunk', created: 7, model: 'm' },
      choices: [{ index: 0, delta: { content }, logprobs: { content: [logprob] }, finish_reason: null }],
    });
    const text = [said('Hel', one), said('lo', two)].map((data) => `data: ${JSON.stringify(data)}\n\n`).join('');
    const { filter, said: events } = await streamed(chat, `${text}${chunk({}, 'stop')}${USAGE}data: [DONE]\n\n`, 10_000);
    const deltas = eventsIn(events).filter(({ type }) => type === 'response.output_text.delta');
    expect(deltas.map(({ logprobs }) => logprobs)).toEqual([[one], [two]]);
    expect(filter.value).toMatchObject({ output: [{ content: [{ text: 'Hello', logprobs: [one, two] }] }] });
  });

  it('is asked for some of the tools in chat’s words', () => {
    const tools = ['a', 'b'].map((name) => ({ type: 'function', name }));
    const tool_choice = { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'a' }] };
    expect(dialects({ tools, tool_choice }).chat.request).toMatchObject({
      tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name: 'a' } }] } },
    });
  });

  it.each([
    { tools: [{ type: 'shell' }] },
    { input: [{ type: 'computer_call_output', call_id: 'a', output: {} }] },
    { input: [{ type: 'function_call_output', call_id: 'a', output: [{ type: 'input_image', image_url: 'https://x.test/a.png' }] }] },
  ])('is not asked at all for what no chat can carry: %#', (fields) => {
    expect(workOf(fields).dialects).toHaveLength(1);
  });

  it.each([
    ['numbers its calls', [0, 1]],
    ['numbers none', [undefined, undefined]],
  ])('that %s gives parallel calls one by one', async (_, indexes) => {
    const call = (at: number, id: string | undefined, args: string) =>
      chunk({ tool_calls: [{ index: indexes[at], id, type: 'function', function: { ...(id && { name: 'f' }), arguments: args } }] });
    const text = [
      ...[call(0, 'a', '{"x"'), call(0, '', ':1}'), call(1, 'b', '{}'), chunk({}, 'tool_calls')],
      ...[USAGE, 'data: [DONE]\n\n'],
    ].join('');
    expect((await streamed(dialects({ stream: true }).chat, text, 10_000)).filter.value).toMatchObject({
      output: [
        { type: 'function_call', call_id: 'a', name: 'f', arguments: '{"x":1}' },
        { type: 'function_call', call_id: 'b', name: 'f', arguments: '{}' },
      ],
    });
  });

  it('that refuses, refuses in OpenAI’s order of events', async () => {
    const text = [chunk({ refusal: 'I ' }), chunk({ refusal: 'will not.' }), chunk({}, 'stop'), USAGE, 'data: [DONE]\n\n'].join('');
    const { filter, said } = await streamed(dialects({ stream: true }).chat, text, 10_000);
    const events = eventsIn(said + (await filter.lastBytes(COST)).toString());
    expect(events.map(({ type }) => type).slice(2)).toEqual([
      'response.output_item.added',
      'response.content_part.added',
      'response.refusal.delta',
      'response.refusal.delta',
      'response.refusal.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ]);
    expect(events.at(-1).response.output).toMatchObject([{ content: [{ type: 'refusal', refusal: 'I will not.' }] }]);
  });

  it('that is cut at the bound ends incomplete, in the item too', async () => {
    const text = [chunk({ content: 'Hel' }), chunk({}, 'length'), USAGE, 'data: [DONE]\n\n'].join('');
    const { filter, said } = await streamed(dialects({ stream: true }).chat, text, 10_000);
    const [done, last] = eventsIn(said + (await filter.lastBytes(COST)).toString()).slice(-2);
    expect(done).toMatchObject({ type: 'response.output_item.done', item: { status: 'incomplete' } });
    expect(last).toMatchObject({
      type: 'response.incomplete',
      response: { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } },
    });
  });

  it.each([1, 7, 64, 10_000])('streams in OpenAI’s order of events, whatever the pieces (%i bytes)', async (pieceBytes) => {
    const text = [
      chunk({ role: 'assistant', content: '' }),
      chunk({ content: 'Hé' }),
      chunk({ content: 'llo' }),
      chunk({ tool_calls: [{ index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '' } }] }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: '{}' } }] }),
      chunk({}, 'tool_calls'),
      USAGE,
      'data: [DONE]\n\n',
    ].join('');
    const { filter, said } = await streamed(dialects({ stream: true }).chat, text, pieceBytes);
    expect(filter.isComplete).toBe(true);
    expect(filter.usage).toMatchObject({ input_tokens: 5, output_tokens: 7 });
    const events = eventsIn(said + (await filter.lastBytes(COST)).toString());
    expect(events.map(({ type }) => type)).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.output_item.added',
      'response.function_call_arguments.delta',
      'response.function_call_arguments.done',
      'response.output_item.done',
      'response.completed',
    ]);
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, index) => index));
    expect(events.at(-1).response).toMatchObject({
      id: 'resp_1',
      status: 'completed',
      output: [
        { type: 'message', content: [{ text: 'Héllo' }] },
        { type: 'function_call', call_id: 'a', name: 'f', arguments: '{}' },
      ],
      usage: { cost: 0.25 },
    });
    expect(filter.value).toMatchObject({ status: 'completed', output: [{}, {}] });
  });
});

describe('a provider with Responses', () => {
  const event = (type: string, rest: object, sequence_number: number) =>
    `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number, ...rest })}\n\n`;
  const response = (status: string) => ({ id: 'theirs', object: 'response', status, output: [], store: false, usage: null });
  const begun = event('response.created', { response: response('in_progress') }, 0);
  const delta = event('response.output_text.delta', { delta: 'Hé', item_id: 'm' }, 1);
  const completed = event(
    'response.completed',
    { response: { ...response('completed'), usage: { input_tokens: 5, output_tokens: 7, total_tokens: 12 } } },
    2,
  );

  it('is asked without state', () => {
    const { native } = dialects({
      store: true,
      background: false,
      metadata: { a: 'b' },
      previous_response_id: 'resp_0',
      conversation: 'conv_1',
    });
    expect(native.request).toEqual({
      model: 'gpt-4o-mini',
      store: false,
      input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Say hello.' }] }],
    });
  });

  it.each([1, 13, 10_000])('streams through, under our name, with the cost at the end (%i bytes)', async (pieceBytes) => {
    const { filter, said } = await streamed(dialects({ stream: true }).native, begun + delta + completed, pieceBytes);
    expect(said).toContain(delta);
    expect(said).not.toContain('response.completed');
    expect(filter.usage).toMatchObject({ input_tokens: 5, output_tokens: 7 });
    const events = eventsIn(said + (await filter.lastBytes(COST)).toString());
    expect(events.map(({ type, response }) => [type, response?.id, response?.store])).toEqual([
      ['response.created', 'resp_1', true],
      ['response.output_text.delta', undefined, undefined],
      ['response.completed', 'resp_1', true],
    ]);
    expect(events.at(-1).response.usage).toMatchObject({ total_tokens: 12, cost: 0.25 });
  });

  it('that fails on the way ends with an error event of the next number', async () => {
    const failed = event('response.failed', { response: { ...response('failed'), error: { code: 'server_error', message: 'Oops.' } } }, 2);
    const { filter } = await streamed(dialects({ stream: true }).native, begun + delta + failed, 50);
    expect(filter.error).toEqual({ message: 'Oops.', type: 'server_error', code: 'server_error' });
    expect(eventsIn(String(filter.errorBytes({ message: 'Oops.', type: 'server_error', code: null })))).toEqual([
      { type: 'error', code: 'server_error', message: 'Oops.', param: null, sequence_number: 2 },
    ]);
    expect(filter.delivered().text).toBe('Hé');
  });

  it('that breaks off is not complete', async () => {
    const { filter } = await streamed(dialects({ stream: true }).native, begun + delta, 50);
    expect([filter.isComplete, filter.isInvalid, filter.usage]).toEqual([false, false, undefined]);
  });

  it.each(['<html>', '{"object":"list"}', '{"object":"response","output":[],"status":"failed"}'])('%s is no answer', async (body) => {
    expect(await dialects().native.form.read(Buffer.from(body), null)).toBeUndefined();
  });
});

describe('what is held of the input', () => {
  const model = (id: string) => {
    const found = loadCatalog().find(id);
    if (!found) throw new Error(`no ${id}`);
    return found;
  };
  const boundOf = (input: object[], id = 'gpt-5.4') => workOf({ model: id, input }).bound(model(id)).inputTokens;
  /** A real one has thousands of characters that are no text. */
  const PICTURE = `data:image/png;base64,${'A'.repeat(40_000)}`;
  const call = { type: 'computer_call_output', call_id: 'c' };
  const result = { type: 'function_call_output', call_id: 'c' };

  it.each([
    ['a message', { role: 'user', content: [{ type: 'input_image', image_url: PICTURE }] }],
    ['a screenshot', { ...call, output: { type: 'computer_screenshot', image_url: PICTURE } }],
    ['a screenshot by another name', { ...call, output: { type: 'input_image', image_url: PICTURE } }],
    ['a screenshot without a type', { ...call, output: { image_url: PICTURE } }],
    ['the output of a function', { ...result, output: [{ type: 'input_image', image_url: PICTURE }] }],
    ['the output of a custom tool', { ...result, type: 'custom_tool_call_output', output: [{ type: 'input_image', image_url: PICTURE }] }],
    ['an image that was made', { type: 'image_generation_call', id: 'ig_1', result: 'A'.repeat(40_000) }],
  ])('has an image in %s at the most that one can cost, in place of its characters', (_, item) => {
    const without = boundOf([{ role: 'user', content: [] }]);
    const bound = boundOf([item]);
    expect(bound).toBeGreaterThanOrEqual(without + 10_000 - 100);
    expect(bound).toBeLessThan(without + 10_000 + 500);
  });

  it('has an image by its address as one that is inline', () => {
    const screenshot = (image_url: string) => boundOf([{ ...call, output: { type: 'computer_screenshot', image_url } }]);
    expect(screenshot('https://x.test/a.png')).toBeGreaterThan(10_000);
  });

  it.each([
    ['a file in a message', { role: 'user', content: [{ type: 'input_file', file_url: 'https://x.test/a.pdf' }] }],
    ['a file from a tool', { ...result, output: [{ type: 'input_file', file_data: 'data:application/pdf;base64,AAAA' }] }],
    ['what the provider has compacted', { type: 'compaction', encrypted_content: 'gAAAA' }],
    ['a PDF as an image', { role: 'user', content: [{ type: 'input_image', image_url: 'data:application/pdf;base64,AAAA' }] }],
    ['a film as an image of a chat', { role: 'user', content: [{ type: 'image_url', image_url: { url: 'Data:video/mp4;base64,AAAA' } }] }],
  ])('has %s with the whole window', (_, item) => {
    expect(boundOf([item])).toBeGreaterThan(model('gpt-5.4').contextWindow ?? 0);
  });

  it('has every field that is sent, known or not', () => {
    const plain = workOf({}).bound(model('gpt-4o-mini')).inputTokens;
    expect(workOf({ documents: ['x'.repeat(5_000)] }).bound(model('gpt-4o-mini')).inputTokens).toBeGreaterThan(plain + 5_000);
  });

  it.each([
    ['content', { role: 'user', content: [{ type: 'input_image', detail: 'ultra', image_url: PICTURE }] }, 'input[0].content[0].detail'],
    ['screenshot', { ...call, output: { type: 'computer_screenshot', file_id: 'file-1' } }, 'input[0].output.file_id'],
    ['output', { ...result, output: [{ file_id: 'file-1' }] }, 'input[0].output[0].file_id'],
  ])('is refused where a %s says what nobody can hold', (_, item, param) => {
    expect(() => workOf({ model: 'gpt-5.4', input: [item] })).toThrow(
      expect.objectContaining({ code: 'validation_failed', extras: expect.objectContaining({ param }) }),
    );
  });

  it.each([
    [
      { type: 'additional_tools', role: 'developer', tools: [{ type: 'function', name: 'f' }, { type: 'web_search' }] },
      'input[0].tools[1]',
    ],
    [{ type: 'tool_search_output', call_id: 'c', execution: 'client', tools: [{ type: 'mcp', server_label: 's' }] }, 'input[0].tools[0]'],
    [{ type: 'compaction_trigger' }, 'input[0]'],
  ])('is refused where an item starts what the provider runs: %j', (item, param) => {
    expect(() => workOf({ input: [item] })).toThrow(expect.objectContaining({ code: 'unpriced_feature', extras: { param } }));
  });
});
