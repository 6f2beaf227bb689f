import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Pool } from 'pg';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPool } from '../../adapters/postgres/database.ts';
import { testDatabase } from '../../adapters/postgres/test-database.ts';
import { silentLog } from '../../kernel/log.ts';
import { type Receiver, startReceiver } from '../../webhooks/testing/receiver.ts';
import { readConfig } from '../config.ts';
import { type RunningServer, startServer } from '../server.ts';

type Headers = Record<string, string>;

const endings: (() => unknown)[] = [];
const CHAT = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 20 };
/** A busy machine settles and delivers late. */
const SOON = { timeout: 60_000, interval: 50 };
let server: RunningServer;
let receiver: Receiver;
let session: Headers;
let pool: Pool;
let secret: string;

beforeAll(async () => {
  const { url, drop } = await testDatabase();
  const dataDir = mkdtempSync(join(tmpdir(), 'tallygate-webhooks-'));
  const PROVIDERS_FILE = join(dataDir, 'providers.json');
  // Nobody is there.
  const provider = { name: 'openai', base_url: 'http://127.0.0.1:1/v1', api_key: 'sk-test', models: ['gpt-4o-mini'] };
  writeFileSync(PROVIDERS_FILE, JSON.stringify({ providers: [provider] }));
  receiver = await startReceiver();
  pool = openPool({ url, log: silentLog(), poolSize: 1 });
  endings.push(
    () => rmSync(dataDir, { recursive: true, force: true }),
    drop,
    () => pool.end(),
    () => receiver.close(),
  );
  const rates = { TEST_REQUESTS_PER_MINUTE: '1000000', TEST_TOKENS_PER_MINUTE: '1000000000' };
  const config = { DATABASE_URL: url, DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'silent', PROVIDERS_FILE, ...rates };
  server = await startServer(readConfig({ ...config, WEBHOOK_ALLOWED_NETWORKS: '127.0.0.1' }), () => {});
  endings.push(() => server.close());
  const { admin_email: email, admin_password: password } = server.bootstrap;
  const login = await post('/v1/users/login', { email, password }, {});
  session = { authorization: `Bearer ${login.body.session.token}` };
  ({ secret } = (await post('/v1/webhook-endpoints', { url: receiver.url, owner: 'gateway' })).body);
});
afterAll(async () => {
  for (const end of endings.reverse()) await end();
});

async function ask(method: string, path: string, headers: Headers, json?: object) {
  const init = { method, headers: { 'content-type': 'application/json', ...headers }, ...(json && { body: JSON.stringify(json) }) };
  const answer = await fetch(server.url + path, init);
  const text = await answer.text();
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  const body: any = text === '' ? undefined : JSON.parse(text);
  return { status: answer.status, headers: answer.headers, body };
}
const post = (path: string, json: object = {}, headers: Headers = session) => ask('POST', path, headers, json);
const newKey = async (more: object = {}) => {
  const { key_id, key } = (await post('/v1/keys', { name: 'search', livemode: false, ...more })).body;
  return { keyId: String(key_id), auth: { authorization: `Bearer ${key}` } };
};
const chat = (auth: Headers, headers: Headers = {}) => post('/v1/chat/completions', CHAT, { ...auth, ...headers });
const eventsOf = (type: string) => receiver.received.map(({ body }) => JSON.parse(body)).filter((event) => event.type === type);
const dataOf = (type: string) => eventsOf(type).map(({ data }) => data);

test('a key that is made, rotated and revoked is told of, signed, within the service as it is composed', async () => {
  const { keyId } = await newKey();
  await post(`/v1/keys/${keyId}/rotate`);
  await ask('DELETE', `/v1/keys/${keyId}`, session);
  for (const type of ['key.created', 'key.rotated', 'key.revoked'])
    await expect.poll(() => dataOf(type), SOON).toContainEqual({ key_id: keyId, name: 'search', livemode: false });
  for (const { body, headers } of receiver.received) expect(new Webhook(secret).verify(body, headers as Headers)).toHaveProperty('data');
});

test('keys that are revoked with their project are told of', async () => {
  const { project_id } = (await post('/v1/projects', { name: 'ads' })).body;
  const { keyId } = await newKey({ project_id });
  await ask('PATCH', `/v1/projects/${project_id}`, session, { archived: true });
  await expect.poll(() => dataOf('key.revoked').map(({ key_id }) => key_id), SOON).toContain(keyId);
});

test('a cap that refuses, and the thresholds before it, are told of with their figures', async () => {
  const { keyId, auth } = await newKey({ monthly_cap_usd: '0.0001' });
  const limit = { kind: 'end_user', subject: 'ada', period: 'day', cap_usd: '0.00005', alert_thresholds: [1, 2] };
  const set = await ask('PUT', '/v1/limits', session, limit);
  expect(set.body).toMatchObject({ alert_thresholds: [1, 2] });
  let status = 200;
  while (status === 200) ({ status } = await chat(auth, { 'x-end-user': 'ada' }));
  const ada = { kind: 'end_user', subject: 'ada', period: 'day', livemode: false, cap_usd: '0.00005' };
  await expect.poll(() => dataOf('limit.cap_hit'), SOON).toMatchObject([{ ...ada, required_usd: expect.stringMatching(/^0\.0000/) }]);
  await expect.poll(() => dataOf('limit.threshold_reached').at(-1), SOON).toMatchObject({ ...ada, threshold_percent: 2 });
  expect(dataOf('limit.threshold_reached').length).toBeLessThanOrEqual(2);
  expect(Date.parse(dataOf('limit.cap_hit')[0].resets_at)).toBeGreaterThan(Date.now());
  status = 200;
  while (status === 200) ({ status } = await chat(auth));
  const budget = { key_id: keyId, name: 'search', cap_usd: '0.0001' };
  await expect.poll(() => dataOf('budget.cap_hit'), SOON).toMatchObject([budget]);
  await expect.poll(() => dataOf('budget.threshold_reached').map(({ threshold_percent }) => threshold_percent), SOON).toContain(50);
  await chat(auth);
  expect(dataOf('budget.cap_hit')).toHaveLength(1);
});

test('an agent run is told of once for each bound that it comes to', async () => {
  const { auth } = await newKey();
  const exhaust = async (runId: string, bound: Headers) => {
    const headers = { 'x-agent-run-id': runId, ...bound };
    while ((await chat(auth, headers)).status === 200);
    await chat(auth, headers);
  };
  await exhaust('by-calls', { 'x-agent-max-calls': '1' });
  await exhaust('by-budget', { 'x-agent-max-budget': '0.00001' });
  const exhausted = () => dataOf('run.exhausted').map(({ run_id, reason }) => `${run_id} ${reason}`);
  await expect.poll(exhausted, SOON).toEqual(expect.arrayContaining(['by-calls calls', 'by-budget budget']));
  expect(exhausted()).toHaveLength(2);
});

test('a provider that does not answer is told of to the gateway, and to no account', async () => {
  const { auth } = await newKey({ livemode: true });
  for (let call = 0; call < 4; call += 1) await chat(auth);
  const place = { provider: 'openai', deployment: 'openai#1', model: 'gpt-4o-mini', reason: 'failures' };
  await expect.poll(() => dataOf('provider.set_aside'), SOON).toEqual([place]);
  expect(eventsOf('provider.set_aside')[0].account_id).toBeNull();
  const { body } = await ask('GET', '/v1/webhook-events?type=provider.set_aside', session);
  expect(body.data).toEqual([]);
});

test('an account that closes takes its webhooks with it, and the gateway is told of its keys', async () => {
  const [email, password] = ['leaves@example.com', 'seven grey herons at dawn'];
  const internal = { 'x-internal-secret': server.bootstrap.internal_secret };
  await post('/v1/users', { email, password }, internal);
  const login = (await post('/v1/users/login', { email, password }, {})).body;
  const own = { authorization: `Bearer ${login.session.token}` };
  const [{ body: webhook }, { body: key }] = [
    await post('/v1/webhook-endpoints', { url: receiver.url, description: 'xanadu' }, own),
    await post('/v1/keys', { name: 'xanadu', livemode: false }, own),
  ];
  expect((await post('/v1/users/me/close', { password }, own)).status).toBe(204);
  const { rows } = await pool.query('select id from webhook_endpoints where id = $1', [webhook.webhook_id]);
  expect(rows).toEqual([]);
  await expect.poll(() => dataOf('key.revoked').map(({ key_id }) => key_id), SOON).toContain(key.key_id);
});
