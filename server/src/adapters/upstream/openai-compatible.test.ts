import { Readable } from 'node:stream';
import { startFakeUpstream } from '@tallygate/fake-upstream';
import { describe, expect, it } from 'vitest';
import { againstFakeUpstream, KEY, MAX_BYTES } from './against-fake-upstream.ts';
import { describeUpstreamConformance } from './conformance.ts';
import { answered, type CallOverrides, chatCall, pumped } from './conformance-calls.ts';
import { openAiCompatible } from './openai-compatible.ts';

describeUpstreamConformance('the OpenAI-compatible adapter', async () => {
  const fake = await startFakeUpstream();
  return { provider: openAiCompatible({ name: 'fake', baseUrl: fake.url }), model: 'fake-model', close: fake.close };
});

const { fake, provider, provide, ask } = againstFakeUpstream();
const sent = async (overrides: CallOverrides, by = provider()) => {
  await (await answered(by, chatCall('fake-model', overrides))).collect(MAX_BYTES);
  return fake().requests.at(-1);
};

describe('what is sent', () => {
  it('is the request of the caller, with the model of the provider and without the fallbacks', async () => {
    const request = { models: ['a', 'b'], temperature: 0.5, user: 'ü', logit_bias: { '7': -1 }, a_field_of_next_year: [1, null] };
    expect((await sent({ request }))?.body).toEqual({
      model: 'fake-model',
      messages: [{ role: 'user', content: expect.any(String) }],
      temperature: 0.5,
      user: 'ü',
      logit_bias: { '7': -1 },
      a_field_of_next_year: [1, null],
      max_tokens: 256,
    });
  });

  it.each([
    ['the field the caller used', { max_completion_tokens: 9000 }, { max_completion_tokens: 256 }],
    ['the older field where the caller used that', { max_tokens: 9000 }, { max_tokens: 256 }],
    ['both where the caller used both', { max_tokens: 1, max_completion_tokens: 9000 }, { max_tokens: 256, max_completion_tokens: 256 }],
    ['max_tokens where the caller used none', {}, { max_tokens: 256 }],
    ['max_tokens where the caller said null', { max_tokens: null, max_completion_tokens: null }, { max_tokens: 256 }],
  ])('carries the bound in %s', async (_, request, expected) => {
    const body = Object((await sent({ request }))?.body);
    expect({ max_tokens: body.max_tokens, max_completion_tokens: body.max_completion_tokens }).toEqual({
      max_tokens: undefined,
      max_completion_tokens: undefined,
      ...expected,
    });
  });

  it('carries the bound in the configured field where the caller used none', async () => {
    const other = provide({ maxTokensField: 'max_completion_tokens' });
    expect((await sent({}, other))?.body).toMatchObject({ max_completion_tokens: 256 });
    await other.close();
  });

  it.each([
    [undefined, 'default'],
    [null, 'default'],
    ['auto', 'default'],
    ['default', 'default'],
  ])('names the tier that is priced where the project has one of its own: %s', async (service_tier, expected) => {
    const openAis = provide({ quirks: { hasProjectTier: true } });
    for (const stream of [false, true])
      expect((await sent({ stream, request: { service_tier } }, openAis))?.body).toMatchObject({ service_tier: expected });
    const asked = { ...chatCall('fake-model'), endpoint: '/v1/responses' as const, request: { model: 'x', input: 'Hi', service_tier } };
    await openAis.call(asked);
    expect(fake().requests.at(-1)).toMatchObject({ path: '/v1/responses', body: { service_tier: expected } });
    await openAis.close();
  });

  it.each([
    ['remix', '/v1/videos/a%2Fb/remix', { prompt: 'On' }],
    ['edit', '/v1/videos/edits', { prompt: 'On', video: { id: 'a/b' } }],
    ['extension', '/v1/videos/extensions', { prompt: 'On', seconds: '8', video: { id: 'a/b' } }],
  ] as const)('is, for the %s of a video, the path and the fields that it has', async (how, path, body) => {
    const request = { model: 'x', prompt: 'On', seconds: '8', size: '720x1280', madeOf: { how, id: 'a/b' } };
    const call = { ...chatCall('fake-model'), endpoint: '/v1/videos' as const, maxOutputTokens: null, request };
    expect(await provider().call(call)).toMatchObject({ ok: true });
    expect(fake().requests.at(-1)).toMatchObject({ path, body });
  });

  it('is, for a character, a form with its name and its video, and no model', async () => {
    const bytes = Buffer.from('ftyp');
    const file = { field: 'video', filename: 'a.mp4', contentType: 'video/mp4', bytes: 4, open: () => Readable.from([bytes]) };
    const request = { model: 'x', name: 'Ada' };
    const call = { ...chatCall('fake-model'), endpoint: '/v1/videos/characters' as const, maxOutputTokens: null, request, files: [file] };
    expect(await provider().call(call)).toMatchObject({ ok: true });
    expect(fake().requests.at(-1)?.form).toEqual({
      fields: [['name', 'Ada']],
      files: [{ field: 'video', filename: 'a.mp4', contentType: 'video/mp4', bytes }],
    });
  });

  it('asks for usage in every stream and keeps the other stream options', async () => {
    const request = { stream: true, stream_options: { include_usage: false, include_obfuscation: false } };
    await pumped(await ask({ stream: true, request }));
    expect(fake().requests[0]?.body).toMatchObject({ stream: true, stream_options: { include_usage: true, include_obfuscation: false } });
  });

  it('has only headers of our own: the key of the provider, no compression, nothing of the caller', async () => {
    const other = provide({ headers: { 'X-Title': 'Tallygate', 'User-Agent': 'custom/1' } });
    const { headers } = (await sent({}, other)) ?? {};
    expect(headers).toEqual({
      host: new URL(fake().url).host,
      connection: 'keep-alive',
      'content-type': 'application/json',
      'content-length': expect.any(String),
      accept: 'application/json',
      'accept-encoding': 'identity',
      authorization: `Bearer ${KEY}`,
      'user-agent': 'custom/1',
      'x-title': 'Tallygate',
    });
    await other.close();
  });

  it('goes to the path below the base URL, with its query string', async () => {
    fake().script(() => ({ body: {} }));
    const other = provide({ baseUrl: `${fake().url}/?api-version=2026-01-01` });
    await other.call(chatCall('fake-model'));
    expect(fake().requests[0]?.path).toBe('/v1/chat/completions?api-version=2026-01-01');
    await other.close();
  });

  it('reuses its connection', async () => {
    await sent({});
    await new Promise((resolve) => setImmediate(resolve)); // One turn of the event loop: undici waits for a late close first.
    await sent({});
    expect(fake().requests.map(({ clientPort }) => clientPort)).toEqual([fake().requests[0]?.clientPort, fake().requests[0]?.clientPort]);
  });
});

it.each(['ftp://example.com/v1', 'nonsense', 'https://user:secret@example.com/v1'])(
  'refuses %s as a base URL when it is made',
  (baseUrl) => {
    expect(() => openAiCompatible({ name: 'x', baseUrl })).toThrow(TypeError);
  },
);
