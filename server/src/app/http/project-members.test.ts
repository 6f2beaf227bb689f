import { contract } from '@tallygate/contract';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { revokeKeysInProject, revokeProjectKeys } from '../../access/keys/index.ts';
import { ProjectMembers, Projects, projectRoutes } from '../../access/projects/index.ts';
import { expectWithinASecond } from '../../kernel/testing/within-a-second.ts';
import { testCredentials } from './credential-matrix.ts';
import { endpointsOf } from './endpoint.ts';
import { type Instance, newKey, openTestDatabase, PASSWORD, send, signUp, startInstance } from './testing/account-api.ts';

type Auth = Record<string, string>;
const ROLES = ['owner', 'admin', 'billing', 'developer', 'viewer'] as const;

let db: Awaited<ReturnType<typeof openTestDatabase>>;
let api: Instance;
let owner: Awaited<ReturnType<typeof signUp>>;
let project: string;
let people = 0;

beforeAll(async () => {
  db = await openTestDatabase();
  const { pool } = db.database;
  const clock = { now: Date.now };
  const projects = new Projects({ pool, clock, revokeKeys: revokeProjectKeys });
  const members = new ProjectMembers({ pool, clock, revokeKeys: revokeKeysInProject });
  api = await startInstance(db.database, db.url, { clock, endpoints: endpointsOf(contract.projects, projectRoutes(projects, members)) });
});
beforeEach(async () => {
  owner = await signUp(api);
  project = await newProject();
});
afterAll(async () => {
  await api?.close();
  await db?.close();
});

const get = (path: string, auth: Auth = owner.auth) => send(api, path, { headers: auth });
const post = (path: string, json: object, auth: Auth = owner.auth) => send(api, path, { headers: auth, json });
const put = (userId: string, project_role: 'admin' | 'member', auth: Auth = owner.auth, projectId = project) =>
  send(api, `/v1/projects/${projectId}/members/${userId}`, { method: 'PUT', headers: auth, json: { project_role } });
const remove = (userId: string, auth: Auth = owner.auth) =>
  send(api, `/v1/projects/${project}/members/${userId}`, { method: 'DELETE', headers: auth });
const membersOf = async (auth: Auth = owner.auth) => (await get(`/v1/projects/${project}/members`, auth)).body.data;
const keyIn = (auth: Auth, projectId = project) =>
  post('/v1/keys', { name: 'in the project', scopes: ['inference', 'account:read'], project_id: projectId }, auth);

async function newProject(): Promise<string> {
  const { body } = await post('/v1/projects', { name: 'search' });
  return body.project_id;
}

/** Somebody who is in the account of the owner. */
async function join(role: (typeof ROLES)[number]) {
  const email = `project-member-${++people}@example.com`;
  const user = await api.users.create({ email, password: PASSWORD });
  await db.database.pool.query('update users set account_id = $2, account_role = $3 where id = $1', [user.id, owner.accountId, role]);
  const { body } = await post('/v1/users/login', { email, password: PASSWORD }, {});
  return { userId: user.id, email, auth: { authorization: `Bearer ${body.session.token}` } };
}

testCredentials(() => ({ api, database: db.database }), contract.projects);

describe('what somebody may do in a project', () => {
  /** By role in the account, and in the project: see it, make a key in it, add others to it. */
  const MAY: readonly [(typeof ROLES)[number], 'admin' | 'member' | 'nothing', boolean, boolean, boolean][] = [
    ['owner', 'nothing', true, true, true],
    ['admin', 'nothing', true, true, true],
    ['billing', 'nothing', true, false, false],
    ['viewer', 'nothing', true, false, false],
    ['viewer', 'member', true, false, false],
    ['developer', 'nothing', false, false, false],
    ['developer', 'member', true, true, false],
    ['developer', 'admin', true, true, true],
  ];

  test.each(MAY)('%s of the account, %s in the project: sees %s, makes keys %s, adds members %s', async (role, inProject, ...may) => {
    const person = await join(role);
    if (inProject !== 'nothing') expect((await put(person.userId, inProject)).status).toBe(200);
    const other = await join('developer');
    const [sees, makes, adds] = may;
    expect((await get('/v1/projects', person.auth)).body.data.length).toBe(sees ? 1 : 0);
    expect((await get(`/v1/projects/${project}`, person.auth)).status).toBe(sees ? 200 : 404);
    expect((await get(`/v1/projects/${project}/members`, person.auth)).status).toBe(sees ? 200 : 404);
    expect((await keyIn(person.auth)).status === 201).toBe(makes);
    expect((await put(other.userId, 'member', person.auth)).status).toBe(adds ? 200 : sees ? 403 : 404);
    expect((await remove(other.userId, person.auth)).status).toBe(adds ? 204 : sees ? 403 : 404);
  });

  test('a developer sees their own keys and those of their projects, and moves none into another', async () => {
    const developer = await join('developer');
    await put(developer.userId, 'member');
    const elsewhere = await newProject();
    const [own, ours] = [await newKey(api, developer.auth), (await keyIn(owner.auth)).body.key_id];
    const hidden = [(await keyIn(owner.auth, elsewhere)).body.key_id, (await newKey(api, owner.auth)).keyId];
    const seen = (await get('/v1/keys', developer.auth)).body.map(({ key_id }: { key_id: string }) => key_id);
    expect(seen.toSorted()).toEqual([own.keyId, ours].toSorted());
    for (const keyId of hidden) expect((await get(`/v1/keys/${keyId}`, developer.auth)).status).toBe(404);
    const move = await send(api, `/v1/keys/${own.keyId}`, { method: 'PATCH', headers: developer.auth, json: { project_id: elsewhere } });
    expect(move.status).toBe(404);
    expect((await get(`/v1/keys/${ours}`, own.auth)).status).toBe(200);
    expect((await get(`/v1/keys/${hidden[0]}`, own.auth)).status).toBe(404);
  });
});

describe('members of a project', () => {
  test('are added once, given another role, and listed', async () => {
    const { userId, email } = await join('developer');
    const { status, body } = await put(userId, 'member');
    expect([status, body]).toEqual([200, { user_id: userId, email, name: null, project_role: 'member', added_at: expect.any(String) }]);
    await put(userId, 'member');
    expect((await put(userId, 'admin')).body).toEqual({ ...body, project_role: 'admin' });
    expect(await membersOf()).toEqual([{ ...body, project_role: 'admin' }]);
    const { data } = (await get('/v1/audit-log')).body;
    expect(data.map(({ action }: { action: string }) => action).filter((action: string) => action.startsWith('project.'))).toEqual([
      'project.member_changed',
      'project.member_added',
      'project.created',
    ]);
  });

  test('are people of the account, and its projects are its own', async () => {
    const stranger = await signUp(api);
    expect((await put(stranger.userId, 'member')).status).toBe(404);
    expect((await put(owner.userId, 'member', stranger.auth)).status).toBe(404);
    expect((await get(`/v1/projects/${project}/members`, stranger.auth)).status).toBe(404);
    expect((await remove(stranger.userId)).status).toBe(404);
  });

  test('lose their keys of the project when they are removed, within a second, and no others', async () => {
    const developer = await join('developer');
    const [kept, others] = [await newKey(api, developer.auth), (await keyIn(owner.auth)).body];
    const works = async (key: string) => (await get('/v1/keys', { authorization: `Bearer ${key}` })).status === 200;
    await expectWithinASecond(async () => {
      await put(developer.userId, 'member');
      const { key } = (await keyIn(developer.auth)).body;
      expect(await works(key)).toBe(true);
      expect((await remove(developer.userId)).status).toBe(204);
      return async () => !(await works(key));
    });
    expect([await works(kept.key), await works(others.key)]).toEqual([true, true]);
    expect((await keyIn(developer.auth)).status).toBe(404);
    expect((await get('/v1/projects', developer.auth)).body.data).toEqual([]);
  });

  test('leave by themselves, and with the account', async () => {
    const [first, second] = [await join('developer'), await join('developer')];
    for (const { userId } of [first, second]) await put(userId, 'member');
    expect((await remove(second.userId, first.auth)).status).toBe(403);
    expect((await remove(first.userId, first.auth)).status).toBe(204);
    await send(api, `/v1/members/${second.userId}`, { method: 'DELETE', headers: owner.auth });
    expect(await membersOf()).toEqual([]);
  });

  test('cannot make a key while they are being removed that goes on afterwards', async () => {
    const developer = await join('developer');
    await put(developer.userId, 'member');
    await Promise.all([keyIn(developer.auth), keyIn(developer.auth), remove(developer.userId), keyIn(developer.auth)]);
    const { rows } = await db.database.pool.query('select 1 from api_keys where user_id = $1 and revoked_at is null', [developer.userId]);
    expect(rows).toEqual([]);
  });
});
