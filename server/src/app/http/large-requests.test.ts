import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectTurns } from '../../kernel/testing/event-loop.ts';
import { LARGE_CHATS, LARGE_EMBEDDINGS, LARGE_INPUTS, LARGE_MESSAGES, type LargeFields } from './testing/large-bodies.ts';
import { type Answer, EMBEDDINGS, type LargeGateway, MODELS, openLargeGateway, PROVIDERS } from './testing/large-gateway.ts';

let gateway: LargeGateway;
beforeAll(async () => {
  gateway = await openLargeGateway();
});
afterAll(() => gateway.close());

interface Row {
  readonly path: string;
  readonly model: string;
  readonly what: string;
  body(): string;
}
/** @param rest what comes before the fields that are large */
const rowsOf = (path: string, models: readonly string[], large: LargeFields, rest = ''): Row[] =>
  models.flatMap((model) =>
    Object.entries(large).map(([what, fields]) => ({ path, model, what, body: () => `{"model":"${model}",${rest}${fields}}` })),
  );
const all = PROVIDERS.map((provider) => MODELS[provider]);

const ROWS: readonly Row[] = [
  ...rowsOf('/v1/messages', all, LARGE_MESSAGES, '"max_tokens":10,'),
  ...rowsOf('/v1/messages/count_tokens', [MODELS.chat], LARGE_MESSAGES),
  ...rowsOf('/v1/chat/completions', all, LARGE_CHATS, '"max_completion_tokens":10,'),
  ...rowsOf('/v1/responses', all, LARGE_INPUTS, '"max_output_tokens":16,"store":false,'),
  ...rowsOf('/v1/responses/compact', [MODELS.openai, MODELS.chat], LARGE_INPUTS),
  ...rowsOf('/v1/responses/input_tokens', [MODELS.chat], LARGE_INPUTS),
  ...rowsOf('/v1/embeddings', Object.values(EMBEDDINGS), LARGE_EMBEDDINGS),
];
const measuredAs = (body: Buffer, { path, model, what }: Omit<Row, 'body'>, work: () => Promise<Answer>) =>
  expectTurns(`${path} ${model} ${what}`, body.length, () => {
    gateway.forgetRateLimits();
    return work();
  });

test.each(ROWS)('a request of 10 MB holds the event loop for 50 ms at most: $path, $model, $what', async ({ body, ...row }) => {
  const bytes = Buffer.from(body());
  const { status, text } = await measuredAs(bytes, row, () => gateway.ask(row.path, bytes));
  expect(status, text.slice(0, 300)).toBe(200);
});

const BATCHED = ['a text', 'many turns', 'the input of a tool'];

test.each(Object.entries(LARGE_MESSAGES).filter(([what]) => BATCHED.includes(what)))(
  'a batch of messages holds the event loop for 50 ms at most: %s',
  async (what, fields) => {
    const params = `{"model":"${MODELS.anthropic}","max_tokens":10,${fields}}`;
    const body = Buffer.from(`{"requests":[{"custom_id":"a","params":${params}}]}`);
    const path = '/v1/messages/batches';
    const { text } = await measuredAs(body, { path, model: MODELS.anthropic, what }, async () => {
      const created = await gateway.ask(path, body);
      expect(created.status, created.text.slice(0, 300)).toBe(200);
      return untilEnded(`${path}/${JSON.parse(created.text).id}`);
    });
    expect(JSON.parse(text).request_counts).toMatchObject({ succeeded: 1 });
  },
);

async function untilEnded(path: string): Promise<Answer> {
  for (;;) {
    const state = await gateway.ask(path);
    if (JSON.parse(state.text).processing_status === 'ended') return state;
    await wait(20);
  }
}
