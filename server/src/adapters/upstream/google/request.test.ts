import type { ChatCompletionRequest } from '@tallygate/contract';
import { describe, expect, it, test } from 'vitest';
import { chatCall } from '../conformance-calls.ts';
import { Untranslatable } from '../fault.ts';
import { generateContentRequest } from './request.ts';

const translated = (request: Partial<ChatCompletionRequest>, model = 'gemini-2.5-pro') =>
  generateContentRequest(chatCall(model, { request }));
const contentsOf = (messages: ChatCompletionRequest['messages'], model?: string) => translated({ messages }, model).contents;
const call = (id: string, name: string, text: string, more: object = {}) => ({
  id,
  type: 'function',
  function: { name, arguments: text },
  ...more,
});
const TOOL = { type: 'function', function: { name: 'look', parameters: { type: 'object', properties: { city: { type: 'string' } } } } };
type Part = Exclude<ChatCompletionRequest['messages'][number]['content'], string | null | undefined>[number];
const PNG = 'data:image/png;base64,iVBORw0KGgo=';

describe('a conversation', () => {
  it('has what system and developer say apart, and neighbours of one role as one turn', () => {
    expect(
      translated({
        messages: [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: 'One.' },
          { role: 'user', content: [{ type: 'text', text: 'Two.' }] },
          { role: 'assistant', content: 'Three.' },
          { role: 'developer', content: [{ type: 'text', text: 'And kind.' }] },
          { role: 'user', content: 'Four.' },
        ],
      }),
    ).toMatchObject({
      systemInstruction: { parts: [{ text: 'Be brief.' }, { text: 'And kind.' }] },
      contents: [
        { role: 'user', parts: [{ text: 'One.' }, { text: 'Two.' }] },
        { role: 'model', parts: [{ text: 'Three.' }] },
        { role: 'user', parts: [{ text: 'Four.' }] },
      ],
    });
  });

  it('of instructions alone is said by the user, since Google answers nobody else', () => {
    const { contents, systemInstruction } = translated({ messages: [{ role: 'system', content: 'Say hello.' }] });
    expect(contents).toEqual([{ role: 'user', parts: [{ text: 'Say hello.' }] }]);
    expect(systemInstruction).toBeUndefined();
  });

  it.each([
    [
      'an image by its content',
      { type: 'image_url', image_url: { url: PNG } },
      { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } },
    ],
    [
      'an image of the name that nobody registered',
      { type: 'image_url', image_url: { url: 'data:image/jpg;base64,AA==' } },
      { inlineData: { mimeType: 'image/jpeg', data: 'AA==' } },
    ],
    [
      'an image by its address',
      { type: 'image_url', image_url: { url: 'https://x.test/a.webp?b=c.png' } },
      { fileData: { fileUri: 'https://x.test/a.webp?b=c.png', mimeType: 'image/webp' } },
    ],
    [
      'a PDF by its content',
      { type: 'file', file: { file_data: 'data:application/pdf;base64,JVBERg==', filename: 'a.pdf' } },
      { inlineData: { mimeType: 'application/pdf', data: 'JVBERg==' } },
    ],
    [
      'a PDF in bare base64',
      { type: 'file', file: { file_data: 'JVBERg==', filename: 'a.pdf' } },
      { inlineData: { mimeType: 'application/pdf', data: 'JVBERg==' } },
    ],
    [
      'sound',
      { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } },
      { inlineData: { mimeType: 'audio/wav', data: 'UklGRg==' } },
    ],
    [
      'a film by its address',
      { type: 'video_url', video_url: { url: 'https://x.test/a.mov' } },
      { fileData: { fileUri: 'https://x.test/a.mov', mimeType: 'video/quicktime' } },
    ],
  ] as const)('shows %s', (_, part, expected) => {
    expect(contentsOf([{ role: 'user', content: [part] }])).toEqual([{ role: 'user', parts: [expected] }]);
  });
});

test('a book at an address is no image, whatever it is called: for images less was held', () => {
  const mimeTypeOf = (part: Part) => contentsOf([{ role: 'user', content: [part] }])[0]?.parts[0]?.fileData?.mimeType;
  expect(mimeTypeOf({ type: 'image_url', image_url: { url: 'https://x.test/a.pdf' } })).toBe('image/jpeg');
  expect(mimeTypeOf({ type: 'file', file: { file_data: 'https://x.test/a.png' } })).toBe('image/png');
});

test.each([
  'https://generativelanguage.googleapis.com/v1beta/files/abc',
  'https://GenerativeLanguage.GoogleAPIs.com:443/v1beta/files/abc',
  'https://generativelanguage.googleapis.com./v1beta/files/abc',
  'https://storage.googleapis.com/bucket/a.png',
  'https://www.youtube.com/watch?v=abc',
  'https://youtu.be/abc',
  'gs://bucket/a.png',
])('what Google keeps is nobody’s to name: %s', (url) => {
  for (const part of [
    { type: 'image_url', image_url: { url } },
    { type: 'video_url', video_url: { url } },
  ] as const)
    expect(() => contentsOf([{ role: 'user', content: [part] }])).toThrow(/kept at Google|data URL/);
});

describe('calls and their results', () => {
  it('are turns of their own, the results in the order of the calls and with their names', () => {
    const messages: ChatCompletionRequest['messages'] = [
      { role: 'user', content: 'Weather?' },
      { role: 'assistant', content: null, tool_calls: [call('a', 'look', '{"city":"Köln"}'), call('b', 'now', '')] },
      { role: 'tool', tool_call_id: 'b', content: '12:00' },
      { role: 'tool', tool_call_id: 'a', content: [{ type: 'text', text: '{"id":12345678901234567890}' }] },
      { role: 'user', content: 'And now?' },
    ];
    expect(contentsOf(messages)).toEqual([
      { role: 'user', parts: [{ text: 'Weather?' }] },
      {
        role: 'model',
        parts: [{ functionCall: { id: 'a', name: 'look', args: { city: 'Köln' } } }, { functionCall: { id: 'b', name: 'now', args: {} } }],
      },
      {
        role: 'user',
        parts: [
          { functionResponse: { id: 'a', name: 'look', response: { output: '{"id":12345678901234567890}' } } },
          { functionResponse: { id: 'b', name: 'now', response: { output: '12:00' } } },
        ],
      },
      { role: 'user', parts: [{ text: 'And now?' }] },
    ]);
  });

  it('of OpenAI’s older form are translated too', () => {
    expect(
      contentsOf([
        { role: 'user', content: 'x' },
        { role: 'assistant', content: null, function_call: { name: 'look', arguments: '{}' } },
        { role: 'function', name: 'look', content: 'sun' },
      ]).slice(1),
    ).toMatchObject([
      { parts: [{ functionCall: { name: 'look' } }] },
      { parts: [{ functionResponse: { name: 'look', response: { output: 'sun' } } }] },
    ]);
  });

  it('carry an image that a tool returned', () => {
    const content = [{ type: 'image_url', image_url: { url: PNG } }] as const;
    const [, , result] = contentsOf([
      { role: 'user', content: 'x' },
      { role: 'assistant', tool_calls: [call('a', 'look', '{}')] },
      { role: 'tool', tool_call_id: 'a', content: [...content] },
    ]);
    expect(result?.parts[0]?.functionResponse?.parts).toEqual([{ inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } }]);
  });

  it('of which nobody knows the call are refused', () => {
    expect(() => contentsOf([{ role: 'tool', tool_call_id: 'z', content: 'x' }])).toThrow(
      expect.objectContaining({ name: 'Untranslatable', param: 'messages[0].tool_call_id' }),
    );
  });
});

describe('signatures of thoughts', () => {
  const extra = (signature: string) => ({ extra_content: { google: { thought_signature: signature } } });
  const turns = (more: object): ChatCompletionRequest['messages'] => [
    { role: 'user', content: 'x' },
    { role: 'assistant', content: null, tool_calls: [call('a', 'look', '{}', more), call('b', 'look', '{}')] },
    { role: 'tool', tool_call_id: 'a', content: '1' },
    { role: 'tool', tool_call_id: 'b', content: '2' },
  ];

  it('stand again where they stood: on the call, and on the last text', () => {
    expect(contentsOf(turns(extra('c2ln')), 'gemini-3.5-flash')[1]?.parts.map(({ thoughtSignature }) => thoughtSignature)).toEqual([
      'c2ln',
      undefined,
    ]);
    const [, said] = contentsOf([
      { role: 'user', content: 'x' },
      { role: 'assistant', content: 'Hi.', ...extra('dGV4dA==') },
    ]);
    expect(said?.parts).toEqual([{ text: 'Hi.', thoughtSignature: 'dGV4dA==' }]);
  });

  it('that the caller’s library dropped do not end the conversation where Google demands them', () => {
    expect(contentsOf(turns({}), 'gemini-3.5-flash')[1]?.parts[0]?.thoughtSignature).toBe('skip_thought_signature_validator');
    expect(contentsOf(turns({}), 'gemini-2.5-pro')[1]?.parts[0]?.thoughtSignature).toBeUndefined();
  });
});

describe('tools', () => {
  const withChoice = (tool_choice: unknown) => translated({ tools: [TOOL], tool_choice }).toolConfig?.functionCallingConfig;

  it('are declared with their JSON Schema, and without one where they take nothing', () => {
    const tools = [
      { type: 'function', function: { name: 'look', description: 'Look.', parameters: { properties: {} }, strict: true } },
      { type: 'function', function: { name: 'now', parameters: {} } },
    ];
    expect(translated({ tools }).tools).toEqual([
      {
        functionDeclarations: [
          { name: 'look', description: 'Look.', parametersJsonSchema: { type: 'object', properties: {} } },
          { name: 'now' },
        ],
      },
    ]);
  });

  test.each([
    ['auto', { mode: 'AUTO' }],
    ['none', { mode: 'NONE' }],
    ['required', { mode: 'ANY' }],
    [
      { type: 'function', function: { name: 'look' } },
      { mode: 'ANY', allowedFunctionNames: ['look'] },
    ],
    [
      { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [TOOL] } },
      { mode: 'VALIDATED', allowedFunctionNames: ['look'] },
    ],
    [
      { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [TOOL] } },
      { mode: 'ANY', allowedFunctionNames: ['look'] },
    ],
    [undefined, undefined],
  ])('may be called as the caller chose: %j', (choice, expected) => {
    expect(withChoice(choice)).toEqual(expected);
  });
});

describe('how to answer', () => {
  it('is said in Google’s words, with the bound that is held in place of the caller’s', () => {
    const request = {
      ...{ max_tokens: 9, max_completion_tokens: 8, temperature: 0, top_p: 0.5, top_k: 3, n: 2, seed: 2 ** 32 + 7, stop: 'END' },
      ...{ presence_penalty: 1, frequency_penalty: -1, logprobs: true, top_logprobs: 2, user: 'u', store: true, a_field_of_next_year: 1 },
    };
    expect(translated(request)).toEqual({
      contents: expect.any(Array),
      generationConfig: {
        ...{ maxOutputTokens: 256, temperature: 0, topP: 0.5, topK: 3, candidateCount: 2, seed: 7, stopSequences: ['END'] },
        ...{ presencePenalty: 1, frequencyPenalty: -1, responseLogprobs: true, logprobs: 2 },
      },
    });
  });

  it('is JSON, by a schema or freely', () => {
    const schema = { type: 'object', properties: {} };
    expect(translated({ response_format: { type: 'json_schema', json_schema: { name: 'x', schema } } }).generationConfig).toEqual({
      maxOutputTokens: 256,
      responseMimeType: 'application/json',
      responseJsonSchema: schema,
    });
    expect(translated({ response_format: { type: 'json_object' } }).generationConfig).toEqual({
      maxOutputTokens: 256,
      responseMimeType: 'application/json',
    });
    expect(translated({ response_format: { type: 'text' } }).generationConfig).toEqual({ maxOutputTokens: 256 });
  });

  test.each([
    ['gemini-3.5-flash', 'none', { thinkingLevel: 'MINIMAL' }],
    ['gemini-3.5-flash', 'low', { thinkingLevel: 'LOW', includeThoughts: true }],
    ['gemini-3.5-flash', 'xhigh', { thinkingLevel: 'HIGH', includeThoughts: true }],
    ['gemini-2.5-flash', 'none', { thinkingBudget: 0 }],
    ['gemini-2.5-pro', 'none', { thinkingBudget: 128 }],
    ['gemini-2.5-pro', 'medium', { thinkingBudget: 8192, includeThoughts: true }],
    ['gemini-2.5-pro', null, undefined],
  ])('by %s with the effort %s', (model, reasoning_effort, expected) => {
    expect(translated({ reasoning_effort }, model).generationConfig.thinkingConfig).toEqual(expected);
  });

  it('with thoughts as Google’s own compatible endpoint is told', () => {
    const extra_body = { google: { thinking_config: { thinking_budget: 800, include_thoughts: true } } };
    expect(translated({ extra_body }).generationConfig.thinkingConfig).toEqual({ thinkingBudget: 800, includeThoughts: true });
  });
});

test.each<[string, Partial<ChatCompletionRequest>]>([
  ['logit_bias', { logit_bias: { '7': -100 } }],
  ['n', { n: 9 }],
  ['stop', { stop: ['1', '2', '3', '4', '5', '6'] }],
  ['functions', { functions: [{ name: 'look' }] }],
  ['reasoning_effort', { reasoning_effort: 'enormous' }],
  ['tool_choice', { tools: [TOOL], tool_choice: 'sometimes' }],
  ['tools[0]', { tools: [{ type: 'custom', custom: { name: 'x' } }] }],
  ['messages[0].content[0]', { messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'file-1' } }] }] }],
  [
    'messages[0].content[1]',
    {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'x' },
            { type: 'image_url', image_url: { url: 'ftp://x' } },
          ],
        },
      ],
    },
  ],
])('what cannot be said without changing its meaning is refused by its name: %s', (param, request) => {
  const refused = () => translated(request);
  expect(refused).toThrow(Untranslatable);
  expect(refused).toThrow(expect.objectContaining({ param }));
});
