import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ConfigError, readConfig } from './config.ts';
import { Variables } from './config-variables.ts';
import { VARIABLE_GROUPS } from './variables.ts';

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

test('workers are a number or one for each core, and not with Redis', () => {
  expect(readConfig({}).workers).toBe(1);
  expect(readConfig({ WORKERS: '3' }).workers).toBe(3);
  expect(readConfig({ WORKERS: 'auto' }).workers).toBe(Math.min(availableParallelism(), 64));
  expect(faultsOf({ WORKERS: '0' })).toEqual([expect.stringContaining('WORKERS')]);
  expect(faultsOf({ WORKERS: '2', REDIS_URL: 'redis://127.0.0.1' })).toEqual([expect.stringContaining('WORKERS')]);
});

test('metrics and health have a port of their own in production, unless a variable says otherwise', () => {
  expect(readConfig({}).operations).toBeUndefined();
  expect(readConfig({ NODE_ENV: 'production' }).operations).toEqual({ host: '127.0.0.1', port: 8789 });
  expect(readConfig({ NODE_ENV: 'production', HOST: '0.0.0.0', OPERATIONS_HOST: '10.0.0.1' }).operations).toEqual({
    host: '10.0.0.1',
    port: 8789,
  });
  expect(readConfig({ NODE_ENV: 'production', OPERATIONS_PORT: 'off' }).operations).toBeUndefined();
  for (const NODE_ENV of ['production', 'development', 'test'])
    expect(readConfig({ NODE_ENV, OPERATIONS_PORT: '9001' }).operations).toEqual({ host: '127.0.0.1', port: 9001 });
  expect(faultsOf({ OPERATIONS_PORT: 'of' })).toEqual(['OPERATIONS_PORT: Expected a port, or off']);
});

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

test('every wrong setting is named at once, from variables and files', () => {
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

  test('overrides the variables of the providers that it names', () => {
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

  test('that is missing or not JSON is refused without any of its content', () => {
    expect(faultsOf({ PROVIDERS_FILE: join(dir, 'missing.json') })).toEqual([expect.stringContaining('ENOENT')]);
    const [fault] = faultsOf({ PROVIDERS_FILE: file('{"providers":[{"api_key":"sk-secret",}]}') });
    expect(fault).toContain('position 37, line 1, column 38');
    expect(fault).not.toContain('secret');
  });
});

test('the quickstart’s own variables do not make the gateway its own provider', () => {
  const env = { OPENAI_API_KEY: 'tg_live_abc', OPENAI_BASE_URL: 'http://127.0.0.1:8787/v1' };
  expect(readConfig(env).providers).toEqual([]);
});

test.each(['PROVIDERS_FILE', 'PLANS_FILE'])('%s may begin with a byte order mark and have the line ends of Windows', (variable) => {
  const path = join(dir, 'windows.json');
  const broken = join(dir, 'broken.json');
  writeFileSync(broken, '\uFEFF{\r\n  "x": 1,\r\n}');
  expect(faultsOf({ [variable]: broken })).toEqual([`${variable} ${broken}: It stops being JSON at position 14, line 3, column 1`]);
  writeFileSync(path, '\uFEFF{\r\n}');
  expect(faultsOf({ [variable]: path }).join()).toContain(variable === 'PLANS_FILE' ? 'plans' : 'providers');
  writeFileSync(path, Buffer.from('\uFEFF{}', 'utf16le'));
  expect(faultsOf({ [variable]: path })).toEqual([`${variable} ${path}: It is not UTF-8`]);
});

describe('the gateway’s own address', () => {
  const OWN = [
    'http://127.0.0.1:8787/v1',
    'http://localhost:8787',
    'http://api.localhost:8787/v1',
    'http://127.9.9.9:8787/v1',
    'http://0.0.0.0:8787/v1',
    'http://[::1]:8787/v1',
    'http://[::]:8787/v1',
    'http://[::ffff:127.0.0.1]:8787/v1',
    'http://2130706433:8787/v1',
    'http://LOCALHOST.:8787/v1',
  ];

  test.each(OWN)('%s is no provider’s: of a variable the usual one is used, of the file it is refused', (address) => {
    const { providers, ignoredAddresses } = readConfig({ OPENAI_API_KEY: 'sk-x', OPENAI_BASE_URL: address });
    expect([providers.map(({ baseUrl }) => baseUrl), ignoredAddresses]).toEqual([['https://api.openai.com/v1'], ['OPENAI_BASE_URL']]);
    const path = file({ providers: [{ name: 'self', base_url: address }] });
    expect(faultsOf({ PROVIDERS_FILE: path })).toEqual([expect.stringContaining('is this gateway’s own')]);
  });

  test.each([
    ['http://127.0.0.1:11434/v1', {}],
    ['http://10.0.0.7:8787/v1', {}],
    ['http://127.0.0.1:8787/v1', { PORT: '9000' }],
    ['http://127.0.0.1:8787/v1', { HOST: '10.0.0.7' }],
    ['https://ai.example.com/ollama/v1', { PUBLIC_URL: 'https://ai.example.com' }],
  ])('is not %s', (address, env) => {
    const path = file({ providers: [{ name: 'other', base_url: address }] });
    expect(faultsOf({ PROVIDERS_FILE: path, ...env })).toEqual([]);
  });

  test.each([
    ['https://ai.example.com/v1', { PUBLIC_URL: 'https://ai.example.com' }],
    ['https://ai.example.com/gateway/v1', { PUBLIC_URL: 'https://ai.example.com/gateway' }],
    ['http://127.0.0.1:8787/v1', { HOST: '0.0.0.0' }],
    ['http://[::1]:8787/v1', { HOST: '::' }],
    [`http://${hostname()}:8787/v1`, { HOST: '0.0.0.0' }],
  ])('is %s as well', (address, env) => {
    const path = file({ providers: [{ name: 'self', base_url: address }] });
    expect(faultsOf({ PROVIDERS_FILE: path, ...env })).toHaveLength(1);
  });

  test('is left alone where no key opens a provider', () => {
    expect(readConfig({ OPENAI_API_KEY: 'tg_test_x', OPENAI_BASE_URL: OWN[0] }).ignoredAddresses).toEqual([]);
  });
});

test('only the maker’s own endpoint counts as the maker does, unless the operator vouches for another', () => {
  const [own] = readConfig({ OPENAI_API_KEY: 'sk-x' }).providers;
  const [elsewhere] = readConfig({ OPENAI_API_KEY: 'sk-x', OPENAI_BASE_URL: 'http://127.0.0.1:9/v1' }).providers;
  expect([own?.countsLikeMaker, elsewhere?.countsLikeMaker]).toEqual([true, false]);
});

test('every variable is described once for the operator’s handbook', () => {
  const described = VARIABLE_GROUPS.flatMap(({ variables }) => Object.keys(variables));
  expect(described.toSorted()).toEqual(Object.keys(Variables.shape).toSorted());
});

describe('a bucket', () => {
  const keys = { S3_ACCESS_KEY_ID: 'id', S3_SECRET_ACCESS_KEY: 'secret' };

  test('is none unless one is named', () => {
    expect(readConfig({}).bucket).toBeUndefined();
    expect(faultsOf(keys)).toEqual(['S3_BUCKET is missing, and other variables of S3 are set.']);
  });

  test('of AWS is in the host name and takes what credentials the machine has', () => {
    expect(readConfig({ S3_BUCKET: 'files', S3_REGION: 'eu-central-1' }).bucket).toEqual({
      ...{ bucket: 'files', endpoint: undefined, region: 'eu-central-1', credentials: undefined, prefix: '', isPathStyle: false },
    });
  });

  test('of another service is in the path, unless it is said otherwise', () => {
    const settings = { S3_BUCKET: 'files', S3_ENDPOINT: 'http://minio:9000', S3_PREFIX: 'a/b/', ...keys };
    expect(readConfig(settings).bucket).toMatchObject({ endpoint: 'http://minio:9000', prefix: 'a/b/', isPathStyle: true });
    expect(readConfig({ ...settings, S3_PATH_STYLE: 'off' }).bucket).toMatchObject({ isPathStyle: false });
    for (const prefix of ['a', '/a/', 'a//', 'a b/']) expect(faultsOf({ ...settings, S3_PREFIX: prefix })).toHaveLength(1);
  });

  test('needs both halves of its credentials', () => {
    expect(faultsOf({ S3_BUCKET: 'files', S3_ACCESS_KEY_ID: 'id' })).toEqual([
      'S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY are set together.',
    ]);
  });
});
