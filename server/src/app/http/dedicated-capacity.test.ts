import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type FakeUpstream, startFakeUpstream, steps } from '@tallygate/fake-upstream';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { testDatabase } from '../../adapters/postgres/test-database.ts';
import { readConfig } from '../config.ts';
import { type RunningServer, startServer } from '../server.ts';

type Headers = Record<string, string>;

const CONCURRENCY = 6;
const CONTRACT = { requests_per_minute: 1_000, tokens_per_minute: 1_000_000, concurrency: 2 };
const SHARED_SLOTS = CONCURRENCY - CONTRACT.concurrency;
const endings: (() => unknown)[] = [];
let server: RunningServer;
let shared: FakeUpstream;
let reserved: FakeUpstream;
let admin: Headers;
/** An account with a contract, and one without. */
let buyer: Account;
let neighbour: Account;

interface Account {
  readonly id: string;
  readonly session: Headers;
  readonly key: Headers;
}

beforeAll(async () => {
  const { url, drop } = await testDatabase();
  const dataDir = mkdtempSync(join(tmpdir(), 'tallygate-dedicated-'));
  endings.push(() => rmSync(dataDir, { recursive: true, force: true }), drop);
  [shared, reserved] = [await startFakeUpstream(), await startFakeUpstream()];
  endings.push(
    () => shared.close(),
    () => reserved.close(),
  );
  const PROVIDERS_FILE = join(dataDir, 'providers.json');
  const provider = { api_key: 'sk-test', models: ['gpt-4o-mini'] };
  const providers = [
    { ...provider, name: 'openai', base_url: shared.url },
    { ...provider, name: 'reserved', base_url: reserved.url, dedicated: true },
  ];
  writeFileSync(PROVIDERS_FILE, JSON.stringify({ providers }));
  server = await startServer(
    readConfig({
      ...{ DATABASE_URL: url, DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'silent', PROVIDERS_FILE },
      ...{ ENTERPRISE_BASE_URL: 'https://dedicated.example.com', ENTERPRISE_PORT: '0', GATEWAY_CONCURRENCY: `${CONCURRENCY}` },
      // Nobody waits for the answers that a test leaves behind.
      ...{ DISCONNECTED_TIMEOUT_MS: '100', DRAIN_TIMEOUT_MS: '100' },
    }),
    () => {},
  );
  endings.push(() => server.close());
  const { admin_email: email, admin_password: password } = server.bootstrap;
  admin = bearer((await ask('/v1/users/login', {}, { email, password })).body.session.token);
  [buyer, neighbour] = [await openAccount('buyer'), await openAccount('neighbour')];
});
beforeEach(async () => {
  shared.reset();
  reserved.reset();
  await reserve(buyer, CONTRACT);
  await eventually(async () => expect((await dedicated(buyer.key)).status).toBe(200));
  reserved.reset();
});
afterAll(async () => {
  for (const end of endings.reverse()) await end();
});

const eventually = (check: () => Promise<void>) => vi.waitFor(check, { timeout: 30_000, interval: 5 });
const bearer = (token: string): Headers => ({ authorization: `Bearer ${token}` });

async function ask(path: string, headers: Headers, json?: object, { method = json ? 'POST' : 'GET', base = server.url } = {}) {
  const init = { method, headers: { 'content-type': 'application/json', ...headers }, ...(json && { body: JSON.stringify(json) }) };
  const answer = await fetch(base + path, init);
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  const body: any = await answer.json();
  return { status: answer.status, headers: answer.headers, body };
}

async function openAccount(name: string): Promise<Account> {
  const login = { email: `${name}@example.com`, password: 'seven grey herons at dawn' };
  const { body } = await ask('/v1/users', { 'x-internal-secret': server.bootstrap.internal_secret ?? '' }, login);
  const session = bearer((await ask('/v1/users/login', {}, login)).body.session.token);
  const { key } = (await ask('/v1/keys', session, { name })).body;
  return { id: body.account_id, session, key: bearer(key) };
}

const reserve = ({ id }: Account, dedicated_capacity: object | null, by = admin) =>
  ask(`/v1/admin/accounts/${id}/dedicated-capacity`, by, { dedicated_capacity }, { method: 'PUT' });

const CHAT = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 20 };
const chat = (headers: Headers, base = server.url) => ask('/v1/chat/completions', headers, CHAT, { base });
const dedicated = (headers: Headers) => chat(headers, server.dedicatedUrl);

describe('the address for dedicated traffic', () => {
  test('takes keys of a contract alone', async () => {
    expect((await dedicated(buyer.key)).status).toBe(200);
    for (const other of [neighbour.key, neighbour.session, buyer.session]) {
      const { status, body } = await dedicated(other);
      expect([status, body.code]).toEqual([403, 'dedicated_capacity_required']);
    }
    expect((await dedicated({})).body.code).toBe('missing_credentials');
    expect((await dedicated(bearer('tg_live_wrong'))).body.code).toBe('invalid_credentials');
  });

  test('has inference, the models and the health of the gateway, and nothing else', async () => {
    const at = async (path: string) => (await ask(path, buyer.key, undefined, { base: server.dedicatedUrl ?? '' })).body.code ?? 'served';
    for (const path of ['/v1/models', '/v1/models/gpt-4o-mini', '/health/ready']) expect(await at(path)).toBe('served');
    for (const path of ['/v1/keys', '/v1/users/me', '/v1/admin/accounts', '/metrics']) expect(await at(path)).toBe('unknown_path');
  });

  test('counts by the contract, apart from what the plan allows', async () => {
    await reserve(buyer, { ...CONTRACT, requests_per_minute: 2 });
    await eventually(async () => {
      const { headers } = await dedicated(buyer.key);
      expect(headers.get('x-ratelimit-limit-requests')).toBe('2');
    });
    await eventually(async () => expect((await dedicated(buyer.key)).body.detail).toContain('2 requests per minute of your contract'));
    expect((await chat(buyer.key)).status).toBe(200);
  });

  test('is closed to an account whose contract has ended', async () => {
    await reserve(buyer, null);
    await eventually(async () => expect((await dedicated(buyer.key)).body.code).toBe('dedicated_capacity_required'));
  });
});

describe('a noisy neighbour', () => {
  /** Requests of others that fill the shared lane, and wait for their provider until they are told to end. */
  const fillSharedLane = async () => {
    shared.script(...Array.from({ length: SHARED_SLOTS }, steps.silence));
    const calls = new AbortController();
    const running = Array.from({ length: SHARED_SLOTS }, async () => {
      const arrived = shared.nextRequest();
      fetch(`${server.url}/v1/chat/completions`, {
        ...{ method: 'POST', signal: calls.signal, body: JSON.stringify(CHAT) },
        headers: { 'content-type': 'application/json', ...neighbour.key },
      }).catch(() => {});
      await arrived;
    });
    await Promise.all(running);
    while (shared.requests.length < SHARED_SLOTS) await shared.nextRequest();
    return () => calls.abort();
  };

  test('takes none of the capacity that is reserved', async () => {
    const end = await fillSharedLane();
    const refused = await chat(neighbour.key);
    expect([refused.status, refused.body.code, refused.headers.get('retry-after')]).toEqual([503, 'shared_capacity_full', '1']);
    const answers = await Promise.all(Array.from({ length: CONTRACT.concurrency }, () => dedicated(buyer.key)));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    end();
    await eventually(async () => expect((await chat(neighbour.key)).status).toBe(200));
  });

  test('keeps no provider from serving dedicated traffic that is reserved for it', async () => {
    shared.script(() => steps.rateLimited({ seconds: 60 }));
    expect((await chat(neighbour.key)).body.code).toBe('upstream_rate_limited');
    const answers = await Promise.all(Array.from({ length: CONTRACT.concurrency }, () => dedicated(buyer.key)));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect(reserved.requests).toHaveLength(CONTRACT.concurrency);
  });

  test('is never served by a provider that is reserved', async () => {
    shared.script(() => steps.serverError());
    expect((await chat(neighbour.key)).status).toBe(502);
    expect((await chat(buyer.key)).status).toBe(502);
    expect(reserved.requests).toEqual([]);
  });
});

describe('a contract', () => {
  test('cannot reserve what a gateway does not have', async () => {
    const most = CONCURRENCY - 1 - CONTRACT.concurrency;
    const refused = await reserve(neighbour, { ...CONTRACT, concurrency: most + 1 });
    expect([refused.status, refused.body.code]).toEqual([409, 'conflict']);
    expect((await reserve(neighbour, { ...CONTRACT, concurrency: most })).body.dedicated_capacity.concurrency).toBe(most);
    expect((await reserve(buyer, { ...CONTRACT, concurrency: CONTRACT.concurrency + 1 })).status).toBe(409);
    expect((await reserve(neighbour, null)).body.dedicated_capacity).toBeNull();
  });

  test('is made by administrators, and is in the audit log of its account', async () => {
    expect((await reserve(buyer, CONTRACT, buyer.session)).body.code).toBe('forbidden');
    await reserve(buyer, { ...CONTRACT, concurrency: 1 });
    const { data } = (await ask('/v1/audit-log?limit=1', buyer.session)).body;
    expect(data[0]).toMatchObject({
      action: 'capacity.reserved',
      changes: { dedicated_capacity: { from: { concurrency: 2 }, to: { concurrency: 1 } } },
    });
  });
});
