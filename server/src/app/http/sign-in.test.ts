import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CLIENT, startTestProvider, type TestProvider } from '../../adapters/directory/testing/provider.ts';
import { openPool } from '../../adapters/postgres/database.ts';
import { testDatabase } from '../../adapters/postgres/test-database.ts';
import { freePort } from '../../kernel/free-port.ts';
import { silentLog } from '../../kernel/log.ts';
import { readConfig } from '../config.ts';
import { type RunningServer, startServer } from '../server.ts';

type Headers = Record<string, string>;

/** Nobody listens there: the browser of the tests stops at the address. */
const BACK = 'http://127.0.0.1:9/';
const VERIFIER = 'the-verifier-that-only-the-program-knows-0000';
const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url');
const PATCH = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';

let provider: TestProvider;
let server: RunningServer;
let pool: pg.Pool;
let owner: Headers;
const endings: (() => unknown)[] = [];

beforeAll(async () => {
  const { url, drop } = await testDatabase();
  const dataDir = mkdtempSync(join(tmpdir(), 'tallygate-sign-in-'));
  pool = openPool({ url, log: silentLog(), poolSize: 2 });
  const port = await freePort();
  provider = await startTestProvider(() => [`http://127.0.0.1:${port}/sign-in/callback`]);
  server = await startServer(
    readConfig({
      ...{ DATABASE_URL: url, DATA_DIR: dataDir, PORT: String(port), LOG_LEVEL: 'silent', OIDC_ISSUER: provider.issuer },
      ...{ OIDC_CLIENT_ID: CLIENT.id, OIDC_CLIENT_SECRET: CLIENT.secret, OIDC_NAME: 'Example Inc.' },
      ...{ OIDC_ROLES: 'team=ops=admin,engineers=developer,finance=billing' },
      ...{ OIDC_PROJECTS: 'search=search,search-leads=search:admin,engineers=none-yet' },
    }),
    () => {},
  );
  endings.push(
    drop,
    () => rmSync(dataDir, { recursive: true, force: true }),
    () => pool.end(),
    () => provider.close(),
    () => server.close(),
  );
  const { admin_email: email, admin_password: password } = server.bootstrap;
  owner = bearer((await ask('/v1/users/login', { json: { email, password } })).body.session.token);
});
afterAll(async () => {
  for (const end of endings.reverse()) await end();
});

const bearer = (token: string): Headers => ({ authorization: `Bearer ${token}` });

async function ask(path: string, { json, method, headers = {} }: { json?: object; method?: string; headers?: Headers } = {}) {
  const init = { method: method ?? (json ? 'POST' : 'GET'), headers: { ...(json && { 'content-type': 'application/json' }), ...headers } };
  const answer = await fetch(server.url + path, { ...init, redirect: 'manual', ...(json && { body: JSON.stringify(json) }) });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, body: text ? JSON.parse(text) : undefined };
}

const begin = (more: Record<string, string> = {}) =>
  `${server.url}/sign-in?${new URLSearchParams({ redirect_uri: BACK, code_challenge: CHALLENGE, state: 'mine', ...more })}`;
const take = (code: string | null, code_verifier = VERIFIER) => ask('/v1/users/login/directory', { json: { code, code_verifier } });

/** The answer to the program that began. */
async function signIn(login: string) {
  const { searchParams } = await provider.signIn(begin(), login);
  expect(searchParams.get('state')).toBe('mine');
  return { code: searchParams.get('code'), error: searchParams.get('error_description') };
}

async function logIn(login: string) {
  const { body } = await take((await signIn(login)).code);
  return { user: body, auth: bearer(body.session.token) };
}

const roleOf = async (userId: string) => {
  const { body } = await ask('/v1/members', { headers: owner });
  return body.data.find((member: { user_id: string }) => member.user_id === userId)?.account_role;
};

test('where to sign in is said to everybody', async () => {
  const { body } = await ask('/v1/users/login/methods');
  expect(body).toEqual({
    password: true,
    passkey: { rp_id: 'localhost' },
    directory: { name: 'Example Inc.', login_url: `${server.url}/sign-in` },
  });
});

describe('somebody whom the directory signs in', () => {
  test('becomes a member of the account, with the role of their groups, and stays the same user', async () => {
    provider.people.set('ada', { email: 'ada@example.com', name: 'Ada', groups: ['engineers'] });
    const { user, auth } = await logIn('ada');
    expect(user).toMatchObject({ email: 'ada@example.com', name: 'Ada', email_verified: true });
    expect((await ask('/v1/users/me', { headers: auth })).body.user_id).toBe(user.user_id);
    expect(await roleOf(user.user_id)).toBe('developer');
    provider.people.set('ada', { email: 'ada@example.com', groups: ['team=ops', 'engineers'] });
    expect((await logIn('ada')).user.user_id).toBe(user.user_id);
    expect(await roleOf(user.user_id)).toBe('admin');
  });

  test('is a member of the projects that their groups give, until a sign-in without the group', async () => {
    const { body: project } = await ask('/v1/projects', { headers: owner, json: { name: 'Search', external_id: 'search' } });
    const membersOf = async () => {
      const { body } = await ask(`/v1/projects/${project.project_id}/members`, { headers: owner });
      return body.data.map((one: { email: string; project_role: string }) => [one.email, one.project_role]);
    };
    const arrive = async (...groups: string[]) => {
      provider.people.set('mary', { email: 'mary@example.com', groups: ['engineers', ...groups] });
      return logIn('mary');
    };
    const { auth } = await arrive('search');
    expect(await membersOf()).toEqual([['mary@example.com', 'member']]);
    const { body: key } = await ask('/v1/keys', { headers: auth, json: { name: 'search', project_id: project.project_id } });
    const asKey = { headers: bearer(key.key) };
    expect((await ask('/v1/models', asKey)).status).toBe(200);
    await arrive('search', 'search-leads');
    expect(await membersOf()).toEqual([['mary@example.com', 'admin']]);
    await arrive();
    expect(await membersOf()).toEqual([]);
    await expect.poll(async () => (await ask('/v1/models', asKey)).status, { timeout: 60_000, interval: 5 }).toBe(401);
  });

  test('is refused without a group that has a role, and with an address that is not verified', async () => {
    provider.people.set('bob', { email: 'bob@example.com', groups: ['cooks'] });
    expect(await signIn('bob')).toMatchObject({ code: null, error: expect.stringContaining('no role') });
    provider.people.set('eve', { email: 'eve@example.com', groups: ['engineers'], email_verified: false });
    expect(await signIn('eve')).toMatchObject({ code: null, error: 'The directory did not sign you in.' });
    // As some providers write it.
    provider.people.set('eve', { email: 'eve@example.com', groups: ['engineers'], email_verified: 'false' });
    expect(await signIn('eve')).toMatchObject({ code: null, error: 'The directory did not sign you in.' });
    const { rows } = await pool.query(`select from users where email like 'bob@%' or email like 'eve@%'`);
    expect(rows).toEqual([]);
  });

  test('takes over the member who was invited with their address, and no owner loses the role', async () => {
    provider.people.set('root', { email: server.bootstrap.admin_email, groups: ['engineers'] });
    const { user } = await logIn('root');
    expect(await roleOf(user.user_id)).toBe('owner');
    provider.people.set('other', { email: server.bootstrap.admin_email, groups: ['engineers'] });
    expect((await signIn('other')).error).toContain('another person');
  });

  test.each([
    ['whose name is their address', 'leaver', { userName: 'Leaver@example.com' }],
    [
      'whose name is another',
      'moved',
      { userName: 'moved', emails: [{ value: 'other@example.com' }, { value: 'Moved@example.com', primary: true }] },
    ],
  ])('is refused when SCIM has made them inactive, %s: they would be a new member', async (_who, subject, wanted) => {
    provider.people.set(subject, { email: `${subject}@example.com`, groups: ['engineers'] });
    const { body } = await ask('/scim/v2/Users', { json: wanted, headers: owner });
    const { user } = await logIn(subject);
    const inactive = { schemas: [PATCH], Operations: [{ op: 'replace', path: 'active', value: false }] };
    expect((await ask(`/scim/v2/Users/${body.id}`, { json: inactive, method: 'PATCH', headers: owner })).body.active).toBe(false);
    // What else is known of somebody who left is erased by then.
    await expect.poll(async () => (await pool.query('select from departed_users')).rowCount, { timeout: 30_000 }).toBe(0);
    expect(await signIn(subject)).toMatchObject({ code: null, error: expect.stringContaining('not active') });
    expect(await roleOf(user.user_id)).toBeUndefined();
    expect((await ask(`/scim/v2/Users/${body.id}`, { headers: owner })).body).toMatchObject({ active: false, userName: wanted.userName });
  });

  test('gets in as the one who is active, where the directory keeps somebody inactive with the same address', async () => {
    provider.people.set('back', { email: 'back@example.com', groups: ['engineers'] });
    const emails = [{ value: 'back@example.com' }];
    await ask('/scim/v2/Users', { json: { userName: 'back-2024', emails, active: false }, headers: owner });
    expect((await signIn('back')).code).toBeNull();
    await ask('/scim/v2/Users', { json: { userName: 'back-2026', emails }, headers: owner });
    expect((await signIn('back')).code).not.toBeNull();
  });

  test('gets into no account while administrators are of several, and nobody has said whose the directory is', async () => {
    provider.people.set('newcomer', { email: 'newcomer@example.com', groups: ['engineers'] });
    const { body } = await ask('/v1/users', {
      json: { email: 'second@example.com', password: 'seven grey herons at dawn' },
      headers: { 'x-internal-secret': server.bootstrap.internal_secret },
    });
    const promote = (role: string) => pool.query('update users set role = $2 where id = $1', [body.user_id, role]);
    await promote('admin');
    expect((await signIn('newcomer')).error).toContain('DIRECTORY_ACCOUNT_ID');
    expect((await ask('/scim/v2/Users', { headers: owner })).status).toBe(403);
    await promote('member');
    expect((await signIn('newcomer')).code).not.toBeNull();
  });

  test('does not get into another account of the gateway', async () => {
    const json = { email: 'elsewhere@example.com', password: 'seven grey herons at dawn' };
    const headers = { 'x-internal-secret': server.bootstrap.internal_secret };
    expect((await ask('/v1/users', { json, headers })).status).toBe(201);
    provider.people.set('elsewhere', { email: json.email, groups: ['engineers'] });
    expect((await signIn('elsewhere')).error).toContain('another account');
  });
});

describe('the code that comes back', () => {
  test('is worth nothing without the verifier, and works once', async () => {
    provider.people.set('grace', { email: 'grace@example.com', groups: ['finance'] });
    const stolen = (await signIn('grace')).code;
    expect((await take(stolen, 'the-verifier-of-somebody-else-who-saw-the-code')).body.code).toBe('invalid_token');
    expect((await take(stolen)).body.code).toBe('invalid_token');
    const { code } = await signIn('grace');
    expect((await take(code)).status).toBe(200);
    expect((await take(code)).body.code).toBe('invalid_token');
  });

  test('goes to this gateway and to programs on the caller’s computer alone', async () => {
    for (const redirect_uri of ['https://evil.example/', 'http://127.0.0.1.evil.example/', 'http://x@127.0.0.1:1/', 'nothing']) {
      const { status, body } = await ask(begin({ redirect_uri }).slice(server.url.length));
      expect([status, body.code]).toEqual([422, 'validation_failed']);
    }
    expect((await ask(begin({ code_challenge: 'plain' }).slice(server.url.length))).status).toBe(422);
  });
});

test('a return that nobody waits for is refused, also a second one', async () => {
  expect((await ask('/sign-in/callback?code=x&state=forged')).body.code).toBe('invalid_token');
});

test('password login can be switched off, and owners log in with a password all the same', async () => {
  provider.people.set('alan', { email: 'alan@example.com', groups: ['engineers'] });
  const { user, auth } = await logIn('alan');
  const [email, password] = ['alan@example.com', 'seven grey herons at dawn'];
  await pool.query('update users set password_hash = o.password_hash from users o where users.id = $1 and o.email = $2', [
    user.user_id,
    server.bootstrap.admin_email,
  ]);
  const json = { email, password: server.bootstrap.admin_password };
  expect((await ask('/v1/users/login', { json })).status).toBe(200);
  const off = { method: 'PUT', json: { password: false } };
  expect((await ask('/v1/users/login/methods', { ...off, headers: auth })).body.code).toBe('forbidden');
  expect((await ask('/v1/users/login/methods', { ...off, headers: owner })).body).toEqual({ password: false });
  expect((await ask('/v1/users/login', { json })).body.code).toBe('directory_login_required');
  expect((await ask('/v1/users/login', { json: { email, password } })).body.code).toBe('invalid_credentials');
  const own = { email: server.bootstrap.admin_email, password: server.bootstrap.admin_password };
  expect((await ask('/v1/users/login', { json: own })).status).toBe(200);
});

test('a logout ends the session here and says where the one at the directory ends', async () => {
  provider.people.set('linus', { email: 'linus@example.com', groups: ['engineers'] });
  const { auth } = await logIn('linus');
  const { body } = await ask('/v1/users/logout/directory', { method: 'POST', headers: auth });
  expect(body.logout_url).toContain(`${provider.issuer}/session/end?client_id=${CLIENT.id}`);
  expect((await ask('/v1/users/me', { headers: auth })).body.code).toBe('invalid_credentials');
});

test('somebody who logs out at the directory has no session here any more', async () => {
  provider.people.set('barbara', { email: 'barbara@example.com', groups: ['engineers'] });
  const { auth } = await logIn('barbara');
  const other = await logIn('ada');
  const logout = await ask('/v1/users/logout/directory', { method: 'POST', headers: (await logIn('barbara')).auth });
  expect((await ask('/v1/users/me', { headers: auth })).status).toBe(200);
  await provider.signOut(logout.body.logout_url, 'barbara');
  await expect.poll(async () => (await ask('/v1/users/me', { headers: auth })).status, { timeout: 60_000, interval: 5 }).toBe(401);
  expect((await ask('/v1/users/me', { headers: other.auth })).status).toBe(200);
});

test('a logout token that the directory has not signed ends nothing', async () => {
  const forged = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${Buffer.from('{"sub":"ada"}').toString('base64url')}.`;
  const answer = await fetch(`${server.url}/sign-in/backchannel-logout`, {
    method: 'POST',
    body: new URLSearchParams({ logout_token: forged }),
  });
  expect([answer.status, (await answer.json()).code]).toEqual([400, 'invalid_token']);
});
