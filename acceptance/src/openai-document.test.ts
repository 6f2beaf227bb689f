import { randomUUID } from 'node:crypto';
import { type FakeUpstream, startFakeUpstream } from '@tallygate/fake-upstream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { Account } from './account.ts';
import { MODEL } from './chat.ts';
import { Gateway } from './gateway.ts';
import { OPERATIONS, refusalViolationsIn, violationsIn } from './openai-document/violations.ts';
import { PNG, SILENCE } from './small-media.ts';

let gateway: Gateway;
let upstream: FakeUpstream;
let keys: { readonly sandbox: string; readonly scripted: string };
/** The operations that were asked, of which every answer was compared. */
const asked = new Set<string>();

beforeAll(async () => {
  upstream = await startFakeUpstream();
  gateway = await Gateway.start({
    process: 'shared',
    providers: [{ name: 'fake', base_url: upstream.url, api_key: 'sk-provider-secret', models: [MODEL] }],
  });
  const account = await Account.signUp(gateway, { plan: 'enterprise' });
  keys = { sandbox: gateway.bootstrap.test_api_key, scripted: (await account.createKey()).key };
});
afterAll(async () => {
  await gateway?.remove();
  await upstream?.close();
});

/** Where OpenAI's document says other than its own examples: stored messages are those of the user too. */
const EXCEPTIONS: ReadonlySet<string> = new Set([
  'GET /v1/chat/completions/{completion_id}/messages: /data/0/role must be equal to one of the allowed values',
]);
/** No model of the catalogue has them. */
const UNSERVED: ReadonlySet<string> = new Set(['POST /v1/images/variations']);

const Identified = z.looseObject({ id: z.string() });
type Field = string | Buffer;
type Provider = keyof typeof keys;

/** Asks an operation, and compares what it answers with OpenAI's document. */
async function ask(operation: string, body?: object, { ids = {}, by = 'sandbox' }: { ids?: Record<string, string>; by?: Provider } = {}) {
  const [method = '', path = ''] = operation.split(' ');
  const form = body instanceof FormData;
  const answer = await fetch(`${gateway.url}${path.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? name)}`, {
    method,
    headers: { authorization: `Bearer ${keys[by]}`, ...(body && !form && { 'content-type': 'application/json' }) },
    ...(body && { body: form ? body : JSON.stringify(body) }),
  });
  const text = await answer.text();
  expect(answer.status, `${operation}: ${text}`).toBe(200);
  asked.add(operation);
  const violations = violationsIn(operation, answer.headers.get('content-type') ?? '', text).filter((line) => !EXCEPTIONS.has(line));
  expect(violations, `${operation} ${text.slice(0, 2_000)}`).toEqual([]);
  return text;
}

const idOf = (text: string): string => Identified.parse(JSON.parse(text)).id;

function formOf(fields: Readonly<Record<string, Field>>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields))
    if (typeof value === 'string') form.set(name, value);
    else form.set(name, new Blob([new Uint8Array(value)], { type: name === 'image' ? 'image/png' : 'audio/wav' }), `${name}.bin`);
  return form;
}

test.each(['GET /v1/chat/completions', 'GET /v1/files', 'GET /v1/batches', 'GET /v1/videos'])(
  '%s of an account without any is as OpenAI’s document has it',
  async (operation) => {
    expect(JSON.parse(await ask(operation, undefined, { by: 'scripted' }))).toMatchObject({ data: [], has_more: false });
  },
);

const HELLO = { model: MODEL, messages: [{ role: 'user', content: 'Say hello.' }] };
const WEATHER = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false };
const TOOLS = [{ type: 'function', function: { name: 'weather', parameters: WEATHER } }];
const STREAMED = { stream: true, stream_options: { include_usage: true } };

test.each<Provider>(['sandbox', 'scripted'])('chats of the %s provider are as OpenAI’s document has them', async (by) => {
  const chat = 'POST /v1/chat/completions';
  for (const more of [{}, { n: 2, logprobs: true, top_logprobs: 2 }, { tools: TOOLS, tool_choice: 'required' }])
    for (const streamed of [{}, { stream: true }, STREAMED]) await ask(chat, { ...HELLO, ...more, ...streamed }, { by });
  const ids = { completion_id: idOf(await ask(chat, { ...HELLO, store: true, metadata: { a: 'b' } }, { by })) };
  await ask(chat, { ...HELLO, ...STREAMED, store: true }, { by });
  await ask('GET /v1/chat/completions', undefined, { by });
  await ask('GET /v1/chat/completions/{completion_id}', undefined, { ids, by });
  await ask('POST /v1/chat/completions/{completion_id}', { metadata: { c: 'd' } }, { ids, by });
  await ask('GET /v1/chat/completions/{completion_id}/messages', undefined, { ids, by });
  await ask('DELETE /v1/chat/completions/{completion_id}', undefined, { ids, by });
});

test.each<Provider>(['sandbox', 'scripted'])('responses of the %s provider are as OpenAI’s document has them', async (by) => {
  const responses = 'POST /v1/responses';
  const hello = { model: MODEL, input: 'Say hello.' };
  const tool = { type: 'function', name: 'weather', parameters: WEATHER, strict: true };
  const variants: object[] = [
    {},
    { tools: [tool], tool_choice: 'required', metadata: { a: 'b' } },
    { text: { format: { type: 'json_schema', name: 'city', schema: WEATHER } } },
    ...(by === 'sandbox'
      ? [{ model: 'gpt-5-mini', reasoning: { effort: 'low', summary: 'auto' } }, { tools: [{ type: 'web_search' }] }]
      : []),
    { max_output_tokens: 16 },
  ];
  for (const more of variants) for (const stream of [false, true]) await ask(responses, { ...hello, ...more, stream }, { by });
  const ids = { response_id: idOf(await ask(responses, { ...hello, include: ['message.output_text.logprobs'] }, { by })) };
  await ask('GET /v1/responses/{response_id}', undefined, { ids, by });
  await ask('GET /v1/responses/{response_id}/input_items', undefined, { ids, by });
  await ask('POST /v1/responses/input_tokens', hello, { by });
  const background = { response_id: idOf(await ask(responses, { ...hello, background: true }, { by })) };
  await ask('POST /v1/responses/{response_id}/cancel', undefined, { ids: background, by });
});

test('compactions and conversations are as OpenAI’s document has them', async () => {
  await ask('POST /v1/responses/compact', { model: MODEL, input: 'Say hello.' });
  const item = { type: 'message', role: 'user', content: 'Hello.' };
  const ids = { conversation_id: idOf(await ask('POST /v1/conversations', { items: [item], metadata: { a: 'b' } })), item_id: '' };
  await ask('POST /v1/responses', { model: MODEL, input: 'Go on.', conversation: ids.conversation_id });
  await ask('GET /v1/conversations/{conversation_id}', undefined, { ids });
  await ask('POST /v1/conversations/{conversation_id}', { metadata: {} }, { ids });
  const made = z
    .looseObject({ data: z.array(Identified) })
    .parse(JSON.parse(await ask('POST /v1/conversations/{conversation_id}/items', { items: [item] }, { ids })));
  ids.item_id = made.data[0]?.id ?? '';
  await ask('GET /v1/conversations/{conversation_id}/items', undefined, { ids });
  await ask('GET /v1/conversations/{conversation_id}/items/{item_id}', undefined, { ids });
  await ask('DELETE /v1/conversations/{conversation_id}/items/{item_id}', undefined, { ids });
  await ask('DELETE /v1/conversations/{conversation_id}', undefined, { ids });
});

test('models, completions, embeddings and moderations are as OpenAI’s document has them', async () => {
  await ask('GET /v1/models');
  await ask('GET /v1/models/{model}', undefined, { ids: { model: MODEL } });
  const completion = { model: 'gpt-3.5-turbo-instruct', prompt: 'Once', max_tokens: 5 };
  // The document does not describe their stream.
  for (const more of [{}, { logprobs: 2 }]) await ask('POST /v1/completions', { ...completion, ...more });
  await ask('POST /v1/embeddings', { model: 'text-embedding-3-small', input: 'a', dimensions: 8 });
  await ask('POST /v1/moderations', { input: ['one', 'two'] });
});

test('images and audio are as OpenAI’s document has them', async () => {
  const image = { model: 'gpt-image-1', prompt: 'A ledger', quality: 'low', size: '1024x1024' };
  for (const more of [{}, { stream: true, partial_images: 1 }]) await ask('POST /v1/images/generations', { ...image, ...more });
  await ask('POST /v1/images/edits', formOf({ ...image, image: PNG }));
  await ask('POST /v1/images/edits', formOf({ ...image, image: PNG, stream: 'true' }));
  await ask('POST /v1/audio/speech', { model: 'gpt-4o-mini-tts', input: 'Hello.', voice: 'alloy', stream_format: 'sse' });
  for (const [model, more] of [
    ['gpt-4o-transcribe', {}],
    ['gpt-4o-transcribe', { stream: 'true' }],
    ['whisper-1', { response_format: 'verbose_json' }],
    ['whisper-1', { response_format: 'json' }],
  ] as const)
    await ask('POST /v1/audio/transcriptions', formOf({ model, file: SILENCE, ...more }));
  for (const response_format of ['json', 'verbose_json'])
    await ask('POST /v1/audio/translations', formOf({ model: 'whisper-1', file: SILENCE, response_format }));
});

test('videos are as OpenAI’s document has them', async () => {
  const ids = { video_id: idOf(await ask('POST /v1/videos', { model: 'sora-2', prompt: 'A ledger', seconds: '4' })) };
  await ask('GET /v1/videos');
  await expect
    .poll(async () => JSON.parse(await ask('GET /v1/videos/{video_id}', undefined, { ids })))
    .toMatchObject({ status: 'completed' });
  await ask('POST /v1/videos/{video_id}/remix', { prompt: 'Again' }, { ids });
  await ask('POST /v1/videos/edits', { prompt: 'Again', video: { id: ids.video_id } });
  await ask('POST /v1/videos/extensions', { prompt: 'Again', seconds: '4', video: { id: ids.video_id } });
  const character = formOf({ name: 'Mittens' });
  character.set('video', new Blob(['\0\0\0\x18ftypmp42 a cat'], { type: 'video/mp4' }), 'cat.mp4');
  const character_id = idOf(await ask('POST /v1/videos/characters', character));
  await ask('GET /v1/videos/characters/{character_id}', undefined, { ids: { character_id } });
  await ask('DELETE /v1/videos/{video_id}', undefined, { ids });
});

test('files, uploads and batches are as OpenAI’s document has them', async () => {
  const line = JSON.stringify({ custom_id: 'a', method: 'POST', url: '/v1/chat/completions', body: { ...HELLO, max_tokens: 16 } });
  const form = (text: string): FormData => {
    const made = formOf({ purpose: 'batch' });
    made.set('file', new Blob([text]), 'lines.jsonl');
    return made;
  };
  const ids = { file_id: idOf(await ask('POST /v1/files', form(line))), upload_id: '', batch_id: '' };
  await ask('GET /v1/files');
  await ask('GET /v1/files/{file_id}', undefined, { ids });
  const begun = { bytes: line.length, filename: 'a.jsonl', mime_type: 'application/jsonl', purpose: 'batch' };
  ids.upload_id = idOf(await ask('POST /v1/uploads', begun));
  const part = formOf({});
  part.set('data', new Blob([line]), 'part');
  const part_ids = [idOf(await ask('POST /v1/uploads/{upload_id}/parts', part, { ids }))];
  await ask('POST /v1/uploads/{upload_id}/complete', { part_ids }, { ids });
  ids.upload_id = idOf(await ask('POST /v1/uploads', begun));
  await ask('POST /v1/uploads/{upload_id}/cancel', undefined, { ids });
  const order = { endpoint: '/v1/chat/completions', completion_window: '24h' };
  ids.batch_id = idOf(await ask('POST /v1/batches', { ...order, input_file_id: ids.file_id, metadata: { a: randomUUID() } }));
  await expect
    .poll(async () => JSON.parse(await ask('GET /v1/batches/{batch_id}', undefined, { ids })))
    .toMatchObject({ status: 'completed' });
  const bad = idOf(await ask('POST /v1/files', form('{')));
  await ask('POST /v1/batches', { ...order, input_file_id: bad });
  // It may have ended before it could be cancelled.
  const cancel = async (): Promise<boolean> => {
    const batch_id = idOf(await ask('POST /v1/batches', { ...order, input_file_id: ids.file_id }));
    return ask('POST /v1/batches/{batch_id}/cancel', undefined, { ids: { batch_id } }).then(
      () => true,
      () => false,
    );
  };
  await expect.poll(cancel).toBe(true);
  await ask('GET /v1/batches');
  await ask('DELETE /v1/files/{file_id}', undefined, { ids });
});

test('refusals are as OpenAI’s document has them', async () => {
  const headers = { authorization: `Bearer ${keys.sandbox}`, 'content-type': 'application/json' };
  const statuses: number[] = [];
  for (const [path, init] of [
    ['/v1/chat/completions', { method: 'POST', headers, body: '{' }],
    ['/v1/chat/completions', { method: 'POST', headers, body: JSON.stringify({ ...HELLO, n: 0 }) }],
    ['/v1/chat/completions', { method: 'POST', body: JSON.stringify(HELLO) }],
    ['/v1/files/file-none', { headers }],
    ['/v1/models', { method: 'PUT', headers }],
  ] as const) {
    const answer = await fetch(`${gateway.url}${path}`, init);
    statuses.push(answer.status);
    expect(refusalViolationsIn(await answer.text())).toEqual([]);
  }
  expect(statuses).toEqual([400, 400, 401, 404, 405]);
});

test('no operation of the document is left out', () => {
  expect(OPERATIONS.filter((operation) => !asked.has(operation) && !UNSERVED.has(operation))).toEqual([]);
});
