import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
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

test('the address for operators takes no other method or credential, and shows metrics to no page', async () => {
  const url = server.operationsUrl;
  for (const path of ['/metrics', '/health/live', '/health/ready'])
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const { status } = await fetch(`${url}${path}`, { method, headers: AUTHORIZED, body: '{}' });
      expect([method, path, status]).toEqual([method, path, 405]);
    }
  for (const authorization of ['Bearer metrics-token-0002', `Basic ${METRICS_TOKEN}`, 'Bearer', METRICS_TOKEN])
    expect([authorization, await statusOf(url, '/metrics', { authorization })]).toEqual([authorization, 401]);
  const asked = { ...AUTHORIZED, origin: 'https://evil.example', 'access-control-request-method': 'GET' };
  for (const method of ['GET', 'OPTIONS']) {
    const { headers } = await fetch(`${url}/metrics`, { method, headers: asked });
    expect(headers.get('access-control-allow-origin')).toBeNull();
  }
});

const DEPLOY = new URL('../../../../deploy/', import.meta.url);
const ALERTS = new URL('prometheus/alerts.yaml', DEPLOY);
const hasPromtool = spawnSync('promtool', ['--version']).status === 0;

/** The expressions of a dashboard of Grafana, in its variables' places something that Prometheus reads. */
function dashboardQueries(): string[] {
  const { panels } = JSON.parse(readFileSync(new URL('grafana/tallygate.json', DEPLOY), 'utf8'));
  const targets: { expr: string }[] = panels.flatMap((panel: { targets: { expr: string }[] }) => panel.targets);
  return targets.map(({ expr }) => expr.replaceAll('$__rate_interval', '5m').replaceAll('$instance', '.*'));
}

test('every metric of the dashboard and the alert rules is one that the gateway has', async () => {
  const text = await (await fetch(`${server.operationsUrl}/metrics`, { headers: AUTHORIZED })).text();
  const known = new Set([...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name));
  const asked = [...dashboardQueries(), readFileSync(ALERTS, 'utf8')].join('\n');
  const named = [...asked.matchAll(/\b(?:tallygate|process|nodejs)_[a-z0-9_]+(?=[{[ )=!>])/g)].map(([name]) =>
    name.replace(/_bucket$/, ''),
  );
  expect(named.length).toBeGreaterThan(25);
  expect(named.filter((name) => !known.has(name))).toEqual([]);
});

test.skipIf(!hasPromtool)('Prometheus takes the alert rules and every query of the dashboard', () => {
  const rules = dashboardQueries().map((expr, index) => ({ record: `panel:${index}`, expr }));
  const queries = join(mkdtempSync(join(tmpdir(), 'tallygate-rules-')), 'queries.yaml');
  // YAML is a superset of JSON.
  writeFileSync(queries, JSON.stringify({ groups: [{ name: 'dashboard', rules }] }));
  for (const file of [fileURLToPath(ALERTS), queries]) {
    const { status, stderr } = spawnSync('promtool', ['check', 'rules', file], { encoding: 'utf8' });
    expect({ file, status, stderr }).toMatchObject({ status: 0 });
  }
  rmSync(dirname(queries), { recursive: true });
});
