import { Readable } from 'node:stream';
import { type ErrorCode, type ReceiptUsage, ResponseRequest } from '@tallygate/contract';
import { type Bill, bedrockSteps, type FakeUpstream, type Step, startFakeUpstream } from '@tallygate/fake-upstream';
import { afterAll, beforeAll, expect } from 'vitest';
import { anthropic } from '../../../adapters/upstream/anthropic/anthropic.ts';
import { azureOpenAi } from '../../../adapters/upstream/azure-openai.ts';
import { bedrock } from '../../../adapters/upstream/bedrock/bedrock.ts';
import { cohere } from '../../../adapters/upstream/cohere/index.ts';
import { google } from '../../../adapters/upstream/google/index.ts';
import { openAiCompatible } from '../../../adapters/upstream/openai-compatible.ts';
import type { UpstreamProvider } from '../../../adapters/upstream/port.ts';
import { vertex } from '../../../adapters/upstream/vertex/vertex.ts';
import { newReceiptId } from '../../../kernel/ids.ts';
import { Problem } from '../../../kernel/problem.ts';
import { costOf, loadCatalog } from '../../../money/catalog/index.ts';
import { BOOK } from '../../../money/plans/testing/book.ts';
import type { Call } from '../call.ts';
import { Deployments, type OnCancel } from '../deployments.ts';
import type { Operation, Received } from '../operation.ts';
import { statelessOperations } from '../operations.ts';
import { createRecordings, type Recordings } from '../recordings/recordings.ts';
import { inputItems } from '../responses/response-input.ts';
import { responseWork } from '../responses/response-work.ts';
import { completeCall, streamCall } from '../serve.ts';
import { NO_USAGE } from '../usage.ts';
import type { Work } from '../work.ts';
import { ACCOUNT, callOf, NOW, openInference, ScriptedProvider } from './inference.ts';

/** The rule: what a provider bills is what is settled, whoever hangs up, and never more than was held. */

export let fake: FakeUpstream;
let recordings: Recordings;
let operations: readonly Operation[];

/** To be called once in each file of tests. */
export function startProvider(): void {
  beforeAll(async () => {
    fake = await startFakeUpstream();
    recordings = createRecordings();
    operations = statelessOperations({ recordings });
  });
  afterAll(async () => {
    await fake.close();
    await recordings.close();
  });
}

const catalog = loadCatalog();
const text = ({ inputTokens, outputTokens }: Bill): ReceiptUsage => ({
  ...NO_USAGE,
  input_tokens: inputTokens,
  output_tokens: outputTokens,
});

const images = ({ inputTokens, outputTokens }: Bill): ReceiptUsage => ({
  ...NO_USAGE,
  input_tokens: inputTokens,
  output_tokens: outputTokens,
  image_output_tokens: outputTokens,
});
/** By the characters of the text, as soon as the provider has begun. */
const characters = ({ inputTokens }: Bill): ReceiptUsage => ({
  ...NO_USAGE,
  input_characters: inputTokens > 0 ? 'Say hello.'.length : 0,
});

/** By Cohere's searches. */
const searches = ({ searchUnits }: Bill): ReceiptUsage => ({ ...NO_USAGE, ...(searchUnits > 0 && { search_units: searchUnits }) });

/** One endpoint at one kind of provider. */
export interface Case {
  readonly name: string;
  readonly model: string;
  readonly canStream: boolean;
  /** An event that cannot be read; default: one of server-sent events. */
  readonly unreadable?: Uint8Array;
  /** Nothing is billed, so nothing may be charged. */
  readonly isFree?: true;
  provider(): UpstreamProvider;
  /** Undefined: a chat. */
  work?(model: string, stream: boolean): Work | Promise<Work>;
  usage(bill: Bill): ReceiptUsage;
}

const anthropicProvider = () => anthropic({ name: 'fake', baseUrl: fake.url, apiKey: 'sk-ant-0123456789' });
const googleProvider = () => google({ name: 'fake', baseUrl: `${root()}/v1beta`, apiKey: '0123456789' });
const vertexProvider = () =>
  vertex({ name: 'fake', baseUrl: root(), project: 'my-project', location: 'global', tokens: async () => VERTEX_TOKEN });
const bedrockProvider = () => bedrock({ name: 'fake', baseUrl: root(), region: 'eu-central-1', apiKey: '0123456789' });
export const compatible = () => openAiCompatible({ name: 'fake', baseUrl: fake.url, hasResponses: true });
const VERTEX_TOKEN = { value: 'ya29.0123456789', expiresAtMs: undefined };
const CLAUDE_OF_BEDROCK = 'bedrock/anthropic.claude-sonnet-4-6';
const root = () => fake.url.replace(/\/v1$/, '');
const SECONDS = 10;
const KEY_LANE = 'key:key-1:2026-11';

/** Ten seconds of silence. */
function recording() {
  const wav = Buffer.alloc(44 + 16_000 * SECONDS);
  wav.write('RIFF', 0).toString();
  wav.writeUInt32LE(wav.length - 8, 4);
  wav.write('WAVEfmt ', 8);
  wav.writeUInt32LE(16, 16);
  wav.writeUInt16LE(1, 20);
  wav.writeUInt16LE(1, 22);
  wav.writeUInt32LE(8_000, 24);
  wav.writeUInt32LE(16_000, 28);
  wav.writeUInt16LE(2, 32);
  wav.writeUInt16LE(16, 34);
  wav.write('data', 36);
  wav.writeUInt32LE(16_000 * SECONDS, 40);
  return { field: 'file', filename: 'a.wav', contentType: 'audio/wav', bytes: wav.length, open: () => Readable.from([wav]) };
}

const PNG = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');
const picture = () => ({
  ...{ field: 'image', filename: 'a.png', contentType: 'image/png', bytes: PNG.length },
  open: () => Readable.from([PNG]),
});

export function stateless(
  path: string,
  body: object,
  files: readonly ReturnType<typeof recording>[] = [],
  inTarget: Pick<Received, 'params' | 'query'> = {},
) {
  const operation = operations.find((one) => one.path === path);
  if (!operation) throw new Error(path);
  const bytes = Buffer.from(JSON.stringify(body));
  const schema = files.length > 0 ? operation.formSchema : operation.schema;
  return operation.workOf(schema.parse(body), { bytes, files, sha256: () => 'x', ...inTarget }, callOf({}).grant);
}

/** As many as the provider counts for any prompt: of a stream that it breaks off, ours is charged. */
const TEN_TOKENS = 'one two three four five six seven eight nine ten';

function response(model: string, stream: boolean): Work {
  const request = ResponseRequest.parse({ model, input: 'Say hello.', stream, max_output_tokens: 400 });
  const frame = { id: 'resp_1', previous_response_id: null, store: false, metadata: {} };
  return responseWork(request, { items: inputItems(request), bytes: 1_000, frame, requestSha256: () => 'x' });
}

const message = (model: string, stream: boolean) =>
  stateless('/v1/messages', { model, messages: [{ role: 'user', content: TEN_TOKENS }], stream, max_tokens: 400 });

/** Google's words have the model in their path. */
const googles = (method: string, model: string, body: object) =>
  stateless(`/v1beta/models/:model/${method}`, body, [], { params: { model }, query: new URLSearchParams({ alt: 'sse' }) });

const content = (model: string, stream: boolean) =>
  googles(stream ? 'streamGenerateContent' : 'generateContent', model, {
    contents: [{ role: 'user', parts: [{ text: TEN_TOKENS }] }],
    generationConfig: { maxOutputTokens: 400 },
  });

export const CASES: readonly Case[] = [
  { name: 'chat, OpenAI', model: 'gpt-4o-mini', canStream: true, provider: compatible, usage: text },
  { name: 'chat, reasoning', model: 'o4-mini', canStream: true, provider: compatible, usage: text },
  {
    name: 'chat, Anthropic',
    model: 'claude-sonnet-4-6',
    canStream: true,
    provider: anthropicProvider,
    usage: text,
  },
  {
    name: 'chat, Google',
    model: 'gemini-2.5-pro',
    canStream: true,
    provider: googleProvider,
    usage: text,
  },
  {
    name: 'chat, Azure',
    model: 'gpt-4o-mini',
    canStream: true,
    provider: () => azureOpenAi({ name: 'fake', baseUrl: root(), apiKey: '0123456789' }),
    usage: text,
  },
  { name: 'chat, Vertex', model: 'vertex/gemini-2.5-pro', canStream: true, provider: vertexProvider, usage: text },
  { name: 'chat, Vertex, Claude', model: 'vertex/claude-sonnet-4-6', canStream: true, provider: vertexProvider, usage: text },
  { name: 'messages, Vertex', model: 'vertex/claude-sonnet-4-6', canStream: true, provider: vertexProvider, work: message, usage: text },
  {
    ...{ name: 'embeddings, Vertex', model: 'vertex/text-embedding-005', canStream: false, provider: vertexProvider, usage: text },
    work: (model) => stateless('/v1/embeddings', { model, input: TEN_TOKENS }),
  },
  {
    ...{ name: 'chat, Bedrock', model: 'bedrock/amazon.nova-lite-v1:0', canStream: true, provider: bedrockProvider, usage: text },
    unreadable: bedrockSteps.garbled(),
  },
  {
    ...{ name: 'chat, Bedrock, Claude', model: CLAUDE_OF_BEDROCK, canStream: true, provider: bedrockProvider, usage: text },
    unreadable: bedrockSteps.garbled(),
  },
  {
    ...{ name: 'messages, Bedrock', model: CLAUDE_OF_BEDROCK, canStream: true, provider: bedrockProvider, work: message, usage: text },
    unreadable: bedrockSteps.garbled(),
  },
  {
    ...{ name: 'embeddings, Bedrock', model: 'bedrock/cohere.embed-multilingual-v3', canStream: false, provider: bedrockProvider },
    work: (model) => stateless('/v1/embeddings', { model, input: TEN_TOKENS }),
    usage: text,
  },
  {
    name: 'responses',
    model: 'gpt-4o-mini',
    canStream: true,
    provider: compatible,
    work: response,
    usage: text,
  },
  { name: 'responses, Anthropic', model: 'claude-sonnet-4-6', canStream: true, provider: anthropicProvider, work: response, usage: text },
  { name: 'responses, Google', model: 'gemini-2.5-pro', canStream: true, provider: googleProvider, work: response, usage: text },
  {
    name: 'responses, chat',
    model: 'gpt-4o-mini',
    canStream: true,
    provider: () => openAiCompatible({ name: 'fake', baseUrl: fake.url, hasResponses: false }),
    work: response,
    usage: text,
  },
  { name: 'messages', model: 'claude-sonnet-4-6', canStream: true, provider: anthropicProvider, work: message, usage: text },
  { name: 'messages, Google', model: 'gemini-2.5-pro', canStream: true, provider: googleProvider, work: message, usage: text },
  { name: 'messages, chat', model: 'gpt-4o-mini', canStream: true, provider: compatible, work: message, usage: text },
  { name: 'content', model: 'gemini-2.5-pro', canStream: true, provider: googleProvider, work: content, usage: text },
  { name: 'content, Anthropic', model: 'claude-sonnet-4-6', canStream: true, provider: anthropicProvider, work: content, usage: text },
  { name: 'content, chat', model: 'gpt-4o-mini', canStream: true, provider: compatible, work: content, usage: text },
  {
    name: 'embedContent',
    model: 'text-embedding-3-small',
    canStream: false,
    provider: compatible,
    work: (model) => googles('embedContent', model, { content: { parts: [{ text: TEN_TOKENS }] } }),
    usage: text,
  },
  {
    name: 'completions',
    model: 'gpt-3.5-turbo-instruct',
    canStream: true,
    provider: compatible,
    work: (model, stream) => stateless('/v1/completions', { model, prompt: TEN_TOKENS, stream, max_tokens: 400 }),
    usage: text,
  },
  {
    name: 'embeddings',
    model: 'text-embedding-3-small',
    canStream: false,
    provider: compatible,
    work: (model) => stateless('/v1/embeddings', { model, input: TEN_TOKENS }),
    usage: text,
  },
  {
    name: 'embeddings, passed on',
    model: 'text-embedding-3-small',
    canStream: true,
    provider: compatible,
    work: (model, many) => stateless('/v1/embeddings', { model, input: Array.from({ length: many ? 200 : 1 }, () => TEN_TOKENS) }),
    usage: text,
  },
  {
    name: 'rankings by searches',
    model: 'rerank-v4.0-pro',
    canStream: false,
    provider: () => cohere({ name: 'fake', baseUrl: root(), apiKey: '0123456789' }),
    work: (model) => stateless('/v1/rerank', { model, query: 'Which?', documents: Array.from({ length: 150 }, () => TEN_TOKENS) }),
    usage: searches,
  },
  {
    name: 'rankings by tokens',
    model: 'jina-reranker-v2-base-multilingual',
    canStream: false,
    provider: compatible,
    work: (model) => stateless('/v1/rerank', { model, query: 'Which?', documents: [TEN_TOKENS, TEN_TOKENS] }),
    usage: text,
  },
  {
    name: 'images',
    model: 'gpt-image-1',
    canStream: true,
    provider: compatible,
    work: (model, stream) => stateless('/v1/images/generations', { model, prompt: 'A hello.', quality: 'low', stream }),
    usage: images,
  },
  {
    name: 'image edits',
    model: 'gpt-image-1',
    canStream: true,
    provider: compatible,
    work: (model, stream) =>
      stateless('/v1/images/edits', { model, prompt: 'A hello.', quality: 'low', ...(stream && { stream: 'true' }) }, [picture()]),
    usage: images,
  },
  {
    name: 'several images',
    model: 'gpt-image-1',
    canStream: false,
    provider: compatible,
    work: (model) => stateless('/v1/images/generations', { model, prompt: 'A hello.', quality: 'low', n: 3 }),
    usage: images,
  },
  {
    name: 'moderations',
    model: 'omni-moderation-latest',
    canStream: false,
    isFree: true,
    provider: compatible,
    work: (model) => stateless('/v1/moderations', { model, input: 'Say hello.' }),
    usage: text,
  },
  {
    name: 'speech',
    model: 'tts-1',
    canStream: false,
    provider: compatible,
    work: (model) => stateless('/v1/audio/speech', { model, input: 'Say hello.', voice: 'alloy' }),
    usage: characters,
  },
  {
    name: 'speech in events',
    model: 'tts-1',
    canStream: true,
    provider: compatible,
    work: (model) => stateless('/v1/audio/speech', { model, input: 'Say hello.', voice: 'alloy', stream_format: 'sse' }),
    usage: characters,
  },
  {
    name: 'speech by tokens',
    model: 'gpt-4o-mini-tts',
    canStream: false,
    provider: compatible,
    work: (model) => stateless('/v1/audio/speech', { model, input: 'Say hello.', voice: 'alloy' }),
    usage: text,
  },
  {
    name: 'speech by tokens in events',
    model: 'gpt-4o-mini-tts',
    canStream: true,
    provider: compatible,
    work: (model) => stateless('/v1/audio/speech', { model, input: 'Say hello.', voice: 'alloy', stream_format: 'sse' }),
    usage: text,
  },
  {
    name: 'transcription',
    model: 'whisper-1',
    canStream: false,
    provider: compatible,
    work: (model) => stateless('/v1/audio/transcriptions', { model, response_format: 'json' }, [recording()]),
    usage: ({ seconds }) => ({ ...NO_USAGE, audio_seconds: seconds }),
  },
  {
    name: 'translation',
    model: 'whisper-1',
    canStream: false,
    provider: compatible,
    work: (model) => stateless('/v1/audio/translations', { model, response_format: 'json' }, [recording()]),
    usage: ({ seconds }) => ({ ...NO_USAGE, audio_seconds: seconds }),
  },
  {
    name: 'transcription by tokens',
    model: 'gpt-4o-transcribe',
    canStream: true,
    provider: compatible,
    work: (model, stream) =>
      stateless('/v1/audio/transcriptions', { model, response_format: 'json', ...(stream && { stream: 'true' }) }, [recording()]),
    // A token of sound costs there what a token of text does.
    usage: text,
  },
];

/** Who ends the call, and after how many milliseconds. */
export type Ending = 'nobody' | 'client' | 'run' | 'shutdown' | 'deadline';

export interface Scenario {
  readonly one: Case;
  readonly stream: boolean;
  readonly ending: Ending;
  readonly afterMs: number;
  /** The time counts from the beginning of the upload, not from its end. */
  readonly isInUpload?: boolean;
  /** What the deployments that are asked do, in turn. */
  readonly steps: readonly [Step, ...Step[]];
  readonly onCancel: OnCancel;
  readonly onDisconnect: 'cancel' | 'finish' | undefined;
  /** After which a provider is late; and how long one that is late, or left, is read on. */
  readonly timeoutMs?: number;
  readonly readOnMs?: number;
  readonly mostAnswerBytes?: number;
  /** Of the key, nano-USD. */
  readonly monthlyCap?: bigint;
  /** What is left of every meter of the plan. Default: all that it has. */
  readonly quotaLeft?: bigint;
  /** Their names, in the order in which they are asked. Default: one name for all. */
  readonly providers?: readonly string[];
}

const usedBut = (left: bigint): Record<string, bigint> =>
  Object.fromEntries(Object.entries(BOOK.of('pro').quota).map(([meter, most]) => [meter, BigInt(most ?? 0) - left]));

const NOTHING = { asked: 0, stillHeld: 0n };

/** For a call that may be refused with this code, which asks nobody and leaves nothing held. */
export const orRefused = (code: ErrorCode) => (thrown: unknown) => {
  if (thrown instanceof Problem && thrown.code === code)
    return { billed: 0n, settled: 0n, held: 0n, stillHeld: 0n, records: [], begunAs: [] };
  throw thrown;
};

/**
 * Plays one call, and returns what the providers billed for it and what was settled, nano-USD.
 *
 * @throws Problem why it was refused, when it was
 */
export async function play(scenario: Scenario) {
  const { one, stream, ending, afterMs, isInUpload = false, steps } = scenario;
  const { onCancel, onDisconnect, timeoutMs, readOnMs, mostAnswerBytes, monthlyCap = null, quotaLeft } = scenario;
  fake.reset();
  fake.script(...steps);
  const upstream = one.provider();
  const opened = openInference({
    balance: 1_000_000_000_000n,
    ...(quotaLeft !== undefined && { quotaUsed: usedBut(quotaLeft) }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(readOnMs !== undefined && { readOnMs }),
    ...(mostAnswerBytes !== undefined && { mostAnswerBytes }),
  });
  try {
    const deployments = steps.map((_, index) => ({
      ...{
        name: `fake#${index + 1}`,
        provider: scenario.providers?.[index] ?? 'fake',
        upstream,
        upstreamModel: one.model.replace(/^vertex\//, ''),
      },
      ...{ countsLikeMaker: true, onCancel, weight: 1_000_000 / 1_000 ** index },
    }));
    const deps = { ...opened.deps, deployments: new Deployments(new Map([[one.model, deployments]]), new ScriptedProvider(), () => 0.5) };
    const hangUp = new AbortController();
    const headers = { ...(ending === 'run' && { 'x-agent-run-id': 'a' }), ...(onDisconnect && { 'x-on-disconnect': onDisconnect }) };
    const chat = callOf(
      { model: one.model, stream, max_completion_tokens: 400 },
      { livemode: true, headers, signal: hangUp.signal, monthlyCap },
    );
    const work = await one.work?.(one.model, stream);
    const call: Call = { ...chat, receiptId: newReceiptId(NOW), work: work ?? chat.work };
    const arrived = fake.nextRequest();
    const client = opened.openClient();
    const stillHeld = async () => (await opened.held(KEY_LANE)) ?? 0n;
    const begun = call.work.isStream || call.work.isPassedOn ? streamCall(call, client.res, deps) : completeCall(call, deps);
    const served = begun.catch(async (thrown) => {
      if (thrown instanceof Problem) expect({ asked: fake.requests.length, stillHeld: await stillHeld() }).toEqual(NOTHING);
      throw thrown;
    });
    if (!isInUpload) await Promise.race([arrived, served]);
    if (ending !== 'nobody') {
      if (afterMs > 0) await new Promise((resolve) => setTimeout(resolve, afterMs));
      if (ending === 'client') hangUp.abort();
      else if (ending === 'run') opened.runs.closed({ accountId: ACCOUNT, livemode: true }, 'a');
      else await deps.running.drain(ending === 'shutdown' ? 0 : 3);
    }
    const reply = await served;
    // Whatever is read on ends, at its deadline at the latest.
    await deps.running.drain(30_000);
    await expect.poll(() => opened.served.length, { interval: 1 }).toBe(1);
    // What the gateway is through with may still be open at the provider.
    await upstream.close();
    await Promise.all(fake.requests.map(({ ended }) => ended));
    const entries = await opened.settled();
    const record = entries.find(({ record: { receiptId } }) => receiptId === call.receiptId)?.record;
    const price = catalog.find(one.model)?.priceAt(NOW);
    if (!price || !record) throw new Error('nothing was settled');
    const sum = (amounts: readonly bigint[]) => amounts.reduce((all, amount) => all + amount, 0n);
    return {
      ...{ record, records: entries.map((entry) => entry.record), entries, reply, sent: client.socket },
      begunAs: entries.map((entry) => opened.journal.begun.get(entry.record.receiptId)?.attempt),
      begun: opened.journal.begun.get(call.receiptId),
      asked: fake.requests.length,
      billed: sum(fake.requests.map((request) => costOf(price, one.usage(request.billed)).nanoUsd)),
      settled: sum(entries.map((entry) => BigInt(entry.record.cost))),
      held: sum(entries.map((entry) => BigInt(entry.record.held))),
      stillHeld: await stillHeld(),
    };
  } finally {
    opened.close();
    await upstream.close();
  }
}
