import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { contract, type Role, type RouteMetadata, scopesOfRole } from '@tallygate/contract';
import { type AppRoute, type AppRouter, isAppRoute } from '@ts-rest/core';
import type { Pool } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPool } from '../adapters/postgres/database.ts';
import { testDatabase } from '../adapters/postgres/test-database.ts';
import { silentLog } from '../kernel/log.ts';
import { readConfig } from './config.ts';
import { metadataOf } from './http/endpoint.ts';
import { type RunningServer, startServer } from './server.ts';

/** The whole service as it is composed, so that a route is judged by what answers it there. */
let server: RunningServer;
let pool: Pool;
let callers: readonly Caller[];
const endings: (() => unknown)[] = [];

interface Caller {
  readonly name: string;
  readonly headers: Record<string, string>;
  /** Undefined for no caller. */
  readonly role?: Role;
  /** What an API key carries; a session has every scope. */
  readonly scopes?: readonly string[];
}

const ROLES: readonly Role[] = ['member', 'marketing', 'admin'];
const PASSWORD = 'seven grey herons at dawn';
const ANY_ID = '019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77';

beforeAll(async () => {
  const { url, drop } = await testDatabase();
  const dataDir = mkdtempSync(join(tmpdir(), 'tallygate-roles-'));
  endings.push(() => rmSync(dataDir, { recursive: true, force: true }), drop);
  pool = openPool({ url, log: silentLog(), poolSize: 2 });
  endings.push(() => pool.end());
  server = await startServer(
    readConfig({ DATABASE_URL: url, DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'silent', REFUSED_REQUESTS_PER_MINUTE: '1000000' }),
    () => {},
  );
  endings.push(() => server.close());
  callers = [{ name: 'nobody', headers: {} }, ...(await Promise.all(ROLES.map(callersOf))).flat()];
});

afterAll(async () => {
  for (const end of endings.reverse()) await end();
});

const post = async (path: string, headers: Record<string, string>, json: object) => {
  const init = { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(json) };
  return (await fetch(server.url + path, init)).json();
};

/** The session of a person of that role, a key with every scope, and one that only makes inferences. */
async function callersOf(role: Role): Promise<Caller[]> {
  const login = { email: `${role}@example.com`, password: PASSWORD };
  await post('/v1/users', { 'x-internal-secret': server.bootstrap.internal_secret }, login);
  await pool.query('update users set role = $2 where email = $1', [login.email, role]);
  const { session } = await post('/v1/users/login', {}, login);
  const headers = { authorization: `Bearer ${session.token}` };
  const keyWith = async (wanted: readonly string[] | undefined) => {
    const { key, scopes } = await post('/v1/keys', headers, { name: 'test', ...(wanted && { scopes: wanted }) });
    return { headers: { 'x-api-key': String(key) }, role, scopes };
  };
  return [
    { name: `a session of ${role}`, headers, role },
    { name: `a key of ${role} with every scope of the role`, ...(await keyWith(scopesOfRole(role))) },
    { name: `a default key of ${role}`, ...(await keyWith(undefined)) },
    { name: `a key of ${role} that reads the account`, ...(await keyWith(['inference', 'account:read'])) },
  ];
}

const inRouter = (router: AppRouter): AppRoute[] =>
  Object.values(router).flatMap((entry) => (isAppRoute(entry) ? [entry] : inRouter(entry)));
const allRoutes = inRouter(contract);
const routes = allRoutes.filter(({ path }) => /^\/v1\/(beta|events|marketing|content|client-requests)(\/|$)/.test(path));

/** What the interface says of who may: administrators alone below `/v1/events/admin`, the marketing workspace for its own people. */
function roleOwed({ path }: AppRoute): Role | undefined {
  if (path.startsWith('/v1/events/admin')) return 'admin';
  return path.startsWith('/v1/marketing/') ? 'marketing' : undefined;
}

function expectedOf({ auth, scope, session }: RouteMetadata, owed: Role | undefined, { role, scopes }: Caller): string {
  if (auth === 'none') return 'let in';
  if (role === undefined) return 'missing_credentials';
  if (scopes && session) return 'session_required';
  if (scopes && scope && !scopes.includes(scope)) return 'scope_required';
  return owed === undefined || role === 'admin' || role === owed ? 'let in' : 'forbidden';
}

/** The codes by which a request is refused for who sends it; any other answer means that the caller was let in. */
const REFUSALS = new Set(['missing_credentials', 'invalid_credentials', 'session_required', 'scope_required', 'forbidden']);

async function outcomeOf({ method, path }: AppRoute, { headers }: Caller): Promise<string> {
  const takesBody = method !== 'GET' && method !== 'DELETE';
  const response = await fetch(server.url + path.replaceAll(/:[a-z_]+/g, ANY_ID), {
    method,
    headers: { ...headers, ...(takesBody && { 'content-type': 'application/json' }) },
    ...(takesBody && { body: '{}' }),
  });
  const text = await response.text();
  if (response.status >= 500) return `a ${response.status}`;
  const { code } = response.headers.get('content-type')?.startsWith('application/problem+json') ? JSON.parse(text) : { code: '' };
  return REFUSALS.has(code) ? code : 'let in';
}

test('the routes of invitations, events and the marketing workspace are there to be judged', () => {
  const paths = routes.map(({ path }) => path);
  expect(paths).toEqual(expect.arrayContaining(['/v1/beta/invite/activate', '/v1/events/admin', '/v1/marketing/content']));
});

test.each(routes.map((route) => [`${route.method} ${route.path}`, route] as const))(
  '%s lets in members, marketing people and administrators as their roles allow, by session and by key',
  async (_name, route) => {
    const metadata = metadataOf(route);
    const owed = roleOwed(route);
    expect(metadata.role).toBe(owed);
    if (owed !== undefined) expect([metadata.auth, metadata.scope]).toEqual(['bearer', expect.any(String)]);
    const wrong: string[] = [];
    for (const caller of callers) {
      const [got, wanted] = [await outcomeOf(route, caller), expectedOf(metadata, owed, caller)];
      if (got !== wanted) wrong.push(`${caller.name}: ${got}, expected ${wanted}`);
    }
    expect(wrong).toEqual([]);
  },
);

const ofAccounts = allRoutes.filter((route) => metadataOf(route).auth === 'bearer' && !routes.includes(route));

test.each(ofAccounts.map((route) => [`${route.method} ${route.path}`, route] as const))(
  '%s lets in an administrator’s default key for inference alone',
  async (_name, route) => {
    const keys = callers.filter(({ role, scopes }) => role === 'admin' && scopes && !scopes.includes('admin:read'));
    expect(keys.map(({ scopes }) => scopes)).toEqual([['inference'], ['inference', 'account:read']]);
    for (const key of keys) {
      const { session, scope = '' } = metadataOf(route);
      const wanted = session ? 'session_required' : key.scopes?.includes(scope) ? 'let in' : 'scope_required';
      expect([key.name, await outcomeOf(route, key)]).toEqual([key.name, wanted]);
    }
  },
);
