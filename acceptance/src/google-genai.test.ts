import {
  ApiError,
  FunctionCallingConfigMode,
  GoogleGenAI,
  HarmBlockThreshold,
  HarmCategory,
  MediaResolution,
  ThinkingLevel,
} from '@google/genai';
import { anthropicSteps, type FakeUpstream, googleSteps, startFakeUpstream, steps } from '@tallygate/fake-upstream';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Account } from './account.ts';
import { Gateway } from './gateway.ts';

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const HELLO = 'Say hello.';
const LOOK = {
  name: 'look',
  description: 'The weather of a city.',
  parametersJsonSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};
const CALLS = [
  { name: 'look', arguments: '{"city":"Ulm"}' },
  { name: 'look', arguments: '{"city":"Bonn"}' },
];

let fake: FakeUpstream;
let gateway: Gateway;
let account: Account;
let sandbox: GoogleGenAI;
let live: GoogleGenAI;
let liveKey: string;
beforeAll(async () => {
  fake = await startFakeUpstream();
  gateway = await Gateway.start({
    process: 'shared',
    providers: [{ name: 'openai', base_url: fake.url, models: ['gpt-4.1'] }],
    env: {
      ANTHROPIC_API_KEY: 'sk-ant-0123456789',
      ANTHROPIC_BASE_URL: fake.url,
      GEMINI_API_KEY: 'google-secret-key',
      GOOGLE_BASE_URL: new URL('/v1beta', fake.url).href,
    },
  });
  account = await Account.signUp(gateway, { plan: 'enterprise' });
  const { key } = await account.createKey();
  sandbox = clientWith(gateway.bootstrap.test_api_key);
  liveKey = key;
  live = clientWith(key);
});
beforeEach(() => fake.reset());
afterAll(async () => {
  await gateway?.remove();
  await fake?.close();
});

const clientWith = (apiKey: string) => new GoogleGenAI({ apiKey, httpOptions: { baseUrl: gateway.url, retryOptions: { attempts: 1 } } });

/** Nano-USD a token, in and out, from the provider's price page. */
const PROVIDERS = [
  {
    model: 'gemini-3.5-flash',
    price: [1_500, 9_000],
    refusal: googleSteps.saying({ finishReason: 'SAFETY' }),
    failing: googleSteps.overloaded(),
  },
  { model: 'claude-sonnet-4-6', price: [3_000, 15_000], refusal: anthropicSteps.refusal('No.'), failing: anthropicSteps.overloaded() },
  { model: 'gpt-4.1', price: [2_000, 8_000], refusal: { finishReason: 'content_filter' }, failing: steps.serverError() },
] as const;

interface Told {
  readonly text: string;
  readonly thoughts: string;
  readonly calls: readonly unknown[];
  readonly finish: unknown;
  readonly usage: Readonly<Record<string, unknown>>;
}
type Asked = Parameters<GoogleGenAI['models']['generateContent']>[0];
type Part = { readonly text?: string; readonly thought?: boolean };

/** What an answer says, however it was sent. */
async function told(client: GoogleGenAI, isStreamed: boolean, asked: Asked): Promise<Told> {
  const answers = [];
  if (isStreamed) for await (const one of await client.models.generateContentStream(asked)) answers.push(one);
  else answers.push(await client.models.generateContent(asked));
  const parts = answers.flatMap(({ candidates }) => candidates?.[0]?.content?.parts ?? []);
  const joined = (of: (part: Part) => boolean) =>
    parts
      .filter(of)
      .map(({ text = '' }) => text)
      .join('');
  return {
    text: joined(({ thought }) => !thought),
    thoughts: joined(({ thought }) => thought === true),
    calls: answers.flatMap(({ functionCalls = [] }) => functionCalls.map(({ name, args }) => ({ name, args }))),
    finish: answers.findLast(({ candidates }) => candidates?.[0]?.finishReason)?.candidates?.[0]?.finishReason,
    usage: { ...answers.at(-1)?.usageMetadata },
  };
}

const CASES = PROVIDERS.flatMap((provider) => [
  { ...provider, form: 'plain', isStreamed: false },
  { ...provider, form: 'streamed', isStreamed: true },
]);

describe.each(CASES)('Google’s SDK at $model, $form', ({ model, price: [input, output], refusal, failing, isStreamed }) => {
  const ask = (asked: Omit<Asked, 'model'>) => told(live, isStreamed, { model, ...asked });

  test('is answered and shown what the receipt says it cost', async () => {
    const { text, finish, usage } = await ask({ contents: HELLO, config: { systemInstruction: 'Be brief.' } });
    expect([text, finish]).toEqual(['tok0 tok1 tok2 tok3 tok4 tok5 tok6 tok7', 'STOP']);
    expect(usage).toMatchObject({ promptTokenCount: 10, candidatesTokenCount: 8, totalTokenCount: 18 });
    expect(usage['cost']).toBe((10 * input + 8 * output) / 1e9);
    expect(JSON.stringify(fake.requests[0]?.body)).toContain('Be brief.');
  });

  test('calls two functions at once and goes on with what they gave back, a picture among it', async () => {
    const config = { tools: [{ functionDeclarations: [LOOK] }] };
    fake.script({ text: '', toolCalls: CALLS });
    const { calls, finish } = await ask({ contents: HELLO, config });
    expect(calls).toEqual(CALLS.map(({ name, arguments: args }) => ({ name, args: JSON.parse(args) })));
    expect(finish).toBe('STOP');
    const contents = [
      { role: 'user', parts: [{ text: HELLO }] },
      { role: 'model', parts: calls.map((call) => ({ functionCall: call as { name: string } })) },
      {
        role: 'user',
        parts: [
          { functionResponse: { name: 'look', response: { output: 'Sun.' } } },
          {
            functionResponse: {
              ...{ name: 'look', response: { output: 'Rain.' } },
              parts: [{ inlineData: { mimeType: 'image/png', data: PIXEL } }],
            },
          },
        ],
      },
    ];
    const none = { ...config, toolConfig: { functionCallingConfig: { mode: FunctionCallingConfigMode.NONE } } };
    fake.script({ text: 'Sun and rain.' });
    expect((await ask({ contents, config: none })).text).toBe('Sun and rain.');
    const sent = JSON.stringify(fake.requests.at(-1)?.body);
    for (const part of ['Sun.', 'Rain.', PIXEL]) expect(sent).toContain(part);
  });

  test('follows a schema of Google’s, types in upper case', async () => {
    const responseSchema = { type: 'OBJECT', properties: { name: { type: 'STRING', nullable: true } }, required: ['name'] } as const;
    fake.script({ text: '{"name": "Ada"}' });
    const { text } = await ask({
      contents: HELLO,
      config: { responseMimeType: 'application/json', responseSchema: responseSchema as never },
    });
    expect(JSON.parse(text)).toEqual({ name: 'Ada' });
    expect(JSON.stringify(fake.requests[0]?.body)).toMatch(/"properties":\{"name":\{[^}]*"string"/i);
  });

  test('ends at its bound, for a filter, and for a failure of the provider in Google’s words', async () => {
    expect(await ask({ contents: HELLO, config: { maxOutputTokens: 3 } })).toMatchObject({ text: 'tok0 tok1 tok2', finish: 'MAX_TOKENS' });
    fake.script(refusal);
    expect((await ask({ contents: HELLO })).finish).toBe('SAFETY');
    fake.script(failing);
    await expect(ask({ contents: HELLO })).rejects.toBeInstanceOf(ApiError);
  });
});

describe('Google’s SDK', () => {
  test('has thoughts, with the signatures of a call sent back to Google as they came', async () => {
    const config = {
      tools: [{ functionDeclarations: [LOOK] }],
      thinkingConfig: { includeThoughts: true, thinkingLevel: ThinkingLevel.LOW },
    };
    const step = { reasoning: 'Hm.', text: '', toolCalls: CALLS.slice(0, 1), google: { thoughtSignature: 'c2lnbmVk' } };
    fake.script(step, step);
    const { candidates, usageMetadata } = await live.models.generateContent({ model: 'gemini-3.5-flash', contents: HELLO, config });
    const content = candidates?.[0]?.content ?? {};
    expect(content.parts).toMatchObject([
      { text: 'Hm.', thought: true },
      { functionCall: { name: 'look' }, thoughtSignature: 'c2lnbmVk' },
    ]);
    expect(usageMetadata?.thoughtsTokenCount).toBeGreaterThan(0);
    expect((await told(live, true, { model: 'gemini-3.5-flash', contents: HELLO, config })).thoughts).toBe('Hm.');
    const [call] = content.parts?.flatMap(({ functionCall }) => functionCall ?? []) ?? [];
    const result = {
      role: 'user',
      parts: [{ functionResponse: { ...(call?.id && { id: call.id }), name: 'look', response: { output: 'Sun.' } } }],
    };
    await live.models.generateContent({
      model: 'gemini-3.5-flash',
      contents: [{ role: 'user', parts: [{ text: HELLO }] }, content, result],
      config,
    });
    const { body } = fake.requests.at(-1) ?? {};
    expect(body).toMatchObject({ generationConfig: { thinkingConfig: { includeThoughts: true, thinkingLevel: 'LOW' } } });
    expect(JSON.stringify(body)).toContain('"thoughtSignature":"c2lnbmVk"');
  });

  test.each([false, true])(
    'passes to Google what it alone knows, and has its answer as Google sent it: streamed %s',
    async (isStreamed) => {
      const model = 'gemini-3.5-flash';
      const safetySettings = [{ category: HarmCategory.HARM_CATEGORY_HARASSMENT, threshold: HarmBlockThreshold.BLOCK_NONE }];
      const asked: Asked = {
        model,
        contents: [{ role: 'user', parts: [{ text: HELLO }, { inlineData: { mimeType: 'image/png', data: PIXEL } }] }],
        config: { safetySettings, mediaResolution: MediaResolution.MEDIA_RESOLUTION_LOW, thinkingConfig: { thinkingBudget: 64 } },
      };
      const answers = [];
      if (isStreamed) for await (const one of await live.models.generateContentStream(asked)) answers.push(one);
      else answers.push(await live.models.generateContent(asked));
      expect(fake.requests[0]?.body).toEqual({
        contents: asked.contents,
        safetySettings,
        generationConfig: {
          mediaResolution: 'MEDIA_RESOLUTION_LOW',
          thinkingConfig: { thinkingBudget: 64 },
          maxOutputTokens: expect.any(Number),
        },
      });
      expect(new Set(answers.map(({ responseId }) => responseId)).size).toBe(1);
      expect(answers[0]).toMatchObject({ responseId: expect.stringMatching(/^fakeResponse/), modelVersion: model });
      expect(answers.at(-1)?.usageMetadata).toMatchObject({ promptTokenCount: 10, cost: (10 * 1_500 + 8 * 9_000) / 1e9 });
    },
  );

  test('embeds at Google with what it alone knows, held and shown with its cost', async () => {
    const config = { outputDimensionality: 8, taskType: 'RETRIEVAL_DOCUMENT', title: 'Ledgers' };
    const { embeddings } = await live.models.embedContent({ model: 'gemini-embedding-001', contents: ['one', 'two'], config });
    expect(embeddings?.map(({ values }) => values?.length)).toEqual([8, 8]);
    expect(fake.requests[0]?.path).toMatch(/:batchEmbedContents$/);
    expect(Object(fake.requests[0]?.body).requests).toMatchObject([config, config]);
  });

  test('falls back from Google to a model of another maker, which is asked in its own words', async () => {
    fake.script(googleSteps.overloaded());
    const answer = await fetch(`${gateway.url}/v1beta/models/gemini-3.5-flash:generateContent`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-goog-api-key': liveKey },
      body: JSON.stringify({
        contents: [{ parts: [{ text: HELLO }] }],
        models: ['claude-sonnet-4-6'],
        safetySettings: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }],
      }),
    });
    const { modelVersion, usageMetadata } = await answer.json();
    expect([answer.status, answer.headers.get('x-provider'), modelVersion]).toEqual([200, 'anthropic', 'claude-sonnet-4-6']);
    expect(usageMetadata.cost).toBe((10 * 3_000 + 8 * 15_000) / 1e9);
    expect(fake.requests.map(({ path }) => path)).toEqual(['/v1beta/models/gemini-3.5-flash:generateContent', '/v1/messages']);
  });

  test('gets several candidates, each held and paid', async () => {
    const { candidates, usageMetadata } = await live.models.generateContent({
      model: 'gpt-4.1',
      contents: HELLO,
      config: { candidateCount: 2 },
    });
    expect(candidates?.map(({ index, finishReason }) => [index, finishReason])).toEqual([
      [0, 'STOP'],
      [1, 'STOP'],
    ]);
    expect(usageMetadata?.candidatesTokenCount).toBe(16);
  });

  test('chats with the sandbox, plain and as a stream', async () => {
    const chat = sandbox.chats.create({ model: 'gemini-3.5-flash' });
    const first = await chat.sendMessage({ message: HELLO });
    expect(first.text).toMatch(/./);
    const pieces: string[] = [];
    for await (const { text = '' } of await chat.sendMessageStream({ message: HELLO })) pieces.push(text);
    expect(pieces.join('')).toMatch(/./);
    expect(chat.getHistory()).toHaveLength(4);
  });

  test('embeds one text and several, each request with one receipt and its cost', async () => {
    const model = 'gemini-embedding-001';
    const config = { outputDimensionality: 8 };
    const { embeddings } = await sandbox.models.embedContent({ model, contents: ['one', 'two'], config });
    expect(embeddings?.map(({ values }) => values?.length)).toEqual([8, 8]);
    const answer = await fetch(`${gateway.url}/v1beta/models/${model}:embedContent?key=${gateway.bootstrap.test_api_key}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ content: { parts: [{ text: 'one' }] }, output_dimensionality: 8 }),
    });
    const { embedding, usageMetadata } = await answer.json();
    expect(embedding).toEqual({ values: embeddings?.[0]?.values });
    expect(usageMetadata.cost).toBe(Number(answer.headers.get('x-cost-usd')));
    expect(answer.headers.get('x-receipt-id')).toBeTruthy();
  });

  test('counts tokens, lists models and reads one', async () => {
    const { totalTokens } = await sandbox.models.countTokens({ model: 'gemini-3.5-flash', contents: HELLO });
    expect(totalTokens).toBeGreaterThan(3);
    const names: unknown[] = [];
    for await (const { name } of await sandbox.models.list({ config: { pageSize: 100 } })) names.push(name);
    expect(names).toContain('models/gemini-3.5-flash');
    expect(new Set(names).size).toBe(names.length);
    const { supportedActions } = await sandbox.models.get({ model: 'gemini-embedding-001' });
    expect(supportedActions).toEqual(['embedContent', 'batchEmbedContents']);
    await expect(sandbox.models.get({ model: 'nothing' })).rejects.toMatchObject({ status: 404 });
  });

  test('finds every model of its list, at every version and with its key in either place', async () => {
    const key = gateway.bootstrap.test_api_key;
    const got = async (path: string, headers: Record<string, string> = {}) => {
      const { name, models } = await (await fetch(`${gateway.url}${path}`, { headers })).json();
      return name ?? models?.[0]?.name;
    };
    for (const model of ['azure/gpt-oss-120b', 'gemini-3.5-flash'])
      for (const version of ['v1', 'v1beta', 'v1alpha']) {
        expect(await got(`/${version}/models/${model}`, { 'x-goog-api-key': key })).toBe(`models/${model}`);
        expect(await got(`/${version}/models/${model}?key=${key}`)).toBe(`models/${model}`);
      }
    const [first] = await Promise.all(['v1', 'v1beta'].map((version) => got(`/${version}/models?key=${key}&pageSize=1`)));
    expect(first).toMatch(/^models\//);
  });

  test('streams events where they are asked for, under both names of the parameter', async () => {
    const body = JSON.stringify({ contents: [{ parts: [{ text: HELLO }] }] });
    for (const name of ['alt', '$alt']) {
      const at = `${gateway.url}/v1beta/models/gemini-3.5-flash:streamGenerateContent?${name}=sse&key=${gateway.bootstrap.test_api_key}`;
      const answer = await fetch(at, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
      expect(answer.headers.get('content-type')).toMatch(/^text\/event-stream/);
      await answer.text();
    }
  });

  test('raises an error when a stream breaks off', async () => {
    fake.script(steps.errorMidStream(4));
    await expect(told(live, true, { model: 'gpt-4.1', contents: HELLO })).rejects.toBeInstanceOf(ApiError);
  });

  test('raises its own error for each kind of refusal', async () => {
    const raised = async (client: GoogleGenAI, asked: Partial<Asked>) => {
      const error: unknown = await client.models
        .generateContent({ model: 'gemini-3.5-flash', contents: HELLO, ...asked })
        .catch((one: unknown) => one);
      if (!(error instanceof ApiError)) return error;
      const { error: said, code } = JSON.parse(error.message);
      return [error.status, said.code, said.status, code];
    };
    const stranger = clientWith('tg_test_nothing');
    const poor = { 'x-agent-run-id': 'poor-google', 'x-agent-max-budget': '0.000000001' };
    expect([
      await raised(stranger, {}),
      await raised(sandbox, { model: 'nothing' }),
      await raised(sandbox, { config: { maxOutputTokens: 0 } }),
      await raised(sandbox, { config: { tools: [{ googleSearch: {} }] } }),
      await raised(sandbox, { config: { responseModalities: ['AUDIO'] } }),
      await raised(sandbox, { config: { cachedContent: 'cachedContents/1' } }),
      await raised(sandbox, { config: { httpOptions: { headers: poor } } }),
    ]).toEqual([
      [401, 401, 'UNAUTHENTICATED', 'invalid_credentials'],
      [404, 404, 'NOT_FOUND', 'model_not_found'],
      [400, 400, 'INVALID_ARGUMENT', 'validation_failed'],
      [400, 400, 'INVALID_ARGUMENT', 'unpriced_feature'],
      [400, 400, 'INVALID_ARGUMENT', 'unpriced_feature'],
      [400, 400, 'INVALID_ARGUMENT', 'unpriced_feature'],
      [402, 402, 'RESOURCE_EXHAUSTED', 'budget_exceeded'],
    ]);
  });
});
