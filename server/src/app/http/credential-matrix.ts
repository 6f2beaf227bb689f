import { type RouteMetadata, SCOPES } from '@tallygate/contract';
import { type AppRoute, type AppRouter, isAppRoute } from '@ts-rest/core';
import { expect, test } from 'vitest';
import type { Database } from '../../adapters/postgres/port.ts';
import { mistyped } from '../../kernel/testing/mistyped.ts';
import { metadataOf } from './endpoint.ts';
import { INTERNAL_SECRET, type Instance, newKey, send, signUp } from './testing/account-api.ts';

interface World {
  readonly api: Instance;
  readonly database: Database;
}

/** What a caller might present, and what it is to a route. */
interface Presented {
  readonly name: string;
  readonly headers: Record<string, string>;
  /** The refusal that every bearer route gives it, before its other checks. */
  readonly refusal?: string;
  readonly kind?: 'session' | 'key';
  readonly scopes?: readonly string[];
  readonly role?: 'member' | 'admin';
  readonly internal?: 'right' | 'wrong';
}

/** The codes by which a request is refused for who sends it; any other answer means that the caller was let in. */
const REFUSALS = new Set([
  ...['missing_credentials', 'invalid_credentials', 'ambiguous_credentials'],
  ...['session_required', 'scope_required', 'forbidden'],
]);

const ANY_ID = '019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77';

/**
 * A test for each route: every kind of credential, right and wrong, is let in or refused as the route's metadata says. Bodies are
 * left empty and ids are unassigned, so that requests which are admitted change almost nothing. The credentials are used until one has.
 */
export function testCredentials(world: () => World, routes: AppRouter): void {
  let callers: Promise<Presented[]> | undefined;
  for (const route of Object.values(routes).filter((entry) => isAppRoute(entry))) {
    test(`${route.method} ${route.path} admits the callers of its contract, and no others`, async () => {
      const { api, database } = world();
      const wrong: string[] = [];
      callers ??= everyKind({ api, database });
      for (const presented of await callers) {
        const { outcome, hasChanged } = await outcomeOf(api, route, presented.headers);
        const wanted = expectedOf(metadataOf(route), presented);
        if (outcome !== wanted) wrong.push(`${presented.name}: ${outcome}, expected ${wanted}`);
        // What the internal secret does, it does to none of the callers.
        if (hasChanged && presented.internal !== 'right') callers = undefined;
      }
      if (wrong.length > 0) callers = undefined;
      expect(wrong).toEqual([]);
    });
  }
}

async function outcomeOf(
  api: Instance,
  { method, path }: AppRoute,
  headers: Record<string, string>,
): Promise<{ outcome: string; hasChanged: boolean }> {
  const takesBody = method !== 'GET' && method !== 'DELETE';
  const { status, body } = await send(api, path.replaceAll(/:[a-z_]+/g, ANY_ID), { method, headers, ...(takesBody && { json: {} }) });
  const hasChanged = method !== 'GET' && status < 300;
  if (status >= 500) return { outcome: `a ${status}`, hasChanged };
  return { outcome: REFUSALS.has(body?.code) ? body.code : 'let in', hasChanged };
}

function expectedOf({ auth, session, scope, role }: RouteMetadata, presented: Presented): string {
  if (auth === 'none') return 'let in';
  if (auth === 'internal') {
    if (presented.internal === undefined) return 'missing_credentials';
    return presented.internal === 'right' ? 'let in' : 'invalid_credentials';
  }
  if (presented.refusal !== undefined) return presented.refusal;
  if (presented.kind === 'key' && session) return 'session_required';
  if (presented.kind === 'key' && scope && !presented.scopes?.includes(scope)) return 'scope_required';
  if (role !== undefined && presented.role !== 'admin') return 'forbidden';
  return 'let in';
}

async function everyKind({ api, database }: World): Promise<Presented[]> {
  const execute = (sql: string, id: string) => database.pool.query(sql, [id]);
  const [right, admin, demoted, loggedOut, expired, closed, owner, other] = await Promise.all([
    signUp(api),
    signUp(api, 'admin'),
    signUp(api, 'admin'),
    ...[1, 2, 3, 4, 5].map(() => signUp(api)),
  ]);
  if (!right || !admin || !demoted || !loggedOut || !expired || !closed || !owner || !other) throw new Error('No user signed up');
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
  const poor = await newKey(api, owner.auth, { scopes: ['inference'] });
  const rich = await newKey(api, demoted.auth, { scopes: SCOPES });
  await execute(`update users set role = 'member' where id = $1`, demoted.userId);
  const revokedKey = await newKey(api, owner.auth);
  const expiredKey = await newKey(api, owner.auth);
  const rotatedKey = await newKey(api, owner.auth);
  const closedKey = await newKey(api, closed.auth);
  await send(api, '/v1/users/logout', { method: 'POST', headers: loggedOut.auth });
  await send(api, `/v1/keys/${revokedKey.keyId}`, { method: 'DELETE', headers: owner.auth });
  await send(api, `/v1/keys/${rotatedKey.keyId}/rotate`, { headers: owner.auth, json: {} });
  await execute(`update sessions set created_at = now() - interval '91 days' where user_id = $1`, expired.userId);
  await execute(`update api_keys set expires_at = created_at where id = $1`, expiredKey.keyId);
  await send(api, '/v1/users/me/close', { headers: closed.auth, json: { password: closed.password } });

  const invalid = (name: string, headers: Record<string, string>): Presented => ({ name, headers, refusal: 'invalid_credentials' });
  return [
    { name: 'none', headers: {}, refusal: 'missing_credentials' },
    { name: 'an empty bearer', headers: { authorization: 'Bearer' }, refusal: 'missing_credentials' },
    { name: 'the internal secret', headers: { 'x-internal-secret': INTERNAL_SECRET }, refusal: 'missing_credentials', internal: 'right' },
    { name: 'a wrong internal secret', headers: { 'x-internal-secret': 'x' }, refusal: 'missing_credentials', internal: 'wrong' },
    invalid('a password in the header', { authorization: 'Basic dTpw' }),
    invalid('an unknown session', bearer(`tgs_${'A'.repeat(43)}`)),
    invalid('a mistyped session', bearer(right.token.slice(0, -1))),
    invalid('a session that logged out', loggedOut.auth),
    invalid('an expired session', expired.auth),
    invalid('the session of a closed account', closed.auth),
    invalid('the key of a closed account', closedKey.auth),
    invalid('a mistyped key', bearer(mistyped(rich.key))),
    invalid('a revoked key', revokedKey.auth),
    invalid('an expired key', expiredKey.auth),
    invalid('the old secret of a rotated key', rotatedKey.auth),
    invalid('a session as x-api-key', { 'x-api-key': right.token }),
    invalid('a key as x-web-session-token', { 'x-web-session-token': rich.key }),
    { name: 'two sessions', headers: { ...right.auth, 'x-web-session-token': other.token }, refusal: 'ambiguous_credentials' },
    { name: 'a key and a session', headers: { ...rich.auth, 'x-web-session-token': owner.token }, refusal: 'ambiguous_credentials' },
    { name: 'a key without scopes', headers: { 'x-api-key': poor.key }, kind: 'key', scopes: ['inference'], role: 'member' },
    { name: 'a key with every scope, of a user who was an administrator', headers: rich.auth, kind: 'key', scopes: SCOPES, role: 'member' },
    { name: 'a session', headers: right.auth, kind: 'session', role: 'member' },
    { name: 'a session in its own header', headers: { 'x-web-session-token': other.token }, kind: 'session', role: 'member' },
    { name: 'an administrator’s session', headers: admin.auth, kind: 'session', role: 'admin' },
  ];
}
