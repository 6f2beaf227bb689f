import { once } from 'node:events';
import { request } from 'node:http';
import { Socket } from 'node:net';
import { json } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { SessionPrincipal } from '../../http/index.ts';
import { type BudgetWorld, openBudgetWorld } from '../../money/budgets/testing/budgets.ts';
import { type Instance, newKey, send, signUp } from './testing/account-api.ts';

const ORIGIN = { ip: null, userAgent: null, requestId: 'req_slow' };
let world: BudgetWorld;
let api: Instance;
let owner: Awaited<ReturnType<typeof signUp>>;

beforeAll(async () => {
  world = await openBudgetWorld();
  api = world.api;
});
beforeEach(async () => {
  owner = await signUp(api);
});
afterEach(() => void vi.restoreAllMocks());
afterAll(() => world?.close());

interface Slow {
  readonly method?: string;
  readonly path: string;
  readonly auth: Record<string, string>;
  readonly body: object;
}

/** A request whose body is half sent when its caller has been let in. The second half is sent after `meanwhile`. */
async function sendSlowly({ method = 'POST', path, auth, body }: Slow, meanwhile: () => Promise<unknown>) {
  const admission = vi.spyOn(api.authenticator, 'authenticate');
  const bytes = Buffer.from(JSON.stringify(body));
  const slow = request(api.baseUrl + path, {
    method,
    headers: { ...auth, 'content-type': 'application/json', 'content-length': bytes.length },
  });
  slow.write(bytes.subarray(0, 1));
  await vi.waitUntil(() => admission.mock.settledResults[0]?.type === 'fulfilled', { timeout: 60_000 });
  await meanwhile();
  slow.end(bytes.subarray(1));
  const [response] = await once(slow, 'response');
  const answer = response.statusCode === 204 ? undefined : await json(response);
  const { code } = Object(answer);
  return { status: response.statusCode, code, asked: admission.mock.calls.length };
}

const sessionOf = async (auth: Record<string, string>): Promise<SessionPrincipal> => {
  const { principal } = await api.authenticator.authenticate({ headers: auth, rawHeaders: [], socket: new Socket() });
  if (principal.kind !== 'session') throw new Error('not a session');
  return principal;
};
const keyIdsOf = async () => (await api.keys.list(await sessionOf((await loginAgain()).auth))).map(({ id }) => id);
async function loginAgain() {
  const { body } = await send(api, '/v1/users/login', { json: { email: owner.email, password: owner.password } });
  return { auth: { authorization: `Bearer ${body.session.token}` } };
}
const rowOf = async (keyId: string) => (await world.database.pool.query('select * from api_keys where id = $1', [keyId])).rows[0];

describe('a session that ends while its body arrives', () => {
  test('makes no key', async () => {
    const session = await sessionOf(owner.auth);
    const slow = await sendSlowly({ path: '/v1/keys', auth: owner.auth, body: { name: 'late' } }, () =>
      api.identity.sessions.logout(session, ORIGIN),
    );
    expect([slow.status, slow.code]).toEqual([401, 'invalid_credentials']);
    expect(await keyIdsOf()).toEqual([]);
  });

  test.each([
    { method: 'POST', path: '/rotate', body: { grace_seconds: 0 } },
    { method: 'PATCH', path: '', body: { name: 'late' } },
    { method: 'PATCH', path: '/budget', body: { monthly_cap_usd: '1000' } },
  ])('changes nothing by $method /v1/keys/{id}$path', async ({ method, path, body }) => {
    const session = await sessionOf(owner.auth);
    const { keyId } = await newKey(api, owner.auth);
    const before = await rowOf(keyId);
    const slow = await sendSlowly({ method, path: `/v1/keys/${keyId}${path}`, auth: owner.auth, body }, () =>
      api.identity.sessions.logout(session, ORIGIN),
    );
    expect([slow.status, slow.code]).toEqual([401, 'invalid_credentials']);
    expect(await rowOf(keyId)).toEqual(before);
  });
});

describe('a key that loses its right while its body arrives', () => {
  const ways = [
    { method: 'POST', path: '/rotate', body: { grace_seconds: 0 } },
    { method: 'PATCH', path: '', body: { name: 'late' } },
    { method: 'PATCH', path: '/budget', body: { monthly_cap_usd: '1000' } },
  ];

  test.each(ways)('by revocation changes nothing by $method /v1/keys/{id}$path', async ({ method, path, body }) => {
    const session = await sessionOf(owner.auth);
    const caller = await newKey(api, owner.auth, { scopes: ['keys:write', 'inference', 'account:read'] });
    const { keyId } = await newKey(api, owner.auth);
    const before = await rowOf(keyId);
    const slow = await sendSlowly({ method, path: `/v1/keys/${keyId}${path}`, auth: caller.auth, body }, () =>
      api.keys.revoke(session, caller.keyId, ORIGIN),
    );
    expect([slow.status, slow.code]).toEqual([401, 'invalid_credentials']);
    expect(await rowOf(keyId)).toEqual(before);
  });

  test.each(ways)('by a lost scope changes nothing by $method /v1/keys/{id}$path', async ({ method, path, body }) => {
    const session = await sessionOf(owner.auth);
    const caller = await newKey(api, owner.auth, { scopes: ['keys:write', 'inference', 'account:read'] });
    const { keyId } = await newKey(api, owner.auth);
    const slow = await sendSlowly({ method, path: `/v1/keys/${keyId}${path}`, auth: caller.auth, body }, () =>
      api.keys.update(session, caller.keyId, { scopes: ['inference', 'account:read'] }, ORIGIN),
    );
    expect([slow.status, slow.code]).toEqual([403, 'scope_required']);
  });
});

test('a caller whose body takes long is asked again before anything is done', async () => {
  const session = await sessionOf(owner.auth);
  const longAgo = () => {
    const now = performance.now.bind(performance);
    vi.spyOn(performance, 'now').mockImplementation(() => now() + 501);
  };
  const patient = await sendSlowly({ method: 'PATCH', path: '/v1/users/me', auth: owner.auth, body: { name: 'Ada' } }, async () =>
    longAgo(),
  );
  expect([patient.status, patient.asked]).toEqual([200, 2]);
  vi.restoreAllMocks();
  const slow = await sendSlowly({ method: 'PATCH', path: '/v1/users/me', auth: owner.auth, body: { name: 'Eve' } }, async () => {
    longAgo();
    await api.identity.sessions.logout(session, ORIGIN);
  });
  expect([slow.status, slow.code, slow.asked]).toEqual([401, 'invalid_credentials', 2]);
});
