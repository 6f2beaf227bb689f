import { contract } from '@tallygate/contract';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { revokeProjectKeys } from '../../access/keys/index.ts';
import { Projects, projectRoutes } from '../../access/projects/index.ts';
import { testCredentials } from './credential-matrix.ts';
import { endpointsOf } from './endpoint.ts';
import { type Instance, MovableClock, newKey, openTestDatabase, PASSWORD, send, signUp, startInstance } from './testing/account-api.ts';
import { openMailbox } from './testing/mailbox.ts';

type Auth = Record<string, string>;
type Role = 'owner' | 'admin' | 'billing' | 'developer' | 'viewer';

const clock = new MovableClock();
let db: Awaited<ReturnType<typeof openTestDatabase>>;
let api: Instance;
let mailbox: ReturnType<typeof openMailbox>;
let owner: Awaited<ReturnType<typeof signUp>>;
let people = 0;

beforeAll(async () => {
  db = await openTestDatabase();
  const { pool } = db.database;
  const projects = new Projects({ pool, clock, revokeKeys: revokeProjectKeys });
  api = await startInstance(db.database, db.url, { clock, endpoints: endpointsOf(contract.projects, projectRoutes(projects)) });
  mailbox = openMailbox(api, db.database);
});
beforeEach(async () => {
  clock.offsetMs = 0;
  owner = await signUp(api);
});
afterAll(async () => {
  await api?.close();
  await db?.close();
});

testCredentials(() => ({ api, database: db.database }), contract.members);

const get = (path: string, auth: Auth = owner.auth) => send(api, path, { headers: auth });
const post = (path: string, json: object, auth: Auth = owner.auth) => send(api, path, { headers: auth, json });
const change = (userId: string, account_role: Role, auth: Auth = owner.auth) =>
  send(api, `/v1/members/${userId}`, { method: 'PATCH', headers: auth, json: { account_role } });
const remove = (userId: string, auth: Auth = owner.auth) => send(api, `/v1/members/${userId}`, { method: 'DELETE', headers: auth });
const invite = (email: string, account_role: Role, auth: Auth = owner.auth) =>
  post('/v1/members/invitations', { email, account_role }, auth);
const accept = (token: string, more: object = {}) => post('/v1/members/accept', { token, new_password: PASSWORD, ...more }, {});

/** An address that was in no test before. */
const anybody = (): string => {
  people += 1;
  return `member-${people}@example.com`;
};

async function join(role: Role) {
  const email = anybody();
  expect((await invite(email, role)).status).toBe(201);
  const { body } = await accept(await mailbox.tokenFor(email, 'accept-invitation'), { name: 'Grace' });
  const auth = await login(email);
  return { email, userId: String(body.user_id), auth };
}

async function login(email: string): Promise<Auth> {
  const { body } = await post('/v1/users/login', { email, password: PASSWORD }, {});
  return { authorization: `Bearer ${body.session.token}` };
}

test('names and addresses of members are read with a session, and by no API key', async () => {
  const { body } = await post('/v1/keys', { name: 'reads', scopes: ['inference', 'account:read'] });
  expect((await get('/v1/members', { authorization: `Bearer ${String(body.key)}` })).status).toBe(403);
  expect((await get('/v1/members')).body.data).toMatchObject([{ account_role: 'owner' }]);
});

describe('an invitation', () => {
  test('makes a member of the account that it came from, once', async () => {
    const { body: sent } = await invite('ada@members.example', 'developer');
    expect((await get('/v1/members/invitations')).body.data).toEqual([sent]);
    const token = await mailbox.tokenFor('ada@members.example', 'accept-invitation');
    const { status, body } = await accept(token, { name: 'Ada' });
    expect([status, body]).toEqual([
      201,
      expect.objectContaining({ email: 'ada@members.example', name: 'Ada', account_role: 'developer' }),
    ]);
    const me = (await get('/v1/users/me', await login('ada@members.example'))).body;
    expect(me).toMatchObject({ account_id: owner.accountId, email_verified: true });
    expect((await accept(token)).body.code).toBe('invalid_token');
    expect((await get('/v1/members/invitations')).body.data).toEqual([]);
    expect((await get('/v1/members')).body.data.map(({ account_role }: { account_role: Role }) => account_role)).toEqual([
      'developer',
      'owner',
    ]);
  });

  test('is replaced by another one, withdrawn, and over after a week', async () => {
    await invite('twice@members.example', 'viewer');
    const first = await mailbox.tokenFor('twice@members.example', 'accept-invitation');
    const { body } = await invite('twice@members.example', 'billing');
    expect((await accept(first)).body.code).toBe('invalid_token');
    const second = await mailbox.tokenFor('twice@members.example', 'accept-invitation');
    await send(api, `/v1/members/invitations/${body.invitation_id}`, { method: 'DELETE', headers: owner.auth });
    expect((await accept(second)).body.code).toBe('invalid_token');
    await invite('late@members.example', 'viewer');
    const late = await mailbox.tokenFor('late@members.example', 'accept-invitation');
    clock.offsetMs = 7 * 86_400_000 + 1;
    expect((await accept(late)).body.code).toBe('invalid_token');
  });

  test('of somebody who has an account is refused where it is accepted, and tells the inviter nothing', async () => {
    const other = await signUp(api);
    const { body } = await get('/v1/users/me', other.auth);
    expect((await invite(body.email, 'viewer')).status).toBe(201);
    expect((await accept(await mailbox.tokenFor(body.email, 'accept-invitation'))).body.code).toBe('conflict');
  });

  test('needs a password that is not easy to guess', async () => {
    await invite('weak@members.example', 'viewer');
    const token = await mailbox.tokenFor('weak@members.example', 'accept-invitation');
    expect((await accept(token, { new_password: 'password12' })).body.code).toBe('validation_failed');
    expect((await accept(token)).status).toBe(201);
  });
});

describe('a role', () => {
  const attempts: [what: string, roles: Role[], attempt: (auth: Auth) => Promise<{ status: number; body: { code?: string } }>][] = [
    ['reads keys', ['owner', 'admin', 'billing', 'developer', 'viewer'], (auth) => get('/v1/keys', auth)],
    ['makes API keys', ['owner', 'admin', 'developer'], (auth) => post('/v1/keys', { name: 'mine' }, auth)],
    ['makes projects', ['owner', 'admin'], (auth) => post('/v1/projects', { name: 'mine' }, auth)],
    ['invites members', ['owner', 'admin'], (auth) => invite(anybody(), 'viewer', auth)],
    ['invites owners', ['owner'], (auth) => invite(anybody(), 'owner', auth)],
    [
      'makes keys that run models',
      ['owner', 'admin', 'developer'],
      (auth) => post('/v1/keys', { name: 'mine', scopes: ['inference'] }, auth),
    ],
    ['reads the audit log', ['owner', 'admin', 'billing'], (auth) => get('/v1/audit-log', auth)],
    [
      'switches storing',
      ['owner', 'admin'],
      (auth) => send(api, '/v1/users/me', { method: 'PATCH', headers: auth, json: { stores_content: false } }),
    ],
  ];

  test('lets its members do what it is for, and nothing else', async () => {
    const members = await Promise.all(
      (['admin', 'billing', 'developer', 'viewer'] as const).map(async (role) => ({ role, ...(await join(role)) })),
    );
    const wrong: string[] = [];
    for (const { role, auth } of [{ role: 'owner' as Role, auth: owner.auth }, ...members]) {
      for (const [what, roles, attempt] of attempts) {
        const { status, body } = await attempt(auth);
        const isRefused = status === 403 && body.code === 'forbidden';
        if (isRefused === roles.includes(role)) wrong.push(`${role} ${what}: ${status} ${body.code}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  test('bounds the API keys of its member, from the next request on', async () => {
    const member = await join('developer');
    const { auth } = await newKey(api, member.auth, { scopes: ['inference', 'account:read', 'keys:write'] });
    expect((await post(contract.inference.createChatCompletion.path, {}, auth)).status).toBe(418);
    const made = await newKey(api, owner.auth, {});
    expect((await send(api, `/v1/keys/${made.keyId}`, { method: 'DELETE', headers: auth })).body.code).toBe('forbidden');
    expect((await send(api, `/v1/keys/${made.keyId}`, { method: 'DELETE', headers: member.auth })).body.code).toBe('forbidden');
    expect((await post('/v1/keys', { name: 'x', scopes: ['billing:write'] }, member.auth)).body.code).toBe('forbidden');
    await change(member.userId, 'viewer');
    expect((await post('/v1/keys', { name: 'x' }, member.auth)).body.code).toBe('forbidden');
    await vi.waitFor(async () => expect((await get('/v1/keys', auth)).status).toBe(200));
  });

  test('of an owner is an owner’s matter, and the last one stays', async () => {
    const admin = await join('admin');
    expect((await change(owner.userId, 'viewer', admin.auth)).body.code).toBe('forbidden');
    expect((await change(admin.userId, 'owner', admin.auth)).body.code).toBe('forbidden');
    expect((await remove(owner.userId, admin.auth)).body.code).toBe('forbidden');
    expect((await change(owner.userId, 'admin')).body.code).toBe('conflict');
    expect((await remove(owner.userId)).body.code).toBe('conflict');
    expect((await change(admin.userId, 'owner')).body.account_role).toBe('owner');
    expect((await change(owner.userId, 'viewer')).body.account_role).toBe('viewer');
  });
});

describe('a member who is removed', () => {
  test('has no session and no key any more, and their address is free', async () => {
    const member = await join('developer');
    const { auth } = await newKey(api, member.auth, {});
    expect((await remove(member.userId)).status).toBe(204);
    expect((await get('/v1/users/me', member.auth)).body.code).toBe('invalid_credentials');
    await vi.waitFor(async () => expect((await get('/v1/keys', auth)).body.code).toBe('invalid_credentials'), {
      timeout: 30_000,
      interval: 5,
    });
    expect((await get('/v1/members')).body.data).toHaveLength(1);
    expect((await remove(member.userId)).body.code).toBe('not_found');
    expect((await invite(member.email, 'viewer')).status).toBe(201);
    expect((await accept(await mailbox.tokenFor(member.email, 'accept-invitation'))).status).toBe(201);
  });

  test('is none of another account’s', async () => {
    const stranger = await signUp(api);
    expect((await remove(owner.userId, stranger.auth)).body.code).toBe('not_found');
    expect((await change(owner.userId, 'viewer', stranger.auth)).body.code).toBe('not_found');
  });

  test('leaves an account that only its last member closes', async () => {
    const member = await join('developer');
    expect((await post('/v1/users/me/close', { password: PASSWORD })).body.code).toBe('conflict');
    expect((await post('/v1/users/me/close', { password: PASSWORD }, member.auth)).body.code).toBe('forbidden');
    await remove(member.userId);
    expect((await post('/v1/users/me/close', { password: PASSWORD })).status).toBe(204);
  });
});
