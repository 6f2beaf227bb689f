import { GenerateContentRequest } from '@tallygate/contract';
import { describe, expect, test } from 'vitest';
import { loadCatalog } from '../../../money/catalog/index.ts';
import type { ProviderTraits } from '../dialect.ts';
import type { Work } from '../work.ts';
import { inCamelCase } from './camel-case.ts';
import { generateContentWork } from './generate-content-work.ts';
import { jsonSchemaOf } from './json-schema.ts';

const COST = {
  usage: { input_tokens: 30, cached_input_tokens: 10, cache_write_tokens: 0, output_tokens: 7, reasoning_tokens: 3 },
  costUsd: 0.25,
};
const USAGE = {
  promptTokenCount: 30,
  cachedContentTokenCount: 10,
  candidatesTokenCount: 4,
  thoughtsTokenCount: 3,
  totalTokenCount: 37,
  cost: 0.25,
};
const catalog = loadCatalog();
const HELLO = [{ role: 'user', parts: [{ text: 'Hello.' }] }];

async function workOf(fields: object, { model = 'gpt-4o-mini', isStream = false, query = '' } = {}) {
  const given = { contents: HELLO, ...fields };
  const bytes = Buffer.from(JSON.stringify(given));
  const received = { bytes, files: [], sha256: () => 'x', params: { model }, query: new URLSearchParams(query) };
  return generateContentWork(GenerateContentRequest.parse(given), received, isStream);
}

/** For providers that do not have Google's own API. */
const chatsIn = ({ dialects }: Pick<Work, 'dialects'>) => dialects.filter(({ endpoint }) => endpoint === '/v1/chat/completions');
async function chatFormOf(isStream: boolean, query = '') {
  const [chat] = chatsIn(await workOf({}, { isStream, query }));
  if (!chat) throw new Error('There is no chat');
  return chat.form;
}

const GOOGLE = { readsGoogleFields: true };
const OTHERS = { readsGoogleFields: false };

async function chatFor(fields: object, id = 'gpt-4o-mini', at: ProviderTraits = OTHERS) {
  const model = catalog.find(id);
  if (!model) throw new Error(id);
  const found = chatsIn(await workOf(fields, { model: id })).find(({ suits }) => suits?.(model, at) ?? true);
  return JSON.parse(JSON.stringify(found?.request));
}

describe('a request in Google’s words', () => {
  test('becomes a chat with everything that it asks', async () => {
    const chat = await chatFor({
      systemInstruction: { parts: [{ text: 'Be brief.' }] },
      contents: [
        ...HELLO,
        { role: 'model', parts: [{ text: 'Hm.', thought: true }, { functionCall: { name: 'a.look', args: { city: 'Ulm' } } }] },
        { role: 'user', parts: [{ functionResponse: { name: 'a.look', response: { degrees: 7 } } }, { text: 'And now?' }] },
      ],
      tools: [{ functionDeclarations: [{ name: 'a.look', parameters: { type: 'OBJECT', properties: { city: { type: 'STRING' } } } }] }],
      toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['a.look'] } },
      generationConfig: { temperature: 0.5, topK: 3, stopSequences: ['end'], responseMimeType: 'application/json' },
    });
    const name = chat.tools[0].function.name;
    expect(name).toMatch(/^a_look_[0-9a-f]{10}$/);
    expect(chat).toEqual({
      model: 'gpt-4o-mini',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Hello.' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'call_1', type: 'function', function: { name, arguments: '{"city":"Ulm"}' } }],
        },
        { role: 'tool', tool_call_id: 'call_1', content: '{"degrees":7}' },
        { role: 'user', content: 'And now?' },
      ],
      tools: [{ type: 'function', function: { name, parameters: { type: 'object', properties: { city: { type: 'string' } } } } }],
      tool_choice: { type: 'function', function: { name } },
      ...{ temperature: 0.5, top_k: 3, stop: ['end'], response_format: { type: 'json_object' } },
    });
  });

  test.each<[object, string, ProviderTraits, object]>([
    [{ thinkingBudget: 2_000 }, 'o4-mini', OTHERS, { reasoning_effort: 'low' }],
    [{ thinkingLevel: 'HIGH' }, 'o4-mini', OTHERS, { reasoning_effort: 'high' }],
    [{ thinkingLevel: 'HIGH' }, 'gpt-4o-mini', OTHERS, {}],
    [{ thinkingBudget: -1, includeThoughts: true }, 'o4-mini', OTHERS, {}],
    [{ thinkingLevel: 'HIGH' }, 'gemini-2.5-pro', OTHERS, { reasoning_effort: 'high' }],
    [
      { thinkingBudget: 2_000, includeThoughts: true },
      'gemini-2.5-pro',
      GOOGLE,
      { extra_body: { google: { thinking_config: { include_thoughts: true, thinking_budget: 2_000 } } } },
    ],
  ])('%j is for %s at %j what it understands of it', async (thinkingConfig, model, at, thinking) => {
    const { messages: _, model: __, ...rest } = await chatFor({ generationConfig: { thinkingConfig } }, model, at);
    expect(rest).toEqual(thinking);
  });

  test('is held with the bound of every candidate, at most what the chat that is sent has', async () => {
    const work = await workOf({ generationConfig: { maxOutputTokens: 50, candidateCount: 3 } });
    expect(work.output).toMatchObject({ asked: 50, choices: 3 });
    const model = catalog.find('gpt-4o-mini');
    for (const { request } of work.dialects)
      expect(model && work.bound(model).inputTokens).toBeGreaterThanOrEqual(JSON.stringify(request).length);
  });

  test.each([
    [
      { contents: [{ role: 'user', parts: [{ functionResponse: { name: 'look', response: {} } }] }] },
      'contents[0].parts[0].functionResponse',
    ],
    [{ contents: [{ role: 'user', parts: [{ fileData: { fileUri: 'gs://bucket/a.png' } }] }] }, 'contents[0].parts[0].fileData.fileUri'],
  ])('that has no like in a chat is refused at its place: %j', async (fields, param) => {
    await expect(workOf(fields)).rejects.toMatchObject({ code: 'validation_failed', extras: { param } });
  });

  test('is read in either spelling, and names both where a field comes twice', () => {
    const twice: string[] = [];
    const given = {
      generation_config: { max_output_tokens: 5 },
      generationConfig: {},
      contents: [{ parts: [{ function_call: { args: { my_own: 1 } } }] }],
    };
    const read = inCamelCase(given, ({ path }) => twice.push(path.join('.')));
    expect(read).toMatchObject({ contents: [{ parts: [{ functionCall: { args: { my_own: 1 } } }] }] });
    expect(twice).toEqual(['generationConfig']);
    const camel = { contents: [{ parts: [{ text: 'a_b' }] }] };
    expect(inCamelCase(camel, () => {})).toBe(camel);
  });

  test('has its schema as JSON Schema, in either spelling', () => {
    const schema = {
      type: 'ARRAY',
      min_items: '2',
      items: { anyOf: [{ type: 'STRING', nullable: true, enum: ['a'] }], example: 'a' },
      propertyOrdering: [],
    };
    expect(jsonSchemaOf(schema)).toEqual({
      type: 'array',
      minItems: 2,
      items: { anyOf: [{ type: ['string', 'null'], enum: ['a', null] }], examples: ['a'] },
    });
  });
});

const chunk = (delta: object, finish: string | null = null, index = 0) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', model: 'served', choices: [{ index, delta, finish_reason: finish }] })}\n\n`;
const CHAT_USAGE = `data: ${JSON.stringify({ id: 'c', choices: [], usage: { prompt_tokens: 30, completion_tokens: 7 } })}\n\n`;
const STREAM = [
  chunk({ role: 'assistant', content: '' }),
  chunk({ reasoning_content: 'Hm.' }),
  chunk({ content: 'I look.' }),
  chunk({ tool_calls: [{ index: 0, id: 'call_a', function: { name: 'look', arguments: '{"city":' } }] }),
  chunk({ tool_calls: [{ index: 0, function: { arguments: '"Ulm"}' } }] }),
  chunk({}, 'tool_calls'),
  CHAT_USAGE,
  'data: [DONE]\n\n',
].join('');

/** Fed in pieces of several sizes, which must not change what is said. */
async function streamed(query: string): Promise<string> {
  const form = await chatFormOf(true, query);
  const said = await Promise.all(
    [1, 7, 10_000].map(async (pieceBytes) => {
      const filter = form.openStream('text/event-stream');
      const bytes = Buffer.from(STREAM);
      let text = '';
      for (let at = 0; at < bytes.length; at += pieceBytes) text += (await filter.push(bytes.subarray(at, at + pieceBytes))).toString();
      text += (await filter.end()).toString();
      expect([filter.isComplete, filter.usage]).toMatchObject([true, { input_tokens: 30, output_tokens: 7 }]);
      return (text + (await filter.lastBytes(COST)).toString()).replaceAll(/"responseId":"\w+"/g, '"responseId":"r"');
    }),
  );
  expect(new Set(said).size).toBe(1);
  return said[0] ?? '';
}

const EVENTS = [
  {
    candidates: [{ content: { role: 'model', parts: [{ text: 'Hm.', thought: true }] }, index: 0 }],
    modelVersion: 'served',
    responseId: 'r',
  },
  { candidates: [{ content: { role: 'model', parts: [{ text: 'I look.' }] }, index: 0 }], modelVersion: 'served', responseId: 'r' },
  {
    candidates: [
      {
        content: { role: 'model', parts: [{ functionCall: { id: 'call_a', name: 'look', args: { city: 'Ulm' } } }] },
        finishReason: 'STOP',
        index: 0,
      },
    ],
    modelVersion: 'served',
    responseId: 'r',
    usageMetadata: USAGE,
  },
];

describe('an answer in Google’s words', () => {
  test('is streamed as events, with calls whole and the usage at the end', async () => {
    const text = await streamed('alt=sse');
    expect([...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data ?? ''))).toEqual(EVENTS);
  });

  test('is one list of JSON where no events are asked for', async () => {
    expect(JSON.parse(await streamed(''))).toEqual(EVENTS);
  });

  test.each([
    ['upstream_timeout', { code: 504, message: 'No.', status: 'DEADLINE_EXCEEDED' }],
    ['odd', { code: 500, message: 'No.', status: 'INTERNAL' }],
  ])('ends for %s with Google’s error, also before anything was said', async (code, error) => {
    const form = await chatFormOf(true);
    const bytes = form.openStream('x').errorBytes({ message: 'No.', type: 'server_error', code });
    expect(JSON.parse(String(bytes))).toEqual([{ error }]);
  });

  test.each([
    [{ content: 'Hi.' }, 'length', { finishReason: 'MAX_TOKENS' }, [{ text: 'Hi.' }]],
    [{ content: null, refusal: 'No.' }, 'stop', { finishReason: 'SAFETY', finishMessage: 'No.' }, []],
    [
      { content: null, tool_calls: [{ id: 'a', type: 'function', function: { name: 'look', arguments: 'Ulm' } }] },
      'tool_calls',
      { finishReason: 'STOP' },
      [{ functionCall: { id: 'a', name: 'look', args: { arguments: 'Ulm' } } }],
    ],
    [
      { content: 'Hi.', extra_content: { google: { thought_signature: 's' } } },
      'stop',
      { finishReason: 'STOP' },
      [{ text: 'Hi.', thoughtSignature: 's' }],
    ],
  ])('%j that ended for %s says so in Google’s words', async (message, finish_reason, ended, parts) => {
    const form = await chatFormOf(false);
    const completion = {
      model: 'served',
      choices: [{ index: 0, message, finish_reason }],
      usage: { prompt_tokens: 3, completion_tokens: 2 },
    };
    const answer = await form.read(Buffer.from(JSON.stringify(completion)), null);
    expect(answer?.usage).toMatchObject({ input_tokens: 3, output_tokens: 2 });
    const told = JSON.parse(((await answer?.toBytes(COST)) ?? '').toString());
    expect(told).toMatchObject({
      candidates: [{ ...ended, content: { role: 'model', parts } }],
      modelVersion: 'served',
      usageMetadata: USAGE,
    });
    expect(told.candidates[0].content.parts).toHaveLength(parts.length);
  });
});
