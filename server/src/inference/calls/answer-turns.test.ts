import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { bedrockSteps } from '@tallygate/fake-upstream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { anthropic } from '../../adapters/upstream/anthropic/anthropic.ts';
import { bedrock } from '../../adapters/upstream/bedrock/bedrock.ts';
import { google } from '../../adapters/upstream/google/index.ts';
import { openAiCompatible } from '../../adapters/upstream/openai-compatible.ts';
import type { UpstreamProvider } from '../../adapters/upstream/port.ts';
import { expectTurns } from '../../kernel/testing/event-loop.ts';
import type { Call } from './call.ts';
import { Deployments } from './deployments.ts';
import { completeCall, streamCall } from './serve.ts';
import { callOf, openInference, ScriptedProvider } from './testing/inference.ts';
import { CASES, startProvider } from './testing/provider-bills.ts';

startProvider();

/** Answers all requests with the same bytes, in pieces: it is on the thread that is measured. */
const provider = createServer((request, res) => {
  request.resume();
  res.writeHead(200, { 'content-type': answer.contentType, 'content-length': answer.bytes.length });
  sendFrom(res, 0);
});
let answer: { readonly contentType: string; readonly bytes: Buffer } = { contentType: '', bytes: Buffer.alloc(0) };
const sendFrom = (res: ServerResponse, at: number): void => {
  if (at >= answer.bytes.length) res.end();
  else res.write(answer.bytes.subarray(at, at + 65_536), () => setImmediate(sendFrom, res, at + 65_536));
};
let url = '';
beforeAll(async () => {
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
});
afterAll(() => new Promise((resolve) => provider.close(resolve)));

const MB = 1_000_000;
/** What is most of an answer, so many bytes of JSON. */
const TEXT = (bytes: number) => JSON.stringify('Hello, world.\n'.repeat(bytes / 15));
const PICTURE = (bytes: number) => JSON.stringify('iVBORw0KGgo+'.repeat(bytes / 12));
const NUMBERS = (bytes: number) => `[${'-0.0123456,'.repeat(bytes / 11)}0]`;
/** Small objects cost the most for their bytes: as many as are read, and more. */
const OBJECTS = (bytes: number) => `[${'{"token":" a","p":-0.1,"b":[97]},'.repeat(bytes / 33)}0]`;
const MANY_OBJECTS = (bytes: number) => `[${'{"a":[1]},'.repeat(bytes / 10)}0]`;
/** So many of them come with one read of the connection that to refuse each takes longer than the whole answer may. */
const UNREADABLE = (bytes: number) => 'data: x\n\n'.repeat(bytes / 9);
const UNREADABLE_USAGE = (bytes: number) => 'data: {"usage"\n\n'.repeat(bytes / 16);
/** No line is blank: they belong to the event behind them. */
const COMMENTS = (bytes: number) => ':\n'.repeat(bytes / 2);
const MANY_CALLS = (bytes: number) => Array.from({ length: bytes / 125 }, (_, at) => event(toolCall(at))).join('');
const NOT_PASSED_ON = new Set<Filling>([MANY_OBJECTS, UNREADABLE, UNREADABLE_USAGE, MANY_CALLS]);
/** Parts and blocks of an answer. */
const SHORT_TEXTS = (bytes: number) => `[${'{"type":"text","text":"aaaaaaaaaaaaaaaa"},'.repeat(bytes / 42)}{"type":"text","text":"a"}]`;
type Filling = (bytes: number) => string;

const event = (json: string) => `data: ${json}\n\n`;
const toolCall = (at: number) =>
  `{"id":"c","choices":[{"index":0,"delta":{"tool_calls":[{"index":${at},"id":"c${at}","type":"function","function":{"name":"f"}}]}}]}`;
const CHAT_USAGE = '"usage":{"prompt_tokens":10,"completion_tokens":20,"total_tokens":30}';
const USAGE = '"usage":{"input_tokens":10,"output_tokens":20,"total_tokens":30}';
const GOOGLE_USAGE = '"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":20,"totalTokenCount":30}';
const DONE = 'data: [DONE]\n\n';
const completion = (text: string) =>
  `{"id":"c","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":${text}},"finish_reason":"stop"}],${CHAT_USAGE}}`;
const chunk = (text: string) =>
  event(
    `{"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"content":${text}},"finish_reason":"stop"}]}`,
  );
const chunks = (text: string) => chunk('"a"') + chunk(text) + event(`{"id":"c","choices":[],${CHAT_USAGE}}`) + DONE;
const response = (text: string) =>
  `{"id":"r","object":"response","status":"completed","output":[{"type":"message","id":"m","role":"assistant","content":[{"type":"output_text","text":${text}}]}],${USAGE}}`;
const responseEvents = (text: string) =>
  event('{"type":"response.output_text.delta","delta":"a"}') + event(`{"type":"response.completed","response":${response(text)}}`);
const message = (text: string) =>
  `{"id":"m","type":"message","role":"assistant","content":[{"type":"text","text":${text}},{"type":"tool_use","id":"t","name":"n","input":{"a":1}}],"stop_reason":"tool_use",${USAGE}}`;
const messageEvents = (text: string) =>
  event('{"type":"message_start","message":{"id":"m","usage":{"input_tokens":10,"output_tokens":1}}}') +
  event('{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}') +
  event(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":${text}}}`) +
  event('{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":20}}') +
  event('{"type":"message_stop"}');
/** Events among those of a stream that has begun. */
const among = (written: (text: string) => string) => (events: string) => {
  const whole = written('"a"');
  const begun =
    whole.lastIndexOf(
      '\n\n',
      Math.max(whole.indexOf('message_delta'), whole.indexOf('response.completed'), whole.indexOf('"choices":[]'), whole.indexOf('"b"')),
    ) + 2;
  return whole.slice(0, begun).replaceAll(/("finish_?[rR]eason"):"\w+"/g, '$1:null') + events + whole.slice(begun);
};
const candidates = (text: string) =>
  `{"candidates":[{"content":{"role":"model","parts":[{"text":${text}}]},"finishReason":"STOP"}],${GOOGLE_USAGE}}`;

const conversed = (text: string) =>
  `{"output":{"message":{"role":"assistant","content":[{"text":${text}},{"toolUse":{"toolUseId":"t","name":"n","input":{"a":1}}}]}},"stopReason":"tool_use","usage":{"inputTokens":10,"outputTokens":20,"totalTokens":30}}`;
const conversedEvents = (text: string) =>
  Buffer.concat([
    bedrockSteps.frame('messageStart', '{"role":"assistant"}'),
    bedrockSteps.frame('contentBlockDelta', `{"contentBlockIndex":0,"delta":{"text":${text}}}`),
    bedrockSteps.frame('messageStop', '{"stopReason":"end_turn"}'),
    bedrockSteps.frame('metadata', '{"usage":{"inputTokens":10,"outputTokens":20,"totalTokens":30}}'),
  ]);
const claudeOfBedrock = (text: string) => {
  const events = messageEvents(text).split('\n\n').filter(Boolean);
  return Buffer.concat(events.map((said) => bedrockSteps.chunkFrame(said.slice('data: '.length))));
};

/** The events of a response repeat its text so many times. */
const REPEATED = 5;

interface Row {
  /** Of {@link CASES}. */
  readonly name: string;
  readonly stream: boolean;
  readonly filling: Filling;
  readonly bytes: number;
  written(filling: string): string | Buffer;
}
const plain = (name: string, filling: Filling, bytes: number, written: Row['written']): Row => ({
  ...{ name, stream: false, filling, bytes, written },
});
const stream = (name: string, filling: Filling, bytes: number, written: Row['written']): Row => ({
  ...{ name, stream: true, filling, bytes, written },
});

const ROWS: readonly Row[] = [
  plain('chat, OpenAI', TEXT, 16 * MB, completion),
  plain('chat, OpenAI', OBJECTS, 6 * MB, completion),
  plain('chat, OpenAI', MANY_OBJECTS, MB, completion),
  stream('chat, OpenAI', PICTURE, 24 * MB, chunks),
  stream('responses', PICTURE, 24 * MB, (text) => event(`{"type":"response.completed","response":${response(text)}}`)),
  stream('responses', OBJECTS, 6 * MB, (text) => event(`{"type":"response.completed","response":${response(text)}}`)),
  stream('responses', MANY_OBJECTS, MB, (text) => event(`{"type":"response.completed","response":${response(text)}}`)),
  plain('responses, chat', TEXT, 10 * MB, completion),
  stream('responses, chat', TEXT, 10 * MB, chunks),
  plain(
    'embeddings',
    NUMBERS,
    10 * MB,
    (numbers) => `{"object":"list","data":[{"index":0,"embedding":${numbers}}],"usage":{"prompt_tokens":10,"total_tokens":10}}`,
  ),
  plain('images', PICTURE, 24 * MB, (picture) => `{"created":1,"data":[{"b64_json":${picture}}],${USAGE}}`),
  plain(
    'speech by tokens',
    PICTURE,
    24 * MB,
    (sound) => event(`{"type":"speech.audio.delta","audio":${sound}}`) + event(`{"type":"speech.audio.done",${USAGE}}`),
  ),
  plain('transcription by tokens', TEXT, 10 * MB, (text) => `{"text":${text},${USAGE}}`),
  plain('chat, Anthropic', TEXT, 15 * MB, message),
  plain('chat, Anthropic', OBJECTS, 6 * MB, (input) => message('"a"').replace('{"a":1}', `{"a":${input}}`)),
  plain('chat, Anthropic', MANY_OBJECTS, MB, message),
  plain('chat, Anthropic', SHORT_TEXTS, 15 * MB, (blocks) =>
    message('"a"').replace('[{"type":"text","text":"a"}', () => `${blocks.slice(0, -1)}`),
  ),
  stream('chat, Anthropic', TEXT, 2 * MB, messageEvents),
  stream('chat, Anthropic', OBJECTS, 2 * MB, messageEvents),

  stream('responses, Anthropic', TEXT, 2 * MB, messageEvents),
  plain('chat, Bedrock', TEXT, 15 * MB, conversed),
  plain('chat, Bedrock', OBJECTS, 6 * MB, (input) => conversed('"a"').replace('{"a":1}', `{"a":${input}}`)),
  plain('chat, Bedrock', SHORT_TEXTS, 15 * MB, (blocks) => conversed('"a"').replace('[{"text":"a"}', () => `${blocks.slice(0, -1)}`)),
  stream('chat, Bedrock', TEXT, 1.9 * MB, conversedEvents),
  stream('chat, Bedrock, Claude', TEXT, 1 * MB, claudeOfBedrock),
  stream('messages, Bedrock', TEXT, 1 * MB, claudeOfBedrock),
  plain('messages, Bedrock', TEXT, 15 * MB, message),
  plain('chat, Google', TEXT, 15 * MB, candidates),
  plain('chat, Google', OBJECTS, 6 * MB, (args) =>
    candidates('"a"').replace('{"text":"a"}', `{"functionCall":{"name":"n","args":{"a":${args}}}}`),
  ),
  plain('chat, Google', SHORT_TEXTS, 15 * MB, (parts) => candidates('"a"').replace('[{"text":"a"}]', () => parts)),
  stream('chat, Google', TEXT, 2 * MB, (text) => event(candidates(text))),
  stream('chat, OpenAI', UNREADABLE, 0.5 * MB, among(chunks)),
  stream('chat, OpenAI', UNREADABLE_USAGE, 0.2 * MB, among(chunks)),
  stream('chat, OpenAI', COMMENTS, 8 * MB, among(chunks)),
  stream('chat, Anthropic', UNREADABLE, 0.5 * MB, among(messageEvents)),
  stream(
    'chat, Google',
    UNREADABLE,
    0.5 * MB,
    among((text) => event(candidates(text)) + event(candidates('"b"'))),
  ),
  stream('responses', COMMENTS, 8 * MB, among(responseEvents)),
  stream('responses', UNREADABLE, 0.5 * MB, among(responseEvents)),
  stream('responses, chat', UNREADABLE, 0.5 * MB, among(chunks)),
  stream('responses, chat', MANY_CALLS, 2 * MB, among(chunks)),
  plain('messages', TEXT, 15 * MB, message),
  plain('messages', OBJECTS, 6 * MB, (input) => message('"a"').replace('{"a":1}', `{"a":${input}}`)),
  plain('messages', SHORT_TEXTS, 10 * MB, (blocks) =>
    message('"a"').replace('[{"type":"text","text":"a"}', () => `${blocks.slice(0, -1)}`),
  ),
  stream('messages', TEXT, 10 * MB, messageEvents),
  stream('messages', UNREADABLE, 0.5 * MB, among(messageEvents)),
  plain('messages, chat', TEXT, 10 * MB, completion),
  stream('messages, chat', TEXT, 10 * MB, chunks),
  stream('messages, chat', MANY_CALLS, 2 * MB, among(chunks)),
  plain('content', SHORT_TEXTS, 10 * MB, (parts) => candidates('"a"').replace('[{"text":"a"}]', () => parts)),
  stream('content', TEXT, 2 * MB, (text) => event(candidates(text))),
  stream('content, Anthropic', TEXT, 2 * MB, messageEvents),
  plain('content, chat', TEXT, 10 * MB, completion),
  stream('content, chat', TEXT, 10 * MB, chunks),
  stream('content, chat', UNREADABLE, 0.5 * MB, among(chunks)),
  stream('content, chat', MANY_CALLS, 2 * MB, among(chunks)),
  plain(
    'embedContent',
    NUMBERS,
    10 * MB,
    (numbers) => `{"object":"list","data":[{"index":0,"embedding":${numbers}}],"usage":{"prompt_tokens":10,"total_tokens":10}}`,
  ),
];

test.each(ROWS.map((row) => ({ ...row, mode: row.stream ? 'stream' : 'plain', what: row.filling.name, mb: row.bytes / MB })))(
  'an answer of $mb MB holds the event loop for 50 ms at most, and is settled: $name, $mode, $what',
  async ({ name, mode, what, stream, filling, bytes, written }) => {
    const one = CASES.find((each) => each.name === name);
    if (!one) throw new Error(name);
    const isEvents = stream || name.startsWith('speech');
    answer = { contentType: isEvents ? 'text/event-stream' : 'application/json', bytes: bytesOf(written(filling(bytes))) };
    const upstream = providerOf(name);
    const isRepeated = stream && name.startsWith('responses, ');
    const settled = await expectTurns(`${name}, ${mode}, ${what}`, answer.bytes.length * (isRepeated ? REPEATED : 1), async () => {
      const opened = openInference({ balance: 1_000_000_000_000n, timeoutMs: 60_000, readOnMs: 60_000 });
      const deployment = { name: 'a', provider: 'a', upstream, upstreamModel: one.model, countsLikeMaker: true, weight: 1 };
      const deployments = new Map([[one.model, [{ ...deployment, onCancel: 'keeps_billing' as const }]]]);
      const deps = { ...opened.deps, deployments: new Deployments(deployments, new ScriptedProvider(), () => 0.5) };
      const chat = callOf({ model: one.model, stream, max_completion_tokens: 400 }, { livemode: true });
      const call: Call = { ...chat, work: (await one.work?.(one.model, stream)) ?? chat.work };
      if (call.work.isStream || call.work.isPassedOn) await streamCall(call, opened.openClient().res, deps);
      else await completeCall(call, deps);
      const [entry] = await opened.settled();
      opened.close();
      return entry?.record;
    });
    await upstream.close();
    expect(settled?.outcome).toBe(NOT_PASSED_ON.has(filling) ? 'abandoned' : 'completed');
    // The usage of a response is in the response: of one that is not read, all that was held is charged.
    if (filling === MANY_OBJECTS && mode === 'stream') expect(settled?.cost).toBe(settled?.held);
    else expect(settled).toMatchObject({ usage: { input_tokens: 10, output_tokens: name.startsWith('embed') ? 0 : 20 }, estimated: false });
  },
);

const bytesOf = (written: string | Buffer): Buffer => (typeof written === 'string' ? Buffer.from(written) : written);

function providerOf(name: string): UpstreamProvider {
  if (name.includes('Bedrock')) return bedrock({ name: 'a', baseUrl: url, region: 'eu-central-1', apiKey: '0123456789' });
  if (name.endsWith('Anthropic') || name === 'messages') return anthropic({ name: 'a', baseUrl: url, apiKey: 'sk-ant-0123456789' });
  if (name.endsWith('Google') || name === 'content') return google({ name: 'a', baseUrl: url, apiKey: '0123456789' });
  return openAiCompatible({ name: 'a', baseUrl: url, hasResponses: !name.endsWith(', chat') });
}
