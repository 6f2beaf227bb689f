import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadCatalog } from '../catalog/index.ts';
import { ConfigError, readConfig } from './config.ts';
import type { ProviderConfig } from './provider-config.ts';
import { openProviders } from './providers.ts';

let dir = '';
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'tallygate-config-'));
});
afterAll(() => rmSync(dir, { recursive: true }));

function file(content: unknown): string {
  const path = join(dir, 'providers.json');
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

function faultsOf(environment: Record<string, string>): readonly string[] {
  try {
    readConfig(environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
  return [];
}

test('without any variable the defaults hold, and empty variables count as unset', () => {
  const expected = { port: 8787, host: '127.0.0.1', dataDir: '.tallygate', publicUrl: undefined, providers: [] };
  expect(readConfig({})).toMatchObject(expected);
  expect(readConfig({ PORT: '', OPENAI_API_KEY: '', PROVIDERS_FILE: '', PUBLIC_URL: '' })).toMatchObject(expected);
});

test.each([
  ['PORT', '80a'],
  ['PORT', '65536'],
  ['PORT', '-1'],
  ['PORT', '1.5'],
  ['LOG_LEVEL', 'loud'],
  ['PUBLIC_URL', 'tallygate.test'],
  ['PUBLIC_URL', 'ftp://tallygate.test'],
  ['PUBLIC_URL', 'https://user:pass@tallygate.test'],
  ['DATABASE_URL', 'mysql://localhost/x'],
  ['REDIS_URL', 'redis://one,two'],
  ['INTERNAL_SECRET', 'short'],
  ['METRICS_TOKEN', 'short'],
  ['RECEIPT_SIGNING_KEY', 'AAAA'],
  ['LOG_SIGNING_KEY', 'AAAA'],
  ['LOG_WITNESSES', 'https://witness.example'],
  ['LOG_WITNESSES', 'https://witness.example PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW'],
  ['LOG_SIGNING_KEY', `${'A'.repeat(43)}=,AAAA`],
  ['INFERENCE_BODY_BYTES', '10'],
  ['BODY_TIMEOUT_MS', '0'],
  ['DRAIN_TIMEOUT_MS', 'soon'],
])('a wrong %s (%s) is named, and its value is not repeated', (name, value) => {
  const faults = faultsOf({ [name]: value });
  expect(faults).toHaveLength(1);
  expect(faults[0]).toMatch(new RegExp(`^${name}: `));
  if (value.length > 3 && name !== 'PUBLIC_URL') expect(faults[0]).not.toContain(value);
});

test('every wrong setting is named at once, wherever it stands', () => {
  const path = file({ providers: [{ name: 'Bad Name', base_url: 'nowhere' }] });
  const faults = faultsOf({ PORT: 'x', LOG_LEVEL: 'y', OPENAI_API_KEY: 'k', OPENAI_BASE_URL: 'z', PROVIDERS_FILE: path });
  expect(faults.map((fault) => fault.replace(path, 'FILE').split(': ').slice(0, 2).join(': '))).toEqual([
    expect.stringMatching(/^PORT/),
    expect.stringMatching(/^LOG_LEVEL/),
    'PROVIDERS_FILE FILE: providers.0.name',
    'PROVIDERS_FILE FILE: providers.0.base_url',
    expect.stringMatching(/^OPENAI_BASE_URL/),
  ]);
});

describe('the providers file', () => {
  const provider = { name: 'local', base_url: 'http://127.0.0.1:8000/v1/', models: ['gpt-4o-mini'] };

  test('is read with keys from variables, before the well-known providers', () => {
    const path = file({ providers: [{ ...provider, api_key_env: 'LOCAL_KEY', weight: 2 }] });
    const { providers } = readConfig({ PROVIDERS_FILE: path, LOCAL_KEY: 'secret', OPENAI_API_KEY: 'k' });
    expect(providers).toMatchObject([
      { name: 'local', baseUrl: 'http://127.0.0.1:8000/v1', apiKey: 'secret', weight: 2, models: { 'gpt-4o-mini': 'gpt-4o-mini' } },
      { name: 'openai', baseUrl: 'https://api.openai.com/v1', apiKey: 'k', models: undefined },
    ]);
  });

  test('stands for the variables of the providers that it names', () => {
    const path = file({ providers: [{ name: 'openai', base_url: 'https://proxy.test/v1', api_key_env: 'OPENAI_API_KEY' }] });
    const { providers } = readConfig({ PROVIDERS_FILE: path, OPENAI_API_KEY: 'k', XAI_API_KEY: 'x' });
    expect(providers.map(({ name, baseUrl }) => [name, baseUrl])).toEqual([
      ['openai', 'https://proxy.test/v1'],
      ['xai', 'https://api.x.ai/v1'],
    ]);
  });

  test.each([
    ['providers.0.weight', { weight: 0 }],
    ['providers.0.weigth', { weigth: 1 }],
    ['providers.0.base_url', { base_url: 'https://user:secret@host/v1' }],
    ['providers.0.headers', { headers: { 'bad name': 'x' } }],
    ['providers.0.headers', { headers: { 'x-a': 'line\nbreak' } }],
    ['providers.0.api_key_env', { api_key_env: 'NOT_SET' }],
    ['providers.0.models', { models: 'gpt-4o-mini' }],
  ])('names %s', (path, fields) => {
    const faults = faultsOf({ PROVIDERS_FILE: file({ providers: [{ ...provider, ...fields }] }) }).join();
    expect(faults).toContain(path.endsWith('weigth') ? 'weigth' : path);
    expect(faults).not.toContain('secret@');
  });

  test('that is missing or no JSON is said to be so, without a word of what stands in it', () => {
    expect(faultsOf({ PROVIDERS_FILE: join(dir, 'missing.json') })).toEqual([expect.stringContaining('ENOENT')]);
    const [fault] = faultsOf({ PROVIDERS_FILE: file('{"providers":[{"api_key":"sk-secret",}]}') });
    expect(fault).toContain('position 37');
    expect(fault).not.toContain('secret');
  });
});

test('the quickstart’s own variables do not make the gateway its own provider', () => {
  const env = { OPENAI_API_KEY: 'tg_live_abc', OPENAI_BASE_URL: 'http://127.0.0.1:8787/v1' };
  expect(readConfig(env).providers).toEqual([]);
});

test('only the maker’s own endpoint counts as the maker does, unless the operator vouches for another', () => {
  const [own] = readConfig({ OPENAI_API_KEY: 'sk-x' }).providers;
  const [elsewhere] = readConfig({ OPENAI_API_KEY: 'sk-x', OPENAI_BASE_URL: 'http://127.0.0.1:9/v1' }).providers;
  expect([own?.countsLikeMaker, elsewhere?.countsLikeMaker]).toEqual([true, false]);
});

describe('providers', () => {
  const config = (fields: Partial<ProviderConfig> = {}): ProviderConfig => ({
    name: 'local',
    kind: 'openai',
    baseUrl: 'http://127.0.0.1:1/v1',
    apiVersion: undefined,
    auth: undefined,
    apiKey: undefined,
    headers: {},
    maxTokensField: undefined,
    countsLikeMaker: false,
    http2: false,
    weight: 1,
    models: { 'gpt-4o-mini': 'theirs' },
    ...fields,
  });

  test('may serve the same model, each under a name of its own', async () => {
    const { byModel, close } = openProviders([config(), config({ weight: 3 })], loadCatalog());
    expect(byModel.get('gpt-4o-mini')).toMatchObject([
      { name: 'local#1', upstreamModel: 'theirs', weight: 1 },
      { name: 'local#2', weight: 3 },
    ]);
    await close();
  });

  test('of a well-known name serve the catalogue’s models of it', async () => {
    const { byModel, close } = openProviders([config({ name: 'deepseek', models: undefined })], loadCatalog());
    expect([...byModel.keys()]).toEqual(['deepseek-v4-pro']);
    await close();
  });

  test('that serve a model without a price, or none at all, are refused by name, all at once', () => {
    const wrong = [config({ models: { 'my-model': 'm' } }), config({ name: 'vllm', models: undefined })];
    expect(() => openProviders(wrong, loadCatalog())).toThrow(
      expect.objectContaining({ faults: [expect.stringContaining('my-model'), expect.stringContaining('vllm')] }),
    );
  });
});
