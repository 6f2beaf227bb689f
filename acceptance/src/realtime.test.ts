import { hash } from 'node:crypto';
import { connect } from 'node:net';
import { OpenAIRealtimeWebSocket, RealtimeAgent, RealtimeSession } from '@openai/agents/realtime';
import { type FakeUpstream, startFakeUpstream } from '@tallygate/fake-upstream';
import { verifyPromise, verifyReceiptText } from '@tallygate/receipts';
import OpenAI from 'openai';
import { OpenAIRealtimeWS } from 'openai/realtime/ws';
import type { RealtimeServerEvent } from 'openai/resources/realtime/realtime';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { Account } from './account.ts';
import { Gateway } from './gateway.ts';
import { openLedgerAudit, verifiedReceipt } from './ledger-audit.ts';
import { sum } from './money.ts';

const MODEL = 'gpt-realtime-mini';
const WAIT = { timeout: 120_000, interval: 5 };

let upstream: FakeUpstream;
let gateway: Gateway;
let account: Account;
beforeAll(async () => {
  upstream = await startFakeUpstream();
  gateway = await Gateway.start({
    providers: [{ name: 'openai', base_url: upstream.url, api_key: 'sk-provider', models: [MODEL, 'gpt-realtime'] }],
    env: { DRAIN_TIMEOUT_MS: '500', DISCONNECTED_TIMEOUT_MS: '400' },
  });
  account = await Account.signUp(gateway, { plan: 'enterprise' });
});
beforeEach(() => upstream.reset());
afterAll(async () => {
  await gateway?.remove();
  await upstream?.close();
});

type Event = RealtimeServerEvent & { readonly receipt_id?: string };
type Done = Extract<RealtimeServerEvent, { type: 'response.done' }> & { readonly receipt_id: string; readonly receipt_promise?: string };

/** OpenAI's own client, and everything that it heard. */
class Client {
  readonly heard: Event[] = [];
  readonly rt: OpenAIRealtimeWS;
  /** Of the connection. */
  failure = '';
  readonly closed: Promise<number>;

  constructor(key: string, { model = MODEL, headers = {} }: { model?: string; headers?: Record<string, string> } = {}) {
    const openai = new OpenAI({ apiKey: key, baseURL: `${gateway.url}/v1` });
    // It speaks TLS alone, which a proxy in front of the gateway would end.
    const createConnection = () => connect({ host: '127.0.0.1', port: Number(new URL(gateway.url).port) });
    this.rt = new OpenAIRealtimeWS({ model, options: { headers, createConnection } }, openai);
    this.rt.on('event', (event) => this.heard.push(event as Event));
    this.rt.on('error', ({ error, message }) => {
      if (!error) this.failure = message;
    });
    this.closed = new Promise((resolve) => this.rt.socket.on('close', (code) => resolve(code)));
  }

  static async open(key: string, options: { model?: string; headers?: Record<string, string> } = {}): Promise<Client> {
    const client = new Client(key, options);
    await client.until('session.created');
    return client;
  }

  /** The nth event of a type. */
  until<T extends Event['type']>(type: T, nth = 1): Promise<Extract<Event, { type: T }>> {
    return vi.waitFor(() => {
      const found = this.heard.filter((event) => event.type === type)[nth - 1];
      expect(found, `${type} among ${this.heard.map((event) => event.type).join(', ')} ${this.failure}`).toBeDefined();
      return found as Extract<Event, { type: T }>;
    }, WAIT);
  }

  async done(nth = 1): Promise<Done> {
    return (await this.until('response.done', nth)) as Done;
  }

  say(text: string): void {
    this.rt.send({
      type: 'conversation.item.create',
      item: { type: 'message', role: 'user', content: [{ type: 'input_text', text }] },
    });
  }

  /** 100 ms: of speech, or of silence. */
  hear(isSpeech: boolean): void {
    this.rt.send({ type: 'input_audio_buffer.append', audio: Buffer.alloc(4_800, isSpeech ? 1 : 0).toString('base64') });
  }

  close(): void {
    this.rt.socket.close();
  }
}

const newKey = async (order: Parameters<Account['createKey']>[0] = {}) => account.createKey(order);
const { session: lastSession } = { session: () => upstream.realtime.sessions.at(-1) };

/** Nano-USD, by the prices of gpt-realtime-mini: 0.6, 0.06, 10, 0.3, 2.4 and 20 USD per million tokens. */
const billed = (sessions = upstream.realtime.sessions): bigint =>
  sum(
    sessions
      .flatMap((session) => session.billed)
      .map(({ input, output, cached }) =>
        BigInt(
          (input.text - cached.text) * 600 +
            cached.text * 60 +
            (input.audio - cached.audio) * 10_000 +
            cached.audio * 300 +
            output.text * 2_400 +
            output.audio * 20_000,
        ),
      ),
  );

async function chargedOf(keyId: string, count: number) {
  await using ledger = await openLedgerAudit(gateway);
  return await vi.waitFor(async () => {
    const records = await ledger.recordsOf(keyId);
    expect(records).toHaveLength(count);
    return records;
  }, WAIT);
}

describe('a response of a realtime session', () => {
  test('is settled by the usage of its end to the nano-dollar, with a receipt that it names', async () => {
    const { key_id: id, key } = await newKey();
    const client = await Client.open(key);
    client.say('Say hello to the whole world.');
    client.rt.send({ type: 'response.create' });
    const first = await client.done();
    client.say('And again.');
    client.rt.send({ type: 'response.create', response: { output_modalities: ['text'] } });
    const second = await client.done(2);
    client.close();
    const records = await chargedOf(id, 2);
    expect(sum(records.map(({ cost }) => cost))).toBe(billed());
    expect(records.every(({ estimated, outcome }) => !estimated && outcome === 'completed')).toBe(true);
    expect(first.response.usage?.output_token_details?.audio_tokens).toBe(8);
    for (const { receipt_id } of [first, second]) expect(await verifiedReceipt(gateway, receipt_id)).toBeDefined();
  });

  test('has a promise with its end, and the hashes of what was sent and told as they were', async () => {
    const { key } = await newKey();
    const client = await Client.open(key);
    const told: string[] = [];
    client.rt.socket.on('message', (data) => told.push(String(data)));
    client.say('Say hello.');
    const asked = '{ "type": "response.create", "response": { "metadata": { "of": "a test" } } }';
    client.rt.socket.send(asked);
    const { receipt_id, receipt_promise = '' } = await client.done();
    client.close();
    const { payload, verified, keys } = await vi.waitFor(async () => {
      const [found, keySet] = await Promise.all(
        [`/v1/receipts/${receipt_id}`, '/.well-known/vaas-keys.json'].map(async (path) => (await fetch(gateway.url + path)).text()),
      );
      expect(found).toContain('"state":"logged"');
      const keys: unknown = JSON.parse(keySet ?? '');
      return { payload: JSON.parse(found ?? '').payload, verified: verifyReceiptText(found ?? '', keys), keys };
    }, WAIT);
    const sha256 = (text: string | undefined) => hash('sha256', text ?? '', 'hex');
    const end = told.find((text) => JSON.parse(text).type === 'response.done');
    expect([payload.request_sha256, payload.response_sha256]).toEqual([sha256(asked), sha256(end)]);
    const options = {
      receipt: verified,
      headers: new Headers({ 'x-receipt-id': receipt_id }),
      requestBody: Buffer.from(asked),
      now: Date.now(),
    };
    expect(verifyPromise(receipt_promise, keys, options)).toMatchObject({ valid: true, state: 'kept' });
  });

  test('is begun by the gateway once it is held, where the provider hears the end of a turn', async () => {
    const { key_id: id, key } = await newKey();
    const client = await Client.open(key);
    const shown = client.heard[0];
    expect(shown).toMatchObject({ type: 'session.created', session: { audio: { input: { turn_detection: { create_response: true } } } } });
    client.hear(true);
    client.hear(false);
    await client.done();
    client.close();
    const session = lastSession();
    expect(session?.session).toMatchObject({ audio: { input: { turn_detection: { create_response: false, interrupt_response: true } } } });
    expect(session?.received.filter(({ type }) => type === 'response.create')).toMatchObject([{ response: { max_output_tokens: 4096 } }]);
    const [record] = await chargedOf(id, 1);
    expect(record?.cost).toBe(billed());
  });

  test('that the client hangs up on is cancelled, and charged by what its provider then says', async () => {
    const { key_id: id, key } = await newKey();
    const { promise: until } = Promise.withResolvers<void>();
    upstream.realtime.script({ tokens: 200, pause: { after: 5, until } });
    const client = await Client.open(key);
    client.rt.send({ type: 'response.create' });
    await client.until('response.output_audio.delta', 5);
    client.close();
    const [record] = await chargedOf(id, 1);
    expect(record).toMatchObject({ outcome: 'cancelled', estimated: false, outputTokens: 5, cost: billed() });
  });

  test('whose provider cuts the connection is charged at its hold, which covers the bill', async () => {
    const { key_id: id, key } = await newKey();
    upstream.realtime.script({ tokens: 200, resetAfter: 20 });
    const client = await Client.open(key);
    client.rt.send({ type: 'response.create', response: { max_output_tokens: 300 } });
    expect(await client.closed).toBe(1011);
    const [record] = await chargedOf(id, 1);
    expect(record).toMatchObject({ outcome: 'cut', estimated: true, outputTokens: 300 });
    expect(record?.cost).toBe(record?.held);
    expect(record?.cost).toBeGreaterThanOrEqual(billed());
  });

  test('that says no usage is charged at its hold, and one that failed before it wrote at nothing', async () => {
    const { key_id: id, key } = await newKey();
    upstream.realtime.script({ usage: () => undefined }, { fails: { after: 0, code: 'server_error' }, usage: () => undefined });
    const client = await Client.open(key);
    client.rt.send({ type: 'response.create', response: { max_output_tokens: 50 } });
    await client.done();
    client.rt.send({ type: 'response.create' });
    await client.done(2);
    client.close();
    const [first, second] = await chargedOf(id, 2);
    expect(first).toMatchObject({ estimated: true, outputTokens: 50 });
    expect(first?.cost).toBe(first?.held);
    expect(second).toMatchObject({ outcome: 'failed', cost: 0n });
  });

  test('that the provider begins unasked is held all the same, or cancelled', async () => {
    const { key_id: id, key } = await newKey();
    const client = await Client.open(key);
    lastSession()?.beginUnasked();
    await client.done();
    client.close();
    const [record] = await chargedOf(id, 1);
    expect(record?.cost).toBe(billed());

    const poor = await newKey({ monthly_cap_usd: '0.09' });
    const other = await Client.open(poor.key);
    other.rt.send({ type: 'session.update', session: { type: 'realtime', instructions: 'x'.repeat(20_000) } });
    await other.until('session.updated');
    upstream.realtime.script({ tokens: 1_000 });
    lastSession()?.beginUnasked();
    expect((await other.done()).response.status).toBe('cancelled');
    expect(await other.closed).toBe(1008);
    expect(await chargedOf(poor.key_id, 0)).toEqual([]);
  });

  test('is held with instructions that no response has read, though others have ended since', async () => {
    const { key_id: id, key } = await newKey();
    const client = await Client.open(key);
    const { promise: until, resolve } = Promise.withResolvers<void>();
    const text = { max_output_tokens: 50, output_modalities: ['text' as const] };
    upstream.realtime.script({ pause: { after: 2, until } });
    client.rt.send({ type: 'response.create', response: text });
    await client.until('response.output_text.delta', 2);
    client.rt.send({ type: 'session.update', session: { type: 'realtime', instructions: 'x'.repeat(80_000) } });
    await client.until('session.updated');
    resolve();
    await client.done();
    client.rt.send({ type: 'response.create', response: { ...text, instructions: 'Be brief.' } });
    await client.done(2);
    client.rt.send({ type: 'response.create', response: text });
    await client.done(3);
    client.close();
    expect(sum((await chargedOf(id, 3)).map(({ cost }) => cost))).toBe(billed());
  });

  test('stays held where its client gave the id of its event to another, which is refused', async () => {
    const { key } = await newKey({ monthly_cap_usd: '0.12' });
    const [client, other] = [await Client.open(key), await Client.open(key)];
    const { promise: begins, resolve } = Promise.withResolvers<void>();
    upstream.realtime.script({ begins });
    const create = { type: 'response.create' as const, event_id: 'mine', response: { max_output_tokens: 4_000 } };
    client.rt.send(create);
    client.rt.send({ type: 'input_audio_buffer.commit', event_id: 'mine' });
    expect((await client.until('error')).error.event_id).toBe('mine');
    other.rt.send(create);
    expect((await other.until('error')).error).toMatchObject({ code: 'budget_in_flight', event_id: 'mine' });
    resolve();
    await client.done();
    upstream.realtime.script({ refusal: { code: 'invalid_value', message: 'No.' } });
    client.rt.send(create);
    expect((await client.until('error', 2)).error).toMatchObject({ code: 'invalid_value', event_id: 'mine' });
    for (const one of [client, other]) one.close();
  });

  test('outlives kill -9 of the gateway at its hold, once', async () => {
    const { key_id: id, key } = await newKey();
    const { promise: until } = Promise.withResolvers<void>();
    upstream.realtime.script({ tokens: 200, pause: { after: 5, until } });
    const client = await Client.open(key);
    client.rt.send({ type: 'response.create', response: { max_output_tokens: 300 } });
    await client.until('response.output_audio.delta', 5);
    const owed = billed();
    await gateway.kill();
    await client.closed;
    await gateway.start();
    const [record] = await chargedOf(id, 1);
    expect(record).toMatchObject({ outcome: 'abandoned', estimated: true, outputTokens: 300 });
    expect(record?.cost).toBe(record?.held);
    expect(record?.cost).toBeGreaterThanOrEqual(owed);
    await using ledger = await openLedgerAudit(gateway);
    expect(await ledger.faults()).toEqual([]);
  });
});

describe('a realtime session', () => {
  test('ends with insufficient_quota and 1008 once its key’s cap takes no further response', async () => {
    const { key_id: id, key } = await newKey({ monthly_cap_usd: '0.12' });
    const client = await Client.open(key);
    let asked = 0;
    while (!client.heard.some(({ type }) => type === 'error') && asked < 50) {
      asked += 1;
      upstream.realtime.script({ tokens: 1_000 });
      client.rt.send({ type: 'response.create', response: { max_output_tokens: 1_000 } });
      await vi.waitFor(
        () => expect(client.heard.filter(({ type }) => type === 'response.done' || type === 'error')).toHaveLength(asked),
        WAIT,
      );
    }
    const refusal = await client.until('error');
    expect(refusal.error).toMatchObject({ code: 'insufficient_quota', type: 'insufficient_quota' });
    expect(await client.closed).toBe(1008);
    expect(await lastSession()?.closed).toBe(1000);
    const records = await chargedOf(id, asked - 1);
    expect(sum(records.map(({ cost }) => cost))).toBe(billed());
    expect(billed()).toBeLessThanOrEqual(120_000_000n);
  });

  test('lets twenty at once spend a cap together, and no more', async () => {
    const { key_id: id, key } = await newKey({ monthly_cap_usd: '0.3' });
    const clients = await Promise.all(Array.from({ length: 20 }, () => Client.open(key)));
    for (const client of clients) {
      client.say('Tell me everything, at length.');
      for (let turn = 0; turn < 3; turn += 1) {
        upstream.realtime.script({ tokens: 400 });
        client.rt.send({ type: 'response.create', response: { max_output_tokens: 500 } });
      }
    }
    // Each ask is answered: by a response, by a refusal, or by the end of the session.
    await Promise.all(
      clients.map((client) =>
        vi.waitFor(() => {
          const ends = client.heard.filter(({ type }) => type === 'response.done' || type === 'error').length;
          expect(ends >= 3 || client.rt.socket.readyState === WebSocket.CLOSED).toBe(true);
        }, WAIT),
      ),
    );
    for (const client of clients) client.close();
    await Promise.all(clients.map(({ closed }) => closed));
    const count = upstream.realtime.sessions.flatMap(({ billed: responses }) => responses).length;
    const charged = sum((await chargedOf(id, count)).map(({ cost }) => cost));
    expect(count).toBeGreaterThan(5);
    expect(charged).toBe(billed());
    expect(charged).toBeLessThanOrEqual(300_000_000n);
  });

  test('is refused before it is a WebSocket: without a key, a model, funds, or its endpoint', async () => {
    const capped = await newKey({ monthly_cap_usd: '0' });
    const chats = await newKey({ allowed_endpoints: ['/v1/chat/completions'] });
    const { key } = await newKey();
    const cases = [
      [`?model=${MODEL}`, 'tg_live_wrong', 401, 'invalid_api_key'],
      ['?model=gpt-unknown', key, 404, 'model_not_found'],
      ['?model=gpt-4o-mini', key, 404, 'model_not_found'],
      ['', key, 400, 'validation_failed'],
      [`?model=${MODEL}`, capped.key, 402, 'insufficient_quota'],
      [`?model=${MODEL}`, chats.key, 403, 'endpoint_not_allowed'],
    ] as const;
    for (const [query, credential, status, code] of cases) {
      const [answered, body] = await refusalOf(query, { authorization: `Bearer ${credential}` });
      expect([answered, Object(body).error.code]).toEqual([status, code]);
    }
    const plain = await fetch(`${gateway.url}/v1/realtime?model=${MODEL}`, { headers: { authorization: `Bearer ${key}` } });
    expect([plain.status, plain.headers.get('upgrade')]).toEqual([426, 'websocket']);
    expect(upstream.realtime.sessions).toEqual([]);
    upstream.realtime.refuseNext({ status: 401, body: { error: { message: 'Incorrect API key' } } });
    expect(await refusalOf(`?model=${MODEL}`, { authorization: `Bearer ${key}` })).toMatchObject([502, { code: 'upstream_failed' }]);
  });

  test('takes its key from the protocols that browsers name', async () => {
    const { key } = await newKey();
    const socket = new WebSocket(`${address()}?model=gpt-realtime`, ['realtime', `openai-insecure-api-key.${key}`]);
    const [message] = await new Promise<[unknown]>((resolve, reject) => {
      socket.once('message', (data) => resolve([JSON.parse(String(data))]));
      socket.once('error', reject);
    });
    expect(socket.protocol).toBe('realtime');
    expect(message).toMatchObject({ type: 'session.created', session: { model: 'gpt-realtime' } });
    expect(lastSession()?.headers.authorization).toBe('Bearer sk-provider');
    socket.close();
  });

  test('refuses what has no price, names twice and what nobody knows, and goes on', async () => {
    const { key } = await newKey();
    const client = await Client.open(key);
    const session = (fields: object) => JSON.stringify({ type: 'session.update', session: { type: 'realtime', ...fields } });
    const refused = [
      session({ tools: [{ type: 'mcp', server_label: 'x', server_url: 'https://example.com' }] }),
      session({ prompt: { id: 'pmpt_1' } }),
      session({ audio: { input: { turn_detection: { type: 'server_vad', idle_timeout_ms: 5_000 } } } }),
      session({ model: 'gpt-realtime' }),
      session({ surprise: true }),
      '{"type":"response.make"}',
      'no json',
      '[]',
    ];
    for (const frame of refused) client.rt.socket.send(frame);
    const codes = await vi.waitFor(() => {
      const errors = client.heard.filter((event) => event.type === 'error');
      expect(errors).toHaveLength(refused.length);
      return errors.map(({ error }) => error.code);
    }, WAIT);
    expect(codes).toEqual([...Array(3).fill('unpriced_feature'), ...Array(5).fill('validation_failed')]);
    // The last of two names counts here, and the first at other readers: the provider gets one.
    client.rt.socket.send('{"type":"response.create","type":"input_audio_buffer.clear"}');
    await client.until('input_audio_buffer.cleared');
    expect(lastSession()?.received.map(({ type }) => type)).toEqual(['session.update', 'input_audio_buffer.clear']);
    client.close();
  });

  test('shows its client the settings that it has asked for', async () => {
    const { key } = await newKey();
    const client = await Client.open(key);
    client.rt.send({
      type: 'session.update',
      session: { type: 'realtime', audio: { input: { turn_detection: null } }, max_output_tokens: 77 },
    });
    expect((await client.until('session.updated')).session).toMatchObject({ audio: { input: { turn_detection: null } } });
    client.hear(true);
    client.rt.send({ type: 'input_audio_buffer.commit' });
    await client.until('input_audio_buffer.committed');
    client.rt.send({ type: 'response.create' });
    await client.done();
    const [create] = lastSession()?.received.filter(({ type }) => type === 'response.create') ?? [];
    expect(create).toMatchObject({ response: { max_output_tokens: 77 } });
    client.close();
  });

  test('leaves out transcripts by a model that its provider does not serve, and shows that', async () => {
    const { key } = await newKey();
    const client = await Client.open(key);
    const input = { transcription: { model: 'gpt-4o-mini-transcribe' }, turn_detection: { type: 'semantic_vad' as const } };
    client.rt.send({ type: 'session.update', session: { type: 'realtime', instructions: 'Be brief.', audio: { input } } });
    expect((await client.until('session.updated')).session).toMatchObject({
      instructions: 'Be brief.',
      audio: { input: { transcription: null, turn_detection: { type: 'semantic_vad', create_response: true } } },
    });
    expect(lastSession()?.session).toMatchObject({ audio: { input: { transcription: null } } });
    client.close();
  });

  test('counts in its agent run, and ends when the run is exhausted', async () => {
    const { key } = await newKey();
    const headers = { 'x-agent-run-id': 'voice-1', 'x-agent-max-calls': '2' };
    const client = await Client.open(key, { headers });
    for (const nth of [1, 2]) {
      client.rt.send({ type: 'response.create' });
      await client.done(nth);
    }
    client.rt.send({ type: 'response.create' });
    expect((await client.until('error')).error.code).toBe('insufficient_quota');
    expect(await client.closed).toBe(1008);
  });

  test('ends as its provider ends it, and when the gateway stops', async () => {
    const { key } = await newKey();
    const expired = await Client.open(key);
    lastSession()?.expire();
    expect((await expired.until('error')).error.code).toBe('session_expired');
    expect(await expired.closed).toBe(1001);
    const open = await Client.open(key);
    const working = await Client.open(key);
    const { promise: until, resolve } = Promise.withResolvers<void>();
    upstream.realtime.script({ pause: { after: 2, until } });
    working.rt.send({ type: 'response.create' });
    await working.until('response.output_audio.delta', 2);
    const stopped = gateway.stop();
    expect(await open.closed).toBe(1001);
    resolve();
    expect((await working.done()).receipt_id).toBeDefined();
    expect(await working.closed).toBe(1001);
    await stopped;
    await gateway.start();
  });
});

test('a test key talks to the sandbox, which hears a turn, answers in words and sound, and calls the tool that it has to', async () => {
  const { key } = await newKey({ livemode: false });
  const client = await Client.open(key);
  client.rt.send({ type: 'input_audio_buffer.append', audio: Buffer.alloc(9_600, 64).toString('base64') });
  client.rt.send({ type: 'input_audio_buffer.append', audio: Buffer.alloc(48_000).toString('base64') });
  const spoken = await client.done();
  expect(spoken.response).toMatchObject({
    status: 'completed',
    output: [{ content: [{ transcript: expect.stringContaining('1.2 seconds') }] }],
  });
  client.say('Good morning.');
  client.rt.send({ type: 'response.create', response: { output_modalities: ['text'] } });
  const written = await client.done(2);
  expect(written.response.output?.[0]).toMatchObject({ content: [{ text: expect.stringContaining('You said: "Good morning."') }] });
  client.rt.send({
    type: 'response.create',
    response: { tools: [{ type: 'function', name: 'weather' }], tool_choice: 'required', max_output_tokens: 20 },
  });
  expect((await client.done(3)).response.output?.[0]).toMatchObject({ type: 'function_call', name: 'weather', arguments: '{}' });
  client.close();
  expect(upstream.realtime.sessions).toEqual([]);
});

test('the Agents SDK talks to the sandbox unchanged, with its defaults', async () => {
  const { key } = await newKey({ livemode: false });
  const transport = new OpenAIRealtimeWebSocket({ url: `${address()}?model=gpt-realtime` });
  const session = new RealtimeSession(new RealtimeAgent({ name: 'Assistant', instructions: 'Be brief.' }), {
    transport,
    model: 'gpt-realtime',
  });
  const errors: unknown[] = [];
  session.on('error', (error) => errors.push(error));
  await session.connect({ apiKey: key });
  session.sendMessage('Good morning.');
  await vi.waitFor(() => expect(JSON.stringify(session.history)).toContain('You said: \\"Good morning.\\"'), WAIT);
  session.close();
  expect(errors).toEqual([]);
});

describe('a client secret', () => {
  const make = async (key: string, body: object = {}, headers: Record<string, string> = {}) => {
    const answer = await fetch(`${gateway.url}/v1/realtime/client_secrets`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    return { status: answer.status, body: Object(await answer.json()) };
  };
  const bound = { session: { type: 'realtime', model: MODEL, instructions: 'Be brief.', output_modalities: ['text'] } };

  test('opens sessions of its model with what it sets, on the account of its key', async () => {
    const { key_id: id, key } = await newKey();
    const openai = new OpenAI({ apiKey: key, baseURL: `${gateway.url}/v1` });
    const secret = await openai.realtime.clientSecrets.create(bound as Parameters<typeof openai.realtime.clientSecrets.create>[0]);
    expect(secret.value).toMatch(/^ek_/);
    expect(secret.expires_at - Date.now() / 1_000).toBeGreaterThan(500);
    expect(secret.session).toMatchObject({ type: 'realtime', object: 'realtime.session', model: MODEL, instructions: 'Be brief.' });
    const client = await Client.open(secret.value);
    expect(client.heard[0]).toMatchObject({ session: { instructions: 'Be brief.', output_modalities: ['text'] } });
    client.rt.send({ type: 'response.create' });
    await client.done();
    client.close();
    const [record] = await chargedOf(id, 1);
    expect(record?.cost).toBe(billed());
  });

  test('opens nothing else, no other model, and nothing once it has expired, was changed or its key is revoked', async () => {
    const { key_id: id, key } = await newKey();
    const { value } = (await make(key, bound)).body;
    const opens = (secret: string, model = MODEL) => refusalOf(`?model=${model}`, { authorization: `Bearer ${secret}` });
    expect(await opens(value, 'gpt-realtime')).toMatchObject([403, { code: 'model_not_allowed' }]);
    expect((await make(value, bound)).status).toBe(401);
    const chat = await fetch(`${gateway.url}/v1/models`, { headers: { authorization: `Bearer ${value}` } });
    expect(chat.status).toBe(401);
    const middle = value.length / 2;
    const changed = value.slice(0, middle) + (value[middle] === 'A' ? 'B' : 'A') + value.slice(middle + 1);
    expect(await opens(changed)).toMatchObject([401, { code: 'invalid_credentials' }]);
    await account.revoke(id);
    expect(await opens(value)).toMatchObject([401, { code: 'invalid_credentials' }]);
  });

  test('is not made for what has no price, for no realtime model, and for longer than two hours', async () => {
    const { key } = await newKey();
    const session = { type: 'realtime', model: MODEL };
    expect(await make(key, { session: { ...session, tools: [{ type: 'mcp' }] } })).toMatchObject({ body: { code: 'unpriced_feature' } });
    expect(await make(key, { session: { ...session, model: 'gpt-4o-mini' } })).toMatchObject({ status: 404 });
    expect((await make(key, { expires_after: { anchor: 'created_at', seconds: 7_201 } })).status).toBe(400);
    expect((await make(key, { session: { type: 'transcription' } })).status).toBe(400);
  });

  test('has its sessions counted in the run that it was made in', async () => {
    const { key } = await newKey();
    const { value } = (await make(key, bound, { 'x-agent-run-id': 'from-a-browser', 'x-agent-max-calls': '1' })).body;
    const client = await Client.open(value);
    client.rt.send({ type: 'response.create' });
    await client.done();
    client.rt.send({ type: 'response.create' });
    expect((await client.until('error')).error.code).toBe('insufficient_quota');
    expect(await client.closed).toBe(1008);
  });
});

const address = () => `${gateway.url.replace(/^http/, 'ws')}/v1/realtime`;

/** Status and body of the answer in place of a WebSocket. */
function refusalOf(query: string, headers: Record<string, string>): Promise<[number, unknown]> {
  const socket = new WebSocket(`${address()}${query}`, { headers });
  return new Promise((resolve, reject) => {
    socket.once('open', () => reject(new Error('It was not refused')));
    socket.on('error', () => {});
    socket.once('unexpected-response', (_, response) => {
      let text = '';
      response.on('data', (part) => {
        text += part;
      });
      response.once('end', () => resolve([response.statusCode ?? 0, JSON.parse(text)]));
    });
  });
}
