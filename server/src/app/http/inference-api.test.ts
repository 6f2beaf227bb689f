import { hash } from 'node:crypto';
import { request } from 'node:http';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { openAiFields } from '../../adapters/upstream/openai-request.ts';
import type { AnchorAnswer } from '../../inference/calls/index.ts';
import { faulty, KEY, ScriptedAnswer, type ScriptedProvider } from '../../inference/calls/testing/inference.ts';
import { openScriptedGateway } from './testing/scripted-gateway.ts';

const ASK = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Say hello.' }] };
const PATH = '/v1/chat/completions';
const MESSAGE = { ...ASK, max_tokens: 64, stream: true };
const CONTENT = { contents: [{ role: 'user', parts: [{ text: 'Say hello.' }] }] };
const GOOGLE = '/v1beta/models/gpt-4o-mini:streamGenerateContent';
const USAGE = { prompt_tokens: 10, completion_tokens: 20, total_tokens: 30 };
const COMPLETION = JSON.stringify({ id: 'c', choices: [{ index: 0, message: { role: 'assistant', content: 'Hi.' } }], usage: USAGE });
const delta = (content: string) =>
  `data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, delta: { content }, finish_reason: null }] })}\n\n`;
const FINISH = `data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}\n\n`;
const DONE = 'data: [DONE]\n\n';
const sha256 = (bytes: string | Uint8Array) => hash('sha256', bytes, 'hex');

let close = () => {};
let anchorAnswer: AnchorAnswer;
afterEach(() => {
  close();
  anchorAnswer = 'unavailable';
});

async function open(...turns: ConstructorParameters<typeof ScriptedProvider>) {
  const gateway = await openScriptedGateway(turns, { anchorAnswer });
  close = gateway.close;
  return gateway;
}

test('a field that is there twice reaches the provider once, as it was held', async () => {
  const { post, sandbox } = await open(new ScriptedAnswer([COMPLETION]));
  const body = `{"model":"gpt-4o-mini","max_tokens":900000,"n":64,"messages":[{"role":"user","content":"a","content":"b"}],"n":2,"max_tokens":7,"__proto__":{"n":9}}`;
  expect((await post(body)).status).toBe(200);
  const [call] = sandbox.calls;
  const sent = call && JSON.stringify(openAiFields(call, 'max_tokens'));
  expect(JSON.parse(sent ?? '')).toEqual({ model: 'gpt-4o-mini', max_tokens: 7, n: 2, messages: [{ role: 'user', content: 'b' }] });
  for (const name of ['n', 'max_tokens', 'content']) expect(sent?.split(`"${name}"`)).toHaveLength(2);
});

test.each([
  [{ N: 64 }, '`N` must be written `n`.'],
  [{ Max_Tokens: 100_000 }, '`Max_Tokens` must be written `max_tokens`.'],
  [{ maxTokens: 100_000 }, '`maxTokens` must be written `max_tokens`.'],
])('%j reaches no provider, and the right name is said', async (fields, detail) => {
  const { post, sandbox } = await open();
  const answer = await post({ ...ASK, ...fields });
  expect([answer.status, ((await answer.json()) as { detail: string }).detail]).toEqual([400, detail]);
  expect(sandbox.calls).toEqual([]);
});

test.each(['unavailable', 'scheduled', 'requested'] as const)(
  'a caller who asks for an anchor, and no other, is told whether it is %s',
  async (said) => {
    anchorAnswer = said;
    const { post } = await open(new ScriptedAnswer([COMPLETION]), new ScriptedAnswer([COMPLETION]));
    const headers = { 'x-vaas-anchor': 'true' };
    const answer = await post(ASK, headers);
    expect([answer.status, answer.headers.get('x-vaas-anchor')]).toEqual([200, said]);
    expect((await post(ASK)).headers.has('x-vaas-anchor')).toBe(false);
    const refused = await post({ ...ASK, model: 'no-such-model' }, headers);
    expect([refused.status, refused.headers.has('x-vaas-anchor')]).toEqual([404, false]);
  },
);

test('a plain answer and its headers reach the client, and the hash is that of its bytes', async () => {
  const { post, settled } = await open(new ScriptedAnswer([COMPLETION]));
  const answer = await post(ASK, { 'x-request-id': 'my-request-1' });
  const bytes = new Uint8Array(await answer.arrayBuffer());
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    'x-request-id': 'my-request-1',
    'x-cost-usd': '0.0000135',
  });
  const [only] = await settled();
  expect(only?.record).toMatchObject({
    responseSha256: sha256(bytes),
    requestSha256: sha256(JSON.stringify(ASK)),
    receiptId: answer.headers.get('x-receipt-id'),
  });
});

test('a stream reaches the client event by event, and the hash is that of its bytes', async () => {
  const { post, settled } = await open(new ScriptedAnswer([delta('a'), delta('b'), DONE]));
  const answer = await post({ ...ASK, stream: true });
  const bytes = new Uint8Array(await answer.arrayBuffer());
  expect(Buffer.from(bytes).toString()).toBe(delta('a') + delta('b') + DONE);
  expect((await settled())[0]?.record.responseSha256).toBe(sha256(bytes));
});

const event = (data: { readonly type: string } & Record<string, unknown>) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
const CHAT = { begun: [delta('a'), delta('b')], end: [FINISH, DONE] };
const NATIVE = {
  begun: [
    event({ type: 'message_start', message: { id: 'm', content: [], usage: { input_tokens: 10, output_tokens: 1 } } }),
    event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
    event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'a' } }),
  ],
  end: [event({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } }), event({ type: 'message_stop' })],
} as const;

const contents = (fields: object) => `data: ${JSON.stringify(fields)}\n\n`;
const said = (text: string) => ({ index: 0, content: { role: 'model', parts: [{ text }] } });
const OF_GOOGLE = {
  begun: [contents({ candidates: [said('a')] }), contents({ candidates: [said('b')] })],
  end: [
    contents({
      candidates: [{ ...said(''), finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
    }),
  ],
} as const;

const GOOGLE_EVENT = /\n\ndata: \{"error":\{"code":50\d,"message":"[^"]+","status":"[A-Z]+"\}\}\n\n$/;
const GOOGLE_ELEMENT = /^\[\{.*\},\{"error":\{"code":50\d,"message":"[^"]+","status":"[A-Z]+"\}\}\]$/s;

/** Each form of a stream, what its provider says, and how an error ends it. */
const ENDINGS = [
  [
    'OpenAI’s chat',
    CHAT,
    PATH,
    { ...ASK, stream: true },
    /\n\ndata: \{"error":\{"message":"[^"]+","type":"server_error","code":"?[a-z_]+"?,"param":null\}\}\n\n$/,
  ],
  [
    'Anthropic’s messages',
    NATIVE,
    '/v1/messages',
    MESSAGE,
    /\n\nevent: error\ndata: \{"type":"error","error":\{"type":"[a-z_]+",[^\n]+\}\n\n$/,
  ],
  ['Google’s events', CHAT, `${GOOGLE}?alt=sse`, CONTENT, GOOGLE_EVENT],
  ['Google’s list', CHAT, GOOGLE, CONTENT, GOOGLE_ELEMENT],
  ['Google’s own events', OF_GOOGLE, `${GOOGLE}?alt=sse`, CONTENT, GOOGLE_EVENT],
  ['Google’s own list', OF_GOOGLE, GOOGLE, CONTENT, GOOGLE_ELEMENT],
] as const;

describe.each(ENDINGS)('a stream in the form of %s', (_, { begun, end }, path, body, ending) => {
  test('that its provider breaks off ends with an error, which the hash has', async () => {
    const { post, settled, sandbox } = await open(new ScriptedAnswer(begun, 'reset'));
    if (begun === CHAT.begun) sandbox.endpoints = ['/v1/chat/completions'];
    const text = await (await post(body, {}, path)).text();
    expect(text).toMatch(ending);
    expect((await settled())[0]?.record).toMatchObject({ outcome: 'cut', responseSha256: sha256(text) });
  });

  test('whose settlement cannot be written ends with an error', async () => {
    const { post, journal, sandbox } = await open(new ScriptedAnswer([...begun, ...end]));
    if (begun === CHAT.begun) sandbox.endpoints = ['/v1/chat/completions'];
    journal.isBroken = true;
    expect(await (await post(body, {}, path)).text()).toMatch(ending);
  });
});

const SIGNED_CONTENT = {
  contents: [
    ...CONTENT.contents,
    { role: 'model', parts: [{ functionCall: { name: 'look', args: {} }, thoughtSignature: 'c2lnbmVk' }] },
    { role: 'user', parts: [{ functionResponse: { name: 'look', response: {} } }] },
  ],
  generationConfig: { thinkingConfig: { thinkingLevel: 'HIGH' } },
};
const SIGNED_MESSAGE = {
  ...{ model: 'gemini-2.5-pro', max_tokens: 64 },
  messages: [
    ...ASK.messages,
    { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'look', input: {}, extra_content: { google: {} } }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: 'sun' }] },
  ],
};

test.each([
  ['/v1beta/models/gemini-2.5-pro:generateContent', SIGNED_CONTENT],
  ['/v1/messages', SIGNED_MESSAGE],
])('%s sends what Google adds to a chat to those alone who read it', async (path, body) => {
  const { post, sandbox } = await open(new ScriptedAnswer([COMPLETION]), new ScriptedAnswer([COMPLETION]));
  sandbox.endpoints = [PATH];
  for (const reads of [false, true]) {
    sandbox.readsGoogle = reads;
    expect((await post(body, {}, path)).status).toBe(200);
    expect(/"extra_(?:body|content)"/.test(JSON.stringify(sandbox.calls.at(-1)?.request))).toBe(reads);
  }
});

describe('a settlement that cannot be written', () => {
  test('makes a plain answer a 503, and gives none of it away', async () => {
    const { post, journal } = await open(new ScriptedAnswer([COMPLETION]));
    journal.isBroken = true;
    const answer = await post(ASK);
    expect([answer.status, await answer.json()]).toEqual([503, expect.objectContaining({ code: 'store_unavailable' })]);
  });

  test('ends a stream without [DONE]', async () => {
    const { post, journal } = await open(new ScriptedAnswer([delta('a'), DONE]));
    journal.isBroken = true;
    expect(await (await post({ ...ASK, stream: true })).text()).not.toContain('[DONE]');
  });
});

test('embeddings that are passed on break off where their settlement cannot be written, and are never whole', async () => {
  const embeddings = JSON.stringify({ object: 'list', data: [{ embedding: [1] }], usage: { prompt_tokens: 1, total_tokens: 1 } });
  const { post, journal } = await open(new ScriptedAnswer([embeddings]));
  journal.isBroken = true;
  const input = Array.from({ length: 100 }, () => 'a');
  const given = post({ model: 'text-embedding-3-small', input }, {}, '/v1/embeddings').then((answer) => answer.text());
  await expect(given).rejects.toThrow(TypeError);
});

describe('what the client can send', () => {
  test.each([
    ['no credential', ASK, { authorization: '' }, 401, 'invalid_credentials'],
    ['no JSON', '{"model"', {}, 400, 'malformed_json'],
    ['nothing', '', {}, 400, 'validation_failed'],
    ['another type', ASK, { 'content-type': 'text/plain' }, 415, 'unsupported_media_type'],
    ['too much', `{"x":"${'x'.repeat(3_000_000)}"}`, {}, 413, 'payload_too_large'],
    [
      'a nest of a hundred thousand lists',
      `{"model":"gpt-4o-mini","messages":[{"role":"user","content":"x"}],"deep":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
      {},
      413,
      'body_too_complex',
    ],
    [
      'a nest of objects',
      `{"model":"gpt-4o-mini","messages":[{"role":"user","content":"x"}],"deep":${'{"a":'.repeat(300)}1${'}'.repeat(300)}}`,
      {},
      413,
      'body_too_complex',
    ],
    ['a bad header', ASK, { 'x-budget-policy': 'x' }, 400, 'validation_failed'],
    ['an endless idempotency key', ASK, { 'idempotency-key': 'k'.repeat(256) }, 400, 'validation_failed'],
  ])('%s is refused by name, with nothing held', async (_, body, headers, status, code) => {
    const { post, sandbox, held } = await open();
    const answer = await post(body, headers);
    expect([answer.status, await answer.json()]).toEqual([status, expect.objectContaining({ code })]);
    expect(sandbox.calls).toHaveLength(0);
    expect(await held(`key:${KEY}:2026-11`)).toBe(0n);
  });

  test('a nest that schemas need is taken', async () => {
    const { post } = await open(new ScriptedAnswer([COMPLETION]));
    const parameters = JSON.parse(`${'{"a":'.repeat(200)}1${'}'.repeat(200)}`) as object;
    expect((await post({ ...ASK, tools: [{ type: 'function', function: { name: 'f', parameters } }] })).status).toBe(200);
  });
});

test('stores that cannot be reached are a 503, not a bug and not a wrong credential', async () => {
  const { post, auth, idempotency } = await open();
  idempotency.isDown = true;
  const first = await post(ASK, { 'idempotency-key': 'k' });
  expect([first.status, await first.json()]).toEqual([503, expect.objectContaining({ code: 'store_unavailable' })]);
  auth.isDown = true;
  expect((await post(ASK)).status).toBe(503);
});

test('lanes that do not answer in time are not asked once more for the headers of the refusal', async () => {
  const { post, lanes } = await open();
  vi.spyOn(lanes, 'hold').mockRejectedValue(new Error('Command timed out'));
  const rates = vi.spyOn(lanes, 'rates');
  const answer = await post(ASK);
  expect([answer.status, await answer.json()]).toEqual([503, expect.objectContaining({ code: 'store_unavailable' })]);
  expect(rates).not.toHaveBeenCalled();
});

describe('an idempotency key', () => {
  const key = { 'idempotency-key': 'once' };

  test('gives a repeat the same answer, and calls and charges once', async () => {
    const { post, sandbox, settled } = await open(new ScriptedAnswer([COMPLETION]));
    const [first, second] = [await post(ASK, key), await post(ASK, key)];
    expect(await second.text()).toBe(await first.text());
    expect(second.headers.get('idempotent-replayed')).toBe('true');
    expect(second.headers.get('x-receipt-id')).toBe(first.headers.get('x-receipt-id'));
    expect(sandbox.calls).toHaveLength(1);
    expect(await settled()).toHaveLength(1);
  });

  test('with another body is a conflict, and while the first runs is asked to wait', async () => {
    const { post } = await open('silence');
    void post(ASK, key).catch(() => {});
    await expect.poll(async () => (await post(ASK, key)).status).toBe(409);
    expect(await (await post({ ...ASK, n: 2 }, key)).json()).toMatchObject({ code: 'idempotency_conflict' });
  });

  test('is free again after a failure of ours', async () => {
    const { post } = await open(faulty('failed'), new ScriptedAnswer([COMPLETION]));
    expect((await post(ASK, key)).status).toBe(502);
    expect((await post(ASK, key)).status).toBe(200);
  });

  test('keeps the answer of a client that has hung up', async () => {
    const gate = Promise.withResolvers<void>();
    const answer = new ScriptedAnswer([COMPLETION]);
    const { url, post, sandbox } = await open(answer);
    const pump = answer.pump.bind(answer);
    vi.spyOn(answer, 'pump').mockImplementation(async (onChunk) => {
      await gate.promise;
      return pump(onChunk);
    });
    const client = request(url, { method: 'POST', headers: { authorization: 'Bearer good', 'content-type': 'application/json', ...key } });
    client.on('error', () => {}).end(JSON.stringify(ASK));
    await vi.waitUntil(() => sandbox.calls.length === 1, { timeout: 60_000 });
    client.destroy();
    gate.resolve();
    await expect.poll(async () => (await post(ASK, key)).status).toBe(200);
    expect(sandbox.calls).toHaveLength(1);
  });
});

test.each([[false], [true]])(
  'a hang-up (stream: %s) cancels the sandbox where the caller asks for it, and is settled once',
  async (stream) => {
    const { url, sandbox, settled } = await open('silence');
    const headers = { authorization: 'Bearer good', 'content-type': 'application/json', 'x-on-disconnect': 'cancel' };
    const client = request(url, { method: 'POST', headers });
    client.on('error', () => {}).end(JSON.stringify({ ...ASK, stream }));
    await vi.waitUntil(() => sandbox.calls.length === 1, { timeout: 60_000 });
    client.destroy();
    await vi.waitFor(async () => expect(await settled()).toHaveLength(1), { timeout: 60_000 });
    expect(sandbox.calls[0]?.signal.aborted).toBe(true);
    expect((await settled())[0]?.record.outcome).toBe('cancelled');
  },
);
