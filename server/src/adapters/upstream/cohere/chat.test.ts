import { readFileSync } from 'node:fs';
import { ChatCompletion, type ChatCompletionRequest } from '@tallygate/contract';
import { cohereSteps, steps } from '@tallygate/fake-upstream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { againstFakeUpstream, MAX_BYTES } from '../against-fake-upstream.ts';
import { type CallOverrides, chunksOf, pumped } from '../conformance-calls.ts';
import { UpstreamCut } from '../port.ts';
import { CHAT_REQUESTS, LOOK } from '../testing/chat-requests.ts';
import { type AnswerContext, completionOf } from './answer.ts';
import { ChunkStream } from './chunk-stream.ts';
import { cohere } from './index.ts';
import { usageOf } from './usage.ts';

const fixture = (name: string): Buffer => readFileSync(new URL(`fixtures/${name}`, import.meta.url));
const MODEL = 'command-a-03-2025';
const CONTEXT: AnswerContext = { model: MODEL, created: 1_763_712_000, id: 'own', oneCallOnly: false };
const { fake, chat, ask } = againstFakeUpstream((options) => cohere({ ...options, baseUrl: new URL(options.baseUrl).origin }), MODEL);

async function sentFor(request: Partial<ChatCompletionRequest>, overrides: CallOverrides = {}) {
  await (await ask({ request, ...overrides })).collect(MAX_BYTES);
  return Object(fake().requests.at(-1)?.body);
}

function translated(body: Buffer, { size = body.length, ...context }: Partial<AnswerContext> & { size?: number } = {}): string {
  const translation = new ChunkStream({ ...CONTEXT, ...context });
  const said: Buffer[] = [];
  for (let at = 0; at < body.length; at += size) said.push(translation.push(body.subarray(at, at + size)));
  return Buffer.concat([...said, translation.end()]).toString();
}

const TOOL = { ...LOOK, type: 'function' as const };
const HELLO = { role: 'user' as const, content: 'Hi.' };

describe('what is sent', () => {
  it('has the bound that is held and the fields that Cohere knows, within its limits, and no others', async () => {
    const { messages: _, ...sent } = await sentFor({
      ...{ temperature: 0.5, top_p: 1, top_k: 900, seed: -7, stop: 'END', presence_penalty: 2, frequency_penalty: -1, max_tokens: 9_999 },
      ...{ user: 'ada', a_field_of_next_year: true, safety_mode: 'STRICT', reasoning_effort: 'high' },
    });
    expect(sent).toEqual({
      ...{ model: MODEL, stream: false, max_tokens: 256, temperature: 0.5, p: 0.99, k: 500, seed: 7, stop_sequences: ['END'] },
      ...{ presence_penalty: 1, frequency_penalty: 0, safety_mode: 'STRICT' },
    });
    expect(fake().requests[0]?.path).toBe('/v2/chat');
  });

  it('has turns in Cohere’s words: systems, pictures, plans before calls, thoughts before words, results', async () => {
    const call = { id: 'c1', type: 'function' as const, function: { name: 'look', arguments: '{}' } };
    const { messages } = await sentFor({
      messages: [
        { role: 'developer', content: 'Be brief.' },
        { role: 'user', content: [{ type: 'text', text: 'Look.' }] },
        { role: 'assistant', content: null, reasoning_content: 'I look.', tool_calls: [call] },
        { role: 'tool', tool_call_id: 'c1', content: [{ type: 'text', text: 'sun' }] },
        { role: 'assistant', content: 'Sun.', reasoning_content: 'It is bright.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'And here?' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'low' } },
          ],
        },
      ],
      tools: [TOOL],
    });
    expect(messages).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Look.' },
      { role: 'assistant', tool_calls: [call], tool_plan: 'I look.' },
      { role: 'tool', tool_call_id: 'c1', content: 'sun' },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'It is bright.' },
          { type: 'text', text: 'Sun.' },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'And here?' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'low' } },
        ],
      },
    ]);
  });

  const OTHER = { type: 'function' as const, function: { name: 'other', parameters: {} } };
  it.each<[unknown, string[], string | undefined]>([
    ['auto', ['look', 'other'], undefined],
    ['none', ['look', 'other'], 'NONE'],
    ['required', ['look', 'other'], 'REQUIRED'],
    [{ type: 'function', function: { name: 'other' } }, ['other'], 'REQUIRED'],
    [
      { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name: 'look' } }] } },
      ['look'],
      undefined,
    ],
  ])('offers the tools that %j allows', async (choice, names, must) => {
    const { tools, tool_choice } = await sentFor({ tools: [TOOL, OTHER], tool_choice: choice as 'auto' });
    expect([tools.map(({ function: one }: typeof OTHER) => one.name), tool_choice]).toEqual([names, must]);
  });

  it.each([
    ['none', { type: 'disabled' }],
    ['low', { type: 'enabled', token_budget: 2_048 }],
    ['high', { type: 'enabled', token_budget: 5_000 }],
    [undefined, undefined],
  ])('says how much a model that thinks may think: %s', async (reasoning_effort, thinking) => {
    const overrides = { model: 'command-a-reasoning-08-2025', maxOutputTokens: 10_000 };
    expect((await sentFor({ ...(reasoning_effort && { reasoning_effort }) }, overrides))['thinking']).toEqual(thinking);
  });

  it.each<[Partial<ChatCompletionRequest>, string]>([
    [{ n: 2 }, 'n'],
    [{ logprobs: true }, 'logprobs'],
    [{ logit_bias: { '7': 1 } }, 'logit_bias'],
    [{ stop: ['1', '2', '3', '4', '5', '6'] as never }, 'stop'],
    [{ tools: [TOOL], response_format: { type: 'json_object' } }, 'response_format'],
    [
      { messages: [{ role: 'user', content: [{ type: 'input_audio', input_audio: { data: 'AA', format: 'wav' } }] }] },
      'messages[0].content[0]',
    ],
    [{ messages: [HELLO, { role: 'function', name: 'x', content: 'y' }] }, 'messages[1]'],
  ])('is nothing where leaving something out would change what is meant: %j', async (request, param) => {
    expect(await chat({ request })).toMatchObject({ ok: false, kind: 'rejected', retryable: true, status: null, param });
    expect(fake().requests).toHaveLength(0);
  });

  it('is a request that Cohere takes, whatever chat OpenAI would take', async () => {
    await fc.assert(
      fc.asyncProperty(CHAT_REQUESTS, async (request) => {
        const outcome = await chat({ request });
        if (outcome.ok) await outcome.collect(MAX_BYTES);
        else expect(outcome.status).toBeNull();
      }),
      { numRuns: 60 },
    );
  });
});

describe('what is answered', () => {
  it('is OpenAI’s, with thoughts apart and what Cohere bills as its usage', () => {
    const completion = ChatCompletion.parse(completionOf(JSON.parse(String(fixture('thinking.json'))), CONTEXT));
    expect(completion).toMatchObject({
      id: 'chatcmpl-c14c80c3-18eb-4519-9460-6c92edd8cfb4',
      choices: [{ finish_reason: 'stop', message: { content: 'Three sisters.', reasoning_content: 'Two brothers share their sisters.' } }],
      usage: { prompt_tokens: 31, completion_tokens: 48, total_tokens: 79 },
    });
  });

  it.each([1, 7, 100_000])('is streamed as chunks, in pieces of %i bytes, with the plan and two calls', (size) => {
    const chunks = chunksOf(translated(fixture('plan-and-calls.sse'), { size }));
    const deltas = chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta));
    expect(deltas[0]).toEqual({ role: 'assistant', content: '' });
    expect(deltas.map((delta) => delta['reasoning_content'] ?? '').join('')).toBe('I will look.');
    const calls = deltas.flatMap(({ tool_calls: pieces }) => pieces ?? []);
    const argumentsAt = (index: number) =>
      calls.map((call) => (call.index === index ? String(Object(call['function'])['arguments']) : '')).join('');
    expect(calls.flatMap(({ id }) => id ?? [])).toEqual(['get_weather_nsz5zm3w56q3', 'get_weather_dkf0akqdazjb']);
    expect([JSON.parse(argumentsAt(0)), JSON.parse(argumentsAt(1))]).toEqual([{ location: 'Madrid' }, { location: 'Brasilia' }]);
    expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe('tool_calls');
    expect(chunks.at(-1)?.usage).toMatchObject({ prompt_tokens: 37, completion_tokens: 28, prompt_tokens_details: { cached_tokens: 16 } });
  });

  it('has the first call alone where the caller declined parallel ones', async () => {
    const pieces = chunksOf(translated(fixture('plan-and-calls.sse'), { oneCallOnly: true })).flatMap(
      ({ choices }) => choices[0]?.delta.tool_calls ?? [],
    );
    expect(new Set(pieces.map(({ index }) => index))).toEqual(new Set([0]));
  });

  it.each([
    ['COMPLETE', 'stop'],
    ['STOP_SEQUENCE', 'stop'],
    ['MAX_TOKENS', 'length'],
    ['TOOL_CALL', 'tool_calls'],
    ['ERROR_TOXIC', 'content_filter'],
  ])('that ends for %s ends for %s', (finish_reason, reason) => {
    expect(completionOf({ finish_reason, message: { content: 'x' } }, CONTEXT)).toMatchObject({ choices: [{ finish_reason: reason }] });
  });

  it.each(['ERROR', 'TIMEOUT'])('that ends for %s is none: what Cohere says it bills is kept', async (finishReason) => {
    fake().script(cohereSteps.saying({ finishReason }), cohereSteps.saying({ finishReason }));
    await expect((await ask()).collect(MAX_BYTES)).rejects.toMatchObject({
      found: { usage: { prompt_tokens: 10, completion_tokens: 8 } },
    });
    const told = await pumped(await ask({ stream: true }));
    expect(told).toContain('"error"');
    expect(told).toContain('"completion_tokens":8');
    expect(told).not.toContain('[DONE]');
  });

  it('is an error in the middle of a stream, or a cut where nothing says why', async () => {
    fake().script(steps.errorMidStream(5), steps.withoutDone());
    expect(await pumped(await ask({ stream: true }))).toContain('The generation failed.');
    await expect((await ask({ stream: true })).pump(() => {})).rejects.toBeInstanceOf(UpstreamCut);
  });

  it('is refused in Cohere’s words, a prompt that is too long with OpenAI’s code', async () => {
    fake().script(cohereSteps.refused(400, 'too many tokens: total number of tokens in the prompt cannot exceed 256000'));
    expect(await chat()).toMatchObject({ kind: 'rejected', status: 400, code: 'context_length_exceeded', param: 'messages' });
  });
});

describe('usage', () => {
  const units = { input_tokens: 3, output_tokens: 2 };
  it.each([
    [
      { billed_units: units, tokens: { input_tokens: 90, output_tokens: 9 } },
      { prompt_tokens: 3, completion_tokens: 2 },
    ],
    [{ tokens: units }, { prompt_tokens: 3, completion_tokens: 2 }],
    [{ billed_units: { input_tokens: 2.4, output_tokens: 2 } }, { prompt_tokens: 3, completion_tokens: 2 }],
    [{ billed_units: { input_tokens: 3 } }, { prompt_tokens: 3, completion_tokens: 0, is_partial: true }],
    [{ billed_units: { ...units, search_units: 1 }, cached_tokens: 9 }, { prompt_tokens_details: { cached_tokens: 3 } }],
  ])('%j is what is billed', (stated, expected) => {
    expect(usageOf(stated)).toMatchObject(expected);
  });

  it.each([undefined, {}, { billed_units: {} }, { billed_units: { input_tokens: 'many' } }])('%j is none', (stated) => {
    expect(usageOf(stated)).toBeUndefined();
  });
});
