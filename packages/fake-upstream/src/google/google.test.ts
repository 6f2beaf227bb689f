import { afterAll, beforeAll, beforeEach, describe, expect, it, test } from 'vitest';
import { type FakeUpstream, googleSteps, startFakeUpstream } from '../index.ts';

let fake: FakeUpstream;
beforeAll(async () => {
  fake = await startFakeUpstream();
});
afterAll(() => fake.close());
beforeEach(() => fake.reset());

const USER = { role: 'user', parts: [{ text: 'Hello.' }] };
const CALL = { functionCall: { name: 'look', args: {} } };
const RESULT = { functionResponse: { name: 'look', response: { output: 'x' } } };
const post = (body: object, path = 'gemini-2.5-pro:generateContent'): Promise<Response> =>
  fetch(new URL(`/v1beta/models/${path}`, fake.url), { method: 'POST', body: JSON.stringify(body) });
const asked = async (body: object, path?: string) => (await post({ contents: [USER], ...body }, path)).json();

describe('Google’s default answer', () => {
  it('is eight words with exact usage, whole or streamed without an end marker', async () => {
    const answer = await asked({});
    expect(answer).toMatchObject({
      candidates: [{ finishReason: 'STOP', index: 0, content: { role: 'model' } }],
      usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 8, totalTokenCount: 18 },
      modelVersion: 'gemini-2.5-pro',
    });
    const stream = await (await post({ contents: [USER] }, 'gemini-2.5-pro:streamGenerateContent?alt=sse')).text();
    const events = stream.trim().split('\r\n\r\n');
    expect(events).toHaveLength(9);
    expect(JSON.parse(events[8]?.slice(6) ?? '').candidates[0].finishReason).toBe('STOP');
  });

  it('keeps to the bound, the schema, the tool and the number of candidates', async () => {
    const config = (generationConfig: object) => asked({ generationConfig });
    expect(await config({ maxOutputTokens: 2 })).toMatchObject({
      candidates: [{ finishReason: 'MAX_TOKENS' }],
      usageMetadata: { candidatesTokenCount: 2 },
    });
    expect((await config({ candidateCount: 2, responseModalities: ['TEXT'] })).candidates).toHaveLength(2);
    const json = await config({
      responseMimeType: 'application/json',
      responseJsonSchema: { type: 'object', properties: { a: { type: 'integer' } } },
    });
    expect(json.candidates[0].content.parts.map(({ text }: { text: string }) => text).join('')).toBe('{"a":1}');
    const tools = [{ functionDeclarations: [{ name: 'look' }] }];
    expect(await asked({ tools, toolConfig: { functionCallingConfig: { mode: 'ANY' } } })).toMatchObject({
      candidates: [{ content: { parts: [{ functionCall: { name: 'look' } }] } }],
    });
  });

  it('blocks, reasons and signs on request', async () => {
    fake.script(googleSteps.saying({ blockReason: 'SAFETY' }), { reasoning: 'Hm.', text: 'Yes.', google: { thoughtSignature: 'c2ln' } });
    expect(await asked({})).toMatchObject({ promptFeedback: { blockReason: 'SAFETY' } });
    expect(await asked({})).toMatchObject({
      candidates: [
        {
          content: {
            parts: [
              { text: 'Hm.', thought: true },
              { text: 'Yes.', thoughtSignature: 'c2ln' },
            ],
          },
        },
      ],
      usageMetadata: { candidatesTokenCount: 1, thoughtsTokenCount: 1, totalTokenCount: 12 },
    });
  });
});

test.each<[string, object, string?]>([
  ['Unknown name "messages"', { messages: [] }],
  ['Unknown name "maxTokens"', { generationConfig: { maxTokens: 3 } }],
  ['contents is not specified', { contents: [] }],
  ['valid role', { contents: [{ role: 'system', parts: [{ text: 'x' }] }] }],
  ['must not be empty', { contents: [{ role: 'user', parts: [] }] }],
  ['one initialized field', { contents: [{ role: 'user', parts: [{ thoughtSignature: 'x' }] }] }],
  ['Base64', { contents: [{ role: 'user', parts: [{ inlineData: { mimeType: 'image/png', data: 'data:image/png' } }] }] }],
  ['immediately after a user turn', { contents: [{ role: 'model', parts: [CALL] }] }],
  ['number of function response parts', { contents: [USER, { role: 'model', parts: [CALL, CALL] }, { role: 'user', parts: [RESULT] }] }],
  ['number of function response parts', { contents: [USER, { role: 'model', parts: [CALL] }, USER] }],
  [
    'thought_signature',
    { contents: [USER, { role: 'model', parts: [CALL] }, { role: 'user', parts: [RESULT] }] },
    'gemini-3.5-flash:generateContent',
  ],
  ['stop sequences', { generationConfig: { stopSequences: ['1', '2', '3', '4', '5', '6'] } }],
  ['candidates', { generationConfig: { candidateCount: 9 } }],
  ['application/json', { generationConfig: { responseJsonSchema: {} } }],
  ['only one of', { generationConfig: { thinkingConfig: { thinkingBudget: 1, thinkingLevel: 'LOW' } } }],
  [
    'not declared',
    {
      tools: [{ functionDeclarations: [{ name: 'a' }] }],
      toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['b'] } },
    },
  ],
  ['type OBJECT', { tools: [{ functionDeclarations: [{ name: 'a', parametersJsonSchema: {} }] }] }],
])('Google’s refusal “%s” uses up no step', async (message, body, path) => {
  fake.script({ text: 'kept' });
  const refusal = await post({ contents: [USER], ...body }, path);
  expect([refusal.status, await refusal.json()]).toEqual([
    400,
    { error: { code: 400, status: 'INVALID_ARGUMENT', message: expect.stringContaining(message) } },
  ]);
  expect(JSON.stringify(await asked({}))).toContain('kept');
});

test('embeddings are vectors of the length asked for', async () => {
  const request = { model: 'models/gemini-embedding-001', content: { parts: [{ text: 'x' }] }, outputDimensionality: 3 };
  const answer = await (await post({ requests: [request, request] }, 'gemini-embedding-001:batchEmbedContents')).json();
  expect(answer).toEqual({ embeddings: [{ values: [0.5, 0.5, 0.5] }, { values: [0.5, 0.5, 0.5] }] });
});

test('a key in the URL is refused, and what is not there is not found', async () => {
  expect((await post({ contents: [USER] }, 'gemini-2.5-pro:generateContent?key=secret')).status).toBe(403);
  expect((await post({}, 'gemini-2.5-pro:countTokens')).status).toBe(404);
});
