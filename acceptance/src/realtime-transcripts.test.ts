import { type FakeUpstream, startFakeUpstream } from '@tallygate/fake-upstream';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { Account } from './account.ts';
import { Gateway } from './gateway.ts';
import { verifiedReceipt } from './ledger-audit.ts';

const WAIT = { timeout: 15_000, interval: 5 };
const COMPLETED = 'conversation.item.input_audio_transcription.completed';
const FAILED = 'conversation.item.input_audio_transcription.failed';
type Event = { readonly type: string; readonly receipt_id?: string; readonly [member: string]: unknown };

let upstream: FakeUpstream;
let gateway: Gateway;
let account: Account;
beforeAll(async () => {
  upstream = await startFakeUpstream();
  gateway = await Gateway.start({
    providers: [
      { name: 'openai', base_url: upstream.url, models: ['gpt-realtime-mini', 'whisper-1', 'gpt-4o-mini-transcribe'] },
      { name: 'other', base_url: upstream.url, models: ['gpt-4o-transcribe'] },
    ],
    env: { DISCONNECTED_TIMEOUT_MS: '400' },
  });
  account = await Account.signUp(gateway, { plan: 'enterprise' });
});
beforeEach(() => upstream.reset());
afterAll(async () => {
  await gateway?.remove();
  await upstream?.close();
});

class Client {
  readonly heard: Event[] = [];
  readonly closed: Promise<number>;
  readonly #ws: WebSocket;

  private constructor(key: string) {
    const url = gateway.url.replace('http', 'ws');
    this.#ws = new WebSocket(`${url}/v1/realtime?model=gpt-realtime-mini`, { headers: { authorization: `Bearer ${key}` } });
    this.#ws.on('message', (data) => this.heard.push(JSON.parse(String(data))));
    this.closed = new Promise((resolve) => this.#ws.on('close', resolve));
  }

  /** With sound as text alone, so that nothing but transcripts costs anything. */
  static async open(key: string, transcription: object | null, turn_detection: object | null = null): Promise<Client> {
    const client = new Client(key);
    await client.until('session.created');
    client.send({ type: 'session.update', session: { type: 'realtime', audio: { input: { transcription, turn_detection } } } });
    await client.until('session.updated');
    return client;
  }

  send(event: object): void {
    this.#ws.send(JSON.stringify(event));
  }

  /** @param seconds of sound at 24 kHz */
  hear(seconds: number, isSpeech = true): void {
    this.send({ type: 'input_audio_buffer.append', audio: Buffer.alloc(seconds * 48_000, isSpeech ? 1 : 0).toString('base64') });
  }

  say(seconds: number): void {
    this.hear(seconds);
    this.send({ type: 'input_audio_buffer.commit' });
  }

  until(type: string, nth = 1): Promise<Event> {
    return vi.waitFor(() => {
      const found = this.heard.filter((event) => event.type === type)[nth - 1];
      expect(found, `${type} among ${JSON.stringify(this.heard.map((event) => event.type))}`).toBeDefined();
      return found as Event;
    }, WAIT);
  }

  close(): void {
    this.#ws.close();
  }
}

const newKey = (order: Parameters<Account['createKey']>[0] = {}) => account.createKey(order);

/** USD that are held and spent of a key's cap by now. */
async function budgetOf(keyId: string): Promise<readonly string[]> {
  const answer = await fetch(`${gateway.url}/v1/keys/${keyId}/budget`, { headers: account.session });
  const { held_usd, spent_usd } = await answer.json();
  return [held_usd, spent_usd];
}

/** It follows its event by a moment. */
const receiptOf = (id: string) => vi.waitFor(() => verifiedReceipt(gateway, id), WAIT);
const transcriptionAtProvider = () => Object(upstream.realtime.sessions.at(-1)?.session)['audio'].input.transcription;

describe('transcripts of what a session hears', () => {
  test.each([
    // 2 s: 20 tokens of sound at 1.25 USD a million, and 20 of words at 5.
    ['gpt-4o-mini-transcribe', String(20 * 1_250 + 20 * 5_000), { input_tokens: 20, output_tokens: 20 }],
    // 100 USD for a million seconds.
    ['whisper-1', String(2 * 100_000), { audio_seconds: 2 }],
  ])('are settled by what %s says that it used, with a receipt of their own', async (model, cost, usage) => {
    const { key } = await newKey();
    const client = await Client.open(key, { model, language: 'en' });
    expect(transcriptionAtProvider()).toEqual({ model, language: 'en' });
    client.say(2);
    const { receipt_id: id = '', transcript, receipt_promise } = await client.until(COMPLETED);
    expect([transcript, typeof receipt_promise]).toEqual(['heard', 'string']);
    const receipt = await receiptOf(id);
    expect(receipt).toMatchObject({ model_served: model, provider: 'openai', cost_nano_usd: cost, usage });
    client.close();
  });

  test('are held before the provider hears what it would write down, for as long as the turn lasts', async () => {
    const { key, key_id: id } = await newKey({ monthly_cap_usd: '1' });
    const client = await Client.open(key, { model: 'whisper-1' });
    client.hear(50);
    client.hear(50);
    await vi.waitFor(
      () => expect(upstream.realtime.sessions.at(-1)?.received.filter(({ type }) => String(type).endsWith('append'))).toHaveLength(2),
      WAIT,
    );
    // 128 s are held for 100, and the 60 that were held first are free again.
    await vi.waitFor(async () => expect(await budgetOf(id)).toEqual(['0.0128', '0']), WAIT);
    client.send({ type: 'input_audio_buffer.clear' });
    await vi.waitFor(async () => expect(await budgetOf(id)).toEqual(['0', '0']), WAIT);
    client.close();
  });

  test('of turns that the provider hears the end of are held and settled as well', async () => {
    const client = await Client.open((await newKey()).key, { model: 'whisper-1' }, { type: 'server_vad', create_response: false });
    for (const at of [1, 2]) {
      client.hear(1);
      client.hear(1, false);
      const { receipt_id } = await client.until(COMPLETED, at);
      expect(receipt_id).toBeTruthy();
    }
    client.close();
  });

  test.each([
    ['fail', FAILED, '0'],
    // 60 s are held.
    ['say nothing', COMPLETED, String(60 * 100_000)],
  ])('that %s are charged for no more than is known: %s', async (prompt, type, cost) => {
    const client = await Client.open((await newKey()).key, { model: 'whisper-1', prompt });
    client.say(1);
    const { receipt_id: id = '' } = await client.until(type);
    expect(await receiptOf(id)).toMatchObject({ cost_nano_usd: cost });
    client.close();
  });

  test('that no cap has room for are refused with the sound, and end the session', async () => {
    const { key } = await newKey({ monthly_cap_usd: '0.004' });
    const client = await Client.open(key, null);
    client.send({ type: 'session.update', session: { type: 'realtime', audio: { input: { transcription: { model: 'whisper-1' } } } } });
    const { error } = await client.until('error');
    expect(error).toMatchObject({ code: 'insufficient_quota' });
    expect(await client.closed).toBe(1008);
  });

  test('are nothing where the client leaves before its turn has ended, and what is held where the provider is at work', async () => {
    const { key, key_id: id } = await newKey({ monthly_cap_usd: '1' });
    const early = await Client.open(key, { model: 'whisper-1' });
    early.hear(1);
    await vi.waitFor(async () => expect(await budgetOf(id)).toEqual(['0.006', '0']), WAIT);
    early.close();
    await vi.waitFor(async () => expect(await budgetOf(id)).toEqual(['0', '0']), WAIT);
    // Had it heard the end of a turn, it would have said so before that it has cleared the rest.
    expect(upstream.realtime.sessions.at(-1)?.received.at(-1)?.['type']).toBe('input_audio_buffer.clear');
    const late = await Client.open(key, { model: 'whisper-1', prompt: 'hang' });
    late.say(1);
    await late.until('input_audio_buffer.committed');
    late.close();
    await vi.waitFor(async () => expect(await budgetOf(id)).toEqual(['0', '0.006']), WAIT);
  });

  test('of a turn that ended before its client wished for no more of them are settled', async () => {
    const { key, key_id: id } = await newKey({ monthly_cap_usd: '1' });
    const client = await Client.open(key, { model: 'whisper-1' });
    client.send({ type: 'input_audio_buffer.clear' });
    client.say(2);
    client.send({ type: 'session.update', session: { type: 'realtime', audio: { input: { transcription: null } } } });
    expect(await client.until(COMPLETED)).toMatchObject({ receipt_id: expect.any(String) });
    await vi.waitFor(async () => expect(await budgetOf(id)).toEqual(['0', '0.0002']), WAIT);
    client.close();
  });

  test.each([
    ['that its provider does not serve', { model: 'gpt-4o-transcribe' }],
    ['that nobody knows', { model: 'nothing' }],
  ])('by a model %s are left out, and the client is shown that', async (_, transcription) => {
    const client = await Client.open((await newKey()).key, transcription);
    expect(client.heard.at(-1)).toMatchObject({ type: 'session.updated', session: { audio: { input: { transcription: null } } } });
    expect(transcriptionAtProvider()).toBeNull();
    client.say(1);
    await client.until('conversation.item.done');
    client.close();
  });

  test('are made by the sandbox too', async () => {
    const client = await Client.open(gateway.bootstrap.test_api_key, { model: 'gpt-4o-mini-transcribe' });
    client.say(1);
    expect(await client.until(COMPLETED)).toMatchObject({ transcript: '1.0 seconds of sound', receipt_id: expect.any(String) });
    client.close();
  });
});
