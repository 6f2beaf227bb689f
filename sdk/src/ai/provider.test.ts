import {
  createProviderRegistry,
  embed,
  generateImage,
  generateObject,
  generateSpeech,
  generateText,
  stepCountIs,
  streamText,
  tool,
  transcribe,
} from 'ai';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { collect } from '../../testing/collect.ts';
import {
  budget,
  chunks,
  completion,
  DONE,
  event,
  inferenceAnswerHeaders,
  RECEIPT_ID,
  REQUEST_ID,
  refusal,
} from '../../testing/fixtures.ts';
import { type StubGateway, startStubGateway } from '../../testing/stub-gateway.ts';
import * as main from '../index.ts';
import { BudgetExceededError, createTallygate, metadataOf, type TallygateProvider, tallygate, tallygateErrorOf } from './index.ts';

let gateway: StubGateway;
let provider: TallygateProvider;
beforeEach(async () => {
  gateway = await startStubGateway();
  provider = createTallygate({ apiKey: 'tg_test_secret', baseUrl: gateway.baseUrl, agentRun: { id: 'run-7', maxBudgetUsd: '0.50' } });
});
afterEach(() => gateway[Symbol.asyncDispose]());

const headers = { ...inferenceAnswerHeaders, 'x-cost-usd': '0.00000255' };
const model = () => provider('gpt-4o-mini');
const answered = (message: object) => ({ headers, json: { ...completion, choices: [{ ...completion.choices[0], message }] } });
const failureOf = (call: PromiseLike<unknown>) =>
  call.then(
    () => undefined,
    (error: unknown) => tallygateErrorOf(error),
  );

describe('a text', () => {
  it('comes with what the gateway says beside it', async () => {
    gateway.script({ headers, json: completion });
    const { text, usage, providerMetadata } = await generateText({ model: model(), prompt: 'Say hello.' });
    expect([text, usage.inputTokens, usage.outputTokens]).toEqual(['Hello.', 9, 2]);
    expect(metadataOf(providerMetadata)).toEqual({
      ...{ requestId: REQUEST_ID, receiptId: RECEIPT_ID, costUsd: '0.00000255' },
      ...{ modelServed: 'gpt-4o-mini', provider: 'openai', fallback: 'none', overheadMs: 0.8 },
    });
  });

  it('is asked for with the run of the provider, and the options of the call in the gateway’s headers', async () => {
    gateway.script({ headers, json: completion });
    const options = { budgetPolicy: 'clamp', models: ['gpt-4o'], reasoningEffort: 'low' };
    await generateText({ model: model(), prompt: 'Say hello.', providerOptions: { tallygate: options } });
    const [request] = gateway.requests;
    expect(request?.headers).toMatchObject({
      authorization: 'Bearer tg_test_secret',
      'x-agent-run-id': 'run-7',
      'x-agent-max-budget': '0.50',
      'x-budget-policy': 'clamp',
    });
    expect(request?.body).toMatchObject({ models: ['gpt-4o'], reasoning_effort: 'low' });
    expect(request?.body).not.toHaveProperty('budgetPolicy');
  });

  it('streams, with receipt and cost at its end', async () => {
    gateway.script({ pieces: [...chunks('Hel', 'lo.').map(event), DONE], end: true, headers: inferenceAnswerHeaders });
    const { textStream, providerMetadata } = streamText({ model: model(), prompt: 'Say hello.' });
    expect(await collect(textStream)).toEqual(['Hel', 'lo.']);
    expect(metadataOf(await providerMetadata)).toMatchObject({ receiptId: RECEIPT_ID, costUsd: '0.00000255' });
  });

  it('continues after a tool', async () => {
    const call = { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Bern"}' } };
    gateway.script(answered({ role: 'assistant', content: null, refusal: null, tool_calls: [call] }), { headers, json: completion });
    const weather = tool({ inputSchema: z.object({ city: z.string() }), execute: ({ city }) => `Sunny in ${city}.` });
    const { text, steps } = await generateText({ model: model(), prompt: 'Weather?', tools: { weather }, stopWhen: stepCountIs(2) });
    expect(text).toBe('Hello.');
    expect(steps.map(({ providerMetadata }) => metadataOf(providerMetadata)?.costUsd)).toEqual(['0.00000255', '0.00000255']);
    expect(gateway.requests[1]?.body).toMatchObject({ messages: [{}, {}, { role: 'tool', content: 'Sunny in Bern.' }] });
  });
});

it('returns an object that matches a schema', async () => {
  gateway.script(answered({ role: 'assistant', content: '{"city":"Bern"}', refusal: null }));
  const { object } = await generateObject({ model: model(), prompt: 'A city.', schema: z.object({ city: z.string() }) });
  expect(object).toEqual({ city: 'Bern' });
  expect(gateway.requests[0]?.body).toMatchObject({ response_format: { type: 'json_schema', json_schema: { strict: true } } });
});

it('embeds', async () => {
  const data = [{ object: 'embedding', index: 0, embedding: [0.5, -0.5] }];
  const usage = { prompt_tokens: 1, total_tokens: 1 };
  gateway.script({ headers, json: { object: 'list', data, model: 'text-embedding-3-small', usage } });
  const { embedding, providerMetadata } = await embed({ model: provider.embeddingModel('text-embedding-3-small'), value: 'a' });
  expect(embedding).toEqual([0.5, -0.5]);
  expect(metadataOf(providerMetadata)?.receiptId).toBe(RECEIPT_ID);
});

it('makes images, each with the receipt of its request', async () => {
  gateway.script({ headers, json: { created: 1763712000, data: [{ b64_json: 'iVBORw0KGgo=' }] } });
  const { images, providerMetadata } = await generateImage({ model: provider.imageModel('gpt-image-1'), prompt: 'A ledger.' });
  expect(images).toHaveLength(1);
  expect(providerMetadata['tallygate']?.images).toMatchObject([{ receiptId: RECEIPT_ID, costUsd: '0.00000255' }]);
});

describe('speech', () => {
  it('is spoken, with the receipt of its request', async () => {
    gateway.script({ text: 'ID3 the sound', headers: { ...headers, 'content-type': 'audio/mpeg' } });
    const { audio, providerMetadata, warnings } = await generateSpeech({
      model: provider.speechModel('tts-1'),
      ...{ text: 'The ledger sums to zero.', voice: 'nova', language: 'en', speed: 1.5 },
      providerOptions: { tallygate: { budgetPolicy: 'clamp', stream_format: 'audio' } },
    });
    expect(new TextDecoder().decode(audio.uint8Array)).toBe('ID3 the sound');
    expect(metadataOf(providerMetadata)).toMatchObject({ receiptId: RECEIPT_ID, costUsd: '0.00000255' });
    expect(warnings).toMatchObject([{ type: 'unsupported', feature: 'language' }]);
    const said = {
      model: 'tts-1',
      input: 'The ledger sums to zero.',
      voice: 'nova',
      response_format: 'mp3',
      speed: 1.5,
      stream_format: 'audio',
    };
    expect(gateway.requests).toMatchObject([
      {
        path: '/v1/audio/speech',
        headers: { 'x-agent-run-id': 'run-7', 'x-budget-policy': 'clamp', authorization: 'Bearer tg_test_secret' },
      },
    ]);
    expect(gateway.requests[0]?.body).toEqual(said);
  });

  it('is transcribed, with times from a model that returns them', async () => {
    const segments = [{ start: 0, end: 1.5, text: 'The ledger' }];
    const words = [{ word: 'The', start: 0, end: 0.2 }];
    gateway.script({ headers, json: { text: 'The ledger', language: 'english', duration: 1.5, segments, words } });
    const found = await transcribe({
      model: provider.transcriptionModel('whisper-1'),
      ...{ audio: new TextEncoder().encode('ID3 the sound'), timestampGranularities: ['word', 'segment'] },
    });
    expect(found).toMatchObject({
      ...{ text: 'The ledger', language: 'en', durationInSeconds: 1.5, warnings: [] },
      segments: [{ text: 'The ledger', startSecond: 0, endSecond: 1.5 }],
    });
    expect(metadataOf(found.providerMetadata)?.receiptId).toBe(RECEIPT_ID);
    expect(gateway.requests[0]).toMatchObject({
      path: '/v1/audio/transcriptions',
      headers: { 'x-agent-run-id': 'run-7' },
      body: { model: 'whisper-1', response_format: 'verbose_json', file: 'ID3 the sound' },
    });
  });

  it('is transcribed without times by models without them, with a warning', async () => {
    gateway.script({ headers, json: { text: 'The ledger', usage: { type: 'duration', seconds: 2, cost: 0.0002 } } });
    const found = await transcribe({
      model: provider.transcriptionModel('gpt-4o-transcribe'),
      ...{ audio: btoa('ID3 the sound'), timestampGranularities: ['word'] },
    });
    expect(found).toMatchObject({ text: 'The ledger', segments: [], durationInSeconds: 2, language: undefined });
    expect(found.warnings).toMatchObject([{ type: 'unsupported', feature: 'timestampGranularities' }]);
    expect(gateway.requests[0]?.body).toEqual({ model: 'gpt-4o-transcribe', file: 'ID3 the sound' });
  });

  it('is retried by the AI SDK, and refused with the errors of the SDK', async () => {
    const refused = refusal('rate_limited', { headers: { 'retry-after-ms': '1' } });
    gateway.script(
      refused,
      { text: 'ID3', headers: { ...headers, 'content-type': 'audio/mpeg' } },
      refusal('budget_exceeded', { problem: { budget } }),
      {
        reset: true,
      },
    );
    const speak = (maxRetries: number) => generateSpeech({ model: provider.speechModel('tts-1'), text: 'Hello.', maxRetries });
    expect((await speak(1)).audio.uint8Array).toHaveLength(3);
    expect(await failureOf(speak(1))).toMatchObject({ code: 'budget_exceeded', status: 402, requestId: REQUEST_ID, budget });
    expect(await failureOf(speak(0))).toMatchObject({ code: 'connection_failed' });
    expect(gateway.requests).toHaveLength(4);
  });
});

describe('an error', () => {
  it('is the one that the SDK throws, behind that of the AI SDK', async () => {
    gateway.script(refusal('budget_exceeded', { problem: { budget } }));
    const error = await failureOf(generateText({ model: model(), prompt: 'Say hello.' }));
    expect(error).toBeInstanceOf(BudgetExceededError);
    expect(error).toMatchObject({ code: 'budget_exceeded', status: 402, requestId: REQUEST_ID, budget });
    expect(main.BudgetExceededError).toBe(BudgetExceededError);
    expect(gateway.requests).toHaveLength(1);
  });

  it('is found behind the AI SDK’s retries, and where no answer came', async () => {
    const refused = refusal('rate_limited', { headers: { 'retry-after-ms': '1' } });
    gateway.script(refused, refused, { reset: true });
    const settings = { model: model(), prompt: 'Say hello.', maxRetries: 1 };
    expect(await failureOf(generateText(settings))).toMatchObject({ code: 'rate_limited', status: 429 });
    expect(await failureOf(generateText({ ...settings, maxRetries: 0 }))).toMatchObject({ code: 'connection_failed' });
    expect(tallygateErrorOf(new Error('of something else'))).toBeUndefined();
  });

  it.each([
    [
      'sent in the stream',
      [event({ error: { message: 'The provider failed.', type: 'server_error', code: 'upstream_failed' } })],
      'upstream_failed',
    ],
    ['of a stream that breaks off', [], 'stream_cut'],
  ])('%s is typed too', async (_, last, code) => {
    gateway.script({ pieces: [...chunks('Hel').slice(0, 2).map(event), ...last], end: true, headers: inferenceAnswerHeaders });
    const onError = vi.fn<(event: { error: unknown }) => void>();
    await streamText({ model: model(), prompt: 'Say hello.', onError }).consumeStream();
    expect(onError.mock.calls.map(([{ error }]) => tallygateErrorOf(error)?.code)).toEqual([code]);
  });
});

it('uses the environment at the time of the call, and works in a registry', async () => {
  vi.stubEnv('TALLYGATE_API_KEY', '');
  expect(() => tallygate('gpt-4o-mini')).toThrow('TALLYGATE_API_KEY');
  vi.stubEnv('TALLYGATE_API_KEY', 'tg_test_of_the_environment');
  vi.stubEnv('TALLYGATE_BASE_URL', `${gateway.baseUrl}/v1`);
  gateway.script({ headers, json: completion });
  const registry = createProviderRegistry({ tallygate });
  const { text } = await generateText({ model: registry.languageModel('tallygate:gpt-4o-mini'), prompt: 'Say hello.' });
  vi.unstubAllEnvs();
  expect(text).toBe('Hello.');
  expect(gateway.requests[0]?.headers.authorization).toBe('Bearer tg_test_of_the_environment');
});
