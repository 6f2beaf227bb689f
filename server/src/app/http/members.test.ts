import { contract, SCOPES, scopesOfRole } from '@tallygate/contract';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { revokeKeysInProject, revokeProjectKeys } from '../../access/keys/index.ts';
import { ProjectMembers, Projects, projectRoutes } from '../../access/projects/index.ts';
import { testCredentials } from './credential-matrix.ts';
import { endpointsOf } from './endpoint.ts';
import { type Instance, MovableClock, newKey, openTestDatabase, PASSWORD, send, signUp, startInstance } from './testing/account-api.ts';
import { openMailbox } from './testing/mailbox.ts';

type Auth = Record<string, string>;
type Role = 'owner' | 'admin' | 'billing' | 'developer' | 'viewer';

const NEW_PASSWORD = 'nine quiet otters by noon';
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
  const projectMembers = new ProjectMembers({ pool: pool, clock, revokeKeys: revokeKeysInProject });
  api = await startInstance(db.database, db.url, {
    clock,
    endpoints: endpointsOf(contract.projects, projectRoutes(projects, projectMembers)),
  });
  mailbox = openMailbox(api, db.database);
});
beforeEach(async () => {
  clock.offsetMs = 0;
  owner = await signUp(api);
  await proveAddress(owner.userId);
});
afterAll(async () => {
  await api?.close();
  await db?.close();
});

testCredentials(() => ({ api, database: db.database }), contract.members);

/** As if its reader had opened the link. */
const proveAddress = (userId: string, at: Date | null = new Date()) =>
  db.database.pool.query('update users set email_verified_at = $2 where id = $1', [userId, at]);
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

/** Waits until so many statements of this database wait for a lock. */
const waitingFor = (count: number) =>
  vi.waitFor(
    async () => {
      const { rows } = await db.database.pool.query(
        "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      );
      expect(rows).toHaveLength(count);
    },
    { timeout: 30_000, interval: 5 },
  );

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

  test('is sent in the name of a confirmed address, with no words of which a mail program makes a link', async () => {
    const stranger = await signUp(api);
    expect((await invite('none@members.example', 'viewer', stranger.auth)).body.code).toBe('forbidden');
    await db.database.pool.query('update accounts set name = $2 where id = $1', [
      owner.accountId,
      'http://evil.example/win a@evil.example Inc.',
    ]);
    await invite('linked@members.example', 'viewer');
    const [{ subject = '', text = '' } = {}] = await mailbox.to('linked@members.example');
    expect(subject).toBe(`${owner.email} invites you to Tallygate`);
    expect(text).toContain('“http evil example win a evil example Inc.”');
  });

  test('waits once its account has sent fifty, from wherever they are sent', async () => {
    clock.stoppedAtMs = clock.now();
    try {
      const sent = await Promise.all(Array.from({ length: 50 }, () => invite(anybody(), 'viewer')));
      expect(new Set(sent.map(({ status }) => status))).toEqual(new Set([201]));
      expect((await invite(anybody(), 'viewer')).body.code).toBe('rate_limited');
    } finally {
      clock.stoppedAtMs = undefined;
    }
  });

  test('that is being accepted keeps its account from being closed', async () => {
    await invite('closing@members.example', 'viewer');
    const token = await mailbox.tokenFor('closing@members.example', 'accept-invitation');
    const waiting = await db.database.pool.connect();
    try {
      await waiting.query('begin');
      await waiting.query('select 1 from member_invitations where account_id = $1 for update', [owner.accountId]);
      const accepted = accept(token);
      await waitingFor(1);
      const closed = post('/v1/users/me/close', { password: PASSWORD });
      await waitingFor(2);
      await waiting.query('rollback');
      expect((await Promise.all([accepted, closed])).map(({ status }) => status)).toEqual([201, 409]);
    } finally {
      waiting.release();
    }
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
    ['reads models', ['owner', 'admin', 'billing', 'developer', 'viewer'], (auth) => get('/v1/models/gpt-4o-mini', auth)],
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

  test('gives its member no secret of another’s key with a scope that their roles do not open', async () => {
    const operator = await signUp(api, 'admin');
    await proveAddress(operator.userId);
    const email = anybody();
    await invite(email, 'owner', operator.auth);
    await accept(await mailbox.tokenFor(email, 'accept-invitation'));
    const auth = await login(email);
    const rotate = (keyId: string, by: Auth) => post(`/v1/keys/${keyId}/rotate`, {}, by);
    for (const scope of SCOPES.filter((name) => !scopesOfRole('member').includes(name))) {
      const { keyId } = await newKey(api, operator.auth, { scopes: [scope] });
      expect([scope, (await rotate(keyId, auth)).body.code]).toEqual([scope, 'forbidden']);
      expect((await rotate(keyId, operator.auth)).status).toBe(200);
    }
    const { keyId } = await newKey(api, operator.auth, { scopes: ['inference'] });
    expect((await rotate(keyId, auth)).status).toBe(200);
    const theirs = await newKey(api, auth, {});
    const widened = { method: 'PATCH', headers: operator.auth, json: { scopes: ['admin:write'] } };
    expect((await send(api, `/v1/keys/${theirs.keyId}`, widened)).body.code).toBe('forbidden');
  });

  test.each([
    { to: "account_role = 'viewer'", code: 'forbidden' },
    { to: 'closed_at = now()', code: 'forbidden' },
  ])('that is lost ($to) while a change of members waits stops that change', async ({ to, code }) => {
    const [admin, member] = [await join('admin'), await join('viewer')];
    const waiting = await db.database.pool.connect();
    try {
      await waiting.query('begin');
      await waiting.query("select pg_advisory_xact_lock(hashtextextended('members:' || $1, 0))", [owner.accountId]);
      const changes = [
        change(member.userId, 'admin', admin.auth),
        invite(anybody(), 'admin', admin.auth),
        remove(member.userId, admin.auth),
      ];
      await waitingFor(changes.length);
      await waiting.query(`update users set ${to} where id = $1`, [admin.userId]);
      await waiting.query('commit');
      expect((await Promise.all(changes)).map(({ body }) => body.code)).toEqual([code, code, code]);
    } finally {
      waiting.release();
    }
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

  test('knows the secret of no key that works, and invited nobody who can still come', async () => {
    const member = await join('admin');
    const [before, during, after] = [await newKey(api, owner.auth), await newKey(api, owner.auth), await newKey(api, owner.auth)];
    const rotate = (keyId: string, auth: Auth, grace_seconds: number) => post(`/v1/keys/${keyId}/rotate`, { grace_seconds }, auth);
    for (const { keyId } of [before, during, after]) await rotate(keyId, member.auth, 0);
    await rotate(during.keyId, owner.auth, 3600);
    await rotate(after.keyId, owner.auth, 0);
    await invite('second@members.example', 'admin', member.auth);
    await remove(member.userId);
    const { body } = await get('/v1/keys');
    const statusOf = ({ keyId }: { keyId: string }) => body.find(({ key_id }: { key_id: string }) => key_id === keyId).status;
    expect([before, during, after].map(statusOf)).toEqual(['revoked', 'revoked', 'active']);
    expect((await accept(await mailbox.tokenFor('second@members.example', 'accept-invitation'))).body.code).toBe('invalid_token');
  });

  test.each([
    { role: 'viewer', lives: { owner: false, developer: false } },
    { role: 'admin', lives: { owner: false, developer: true } },
  ] as const)('or becomes $role leaves no invitation that they could not make', async ({ role, lives }) => {
    const member = await join('owner');
    const sent = { owner: anybody(), developer: anybody() };
    for (const invited of ['owner', 'developer'] as const) await invite(sent[invited], invited, member.auth);
    await change(member.userId, role);
    for (const invited of ['owner', 'developer'] as const)
      expect((await accept(await mailbox.tokenFor(sent[invited], 'accept-invitation'))).status === 201).toBe(lives[invited]);
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

describe('an address that its reader proves by a reset, after others were let into its account', () => {
  const reset = async () => {
    await post('/v1/users/password-reset', { email: owner.email }, {});
    const token = await mailbox.tokenFor(owner.email, 'reset-password');
    expect((await post('/v1/users/password-reset/confirm', { token, new_password: NEW_PASSWORD }, {})).status).toBe(204);
    const { body } = await post('/v1/users/login', { email: owner.email, password: NEW_PASSWORD }, {});
    return { authorization: `Bearer ${body.session.token}` };
  };

  test('has no other member, key or invitation from before, and is its owner', async () => {
    const squatter = await join('owner');
    await proveAddress(owner.userId, null);
    const { auth } = await newKey(api, squatter.auth, {});
    const waiting = anybody();
    await invite(waiting, 'owner', squatter.auth);
    expect((await change(owner.userId, 'viewer', squatter.auth)).status).toBe(200);
    const reader = await reset();
    expect((await get('/v1/members', reader)).body.data).toMatchObject([{ user_id: owner.userId, account_role: 'owner' }]);
    expect((await get('/v1/users/me', squatter.auth)).body.code).toBe('invalid_credentials');
    await vi.waitFor(async () => expect((await get('/v1/keys', auth)).body.code).toBe('invalid_credentials'), { timeout: 30_000 });
    expect((await accept(await mailbox.tokenFor(waiting, 'accept-invitation'))).body.code).toBe('invalid_token');
  });

  test('keeps its members where it was proven before', async () => {
    const member = await join('developer');
    const reader = await reset();
    expect((await get('/v1/members', reader)).body.data).toHaveLength(2);
    expect((await get('/v1/users/me', member.auth)).status).toBe(200);
  });
});
