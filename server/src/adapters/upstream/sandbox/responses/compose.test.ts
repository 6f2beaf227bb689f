import type { ResponseRequest } from '@tallygate/contract';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NOW, sandboxAt } from '../testing/sandbox.ts';

const model = 'gpt-4o-mini';
const responses = sandboxAt('/v1/responses', { model, maxOutputTokens: 512 }, (call) => call);
const request: ResponseRequest = { model, input: 'Say hello.' };
const types = async (asked: ResponseRequest, overrides: Parameters<typeof responses.events>[1] = {}) =>
  (await responses.events(asked, overrides)).map(({ data }) => data.type.replace('response.', ''));
const without = (list: string[], ending: string) => list.filter((type, index) => !type.endsWith(ending) || list[index - 1] !== type);
const weather = {
  type: 'function',
  name: 'get_weather',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};

describe('responses of the sandbox', () => {
  it('have every key that OpenAI requires, nulls included', async () => {
    expect(await responses.json(request)).toEqual({
      id: expect.stringMatching(/^resp_[0-9a-f]{48}$/),
      object: 'response',
      created_at: NOW / 1000,
      status: 'completed',
      background: false,
      completed_at: NOW / 1000,
      error: null,
      incomplete_details: null,
      instructions: null,
      max_output_tokens: null,
      max_tool_calls: null,
      model,
      output: [
        {
          id: expect.stringMatching(/^msg_/),
          type: 'message',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: expect.stringMatching(/^You said: "Say hello\."/), annotations: [], logprobs: [] }],
        },
      ],
      parallel_tool_calls: true,
      previous_response_id: null,
      prompt_cache_key: null,
      reasoning: { effort: null, summary: null },
      safety_identifier: null,
      service_tier: 'default',
      store: true,
      temperature: 1,
      text: { format: { type: 'text' }, verbosity: 'medium' },
      tool_choice: 'auto',
      tools: [],
      top_logprobs: 0,
      top_p: 1,
      truncation: 'disabled',
      usage: {
        input_tokens: 3,
        input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
        output_tokens: expect.any(Number),
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: expect.any(Number),
      },
      metadata: {},
    });
  });

  it('stream a text in exactly the order of OpenAI', async () => {
    expect(without(await types(request), '.delta')).toEqual([
      'created',
      'in_progress',
      'output_item.added',
      'content_part.added',
      'output_text.delta',
      'output_text.done',
      'content_part.done',
      'output_item.done',
      'completed',
    ]);
  });

  it('stream calls in exactly the order of OpenAI', async () => {
    const tools = [weather, { type: 'custom', name: 'note' }, { type: 'web_search' }];
    expect(without(await types({ ...request, input: 'get_weather and note', tools }), '.delta')).toEqual([
      'created',
      'in_progress',
      'output_item.added',
      'function_call_arguments.delta',
      'function_call_arguments.done',
      'output_item.done',
      'output_item.added',
      'custom_tool_call_input.delta',
      'custom_tool_call_input.done',
      'output_item.done',
      'completed',
    ]);
  });

  it('stream reasoning and a refusal in exactly the order of OpenAI', async () => {
    const asked = { ...request, reasoning: { effort: 'low', summary: 'auto' } };
    expect(without(await types(asked, { sandboxFault: 'refusal' }), '.delta')).toEqual([
      'created',
      'in_progress',
      'output_item.added',
      'reasoning_summary_part.added',
      'reasoning_summary_text.delta',
      'reasoning_summary_text.done',
      'reasoning_summary_part.done',
      'output_item.done',
      'output_item.added',
      'content_part.added',
      'refusal.delta',
      'refusal.done',
      'content_part.done',
      'output_item.done',
      'completed',
    ]);
  });

  it('say in a stream what they say plain, numbered without gaps, whatever is asked for', async () => {
    const asItems: ResponseRequest['input'] = [{ role: 'user', content: [{ type: 'input_text', text: 'get_weather, note' }] }];
    const asked: fc.Arbitrary<Partial<ResponseRequest>> = fc.record({
      input: fc.oneof(fc.string(), fc.constant(asItems)),
      tools: fc.subarray([weather, { type: 'custom', name: 'note' }, { type: 'web_search' }]),
      tool_choice: fc.constantFrom('auto', 'none', { type: 'web_search' }),
      reasoning: fc.constantFrom(null, { effort: 'low' }, { effort: 'high', summary: 'detailed' }),
      include: fc.subarray(['reasoning.encrypted_content', 'message.output_text.logprobs']),
      text: fc.constantFrom({}, { format: { type: 'json_object' as const } }),
    });
    await fc.assert(
      fc.asyncProperty(asked, fc.nat(120), async (fields, maxOutputTokens) => {
        const plain = await responses.json({ ...request, ...fields }, { maxOutputTokens });
        const events = await responses.events({ ...request, ...fields }, { maxOutputTokens });
        expect(events.map(({ data }) => data.sequence_number)).toEqual(events.map((_, index) => index));
        expect(events.map(({ name }) => name)).toEqual(events.map(({ data }) => data.type));
        expect(events.at(-1)?.data.response).toEqual(plain);
        expect(events.at(-1)?.data.type).toBe(`response.${plain.status}`);
        expect(events.flatMap(({ data }) => (data.type === 'response.output_item.done' ? [data.item] : []))).toEqual(plain.output);
        for (const [output_index, item] of plain.output.entries()) {
          if (item.type === 'web_search_call') continue;
          const said = events.flatMap(({ data }) => (data.output_index === output_index && data.item_id === item.id ? [data] : []));
          const pieces = said.filter(({ type }) => type.endsWith('.delta')).map(({ delta }) => delta);
          const whole =
            item.arguments ?? item.input ?? item.content?.[0].text ?? item.summary.map((part: { text: string }) => part.text).join('');
          expect(pieces.join('')).toBe(whole);
        }
        expect(new Set(plain.output.map(({ id }: { id: string }) => id)).size).toBe(plain.output.length);
        expect(plain.usage.output_tokens).toBeLessThanOrEqual(maxOutputTokens);
        expect(plain.status).toBe(plain.incomplete_details ? 'incomplete' : 'completed');
      }),
      { numRuns: 60 },
    );
  });

  it('have what the provider ran, where the text or the choice names it, and count it', async () => {
    const tools = [
      ...[{ type: 'web_search' }, { type: 'file_search', vector_store_ids: ['vs_1'] }],
      ...[{ type: 'code_interpreter', container: { type: 'auto' } }, { type: 'image_generation' }, { type: 'shell' }],
      ...[
        { type: 'mcp', server_label: 'wiki' },
        { type: 'shell', environment: { type: 'local' } },
      ],
    ];
    const input = 'web search, file_search, code interpreter, image generation, shell and wiki';
    const { output, tool_usage: told, usage } = await responses.json({ ...request, input, tools });
    expect(output.map(({ type }: { type: string }) => type)).toEqual([
      ...['web_search_call', 'file_search_call', 'code_interpreter_call', 'image_generation_call', 'shell_call', 'shell_call_output'],
      ...['mcp_list_tools', 'mcp_call', 'message'],
    ]);
    expect(told).toMatchObject({ web_search: { num_requests: 1 }, image_gen: { output_tokens: 272 } });
    const [none, one, chosen] = await Promise.all([
      responses.json({ ...request, input, tools, tool_choice: 'none' }),
      responses.json({ ...request, input, tools, max_tool_calls: 1 }),
      responses.json({ ...request, tools, tool_choice: { type: 'file_search' } }),
    ]);
    expect([none.output.length, none.tool_usage]).toEqual([1, undefined]);
    expect(one.output.map(({ type }: { type: string }) => type)).toEqual(['web_search_call', 'message']);
    expect(chosen.output[0].type).toBe('file_search_call');
    expect(usage.input_tokens).toBeGreaterThan(6 * none.usage.input_tokens);
  });

  it('call functions with arguments that are valid, and answer their results', async () => {
    const { output } = await responses.json({ ...request, tools: [weather] });
    expect(output).toEqual([
      {
        id: expect.stringMatching(/^fc_/),
        type: 'function_call',
        status: 'completed',
        call_id: expect.stringMatching(/^call_/),
        name: 'get_weather',
        arguments: expect.any(String),
      },
    ]);
    expect(new Ajv2020().validate(weather.parameters, JSON.parse(output[0].arguments))).toBe(true);
    const input = [
      { role: 'user', content: 'Weather?' },
      output[0],
      { type: 'function_call_output', call_id: output[0].call_id, output: '18 °C' },
    ];
    const answer = await responses.json({ ...request, tools: [weather], input });
    expect(answer.output[0].content[0].text).toContain('The tool answered: "18 °C"');
  });

  it('are valid against a schema that is asked for', async () => {
    const schema = {
      type: 'object',
      properties: { name: { type: 'string' }, year: { type: 'integer', minimum: 1900 } },
      required: ['name', 'year'],
    };
    const format = { type: 'json_schema' as const, name: 'book', strict: true, schema };
    const { output, text } = await responses.json({ ...request, text: { format } });
    expect(new Ajv2020().validate(schema, JSON.parse(output[0].content[0].text))).toBe(true);
    expect(text.format).toEqual(format);
  });

  it('reason where the model does, and leave at least half of the bound for words', async () => {
    const { output, usage } = await responses.json({ ...request, include: ['reasoning.encrypted_content'] }, { model: 'o4-mini' });
    expect(output.map(({ type }: { type: string }) => type)).toEqual(['reasoning', 'message']);
    expect(output[0]).toEqual({ id: expect.stringMatching(/^rs_/), type: 'reasoning', summary: [], encrypted_content: expect.any(String) });
    expect(usage.output_tokens_details.reasoning_tokens).toBe(32);
  });

  it('are incomplete where the bound cuts them', async () => {
    const cut = await responses.json(request, { maxOutputTokens: 16 });
    expect(cut).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      output: [{ status: 'incomplete' }],
    });
    expect((await types(request, { maxOutputTokens: 16 })).at(-1)).toBe('incomplete');
  });

  it('are refused with the place in the request where a part of it is wrong', async () => {
    const image = {
      role: 'user',
      content: [
        { type: 'input_text', text: 'x' },
        { type: 'input_image', image_url: 'nonsense' },
      ],
    };
    const input = [{ type: 'reasoning', summary: [] }, image];
    expect(await responses.ask({ ...request, instructions: 'Be kind.', input })).toMatchObject({ param: 'input[1].content[1].image_url' });
    const tools = [
      { type: 'web_search' },
      { type: 'function', name: 'f', parameters: { type: 'object', required: ['a'], properties: { a: false } } },
    ];
    expect(await responses.ask({ ...request, tools })).toMatchObject({ kind: 'rejected', param: 'tools[1].parameters' });
  });

  it('see images and name files', async () => {
    const content = [
      { type: 'input_image', image_url: 'https://example.com/a.png' },
      { type: 'input_file', filename: 'report.pdf', file_id: 'file-1' },
    ];
    const { output } = await responses.json({ ...request, input: [{ role: 'user', content }] });
    expect(output[0].content[0].text).toMatch(/^I see 1 image .* I have 1 file \(report\.pdf\)/);
  });

  it('fail in the middle of a stream with an event that has the next number', async () => {
    const events = await responses.events(request, { sandboxFault: 'error-event;after=2' });
    expect(events.at(-1)).toEqual({
      name: 'error',
      data: { type: 'error', code: 'sandbox_fault', message: expect.any(String), param: null, sequence_number: events.length - 1 },
    });
    expect(events.filter(({ data }) => data.type === 'response.output_text.delta')).toHaveLength(2);
    await expect(responses.bytes(request, { stream: true, sandboxFault: 'cut;after=9999' })).rejects.toMatchObject({ reason: 'reset' });
    expect((await responses.json(request, { sandboxFault: 'overrun' })).usage.output_tokens).toBe(1040);
    expect(await responses.json(request, { sandboxFault: 'no-usage' })).not.toHaveProperty('usage');
  });
});
