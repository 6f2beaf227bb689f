import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectTurns } from '../../kernel/testing/event-loop.ts';
import {
  FORM_TYPE,
  formOf,
  LARGE_CHATS,
  LARGE_CONTENTS,
  LARGE_EDITS,
  LARGE_EMBEDDINGS,
  LARGE_FILES,
  LARGE_INPUTS,
  LARGE_ITEMS,
  LARGE_JUDGED,
  LARGE_MESSAGES,
  LARGE_PROMPTS,
  LARGE_RANKED,
  type LargeFields,
  silence,
} from './testing/large-bodies.ts';
import {
  type Answer,
  EMBEDDINGS,
  type LargeGateway,
  MODELS,
  OTHERS,
  openLargeGateway,
  PROVIDERS,
  RERANKERS,
} from './testing/large-gateway.ts';

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
/** Both that have OpenAI’s API are asked for chat completions by the same bytes: they differ in Responses alone. */
const dialogues = all.filter((model) => model !== MODELS.openai);

const ROWS: readonly Row[] = [
  ...rowsOf('/v1/messages', dialogues, LARGE_MESSAGES, '"max_tokens":10,'),
  ...rowsOf('/v1/messages/count_tokens', [MODELS.chat], LARGE_MESSAGES),
  ...rowsOf('/v1/chat/completions', dialogues, LARGE_CHATS, '"max_completion_tokens":10,'),
  ...rowsOf('/v1/responses', all, LARGE_INPUTS, '"max_output_tokens":16,"store":false,'),
  ...rowsOf('/v1/responses', [MODELS.chat], { 'many items, stored': LARGE_INPUTS['many items'] ?? '' }, '"max_output_tokens":16,'),
  ...rowsOf('/v1/responses/compact', [MODELS.openai, MODELS.chat], LARGE_INPUTS),
  ...rowsOf('/v1/responses/input_tokens', [MODELS.chat], LARGE_INPUTS),
  ...rowsOf('/v1/embeddings', Object.values(EMBEDDINGS), LARGE_EMBEDDINGS),
  ...rowsOf('/v1/completions', [OTHERS.completions], LARGE_PROMPTS, '"max_tokens":10,'),
  ...rowsOf('/v1/rerank', Object.values(RERANKERS), LARGE_RANKED),
  ...rowsOf('/v1/moderations', [OTHERS.moderations], LARGE_JUDGED),
  ...rowsOf('/v1/images/edits', [OTHERS.images], LARGE_EDITS),
];
const measuredAs = (body: Buffer, { path, model, what }: Omit<Row, 'body'>, work: () => Promise<Answer>) =>
  expectTurns(`${path} ${model} ${what}`, body.length, () => {
    gateway.forgetRateLimits();
    return work();
  });

/** With the model in the path. */
const contentsOf = (models: readonly string[]): Row[] =>
  models.flatMap((model) =>
    Object.entries(LARGE_CONTENTS).map(([what, fields]) => ({
      ...{ path: `/v1beta/models/${model}:generateContent`, model, what, body: () => `{${fields}}` },
    })),
  );

/** What costs nobody anything but the gateway. */
const SANDBOX_ROWS: readonly Row[] = [
  ...rowsOf('/v1/chat/completions', [MODELS.chat], LARGE_CHATS, '"max_completion_tokens":10,'),
  ...rowsOf('/v1/responses', [MODELS.chat], LARGE_INPUTS, '"max_output_tokens":16,"store":false,'),
  ...rowsOf('/v1/embeddings', [EMBEDDINGS.openai], LARGE_EMBEDDINGS),
  ...rowsOf('/v1/moderations', [OTHERS.moderations], LARGE_JUDGED),
  ...contentsOf([MODELS.chat]),
];

test.each(SANDBOX_ROWS)('the sandbox holds the event loop for 50 ms at most: $path, $what', async ({ body, ...row }) => {
  const bytes = Buffer.from(body());
  const { status, text } = await measuredAs(bytes, row, () => gateway.askSandbox(row.path, bytes));
  expect(status, text.slice(0, 300)).toBe(200);
});

test.each([...ROWS, ...contentsOf([MODELS.chat, MODELS.google])])(
  'a request of 10 MB holds the event loop for 50 ms at most: $path, $model, $what',
  async ({ body, ...row }) => {
    const bytes = Buffer.from(body());
    const { status, text } = await measuredAs(bytes, row, () => gateway.ask(row.path, bytes));
    expect(status, text.slice(0, 300)).toBe(200);
  },
);

/** What a form has beside its fields. */
const BYTES = 9_800_000;

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

const FORMS = [
  ['/v1/images/edits', () => formOf({ model: OTHERS.images, prompt: 'Hi' }, 'image', 'a.png', Buffer.alloc(BYTES))],
  ['/v1/audio/transcriptions', () => formOf({ model: OTHERS.transcriptions }, 'file', 'a.wav', silence(BYTES))],
  ['/v1/files', () => formOf({ purpose: 'user_data' }, 'file', 'a.bin', Buffer.alloc(BYTES))],
] as const;

test.each(FORMS)('a form of 10 MB holds the event loop for 50 ms at most: %s', async (path, form) => {
  const body = form();
  const { status, text } = await measuredAs(body, { path, model: 'form', what: 'a file' }, () => gateway.ask(path, body, FORM_TYPE));
  expect(status, text.slice(0, 300)).toBe(200);
});

test('a response of 10 MB in the background holds the event loop for 50 ms at most', async () => {
  const body = Buffer.from(`{"model":"${MODELS.openai}","background":true,"max_output_tokens":16,${LARGE_INPUTS['many items']}}`);
  const path = '/v1/responses';
  const { text } = await measuredAs(body, { path, model: MODELS.openai, what: 'in the background' }, async () => {
    const created = await gateway.ask(path, body);
    expect(created.status, created.text.slice(0, 300)).toBe(200);
    return until(`${path}/${JSON.parse(created.text).id}`, ({ status = '' }) => !['queued', 'in_progress'].includes(status));
  });
  expect(JSON.parse(text)).toMatchObject({ status: 'completed' });
});

test('a conversation of 10 MB holds the event loop for 50 ms at most', async () => {
  const body = Buffer.from(`{"items":${LARGE_ITEMS}}`);
  const path = '/v1/conversations';
  const { status, text } = await measuredAs(body, { path, model: 'any', what: 'many items' }, () => gateway.ask(path, body));
  expect(status, text.slice(0, 300)).toBe(200);
});

test.each(Object.entries(LARGE_FILES))('a batch of a file holds the event loop for 50 ms at most: %s', async (what, fileOf) => {
  const file = Buffer.from(fileOf(MODELS.chat));
  const uploaded = await gateway.ask('/v1/files', formOf({ purpose: 'batch' }, 'file', 'a.jsonl', file), FORM_TYPE);
  const order = { input_file_id: JSON.parse(uploaded.text).id, endpoint: '/v1/chat/completions', completion_window: '24h' };
  const path = '/v1/batches';
  const { text } = await measuredAs(file, { path, model: MODELS.chat, what }, async () => {
    const created = await gateway.ask(path, Buffer.from(JSON.stringify(order)));
    expect(created.status, created.text.slice(0, 300)).toBe(200);
    return until(
      `${path}/${JSON.parse(created.text).id}`,
      ({ status = '' }) => !['validating', 'in_progress', 'finalizing'].includes(status),
    );
  });
  const { completed, failed, total } = JSON.parse(text).request_counts;
  expect(completed + failed).toBe(total);
});

const untilEnded = (path: string): Promise<Answer> => until(path, ({ processing_status }) => processing_status === 'ended');

async function until(path: string, isOver: (state: Record<string, string>) => boolean): Promise<Answer> {
  for (;;) {
    const state = await gateway.ask(path);
    if (isOver(JSON.parse(state.text))) return state;
    await wait(20);
  }
}
