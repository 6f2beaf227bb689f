import { type FakeUpstream, startFakeUpstream, steps } from '@tallygate/fake-upstream';
import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Account } from './account.ts';
import { MODEL } from './chat.ts';
import { Gateway } from './gateway.ts';

/** A provider with Responses, and one that has chat completions only. */
const KINDS = [
  { has: 'Responses', responses: true, asked: '/v1/responses' },
  { has: 'chat completions only', responses: false, asked: '/v1/chat/completions' },
] as const;

describe.each(KINDS)('a provider that has $has', ({ responses, asked }) => {
  let upstream: FakeUpstream;
  let gateway: Gateway;
  let openai: OpenAI;
  beforeAll(async () => {
    upstream = await startFakeUpstream();
    gateway = await Gateway.start({
      process: 'shared',
      providers: [{ name: 'fake', base_url: upstream.url, api_key: 'sk-provider-secret', models: [MODEL], responses }],
    });
    const account = await Account.signUp(gateway, { plan: 'enterprise' });
    const { key: apiKey } = await account.createKey();
    openai = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey, maxRetries: 0 });
  });
  afterAll(async () => {
    await gateway?.remove();
    await upstream?.close();
  });
  beforeEach(() => upstream.reset());

  test('gets the whole history in its own format, without stored state', async () => {
    const first = await openai.responses.create({ model: MODEL, input: 'My name is Ada.' });
    const second = await openai.responses.create({ model: MODEL, input: 'Go on.', previous_response_id: first.id });
    expect(upstream.requests.map(({ path }) => path)).toEqual([asked, asked]);
    const sent = JSON.stringify(upstream.requests[1]?.body);
    expect(sent).toContain('My name is Ada.');
    expect(sent).not.toContain(first.id);
    expect([second.previous_response_id, second.usage]).toEqual([first.id, expect.objectContaining({ cost: expect.any(Number) })]);
  });

  test('streams under the gateway’s id, numbered without gaps, and is stored', async () => {
    const events = [];
    for await (const event of await openai.responses.create({ model: MODEL, input: 'Say hello.', stream: true })) events.push(event);
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, index) => index));
    const last = events.at(-1);
    if (last?.type !== 'response.completed') throw new Error('A stream ends with its completion');
    const kept = await openai.responses.retrieve(last.response.id);
    expect([kept.id, kept.output]).toEqual([last.response.id, last.response.output]);
  });

  test('that breaks the stream off causes an error event, and is stored as failed', async () => {
    upstream.script(steps.errorMidStream(4));
    let id = '';
    const read = async () => {
      for await (const event of await openai.responses.create({ model: MODEL, input: 'Say hello.', stream: true }))
        if (event.type === 'response.created') id = event.response.id;
    };
    await expect(read()).rejects.toBeInstanceOf(OpenAI.APIError);
    await expect.poll(async () => (await openai.responses.retrieve(id)).status).toBe('failed');
  });

  test('is asked once for a background response', async () => {
    const { id } = await openai.responses.create({ model: MODEL, input: 'Say hello.', background: true });
    await expect.poll(async () => (await openai.responses.retrieve(id)).status).toBe('completed');
    expect(upstream.requests).toHaveLength(1);
  });
});
