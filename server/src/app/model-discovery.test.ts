import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Pool } from 'pg';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openPool } from '../adapters/postgres/database.ts';
import { testDatabase } from '../adapters/postgres/test-database.ts';
import { silentLog } from '../kernel/log.ts';
import { LiveCatalog } from '../money/catalog/index.ts';
import { ModelDiscovery } from './model-discovery.ts';
import type { ProviderConfig } from './provider-config.ts';
import { deploymentsOf, openProviders } from './providers.ts';

let database: Awaited<ReturnType<typeof testDatabase>>;
let pool: Pool;
const servers: Server[] = [];
const opened: (() => unknown)[] = [];
beforeEach(async () => {
  database = await testDatabase();
  pool = openPool({ url: database.url, log: silentLog(), poolSize: 5 });
});
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
  await pool.end();
  await database.drop();
});

async function serverOf(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

const listing = (...data: (string | object)[]): RequestListener => {
  const models = data.map((model) => (typeof model === 'string' ? { id: model } : model));
  return (_request, answer) => answer.end(JSON.stringify({ data: models }));
};

/** Discovery at servers, by the names of their providers, in that order. */
async function discoveryAt(listeners: Record<string, RequestListener>, models: Record<string, Record<string, string>> = {}) {
  const configs = await Promise.all(
    Object.entries(listeners).map(
      async ([name, listener]): Promise<ProviderConfig> => ({
        ...{ name, kind: 'openai', baseUrl: await serverOf(listener), apiVersion: undefined, auth: undefined, apiKey: undefined },
        ...{ headers: {}, maxTokensField: undefined, countsLikeMaker: false, onCancel: 'keeps_billing', http2: false, weight: 1 },
        models: models[name],
      }),
    ),
  );
  const catalog = await LiveCatalog.open({ pool, log: silentLog(), providers: new Set(configs.map(({ name }) => name)) });
  const providers = openProviders(configs);
  const log = silentLog();
  const warn = vi.spyOn(log, 'warn');
  opened.push(
    () => catalog.close(),
    ...providers.map(
      ({ upstream }) =>
        () =>
          upstream.close(),
    ),
  );
  const discovery = new ModelDiscovery({ pool, catalog, providers, clock: { now: Date.now }, log });
  /** Which servers answer what is asked for, under which names of theirs. */
  const served = () => {
    let deployments: ReturnType<typeof deploymentsOf> | undefined;
    catalog.follow((present, found) => {
      deployments = deploymentsOf(providers, present, found);
    });
    return Object.fromEntries(
      [...(deployments?.byModel ?? [])]
        .map(([model, all]) => [model, all.map(({ provider, upstreamModel }) => `${provider}: ${upstreamModel}`)])
        .sort(),
    );
  };
  return { discovery, catalog, served, warn };
}

const TWO = { litellm: listing('ollama/llama3', 'plain'), ollama: listing('llama3') };
const APART = { llama3: ['ollama: llama3'], 'litellm/ollama/llama3': ['litellm: ollama/llama3'], plain: ['litellm: plain'] };

test.each([
  ['first', TWO],
  ['last', { ollama: TWO.ollama, litellm: TWO.litellm }],
])('a name that begins with another provider’s is a model of its own where it is listed %s', async (_, listeners) => {
  const { discovery, catalog, served } = await discoveryAt(listeners);
  await discovery.begin();
  expect(served()).toEqual(APART);
  expect(catalog.resolve('ollama/llama3')).toMatchObject({ model: { id: 'llama3', provider: 'ollama' } });
  await discovery.discover();
  expect(served()).toEqual(APART);
});

test('a model that was discovered before its name began with a provider’s is none once it does', async () => {
  const alone = await discoveryAt({ litellm: TWO.litellm });
  await alone.discovery.begin();
  expect(alone.served()).toMatchObject({ 'ollama/llama3': ['litellm: ollama/llama3'] });
  const { discovery, served } = await discoveryAt(TWO);
  await discovery.begin();
  expect(served()).toEqual(APART);
});

test('a configured name with another provider’s prefix is served by the configured provider only', async () => {
  const listed = { litellm: { 'ollama/llama3': 'ollama/llama3' } };
  const { discovery, served } = await discoveryAt(TWO, listed);
  await discovery.begin();
  const { plain: _, ...apart } = APART;
  expect(served()).toEqual(apart);
});

test('an implausible context length or output limit is ignored, with a log line', async () => {
  const { discovery, catalog, warn } = await discoveryAt({
    lan: listing(
      { id: 'liar', max_model_len: Number.MAX_SAFE_INTEGER, max_completion_tokens: 1e300 },
      { id: 'longer', context_window: 1_000, max_completion_tokens: 2_000 },
      { id: 'honest', context_window: 100_000_000, max_completion_tokens: 8_192 },
    ),
  });
  await discovery.begin();
  const lengths = ['liar', 'longer', 'honest'].map((id) => [catalog.find(id)?.contextWindow, catalog.find(id)?.maxOutputTokens]);
  expect(lengths).toEqual([
    [null, null],
    [1_000, null],
    [100_000_000, 8_192],
  ]);
  const of = { provider: 'lan', names: ['liar', 'longer'] };
  expect(warn).toHaveBeenCalledWith(of, expect.stringContaining('above 100000000 tokens'));
});

test('of a model that a list names twice the smaller lengths hold', async () => {
  const twice = [
    { id: 'm', context_window: 8_000, max_completion_tokens: 500 },
    { id: 'm', context_window: 4_000, max_completion_tokens: 1_000 },
  ];
  const { discovery, catalog } = await discoveryAt({ lan: listing(...twice, 'm') });
  await discovery.begin();
  expect(catalog.find('m')).toMatchObject({ contextWindow: 4_000, maxOutputTokens: 500 });
});

test('names with invisible characters are left out, and escaped in the log', async () => {
  const { discovery, catalog, warn } = await discoveryAt({ lan: listing('gpt\u200b-4o', 'm\u202eini', 'plain') });
  await discovery.begin();
  expect(catalog.all.map(({ id }) => id)).toEqual(['plain']);
  const of = { provider: 'lan', names: ['gpt\\u{200b}-4o', 'm\\u{202e}ini'] };
  expect(warn).toHaveBeenCalledWith(of, expect.stringContaining('left out'));
});

test.each<[string, RequestListener, string]>([
  ['does not answer', () => {}, 'it did not list its models within 2 s'],
  ['does not finish its answer', (_request, answer) => void answer.write('{"data":['), 'it did not list its models within 2 s'],
  [
    'answers with a fault',
    (_request, answer) => void answer.writeHead(500).end('Out of memory'),
    'it answered GET /models with HTTP status 500: Out of memory',
  ],
])('of a provider that %s is said what it did', async (_, listener, error) => {
  const { discovery } = await discoveryAt({ lan: listener });
  expect(await discovery.discover()).toEqual({ providers: [{ provider: 'lan', found: [], without_price: [], error }] });
});
