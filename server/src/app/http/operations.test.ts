import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { testDatabase } from '../../adapters/postgres/test-database.ts';
import { readConfig } from '../config.ts';
import { type RunningServer, startServer } from '../server.ts';

const METRICS_TOKEN = 'metrics-token-0001';
let server: RunningServer;
const endings: (() => unknown)[] = [];
beforeAll(async () => {
  const { url, drop } = await testDatabase();
  const dataDir = mkdtempSync(join(tmpdir(), 'tallygate-operations-'));
  endings.push(drop, () => rmSync(dataDir, { recursive: true, force: true }));
  const env = { DATABASE_URL: url, DATA_DIR: dataDir, PORT: '0', OPERATIONS_PORT: '0', LOG_LEVEL: 'silent', METRICS_TOKEN };
  server = await startServer(readConfig(env), () => {});
  endings.push(() => server.close());
});
afterAll(async () => {
  for (const end of endings.reverse()) await end();
});

const statusOf = async (base: string | undefined, path: string, headers: Record<string, string> = {}) =>
  (await fetch(`${base}${path}`, { headers })).status;
const AUTHORIZED = { authorization: `Bearer ${METRICS_TOKEN}` };

test('metrics and health are answered at the address for operators alone', async () => {
  for (const path of ['/metrics', '/health/live', '/health/ready']) {
    expect([path, await statusOf(server.operationsUrl, path, AUTHORIZED)]).toEqual([path, 200]);
    expect([path, await statusOf(server.url, path, AUTHORIZED)]).toEqual([path, 404]);
  }
});

test('the address for operators answers nothing else, and metrics not without the token', async () => {
  for (const path of ['/', '/v1/models', '/docs', '/openapi.json'])
    expect([path, await statusOf(server.operationsUrl, path)]).toEqual([path, 404]);
  expect(await statusOf(server.operationsUrl, '/metrics')).toBe(401);
});
