import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectTurns } from '../../kernel/testing/event-loop.ts';
import { type LargeGateway, MODELS, openLargeGateway } from './testing/large-gateway.ts';

let gateway: LargeGateway;
beforeAll(async () => {
  gateway = await openLargeGateway();
});
afterAll(() => gateway.close());

const MB = 1_000_000;
const WORDS = 'Hello, world. ';
/** Its text in so many deltas, each of so many bytes: how models write, and as an attacker would. */
const DELTAS = {
  'many deltas': [448, 22_000],
  'one delta': [10 * MB, 1],
  // With all that repeats it, as much as is kept of the events as they were sent.
  'one delta, kept': [3 * MB, 1],
  // A larger event of these providers is refused.
  'one delta of 2 MB': [2 * MB, 1],
} as const;
const textOf = (bytes: number) => JSON.stringify(WORDS.repeat(bytes / WORDS.length));

const event = (json: object | string) => `data: ${typeof json === 'string' ? json : JSON.stringify(json)}\n\n`;
const usage = { input_tokens: 10, output_tokens: 20, total_tokens: 30 };

/** The events of a stream, its text in so many deltas. */
type Written = (delta: string, times: number) => string;

const chat: Written = (delta, times) =>
  event(`{"id":"c","choices":[{"index":0,"delta":{"content":${delta}},"finish_reason":null}]}`).repeat(times) +
  event('{"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}') +
  event('{"id":"c","choices":[],"usage":{"prompt_tokens":10,"completion_tokens":20,"total_tokens":30}}') +
  event('[DONE]');
const anthropic: Written = (delta, times) =>
  event({ type: 'message_start', message: { id: 'm', usage: { input_tokens: 10, output_tokens: 1 } } }) +
  event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }) +
  event(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":${delta}}}`).repeat(times) +
  event({ type: 'content_block_stop', index: 0 }) +
  event({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 20 } }) +
  event({ type: 'message_stop' });
const google: Written = (delta, times) =>
  event(`{"candidates":[{"content":{"role":"model","parts":[{"text":${delta}}]}}]}`).repeat(times) +
  event({
    candidates: [{ content: { role: 'model', parts: [{ text: '.' }] }, finishReason: 'STOP' }],
    usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 20, totalTokenCount: 30 },
  });
const openai: Written = (delta, times) => {
  const text = JSON.stringify(JSON.parse(delta).repeat(times));
  const message = `{"type":"message","id":"m","role":"assistant","status":"completed","content":[{"type":"output_text","text":${text}}]}`;
  const response = `{"id":"r","object":"response","status":"completed","output":[${message}],"usage":${JSON.stringify(usage)}}`;
  return (
    event({ type: 'response.created', response: { id: 'r', object: 'response', status: 'in_progress', output: [] } }) +
    event(`{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":${delta}}`).repeat(times) +
    event(`{"type":"response.output_item.done","output_index":0,"item":${message}}`) +
    event(`{"type":"response.completed","response":${response}}`)
  );
};
const WRITTEN = { openai, chat, anthropic, google } as const;

const FIELDS = {
  '/v1/responses': '"input":"Hi","max_output_tokens":16',
  '/v1/chat/completions': '"messages":[{"role":"user","content":"Hi"}],"max_completion_tokens":16',
  '/v1/messages': '"messages":[{"role":"user","content":"Hi"}],"max_tokens":16',
};
interface Row {
  readonly path: keyof typeof FIELDS;
  readonly by: keyof typeof WRITTEN;
  readonly what: keyof typeof DELTAS;
}
const row = (path: Row['path'], by: Row['by'], what: Row['what']): Row => ({ path, by, what });

const ROWS: readonly Row[] = [
  row('/v1/responses', 'openai', 'one delta'),
  row('/v1/responses', 'chat', 'one delta'),
  row('/v1/responses', 'chat', 'one delta, kept'),
  row('/v1/responses', 'chat', 'many deltas'),
  row('/v1/responses', 'anthropic', 'one delta of 2 MB'),
  row('/v1/responses', 'anthropic', 'many deltas'),
  row('/v1/responses', 'google', 'one delta of 2 MB'),
  row('/v1/responses', 'google', 'many deltas'),
  row('/v1/chat/completions', 'chat', 'one delta'),
  row('/v1/chat/completions', 'anthropic', 'many deltas'),
  row('/v1/chat/completions', 'google', 'many deltas'),
  row('/v1/messages', 'chat', 'one delta'),
  row('/v1/messages', 'chat', 'many deltas'),
  row('/v1/messages', 'anthropic', 'many deltas'),
];
/** The events of a response repeat its text so many times. */
const REPEATED = 5;

test('a health check is answered within 50 ms of work behind an event of 12 MB', async () => {
  gateway.provider.events = Buffer.from(chat(textOf(12 * MB), 1));
  const body = Buffer.from(`{"model":"${MODELS.chat}","stream":true,${FIELDS['/v1/chat/completions']}}`);
  const { status, pings } = await expectTurns('a health check', gateway.provider.events.length, async () => {
    gateway.forgetRateLimits();
    let [isOver, pings] = [false, 0];
    const asked = gateway.askForMuch('/v1/chat/completions', body).finally(() => {
      isOver = true;
    });
    for (; !isOver; pings += 1) expect((await gateway.ask('/health/live')).status).toBe(200);
    return { status: (await asked).status, pings };
  });
  expect(status).toBe(200);
  // It waits for a turn of the event loop or two each time, not for the event.
  expect(pings).toBeGreaterThan(5);
});

test.each(ROWS)(
  'a large stream holds the event loop for 50 ms at most, with its keeping: $path, $by, $what',
  async ({ path, by, what }) => {
    const [bytes, times] = DELTAS[what];
    const events = Buffer.from(WRITTEN[by](textOf(bytes), times));
    gateway.provider.events = events;
    const body = Buffer.from(`{"model":"${MODELS[by]}","stream":true,${FIELDS[path]}}`);
    const size = events.length * (path === '/v1/responses' && by !== 'openai' ? REPEATED : 1);
    const { status, end } = await expectTurns(`${path} ${by} ${what}`, size, () => {
      gateway.forgetRateLimits();
      return gateway.askForMuch(path, body);
    });
    expect(status, end).toBe(200);
    expect(end).toMatch(/response\.completed|"cost":|\[DONE\]|message_stop/);
  },
);
