import { type FakeUpstream, startFakeUpstream } from '@tallygate/fake-upstream';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type CallOverrides, chatCall } from '../adapters/upstream/conformance-calls.ts';
import { providersOfVariables } from './provider-config.ts';
import { keysOf, PRESETS, quirksAt, urlsOf } from './provider-presets.ts';
import { openProviders } from './providers.ts';

const KEY = 'a-key-of-sixteen';

let fake: FakeUpstream;
beforeAll(async () => {
  fake = await startFakeUpstream();
});
beforeEach(() => fake.reset());
afterAll(() => fake.close());

test('there are presets for the thirty endpoints that people use, each with its own name, variables and address', () => {
  expect(PRESETS.length).toBeGreaterThanOrEqual(30);
  for (const values of [PRESETS.map(({ name }) => name), PRESETS.map(({ home }) => home), PRESETS.flatMap(keysOf), PRESETS.flatMap(urlsOf)])
    expect(new Set(values).size).toBe(values.length);
});

describe.each(PRESETS.map((preset) => [preset.name, preset] as const))('the preset %s', (name, preset) => {
  const { home, isLocal, sources, quirks = {} } = preset;
  const [key = '', url = ''] = [keysOf(preset)[0], urlsOf(preset)[0]];

  test('has a name for models, an address, and the documents that say so', () => {
    expect(name).toMatch(/^[a-z][a-z0-9]*$/);
    expect(new URL(home).protocol).toBe(isLocal ? 'http:' : 'https:');
    for (const source of sources) expect(new URL(source).protocol).toBe('https:');
  });

  test('is opened by each of its keys, at its address; a server of one’s own by its address alone', () => {
    const opened = (env: Record<string, string>) =>
      providersOfVariables(env).map(({ name: one, baseUrl, apiKey }) => [one, baseUrl, apiKey]);
    if (isLocal) {
      expect(opened({ [url]: home })).toEqual([[name, home, undefined]]);
      expect(opened({ [url]: home, [key]: KEY })).toEqual([[name, home, KEY]]);
      expect(opened({ [key]: KEY })).toEqual([]);
    } else for (const variable of keysOf(preset)) expect(opened({ [variable]: KEY })).toEqual([[name, home, KEY]]);
  });

  /** A call of the provider as it is opened, but at the scripted address. */
  const asked = async (call: CallOverrides) => {
    const [config] = providersOfVariables({ [key]: KEY, [url]: home });
    if (!config) throw new Error(name);
    const [provider] = openProviders([{ ...config, quirks: quirksAt(config), baseUrl: fake.url }]);
    const outcome = await provider?.upstream.call(chatCall('theirs', call));
    await provider?.upstream.close();
    return { outcome, body: fake.requests.at(-1)?.body as Record<string, unknown> | undefined };
  };

  test('is sent the bound that is held, plain and streamed, in a field that it knows', async () => {
    for (const stream of [false, true])
      for (const request of [{}, { max_completion_tokens: 9_000 }, { max_tokens: 9_000 }]) {
        const { outcome, body = {} } = await asked({ stream, request });
        expect(outcome?.ok).toBe(true);
        const bounds = [body['max_tokens'], body['max_completion_tokens']].filter((bound) => bound !== undefined);
        expect(bounds).toEqual([256]);
        if (quirks.takesOneBound) expect(body['max_tokens']).toBe(256);
        // Without it a stream ends without its usage, but where it has it anyway.
        expect(body['stream_options']).toEqual(stream && !quirks.omits?.includes('stream_options') ? { include_usage: true } : undefined);
      }
  });

  test.each(quirks.lacks ?? [])('is not asked for what it lacks, another deployment may be: %s', async (field) => {
    const { outcome, body } = await asked({ request: { [field]: field === 'n' ? 2 : field === 'logit_bias' ? { '7': 1 } : true } });
    expect(outcome).toMatchObject({ ok: false, kind: 'rejected', retryable: true, param: field });
    expect(body).toBeUndefined();
    const neutral = await asked({ request: { [field]: field === 'n' ? 1 : field === 'logit_bias' ? {} : null } });
    expect(neutral.outcome?.ok).toBe(true);
    expect(neutral.body).not.toHaveProperty(field);
  });

  test('is sent other fields under its own names, and none that it refuses without need', async () => {
    const { omits = [], renames = {} } = quirks;
    const { body } = await asked({
      request: { ...Object.fromEntries([...omits, ...Object.keys(renames)].map((field) => [field, 7])), top_p: 0.5 },
    });
    expect(body).toMatchObject({ top_p: 0.5, ...Object.fromEntries(Object.values(renames).map((field) => [field, 7])) });
    for (const field of [...omits, ...Object.keys(renames)]) expect(body).not.toHaveProperty(field);
  });
});

test('what differs at an address holds for a provider of the file too, and at one’s own address under the preset’s name', () => {
  expect(quirksAt({ name: 'team-a', baseUrl: 'https://api.groq.com/openai/v1' })?.lacks).toContain('n');
  expect(quirksAt({ name: 'ollama', baseUrl: 'http://10.0.0.7:11434/v1' })?.lacks).toContain('logit_bias');
  expect(quirksAt({ name: 'groq', baseUrl: 'https://proxy.test/v1' })).toBeUndefined();
});
