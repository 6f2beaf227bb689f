import { azureSteps, type FakeUpstream, googleSteps, startFakeUpstream, steps } from '@tallygate/fake-upstream';
import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Account } from './account.ts';
import { Gateway } from './gateway.ts';

const GEMINI = 'gemini-3.5-flash';
const AZURE = 'gpt-4o-mini';
const MESSAGES = [{ role: 'user' as const, content: 'Say hello.' }];
const CALLS = [
  { name: 'look', arguments: '{"city":"Köln"}' },
  { name: 'look', arguments: '{"city":"Bonn"}' },
];

let upstream: FakeUpstream;
let gateway: Gateway;
let openai: OpenAI;

beforeAll(async () => {
  upstream = await startFakeUpstream();
  gateway = await Gateway.start({
    process: 'shared',
    env: {
      GEMINI_API_KEY: 'google-secret-key',
      GOOGLE_BASE_URL: new URL('/v1beta', upstream.url).href,
      AZURE_OPENAI_API_KEY: 'azure-secret-key',
      AZURE_OPENAI_ENDPOINT: new URL(upstream.url).origin,
      AZURE_OPENAI_DEPLOYMENTS: `${AZURE}=mini-sweden`,
      OPENAI_API_VERSION: '2024-10-21',
    },
  });
  const account = await Account.signUp(gateway, { plan: 'enterprise' });
  const { key: apiKey } = await account.createKey();
  openai = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey, maxRetries: 0 });
});
afterAll(async () => {
  await gateway?.remove();
  await upstream?.close();
});
beforeEach(() => upstream.reset());

async function streamedCost(model: string): Promise<number | undefined> {
  let cost: number | undefined;
  const stream = await openai.chat.completions.create({ model, messages: MESSAGES, stream: true, stream_options: { include_usage: true } });
  for await (const { usage } of stream) if (usage && 'cost' in usage) cost = Number(usage.cost);
  return cost;
}

describe('a key for Google in the environment', () => {
  // 4 tokens fresh at 1.50, 6 cached at 0.15, 3 reasoning and 8 text tokens at 9.00 USD a million.
  const step = { reasoning: 'Let me think.', ...googleSteps.usage({ cachedContentTokenCount: 6 }) };
  const cost = 0.0001059;

  test('serves its models by the native API, billed to the nano-dollar with what was cached and what was thought', async () => {
    upstream.script(step, step);
    const { data, response } = await openai.chat.completions.create({ model: GEMINI, messages: MESSAGES }).withResponse();
    expect(data.usage).toMatchObject({ prompt_tokens: 10, completion_tokens: 11, cost });
    expect([response.headers.get('x-provider'), response.headers.get('x-cost-usd')]).toEqual(['google', String(cost)]);
    expect(await streamedCost(GEMINI)).toBe(cost);
    expect(upstream.requests.map(({ path }) => path)).toEqual([
      `/v1beta/models/${GEMINI}:generateContent`,
      `/v1beta/models/${GEMINI}:streamGenerateContent?alt=sse`,
    ]);
  });

  test('runs the SDK’s tool loop, with parallel calls, although it ignores signatures', async () => {
    upstream.script({ text: '', toolCalls: CALLS, google: { thoughtSignature: 'c2lnbmVk' } });
    const runner = openai.chat.completions.runTools({
      model: GEMINI,
      messages: MESSAGES,
      tools: [
        {
          type: 'function',
          function: {
            name: 'look',
            description: 'The weather of a city.',
            parameters: { type: 'object', properties: { city: { type: 'string' } } },
            parse: (text: string): { city: string } => JSON.parse(text),
            function: ({ city }: { city: string }) => `sun in ${city}`,
          },
        },
      ],
    });
    expect(await runner.finalContent()).toContain('tok0');
    const [, , results] = Object(upstream.requests[1]?.body).contents;
    expect(results.parts).toMatchObject([
      { functionResponse: { name: 'look', response: { output: 'sun in Köln' } } },
      { functionResponse: { name: 'look', response: { output: 'sun in Bonn' } } },
    ]);
  });

  test('takes images and JSON Schema', async () => {
    const schema = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };
    const { choices } = await openai.chat.completions.create({
      model: GEMINI,
      messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } }] }],
      response_format: { type: 'json_schema', json_schema: { name: 'person', schema } },
    });
    expect(JSON.parse(choices[0]?.message.content ?? '')).toEqual({ name: 'text' });
  });

  test('ends for the bound as `length`, for a filter as a refusal', async () => {
    const { choices } = await openai.chat.completions.create({ model: GEMINI, messages: MESSAGES, max_tokens: 2 });
    expect(choices[0]?.finish_reason).toBe('length');
    upstream.script(googleSteps.saying({ blockReason: 'SAFETY' }));
    const blocked = await openai.chat.completions.create({ model: GEMINI, messages: MESSAGES });
    expect(blocked.choices[0]).toMatchObject({ finish_reason: 'content_filter', message: { refusal: expect.any(String) } });
  });

  test('raises the SDK’s own errors: before the answer, in its middle, and for what Google cannot do', async () => {
    upstream.script(googleSteps.exhausted('37s'), steps.errorMidStream(2));
    const limited = await openai.chat.completions.create({ model: GEMINI, messages: MESSAGES }).catch((error: unknown) => error);
    expect(limited).toBeInstanceOf(OpenAI.RateLimitError);
    expect(limited instanceof OpenAI.APIError && limited.headers?.get('retry-after')).toBe('37');
    await expect(streamedCost(GEMINI)).rejects.toBeInstanceOf(OpenAI.APIError);
    const biased = openai.chat.completions.create({ model: GEMINI, messages: MESSAGES, logit_bias: { '7': 1 } });
    await expect(biased).rejects.toMatchObject({ status: 400, code: 'unsupported_parameter', param: 'logit_bias' });
  });
});

describe('Azure’s variables', () => {
  test('serve the models that have a deployment, billed to the nano-dollar, plain and streamed', async () => {
    const { response } = await openai.chat.completions.create({ model: AZURE, messages: MESSAGES }).withResponse();
    expect([response.headers.get('x-provider'), response.headers.get('x-cost-usd')]).toEqual(['azure', '0.0000063']);
    expect(await streamedCost(AZURE)).toBe(0.0000063);
    expect(upstream.requests[0]?.path).toBe('/openai/deployments/mini-sweden/chat/completions?api-version=2024-10-21');
    await expect(openai.chat.completions.create({ model: 'gpt-5.4', messages: MESSAGES })).rejects.toMatchObject({
      code: 'no_provider_configured',
    });
  });

  test('raise what the content filter found', async () => {
    upstream.script(azureSteps.promptFiltered());
    const filtered = openai.chat.completions.create({ model: AZURE, messages: MESSAGES });
    await expect(filtered).rejects.toMatchObject({ status: 400, message: expect.stringContaining('hate: high') });
  });
});
