import { generateKeyPairSync, hash, type KeyObject, randomUUID, sign } from 'node:crypto';
import { type RecordedRequest, type Step, steps } from '@tallygate/fake-upstream';
import OpenAI, { toFile } from 'openai';
import { expect, vi } from 'vitest';
import { WebSocket } from 'ws';
import { HELLO, MODEL } from '../chat.ts';
import type { Gateway } from '../gateway.ts';
import { PNG, SILENCE } from '../small-media.ts';

const PATIENCE = { timeout: 240_000, interval: 100 };
const REALTIME = 'gpt-realtime-mini';
const TIERED = 'gpt-5-mini';
export const LIVE_MODELS = [MODEL, TIERED, REALTIME, 'gpt-4.1', 'text-embedding-3-small', 'jina-reranker-v2-base-multilingual'];

/** Who asks, and with what. */
export interface Customer {
  readonly gateway: Gateway;
  readonly live: string;
  readonly sandbox: string;
  /** A live key of an account that pays from its balance. */
  readonly prepaid: string;
  /** A live key of a project. */
  readonly ofProject: string;
  /** A live key whose requests are signed, and the private half. */
  readonly signing: { readonly key: string; readonly privateKey: KeyObject };
  /** The session of an administrator. */
  readonly operator: string;
}

/** An answer that has a receipt: what its promise is about. */
export interface Promised {
  readonly receiptId: string;
  /** `X-Receipt-Promise`, with the head that it covers. */
  readonly promise?: string;
  readonly headers?: Headers;
  readonly requestSha256?: string;
}
/** Makes one or more receipts of a kind. */
type Make = (customer: Customer, turn: number) => Promise<readonly Promised[]>;

export const signingKey = () => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  return { privateKey, publicKey: String(publicKey.export({ format: 'jwk' }).x) };
};

/** What the scripted provider does with a live request is written in its text. */
export function stepOf({ body, path }: RecordedRequest, provider: 'first' | 'second'): Step {
  const text = JSON.stringify(body);
  const { model, service_tier } = Object(body);
  if (text.includes('[hand over]') && provider === 'first') return steps.serverError();
  if (text.includes('[other model]') && model === MODEL) return steps.serverError();
  if (text.includes('[no usage]')) return steps.usageMissing();
  if (text.includes('[bills too much]')) return { ...steps.usage({ completion_tokens: 5_000, total_tokens: 5_010 }) };
  if (text.includes('[slow]')) return { tokens: 60, gapMs: 5 };
  if (!path.endsWith('/chat/completions') || service_tier === undefined) return {};
  const choices = [{ index: 0, message: { role: 'assistant', content: 'Hello.' }, logprobs: null, finish_reason: 'stop' }];
  const usage = { prompt_tokens: 10, completion_tokens: 8, total_tokens: 18 };
  return { body: { id: 'chatcmpl-1', object: 'chat.completion', created: 1, model, service_tier, choices, usage } };
}

const promised = (headers: Headers, body?: string): readonly Promised[] => {
  const [receiptId, promise] = [headers.get('x-receipt-id'), headers.get('x-receipt-promise')];
  if (receiptId === null) throw new Error('The answer has no receipt');
  return [
    { receiptId, ...(promise !== null && { promise, headers }), ...(body !== undefined && { requestSha256: hash('sha256', body, 'hex') }) },
  ];
};

/** Of an answer that is fetched later: the head of its promise is what names the receipt. */
const later = (receiptId: string, promise: string | null): readonly Promised[] => {
  if (!promise) throw new Error(`No promise came with the receipt ${receiptId}`);
  return [{ receiptId, promise, headers: new Headers({ 'x-receipt-id': receiptId }) }];
};

interface Asking {
  readonly key?: keyof Pick<Customer, 'live' | 'sandbox' | 'ofProject' | 'prepaid'>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly hangsUp?: boolean;
}

const asking =
  (path: string, body: object | ((turn: number) => object), { key = 'sandbox', headers = {}, hangsUp = false }: Asking = {}): Make =>
  async (customer, turn) => {
    const wanted = typeof body === 'function' ? body(turn) : body;
    const isForm = wanted instanceof FormData;
    const text = isForm ? wanted : JSON.stringify(wanted);
    const given = Object.entries(headers).map(([name, value]) => [name, value.replace('%', `${turn}`)]);
    const init = {
      method: 'POST',
      headers: {
        authorization: `Bearer ${customer[key]}`,
        ...(!isForm && { 'content-type': 'application/json' }),
        ...Object.fromEntries(given),
      },
      body: text,
    };
    const cut = new AbortController();
    const answer = await fetch(`${customer.gateway.url}${path}`, { ...init, signal: cut.signal });
    if (hangsUp) cut.abort();
    else if (answer.status >= 400 && key !== 'sandbox') throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
    else await answer.arrayBuffer().catch(() => {});
    return promised(answer.headers, isForm ? undefined : String(text));
  };

const sandboxFault = (fault: string, stream: boolean, more: object = {}): Make =>
  asking('/v1/chat/completions', { ...HELLO, max_tokens: 16, ...more, stream }, { headers: { 'x-sandbox-fault': fault } });
const live = (text: string, more: object = {}, headers: Record<string, string> = {}): Make =>
  asking(
    '/v1/chat/completions',
    (turn) => ({ model: MODEL, max_tokens: 64, messages: [{ role: 'user', content: `${text} ${turn}` }], ...more }),
    { key: 'live', headers },
  );
const tier = (service_tier: string): Make =>
  live('Hello', { model: TIERED, max_tokens: undefined, max_completion_tokens: 64, service_tier });

/** The same twice: the second answer is the one that was kept. */
const kept: Make = async (customer, turn) => {
  const ask = asking('/v1/chat/completions', { ...HELLO, user: `${turn}` }, { key: 'live', headers: { 'x-cache': 'max-age=600' } });
  return [...(await ask(customer, turn)), ...(await ask(customer, turn))];
};

const signed: Make = async ({ gateway, signing }, turn) => {
  const body = JSON.stringify({ ...HELLO, user: `${turn}` });
  const digest = `sha-256=:${hash('sha256', body, 'base64')}:`;
  const params = `("@method" "@path" "content-digest");created=${Math.floor(Date.now() / 1000)};nonce="${randomUUID()}"`;
  const base = `"@method": POST\n"@path": /v1/chat/completions\n"content-digest": ${digest}\n"@signature-params": ${params}`;
  const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      ...{ authorization: `Bearer ${signing.key}`, 'content-type': 'application/json' },
      ...{ 'content-digest': digest, 'signature-input': `sig=${params}` },
      signature: `sig=:${sign(null, Buffer.from(base), signing.privateKey).toString('base64')}:`,
    },
    body,
  });
  expect(answer.status, await answer.text()).toBe(200);
  return promised(answer.headers, body);
};

const background: Make = async ({ gateway, sandbox }, turn) => {
  const body = JSON.stringify({ model: MODEL, input: `Say ${turn}.`, background: true });
  const headers = { authorization: `Bearer ${sandbox}`, 'content-type': 'application/json' };
  const begun = await fetch(`${gateway.url}/v1/responses`, { method: 'POST', headers, body });
  const { id } = (await begun.json()) as { id: string };
  const promise = await vi.waitFor(async () => {
    const answer = await fetch(`${gateway.url}/v1/responses/${id}`, { headers });
    expect(await answer.json()).toMatchObject({ status: 'completed' });
    return answer.headers.get('x-receipt-promise');
  }, PATIENCE);
  return later(begun.headers.get('x-receipt-id') ?? '', promise);
};

const batch =
  (key: 'live' | 'sandbox', url: OpenAI.BatchCreateParams['endpoint'], body: (turn: number) => object): Make =>
  async (customer, turn) => {
    const openai = new OpenAI({ baseURL: `${customer.gateway.url}/v1`, apiKey: customer[key], maxRetries: 0 });
    const lines = JSON.stringify({ custom_id: `${turn}`, method: 'POST', url, body: body(turn) });
    const file = await openai.files.create({ file: await toFile(Buffer.from(lines), 'requests.jsonl'), purpose: 'batch' });
    const { id } = await openai.batches.create({ input_file_id: file.id, endpoint: url, completion_window: '24h' });
    const output = await vi.waitFor(async () => {
      const { status, output_file_id } = await openai.batches.retrieve(id);
      expect({ status, output_file_id }).toEqual({ status: 'completed', output_file_id: expect.any(String) });
      return output_file_id ?? '';
    }, PATIENCE);
    const { response } = JSON.parse(await (await openai.files.content(output)).text());
    return later(response.receipt_id, response.receipt_promise);
  };

/** A job; one that fails is given back, which is a receipt of its own. */
const video =
  (prompt: string): Make =>
  async (customer, turn) => {
    const { gateway, sandbox } = customer;
    const begun = await fetch(`${gateway.url}/v1/videos`, {
      method: 'POST',
      headers: { authorization: `Bearer ${sandbox}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'sora-2', prompt: `${prompt} ${turn}`, seconds: '4' }),
    });
    const { id } = (await begun.json()) as { id: string };
    const ended = await vi.waitFor(async () => {
      const seen = await fetch(`${gateway.url}/v1/videos/${id}`, { headers: { authorization: `Bearer ${sandbox}` } });
      const found = (await seen.json()) as { status: string; refund_receipt_id: string | null };
      expect(found.status === 'completed' || typeof found.refund_receipt_id === 'string').toBe(true);
      return found;
    }, PATIENCE);
    const refund = ended.refund_receipt_id;
    return [...promised(begun.headers), ...(refund === null ? [] : [{ receiptId: refund }])];
  };

/** A response over a WebSocket. */
const realtime: Make = ({ gateway, live: key }, turn) =>
  new Promise((resolve, reject) => {
    const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/v1/realtime?model=${REALTIME}`, {
      headers: { authorization: `Bearer ${key}` },
    });
    const content = [{ type: 'input_text', text: `Say ${turn}.` }];
    socket.on('error', reject);
    socket.on('open', () => {
      socket.send(JSON.stringify({ type: 'conversation.item.create', item: { type: 'message', role: 'user', content } }));
      socket.send(JSON.stringify({ type: 'response.create' }));
    });
    socket.on('message', (data) => {
      const event = JSON.parse(String(data));
      if (event.type === 'error') reject(new Error(String(data)));
      if (event.type !== 'response.done') return;
      socket.close();
      resolve(later(event.receipt_id, event.receipt_promise));
    });
  });

/** What an administrator decides about a request that was settled. */
const decided =
  (what: 'refunds' | 'corrections'): Make =>
  async (customer, turn) => {
    const [made] = await live('Hello')(customer, turn);
    const request_id = made?.headers?.get('x-request-id');
    const usage = { input_tokens: 4, cached_input_tokens: 0, cache_write_tokens: 0, output_tokens: 2, reasoning_tokens: 0 };
    const receiptId = await vi.waitFor(async () => {
      const answer = await fetch(`${customer.gateway.url}/v1/admin/${what}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${customer.operator}`, 'content-type': 'application/json' },
        body: JSON.stringify({ request_id, reason: 'The answer was cut.', ...(what === 'corrections' && { usage }) }),
      });
      const found = (await answer.json()) as { receipt_id: string };
      expect(answer.status, JSON.stringify(found)).toBe(201);
      return found.receipt_id;
    }, PATIENCE);
    return made ? [made, { receiptId }] : [];
  };

function form(model: string): FormData {
  const made = new FormData();
  made.set('model', model);
  made.set('file', new Blob([SILENCE], { type: 'audio/wav' }), 'a.wav');
  return made;
}

function edit(): FormData {
  const made = new FormData();
  for (const [name, value] of Object.entries({ model: 'gpt-image-1', prompt: 'A hat.', quality: 'low', size: '1024x1024' }))
    made.set(name, value);
  made.set('image', new Blob([PNG], { type: 'image/png' }), 'a.png');
  return made;
}

const response = (more: object) => (turn: number) => ({ model: MODEL, input: `Say ${turn}.`, ...more });
const search = { input: 'Do a web search.', tools: [{ type: 'web_search' }], tool_choice: { type: 'web_search' } };
const message = (stream: boolean) => ({ ...HELLO, max_tokens: 16, stream });
const contents = { contents: [{ role: 'user', parts: [{ text: 'Say hello.' }] }] };

/** Every way in which a receipt comes to be, by its name. */
export const KINDS: Readonly<Record<string, Make>> = {
  'chat, plain': asking('/v1/chat/completions', HELLO),
  'chat, streamed': asking('/v1/chat/completions', { ...HELLO, stream: true }),
  'responses, plain': asking('/v1/responses', response({})),
  'responses, streamed': asking('/v1/responses', response({ stream: true })),
  'responses, in the background': background,
  'a hosted tool': asking('/v1/responses', response({ model: TIERED, ...search })),
  completions: asking('/v1/completions', { model: 'gpt-3.5-turbo-instruct', prompt: 'Say hello.' }),
  embeddings: asking('/v1/embeddings', { model: 'text-embedding-3-small', input: 'Hello.' }),
  rerank: asking('/v1/rerank', { model: 'rerank-v4.0-fast', query: 'Which?', documents: ['Hello.'] }),
  moderations: asking('/v1/moderations', { model: 'omni-moderation-latest', input: 'Hello.' }),
  images: asking('/v1/images/generations', { model: 'gpt-image-1', prompt: 'A hill.', quality: 'low', size: '1024x1024' }),
  'edits of images': asking('/v1/images/edits', edit),
  speech: asking('/v1/audio/speech', { model: 'tts-1', input: 'Hello.', voice: 'alloy' }),
  'transcription by the second': asking('/v1/audio/transcriptions', () => form('whisper-1')),
  'transcription by the token': asking('/v1/audio/transcriptions', () => form('gpt-4o-transcribe')),
  videos: video('A hill'),
  'videos that fail, given back': video('[fail]'),
  'Anthropic’s surface': asking('/v1/messages', message(false)),
  'Anthropic’s surface, streamed': asking('/v1/messages', message(true)),
  'Google’s surface': asking('/v1beta/models/gemini-2.5-flash:generateContent', contents),
  'Google’s surface, streamed': asking('/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse', contents),
  'a line of a batch, chat': batch('sandbox', '/v1/chat/completions', () => ({ ...HELLO, max_tokens: 16 })),
  'a line of a batch, embeddings': batch('sandbox', '/v1/embeddings', () => ({ model: 'text-embedding-3-small', input: 'Hello.' })),
  'a line of a batch, images': batch('sandbox', '/v1/images/generations', () => ({ model: 'gpt-image-1', prompt: 'A page' })),
  'a line of a batch, videos': batch('sandbox', '/v1/videos', () => ({ model: 'sora-2', prompt: 'A hill', seconds: '4' })),
  'a line of a batch, live': batch('live', '/v1/chat/completions', () => ({ ...HELLO, max_tokens: 16 })),
  'live, charged': live('Hello'),
  'live, from the balance': asking('/v1/chat/completions', { ...HELLO, max_tokens: 64 }, { key: 'prepaid' }),
  'live, embeddings': asking('/v1/embeddings', { model: 'text-embedding-3-small', input: 'Hello.' }, { key: 'live' }),
  'live, rerank': asking(
    '/v1/rerank',
    { model: 'jina-reranker-v2-base-multilingual', query: 'Which?', documents: ['Hello.'] },
    { key: 'live' },
  ),
  'service tier flex': tier('flex'),
  'service tier priority': tier('priority'),
  'for an end user, with tags, of a project': asking('/v1/chat/completions', HELLO, {
    key: 'ofProject',
    headers: { 'x-end-user': 'marie', 'x-tags': 'feature=search,team=eval' },
  }),
  'in an agent’s run': live('Hello', {}, { 'x-agent-run-id': 'run-%', 'x-agent-max-budget': '0.5' }),
  'signed by the caller': signed,
  'a kept answer': kept,
  'handed over to another provider': live('[hand over]'),
  'handed over to another model': live('[other model]', { models: ['gpt-4.1'] }),
  'a hang-up': asking(
    '/v1/chat/completions',
    { ...HELLO, max_tokens: 64, stream: true, messages: [{ role: 'user', content: '[slow]' }] },
    { key: 'live', hangsUp: true },
  ),
  'without usage': live('[no usage]'),
  'billed above the hold': live('[bills too much]', { max_tokens: 16 }),
  'a provider that fails': sandboxFault('500', false),
  'a provider that breaks off': sandboxFault('cut', true),
  'a provider that breaks off a plain answer': sandboxFault('cut', false),
  'a provider that breaks off with an error': sandboxFault('error-event', true),
  'a provider that answers no JSON': sandboxFault('malformed', false),
  'a provider that refuses': sandboxFault('400', false),
  'realtime, a response': realtime,
  'given back by the operator': decided('refunds'),
  'corrected by the operator': decided('corrections'),
};
