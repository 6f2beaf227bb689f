import { expect, test } from 'vitest';
import { contract } from './index.ts';
import { type Route, routesOf } from './openapi/route.ts';
import { DEFAULT_SCOPES, SCOPE_ROLES, SCOPES, type Scope, scopesOfRole } from './scopes.ts';

const bearer = routesOf(contract).filter(({ metadata }) => metadata.auth === 'bearer');

/** The scopes that may open an operation below a path; the first that fits decides. Null: a session alone. */
const AREAS: readonly [RegExp, readonly Scope[] | null][] = [
  [/^\/v1\/admin\/(refunds|corrections)$/, ['admin:write']],
  [/^\/v1\/admin\/(deployments|usage)(\/|$)/, ['admin:read']],
  [/^\/v1\/admin\//, null],
  [/^\/v1\/audit-log$/, ['audit:read']],
  [/^\/v1\/(plans\/payments|events\/admin\/registrations)\/\{\w+\}\/refund$/, ['admin:write']],
  [/^\/v1\/events\/admin(\/|$)/, ['events:read', 'events:write']],
  [/^\/v1\/marketing\//, ['marketing:read', 'marketing:write']],
  [/^\/v1\/events\/[^/]+\/checkout$/, ['billing:write']],
  [/^\/v1\/users\/me$/, ['account:read']],
  [/^\/v1\/users\/mfa\//, ['account:read', 'account:write']],
  [/^\/v1\/users\//, null],
  [/^\/v1\/(management-keys|directory)(\/|$)/, null],
  [/^\/v1\/plans\//, ['account:read', 'billing:write']],
  [/^\/v1\/keys(\/|$)/, ['account:read', 'keys:write']],
  [/^\/v1\/(usage|live|requests|receipts|invoices|projects|limits|members|webhook-endpoints|webhook-events)(\/|$)/, ['account:read']],
  [/^\/v1\/runs(\/|$)/, ['account:read', 'inference']],
  [
    /^\/v1\/(chat|responses|messages|conversations|completions|embeddings|rerank|moderations|images|audio|videos?|realtime|models|files|uploads|batches)(\/|$)/,
    ['inference'],
  ],
  [/^\/v1beta\/models(\/|$)/, ['inference']],
];

const nameOf = ({ method, path }: Route): string => `${method.toUpperCase()} ${path}`;

test.each(bearer.map((route) => [nameOf(route), route] as const))('%s is opened by the scopes of its area alone', (_name, route) => {
  const { scope, session, role } = route.metadata;
  const [, area] = AREAS.find(([path]) => path.test(route.path)) ?? [];
  expect(area).not.toBeUndefined();
  if (session) expect(scope).toBeUndefined();
  else expect(area).toContain(scope);
  if (scope) expect(role).toBe(SCOPE_ROLES[scope]);
  // Reading scopes open nothing that changes anything; a preview is asked with a body and changes nothing.
  if (scope?.endsWith(':read') && route.method !== 'get') expect(route.path).toMatch(/-preview$/);
});

test('a default key opens inference and nothing that shows or changes an account', () => {
  const opened = bearer.filter(({ metadata }) => metadata.scope && DEFAULT_SCOPES.includes(metadata.scope));
  expect(DEFAULT_SCOPES).toEqual(['inference']);
  expect(opened.length).toBeGreaterThan(0);
  for (const { path, metadata } of opened) {
    expect(metadata.role).toBeUndefined();
    expect(path).not.toMatch(/^\/v1\/(admin|marketing|users|audit-log|events|keys|plans|usage|receipts)(\/|$)/);
  }
});

test('a key of a member can have no scope that opens other people’s data', () => {
  expect(SCOPES.filter((scope) => !scopesOfRole('member').includes(scope))).toEqual(Object.keys(SCOPE_ROLES));
  expect(scopesOfRole('admin')).toEqual([...SCOPES]);
});
