import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { HumanMessage, SystemMessage } from '@langchain/core/messages';
import { tool as langchainTool } from '@langchain/core/tools';
import { ChatOpenAI, OpenAIEmbeddings } from '@langchain/openai';
import { Agent, tool as agentTool, OpenAIProvider, Runner } from '@openai/agents';
import { Tallygate } from '@tallygate/sdk';
import { createTallygate, metadataOf, tallygateErrorOf } from '@tallygate/sdk/ai';
import { embedMany, generateImage, generateSpeech, generateText, Output, stepCountIs, streamText, tool } from 'ai';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import * as z from 'zod';
import { Account } from './account.ts';
import { Gateway } from './gateway.ts';

const MODEL = 'gpt-4o-mini';
const PROMPT = 'Say hello.';

let gateway: Gateway;
let settings: { baseURL: string; apiKey: string };
/** The same without money. */
let poor: { baseURL: string; apiKey: string };

beforeAll(async () => {
  gateway = await Gateway.start({ process: 'shared' });
  settings = { baseURL: gateway.bootstrap.base_url, apiKey: gateway.bootstrap.test_api_key };
  const account = await Account.signUp(gateway);
  poor = { ...settings, apiKey: (await account.createKey({ livemode: false, monthly_cap_usd: '0.00000001' })).key };
});
afterAll(() => gateway?.remove());

const City = z.object({ city: z.string() });

/** The status of what a client throws, by whatever name it has it. */
const statusOf = (call: () => PromiseLike<unknown>): Promise<unknown> =>
  Promise.resolve(call()).then(
    () => 'answered',
    (error: { status?: number; statusCode?: number }) => error.status ?? error.statusCode ?? error,
  );

describe.each(['responses', 'chat', 'compatible', 'tallygate'] as const)('the AI SDK over %s', (kind) => {
  const model = (name = MODEL, access = settings) => {
    if (kind === 'tallygate') return createTallygate({ apiKey: access.apiKey, baseUrl: access.baseURL })(name);
    if (kind === 'compatible')
      return createOpenAICompatible({ name: 'tallygate', ...access, supportsStructuredOutputs: true, includeUsage: true })(name);
    const openai = createOpenAI(access);
    return kind === 'chat' ? openai.chat(name) : openai.responses(name);
  };

  test('fails with the status of a model that nobody has, and of a cap that is reached', async () => {
    expect(await statusOf(() => generateText({ model: model('nothing'), prompt: PROMPT }))).toBe(404);
    expect(await statusOf(() => generateText({ model: model(MODEL, poor), prompt: PROMPT }))).toBe(402);
  });

  test('generates text, with usage', async () => {
    const { text, usage, finishReason } = await generateText({ model: model(), prompt: PROMPT });
    expect(text).toContain('hello');
    expect([finishReason, usage.inputTokens, usage.outputTokens]).toEqual(['stop', expect.any(Number), expect.any(Number)]);
  });

  test('streams the same text', async () => {
    const { text } = await generateText({ model: model(), prompt: PROMPT });
    const result = streamText({ model: model(), prompt: PROMPT });
    let streamed = '';
    for await (const piece of result.textStream) streamed += piece;
    expect(streamed).toBe(text);
    expect((await result.usage).outputTokens).toBeGreaterThan(0);
  });

  test('calls a tool and continues with its result', async () => {
    const asked: string[] = [];
    const weather = tool({
      description: 'The weather in a city.',
      inputSchema: City,
      execute: ({ city }) => {
        asked.push(city);
        return 'Sunny.';
      },
    });
    const { steps } = await generateText({
      model: model(),
      prompt: 'What is the weather in Bern?',
      tools: { weather },
      prepareStep: ({ stepNumber }) => ({ toolChoice: stepNumber === 0 ? 'required' : 'none' }),
      stopWhen: stepCountIs(3),
    });
    expect(asked).toHaveLength(1);
    expect(steps.at(-1)?.finishReason).toBe('stop');
  });

  test('gives an object of the schema', async () => {
    const { output } = await generateText({ model: model(), prompt: 'A city.', output: Output.object({ schema: City }) });
    expect(City.safeParse(output).success).toBe(true);
  });
});

describe('the AI SDK beyond text', () => {
  test('embeds', async () => {
    const { embeddings, usage } = await embedMany({
      model: createOpenAI(settings).embedding('text-embedding-3-small'),
      values: ['a', 'b'],
    });
    expect(embeddings.map((vector) => vector.length)).toEqual([1536, 1536]);
    expect(usage.tokens).toBeGreaterThan(0);
  });

  test('makes an image', async () => {
    const { image } = await generateImage({ model: createOpenAI(settings).image('gpt-image-1'), prompt: 'A ledger.', size: '1024x1024' });
    expect(Buffer.from(image.uint8Array.subarray(1, 4)).toString()).toBe('PNG');
  });

  test('speaks', async () => {
    const { audio } = await generateSpeech({ model: createOpenAI(settings).speech('tts-1'), text: 'Hello.' });
    expect(audio.uint8Array.length).toBeGreaterThan(100);
  });
});

describe('the AI SDK with our own provider', () => {
  const provider = (more = {}) => createTallygate({ apiKey: settings.apiKey, baseUrl: settings.baseURL, ...more });

  test('names cost and receipt of whole answers and of streams, and the receipt says the same cost', async () => {
    const client = new Tallygate({ apiKey: settings.apiKey, baseUrl: settings.baseURL });
    const whole = await generateText({ model: provider()(MODEL), prompt: PROMPT });
    const streamed = streamText({ model: provider()(MODEL), prompt: PROMPT });
    await streamed.consumeStream();
    for (const metadata of [whole.providerMetadata, await streamed.providerMetadata]) {
      const { receiptId = '', costUsd } = metadataOf(metadata) ?? {};
      const receipt = await vi.waitFor(() => client.receipts.get(receiptId), { timeout: 120_000, interval: 100 });
      expect(Number(receipt.payload.cost_nano_usd)).toBe(Math.round(Number(costUsd) * 1e9));
    }
  });

  test('embeds and makes images', async () => {
    const { embeddings, providerMetadata } = await embedMany({
      model: provider().embeddingModel('text-embedding-3-small'),
      values: ['a', 'b'],
    });
    expect(embeddings.map((vector) => vector.length)).toEqual([1536, 1536]);
    expect(metadataOf(providerMetadata)?.receiptId).toEqual(expect.any(String));
    const { image } = await generateImage({ model: provider().imageModel('gpt-image-1'), prompt: 'A ledger.', size: '1024x1024' });
    expect(Buffer.from(image.uint8Array.subarray(1, 4)).toString()).toBe('PNG');
  });

  test('stops at the cap of its run, and says which', async () => {
    const capped = provider({ agentRun: { id: 'capped-by-the-ai-sdk', maxBudgetUsd: '0.000001' } });
    const error = await generateText({ model: capped(MODEL), prompt: PROMPT }).then(
      () => undefined,
      (failure: unknown) => tallygateErrorOf(failure),
    );
    expect(error).toMatchObject({ code: 'budget_exceeded', status: 402, budget: { cap_usd: '0.000001' } });
  });
});

describe('LangChain', () => {
  const chat = (fields: object = {}, { apiKey, baseURL } = settings) =>
    new ChatOpenAI({ model: MODEL, apiKey, configuration: { baseURL }, ...fields });

  test.each([false, true])('fails with the status of a missing model, and of a cap (over responses: %s)', async (useResponsesApi) => {
    expect(await statusOf(() => chat({ useResponsesApi, model: 'nothing' }).invoke(PROMPT))).toBe(404);
    expect(await statusOf(() => chat({ useResponsesApi }, poor).invoke(PROMPT))).toBe(402);
  });

  test.each([false, true])('invokes and streams (over responses: %s)', async (useResponsesApi) => {
    const messages = [new SystemMessage('Be brief.'), new HumanMessage(PROMPT)];
    const answer = await chat({ useResponsesApi }).invoke(messages);
    expect(answer.text).not.toBe('');
    expect(answer).toMatchObject({ usage_metadata: { total_tokens: expect.any(Number) } });
    let streamed = '';
    for await (const piece of await chat({ useResponsesApi }).stream(messages)) streamed += piece.text;
    expect(streamed).toBe(answer.text);
  });

  test('binds tools, and reads structured output', async () => {
    const weather = langchainTool(() => 'Sunny.', { name: 'weather', description: 'The weather in a city.', schema: City });
    const called = await chat().bindTools([weather], { tool_choice: 'weather' }).invoke('Weather in Bern?');
    expect(called.tool_calls?.map(({ name }) => name)).toEqual(['weather']);
    const city = await chat().withStructuredOutput(City).invoke('A city.');
    expect(City.safeParse(city).success).toBe(true);
  });

  test('embeds', async () => {
    const embeddings = new OpenAIEmbeddings({
      model: 'text-embedding-3-small',
      apiKey: settings.apiKey,
      configuration: { baseURL: settings.baseURL },
    });
    expect((await embeddings.embedDocuments(['a', 'b'])).map((vector) => vector.length)).toEqual([1536, 1536]);
  });
});

describe.each([true, false])('the Agents SDK (over responses: %s)', (useResponses) => {
  const runner = (access = settings) =>
    new Runner({ modelProvider: new OpenAIProvider({ ...access, useResponses }), tracingDisabled: true });

  test('fails with the status of a model that nobody has, and of a cap that is reached', async () => {
    const agent = (model: string) => new Agent({ name: 'Greeter', instructions: 'Greet.', model });
    expect(await statusOf(() => runner().run(agent('nothing'), PROMPT))).toBe(404);
    expect(await statusOf(() => runner(poor).run(agent(MODEL), PROMPT))).toBe(402);
  });

  test('runs an agent with a tool to its end', async () => {
    const asked: string[] = [];
    const weather = agentTool({
      name: 'weather',
      description: 'The weather in a city.',
      parameters: City,
      execute: ({ city }) => {
        asked.push(city);
        return 'Sunny.';
      },
    });
    const agent = new Agent({
      name: 'Forecaster',
      instructions: 'Use the tool.',
      model: MODEL,
      tools: [weather],
      modelSettings: { toolChoice: 'required' },
    });
    const result = await runner().run(agent, 'What is the weather in Bern?');
    expect(asked).toHaveLength(1);
    expect(result.finalOutput).toBeTruthy();
  });

  test('streams', async () => {
    const agent = new Agent({ name: 'Greeter', instructions: 'Greet.', model: MODEL });
    const result = await runner().run(agent, PROMPT, { stream: true });
    let text = '';
    for await (const piece of result.toTextStream()) text += piece;
    await result.completed;
    expect(text).toBe(result.finalOutput);
  });
});
