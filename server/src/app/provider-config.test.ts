import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startFakeUpstream } from '@tallygate/fake-upstream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chatCall } from '../adapters/upstream/conformance-calls.ts';
import { ConfigError } from './config-error.ts';
import { type ProviderConfig, type ProviderKind, providersOfVariables } from './provider-config.ts';
import { openProviders } from './providers.ts';
import { providersOfFile } from './providers-file.ts';

let dir = '';
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'tallygate-providers-'));
});
afterAll(() => rmSync(dir, { recursive: true }));

const KEY = 'a-key-of-sixteen';

function ofFile(provider: object, env: Record<string, string> = {}): ProviderConfig | undefined {
  const path = join(dir, 'providers.json');
  writeFileSync(path, JSON.stringify({ providers: [provider] }));
  return providersOfFile({ PROVIDERS_FILE: path, ...env })[0];
}

function faultsOf(read: () => unknown): string {
  try {
    read();
  } catch (error) {
    if (error instanceof ConfigError) return error.faults.join('\n');
    throw error;
  }
  return '';
}

describe('a key in a variable', () => {
  test.each<[string, string, ProviderKind, string]>([
    ['OPENAI_API_KEY', 'openai', 'openai', 'https://api.openai.com/v1'],
    ['MISTRAL_API_KEY', 'mistral', 'openai', 'https://api.mistral.ai/v1'],
    ['ANTHROPIC_API_KEY', 'anthropic', 'anthropic', 'https://api.anthropic.com/v1'],
    ['COHERE_API_KEY', 'cohere', 'cohere', 'https://api.cohere.com'],
    ['CO_API_KEY', 'cohere', 'cohere', 'https://api.cohere.com'],
    ['JINA_API_KEY', 'jina', 'openai', 'https://api.jina.ai/v1'],
    ['GOOGLE_API_KEY', 'google', 'google', 'https://generativelanguage.googleapis.com/v1beta'],
    ['GEMINI_API_KEY', 'google', 'google', 'https://generativelanguage.googleapis.com/v1beta'],
  ])('%s opens %s by the API %s', (variable, name, kind, baseUrl) => {
    expect(providersOfVariables({ [variable]: KEY })).toMatchObject([{ name, kind, baseUrl, apiKey: KEY, models: undefined }]);
  });

  test.each(['sk-…', 'sk-abc\n', 'sk abc', 'sk-é'])('that no header can carry is refused at the start: %j', (key) => {
    const azure = { AZURE_OPENAI_ENDPOINT: 'https://mine.openai.azure.com', AZURE_OPENAI_DEPLOYMENTS: 'gpt-4o-mini' };
    expect(faultsOf(() => providersOfVariables({ OPENAI_API_KEY: key }))).toMatch(/^OPENAI_API_KEY: Expected the whole key/);
    expect(faultsOf(() => providersOfVariables({ GEMINI_API_KEY: key }))).toMatch(/^GEMINI_API_KEY: Expected the whole key/);
    expect(faultsOf(() => providersOfVariables({ ...azure, AZURE_OPENAI_API_KEY: key }))).toContain(
      'AZURE_OPENAI_API_KEY: Expected the whole key',
    );
    expect(faultsOf(() => ofFile({ name: 'anthropic', kind: 'anthropic', api_key: key }))).toContain('0.api_key: Expected the whole key');
    expect(faultsOf(() => ofFile({ name: 'mine', base_url: 'http://127.0.0.1:1/v1', api_key_env: 'MINE' }, { MINE: key }))).toContain(
      '0.api_key_env: MINE: Expected the whole key',
    );
  });

  test('of Google opens one provider, whichever variables hold it', () => {
    expect(providersOfVariables({ GEMINI_API_KEY: 'second', GOOGLE_API_KEY: 'first' })).toMatchObject([{ apiKey: 'first' }]);
  });

  test('goes to the address of the provider’s own variable, with the version that its own library adds', () => {
    const of = (env: Record<string, string>) => providersOfVariables(env).map(({ baseUrl }) => baseUrl);
    expect(of({ ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: 'https://proxy.test' })).toEqual(['https://proxy.test/v1']);
    expect(of({ ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: 'https://proxy.test/anthropic/v1' })).toEqual([
      'https://proxy.test/anthropic/v1',
    ]);
    expect(of({ GEMINI_API_KEY: KEY, GOOGLE_GEMINI_BASE_URL: 'https://proxy.test/' })).toEqual(['https://proxy.test/v1beta']);
    expect(of({ OPENAI_API_KEY: KEY, OPENAI_BASE_URL: 'https://proxy.test' })).toEqual(['https://proxy.test']);
  });

  test('is not requested if the address is wrong: the error names the variable', () => {
    expect(faultsOf(() => providersOfVariables({ GEMINI_API_KEY: KEY, GEMINI_BASE_URL: 'nowhere' }))).toMatch(/^GEMINI_BASE_URL: /);
  });
});

describe('Azure by variables', () => {
  const env = {
    AZURE_OPENAI_API_KEY: KEY,
    AZURE_OPENAI_ENDPOINT: 'https://res.openai.azure.com/',
    AZURE_OPENAI_DEPLOYMENTS: 'gpt-4o-mini=mini-eu, gpt-4o',
  };

  test('serves the models whose deployments are named, and nothing without them', () => {
    expect(providersOfVariables(env)).toMatchObject([
      {
        name: 'azure',
        kind: 'azure_openai',
        baseUrl: 'https://res.openai.azure.com',
        models: { 'gpt-4o-mini': 'mini-eu', 'gpt-4o': 'gpt-4o' },
      },
    ]);
    expect(providersOfVariables({ ...env, AZURE_OPENAI_DEPLOYMENTS: undefined })).toEqual([]);
  });

  test('says everything that is missing or wrong at once', () => {
    const faults = faultsOf(() => providersOfVariables({ AZURE_OPENAI_DEPLOYMENTS: 'a=b=c', OPENAI_API_VERSION: '2023-05-15' }));
    for (const variable of ['DEPLOYMENTS', 'ENDPOINT', 'API_KEY']) expect(faults).toContain(`AZURE_OPENAI_${variable}: `);
    expect(faults).toContain('OPENAI_API_VERSION: Expected');
  });
});

describe('Vertex by variables', () => {
  test('is opened by those of Google’s own libraries', () => {
    const env = { GOOGLE_GENAI_USE_VERTEXAI: 'true', GOOGLE_CLOUD_PROJECT: 'my-project', GOOGLE_CLOUD_LOCATION: 'us-central1' };
    expect(providersOfVariables(env)).toMatchObject([
      { name: 'vertex', kind: 'vertex', baseUrl: 'https://us-central1-aiplatform.googleapis.com', vertex: { project: 'my-project' } },
    ]);
    expect(providersOfVariables({ ...env, GOOGLE_GENAI_USE_VERTEXAI: undefined })).toEqual([]);
    expect(faultsOf(() => providersOfVariables({ GOOGLE_GENAI_USE_VERTEXAI: '1' }))).toMatch(/^GOOGLE_CLOUD_PROJECT: Expected/);
  });
});

describe('Bedrock by variables', () => {
  const env = { AWS_BEARER_TOKEN_BEDROCK: KEY, AWS_REGION: 'eu-central-1' };

  test('is opened by its key in its region, and by no credentials that are for all of AWS', () => {
    const baseUrl = 'https://bedrock-runtime.eu-central-1.amazonaws.com';
    expect(providersOfVariables(env)).toMatchObject([{ name: 'bedrock', kind: 'bedrock', apiKey: KEY, region: 'eu-central-1', baseUrl }]);
    const endpoint = { AWS_ENDPOINT_URL_BEDROCK_RUNTIME: 'https://vpce.test/' };
    expect(providersOfVariables({ ...env, ...endpoint })).toMatchObject([{ baseUrl: 'https://vpce.test' }]);
    expect(providersOfVariables({ AWS_ACCESS_KEY_ID: 'AKID', AWS_SECRET_ACCESS_KEY: KEY, AWS_REGION: 'eu-central-1' })).toEqual([]);
  });

  test('says what is missing or wrong', () => {
    expect(faultsOf(() => providersOfVariables({ AWS_BEARER_TOKEN_BEDROCK: KEY }))).toMatch(/^AWS_REGION: Expected/);
    const endpoint = { AWS_ENDPOINT_URL_BEDROCK_RUNTIME: 'nowhere' };
    expect(faultsOf(() => providersOfVariables({ ...env, ...endpoint }))).toMatch(/^AWS_ENDPOINT_URL_BEDROCK_RUNTIME: Expected/);
  });
});

describe('an entry of the providers file', () => {
  const azure = { name: 'azure', kind: 'azure_openai', resource: 'my-res', api_key: KEY, deployments: { 'gpt-4o': 'four' } };

  test('without a kind is OpenAI-compatible', () => {
    expect(ofFile({ name: 'local', base_url: 'http://127.0.0.1:1/v1' })).toMatchObject({ kind: 'openai', apiKey: undefined });
  });

  test('of Azure has the address of its resource, its version, its way to send the key, and its deployments as models', () => {
    expect(ofFile({ ...azure, api_version: '2024-12-01-preview', auth: 'bearer' })).toMatchObject({
      kind: 'azure_openai',
      baseUrl: 'https://my-res.openai.azure.com',
      apiVersion: '2024-12-01-preview',
      auth: 'bearer',
      models: { 'gpt-4o': 'four' },
    });
    expect(ofFile({ ...azure, resource: undefined, base_url: 'https://apim.test/azure' })?.baseUrl).toBe('https://apim.test/azure');
  });

  test.each(['anthropic', 'google'])('of %s needs a key and nothing else', (kind) => {
    expect(ofFile({ name: 'mine', kind, api_key_env: 'K' }, { K: KEY })).toMatchObject({ kind, apiKey: KEY, models: undefined });
    expect(faultsOf(() => ofFile({ name: 'mine', kind }))).toContain('providers.0.api_key_env: Expected');
  });

  test('of Bedrock has the address of its region, and needs no key: then requests are signed', () => {
    expect(ofFile({ name: 'aws', kind: 'bedrock', region: 'eu-central-1', profile: 'ai' })).toMatchObject({
      ...{ kind: 'bedrock', apiKey: undefined, region: 'eu-central-1', profile: 'ai' },
      baseUrl: 'https://bedrock-runtime.eu-central-1.amazonaws.com',
    });
    expect(ofFile({ name: 'aws', kind: 'bedrock', api_key: KEY }, { AWS_REGION: 'cn-north-1' })).toMatchObject({
      ...{ apiKey: KEY, region: 'cn-north-1', baseUrl: 'https://bedrock-runtime.cn-north-1.amazonaws.com.cn' },
    });
  });

  test('of Vertex has the address of its place, and needs no key: then tokens are fetched', () => {
    expect(ofFile({ name: 'gcp', kind: 'vertex', project: 'my-project', key_file: 'key.json' })).toMatchObject({
      ...{ kind: 'vertex', apiKey: undefined, baseUrl: 'https://aiplatform.googleapis.com' },
      vertex: { project: 'my-project', location: 'global', keyFile: 'key.json' },
    });
    const env = { GOOGLE_CLOUD_PROJECT: 'theirs', GOOGLE_CLOUD_LOCATION: 'europe-west4' };
    expect(ofFile({ name: 'gcp', kind: 'vertex' }, env)).toMatchObject({
      ...{ baseUrl: 'https://europe-west4-aiplatform.googleapis.com', vertex: { project: 'theirs', location: 'europe-west4' } },
    });
    expect(ofFile({ name: 'gcp', kind: 'vertex', api_key: KEY, location: 'eu' })).toMatchObject({
      ...{ apiKey: KEY, baseUrl: 'https://aiplatform.eu.rep.googleapis.com', vertex: { project: undefined } },
    });
  });

  test.each([
    ['kind', { name: 'x', kind: 'sagemaker' }],
    ['deployments', { ...azure, deployments: undefined }],
    ['deployments', { ...azure, deployments: {} }],
    ['resource', { ...azure, resource: undefined }],
    ['resource', { ...azure, resource: 'https://my-res.openai.azure.com' }],
    ['api_version', { ...azure, api_version: '2023-05-15' }],
    ['api_version', { ...azure, api_version: 'latest' }],
    ['models', { ...azure, models: ['gpt-4o'] }],
    ['api_version', { name: 'mine', kind: 'google', api_key: KEY, api_version: 'v1' }],
    ['region', { name: 'mine', kind: 'bedrock' }],
    ['project', { name: 'mine', kind: 'vertex' }],
    ['location', { name: 'mine', kind: 'vertex', project: 'my-project', location: 'Frankfurt' }],
    ['region', { name: 'mine', kind: 'bedrock', region: 'Frankfurt' }],
  ])('with a wrong %s is refused by that name', (field, provider) => {
    const faults = faultsOf(() => ofFile(provider));
    expect(faults).toContain(field);
    expect(faults).not.toContain(KEY);
  });
});

test.each<[ProviderKind, string]>([
  ['openai', '/v1/chat/completions'],
  ['azure_openai', '/openai/v1/chat/completions'],
  ['anthropic', '/v1/messages'],
  ['google', '/v1beta/models/theirs:generateContent'],
  ['cohere', '/v2/chat'],
  ['bedrock', '/model/theirs/converse'],
  ['vertex', '/v1beta1/publishers/google/models/theirs:generateContent'],
])('a provider of the kind %s is asked at %s', async (kind, path) => {
  const fake = await startFakeUpstream();
  const bases = { openai: '/v1', azure_openai: '/', anthropic: '/v1', google: '/v1beta', cohere: '/', bedrock: '/', vertex: '/' };
  const baseUrl = new URL(bases[kind], fake.url).href;
  const [opened] = providersOfVariables({ OPENAI_API_KEY: KEY });
  if (!opened) throw new Error('A key opens a provider.');
  const [provider] = openProviders([{ ...opened, kind, baseUrl, models: { 'gpt-4o-mini': 'theirs' } }]);
  const answer = await provider?.upstream.call(chatCall('theirs'));
  expect(answer).toMatchObject({ ok: true, status: 200 });
  expect(fake.requests[0]?.path).toBe(path);
  await provider?.upstream.close();
  await fake.close();
});
