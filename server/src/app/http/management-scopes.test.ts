import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { contract, MANAGEMENT_SCOPES, type ManagementScope, managementScopeOf } from '@tallygate/contract';
import { type AppRoute, type AppRouter, isAppRoute } from '@ts-rest/core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { testDatabase } from '../../adapters/postgres/test-database.ts';
import { readConfig } from '../config.ts';
import { type RunningServer, startServer } from '../server.ts';
import { metadataOf } from './endpoint.ts';

/** The whole service as it is composed. */
let server: RunningServer;
const endings: (() => unknown)[] = [];
let session: Record<string, string>;

beforeAll(async () => {
  const { url, drop } = await testDatabase();
  const dataDir = mkdtempSync(join(tmpdir(), 'tallygate-management-'));
  endings.push(() => rmSync(dataDir, { recursive: true, force: true }), drop);
  server = await startServer(
    readConfig({ DATABASE_URL: url, DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'silent', REFUSED_REQUESTS_PER_MINUTE: '1000000' }),
    () => {},
  );
  endings.push(() => server.close());
  const { admin_email: email, admin_password: password } = server.bootstrap;
  session = bearer((await post('/v1/users/login', {}, { email, password })).session.token);
});

afterAll(async () => {
  for (const end of endings.reverse()) await end();
});

const bearer = (credential: string) => ({ authorization: `Bearer ${credential}` });

async function post(path: string, headers: Record<string, string>, json: object) {
  const init = { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(json) };
  return (await fetch(server.url + path, init)).json();
}

async function keyWith(scopes: readonly ManagementScope[]) {
  const { key } = await post('/v1/management-keys', session, { name: 'test', scopes });
  return bearer(key);
}

const ANY_ID = '019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77';
const inRouter = (router: AppRouter): AppRoute[] =>
  Object.values(router).flatMap((entry) => (isAppRoute(entry) ? [entry] : inRouter(entry)));
const operations = inRouter(contract).filter((route) => metadataOf(route).auth === 'bearer');
const nameOf = ({ method, path }: AppRoute): string => `${method} ${path}`;

/** The refusal for who asks; undefined where the caller was let in, whatever became of the request. */
async function refusalOf({ method, path }: AppRoute, headers: Record<string, string>): Promise<string | undefined> {
  const init = { method, headers, ...(method !== 'GET' && { body: '{}', headers: { 'content-type': 'application/json', ...headers } }) };
  const answer = await fetch(server.url + path.replaceAll(/:\w+/g, ANY_ID), init);
  const text = await answer.text();
  if (answer.status !== 401 && answer.status !== 403) return undefined;
  return JSON.parse(text).code;
}

async function others(routes: readonly AppRoute[], headers: Record<string, string>, code: string | undefined): Promise<string[]> {
  const found: string[] = [];
  for (const route of routes) {
    const refusal = await refusalOf(route, headers);
    if (refusal !== code) found.push(`${nameOf(route)}: ${refusal}`);
  }
  return found;
}

/** SCIM is a protocol of others, and no part of the contract: see `scim.test.ts`. */
const OF_CONTRACT = MANAGEMENT_SCOPES.filter((scope) => scope !== 'scim');

test.each(OF_CONTRACT)('%s opens the operations that need it, and without it they are refused', async (scope) => {
  const opened = operations.filter((route) => managementScopeOf(metadataOf(route)) === scope);
  expect(opened).not.toEqual([]);
  expect(await others(opened, await keyWith([scope]), undefined)).toEqual([]);
  const rest = await keyWith(MANAGEMENT_SCOPES.filter((one) => one !== scope));
  expect(await others(opened, rest, 'scope_required')).toEqual([]);
});

test('a management key with every scope runs no model and reads nothing that was sent to one', async () => {
  const ofModels = operations.filter((route) => metadataOf(route).scope === 'inference');
  expect(ofModels.length).toBeGreaterThan(60);
  expect(await others(ofModels, await keyWith(MANAGEMENT_SCOPES), 'management_key_not_allowed')).toEqual([]);
});

test('what is of people alone is refused to a management key with every scope', async () => {
  const ofPeople = operations.filter((route) => {
    const metadata = metadataOf(route);
    return managementScopeOf(metadata) === undefined && metadata.scope !== 'inference';
  });
  expect(await others(ofPeople, await keyWith(MANAGEMENT_SCOPES), 'management_key_not_allowed')).toEqual([]);
  expect(ofPeople.map(nameOf)).toMatchInlineSnapshot(`
    [
      "POST /v1/users/logout",
      "PATCH /v1/users/me",
      "POST /v1/users/me/password",
      "GET /v1/users/me/sessions",
      "DELETE /v1/users/me/sessions/:session_id",
      "POST /v1/users/me/close",
      "POST /v1/users/me/device-logins/find",
      "POST /v1/users/me/device-logins/approve",
      "POST /v1/users/me/device-logins/deny",
      "PUT /v1/users/login/methods",
      "POST /v1/users/logout/directory",
      "POST /v1/users/mfa/begin",
      "POST /v1/users/mfa/confirm",
      "POST /v1/users/mfa/disable",
      "DELETE /v1/admin/users/:user_id/mfa",
      "POST /v1/users/me/passkeys/begin",
      "POST /v1/users/me/passkeys",
      "GET /v1/users/me/passkeys",
      "PATCH /v1/users/me/passkeys/:passkey_id",
      "DELETE /v1/users/me/passkeys/:passkey_id",
      "PUT /v1/admin/users/:user_id/role",
      "POST /v1/management-keys",
      "GET /v1/management-keys",
      "GET /v1/management-keys/:management_key_id",
      "POST /v1/management-keys/:management_key_id/rotate",
      "DELETE /v1/management-keys/:management_key_id",
    ]
  `);
});

test('every write that a management key may do takes an idempotency key, but for what is streamed', () => {
  const writes = operations.filter((route) => route.method !== 'GET' && managementScopeOf(metadataOf(route))?.endsWith(':write'));
  const without = writes.filter((route) => !('idempotency-key' in Object(route.headers)));
  expect(writes.length).toBeGreaterThan(50);
  expect(without.map(nameOf)).toEqual(['POST /v1/marketing/people/import', 'POST /v1/marketing/emails/bounces']);
});

test('MCP offers nothing to a management key', async () => {
  const { error } = await post('/mcp', await keyWith(MANAGEMENT_SCOPES), { jsonrpc: '2.0', id: 1, method: 'tools/list' });
  expect(error.data.code).toBe('management_key_not_allowed');
});
