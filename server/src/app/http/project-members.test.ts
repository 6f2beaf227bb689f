import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join as pathOf } from 'node:path';
import { contract } from '@tallygate/contract';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { revokeKeysInProject, revokeProjectKeys } from '../../access/keys/index.ts';
import { ProjectMembers, Projects, projectRoutes } from '../../access/projects/index.ts';
import { InProcessLanes } from '../../adapters/lanes/in-process.ts';
import { SettlementJournal } from '../../adapters/lanes/settlement-journal.ts';
import { expectWithinASecond } from '../../kernel/testing/within-a-second.ts';
import { LedgerLaneSource } from '../../money/ledger/index.ts';
import { Limits, limitRoutes } from '../../money/limits/index.ts';
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
const folder = mkdtempSync(pathOf(tmpdir(), 'tallygate-projects-'));
let journal: SettlementJournal;

beforeAll(async () => {
  db = await openTestDatabase();
  const { pool } = db.database;
  const clock = { now: Date.now };
  const projects = new Projects({ pool, clock, revokeKeys: revokeProjectKeys });
  const members = new ProjectMembers({ pool, clock, revokeKeys: revokeKeysInProject });
  journal = new SettlementJournal(folder, () => {});
  const lanes = new InProcessLanes(new LedgerLaneSource(pool), journal);
  const limits = new Limits({ pool, lanes, clock, isModel: () => true, forgetKeys: () => {} });
  api = await startInstance(db.database, db.url, {
    clock,
    endpoints: [...endpointsOf(contract.projects, projectRoutes(projects, members)), ...endpointsOf(contract.limits, limitRoutes(limits))],
  });
});
beforeEach(async () => {
  owner = await signUp(api);
  project = await newProject();
});
afterAll(async () => {
  await api?.close();
  journal?.close();
  await db?.close();
  rmSync(folder, { recursive: true, force: true });
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

  test('a developer sees no limit of a project that they are not in, nor what it spends', async () => {
    const developer = await join('developer');
    const [ours, elsewhere] = [project, await newProject()];
    await put(developer.userId, 'member');
    const set = async (subject: string | null) => {
      const limit = { kind: 'project', subject, period: 'month', cap_usd: '5' };
      return (await send(api, '/v1/limits', { method: 'PUT', headers: owner.auth, json: limit })).body.limit_id;
    };
    const [own, hidden, each] = [await set(ours), await set(elsewhere), await set(null)];
    const listed = async (auth: Auth) => (await get('/v1/limits', auth)).body.data.map(({ limit_id }: { limit_id: string }) => limit_id);
    expect([await listed(developer.auth), await listed(owner.auth)]).toEqual([
      [each, own],
      [each, hidden, own],
    ]);
    const statuses = [own, hidden, `${each}?subject=${ours}`, `${each}?subject=${elsewhere}`].map(async (path) => [
      (await get(`/v1/limits/${path}`, developer.auth)).status,
      (await get(`/v1/limits/${path}`)).status,
    ]);
    expect(await Promise.all(statuses)).toEqual([
      [200, 200],
      [404, 200],
      [200, 200],
      [404, 200],
    ]);
  });

  test('a developer is not answered with the key of somebody else that has the same external id', async () => {
    const [developer, key] = [await join('developer'), { name: 'ci', external_id: 'ci-1' }];
    const made = await post('/v1/keys', key);
    const again = await post('/v1/keys', key, developer.auth);
    expect([again.status, again.body.code, again.text.includes(made.body.key_id)]).toEqual([409, 'conflict', false]);
  });
});

describe('members of a project', () => {
  test('are added once, given another role, and listed', async () => {
    const { userId, email } = await join('developer');
    const { status, body } = await put(userId, 'member');
    expect([status, body]).toEqual([
      200,
      { user_id: userId, email, name: null, project_role: 'member', by_directory: false, added_at: expect.any(String) },
    ]);
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

  test('are all who have a key in it, whoever made or moved it, so that removing them ends it', async () => {
    const [admin, developer] = [await join('admin'), await join('developer')];
    const [made, moved] = [(await keyIn(admin.auth)).body, await newKey(api, developer.auth)];
    const move = { method: 'PATCH', headers: owner.auth, json: { project_id: project } };
    expect((await send(api, `/v1/keys/${moved.keyId}`, move)).status).toBe(200);
    expect((await membersOf()).map(({ user_id }: { user_id: string }) => user_id)).toEqual([admin.userId, developer.userId]);
    await send(api, `/v1/members/${admin.userId}`, { method: 'PATCH', headers: owner.auth, json: { account_role: 'developer' } });
    expect((await get(`/v1/projects/${project}`, admin.auth)).status).toBe(200);
    for (const { userId } of [admin, developer]) expect((await remove(userId)).status).toBe(204);
    for (const keyId of [made.key_id, moved.keyId]) expect((await get(`/v1/keys/${keyId}`)).body.status).toBe('revoked');
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

describe('an admin who becomes a developer', () => {
  /** What is asked for while the role is being taken away, and waits for it. */
  async function whileDemoted(userId: string, change: () => ReturnType<typeof post>) {
    const holder = await db.database.pool.connect();
    await holder.query('begin');
    await holder.query("update users set account_role = 'developer' where id = $1", [userId]);
    const changing = change();
    const waiting =
      'select count(*)::int as count from pg_locks where not granted and pid in (select pid from pg_stat_activity where datname = current_database())';
    await expect.poll(async () => (await holder.query(waiting)).rows[0].count).toBeGreaterThan(0);
    await holder.query('commit');
    holder.release();
    return (await changing).status;
  }

  test('while their change of members waits no longer makes it', async () => {
    const [admin, other] = [await join('admin'), await join('developer')];
    expect(await whileDemoted(admin.userId, () => put(other.userId, 'member', admin.auth))).toBe(403);
    expect(await membersOf()).toEqual([]);
  });

  test('while their new project waits no longer makes it', async () => {
    const admin = await join('admin');
    expect(await whileDemoted(admin.userId, () => post('/v1/projects', { name: 'late' }, admin.auth))).toBe(403);
    expect((await get('/v1/projects')).body.data).toHaveLength(1);
  });

  test('while their change of a project waits no longer makes it', async () => {
    const admin = await join('admin');
    const rename = () => send(api, `/v1/projects/${project}`, { method: 'PATCH', headers: admin.auth, json: { name: 'late' } });
    expect(await whileDemoted(admin.userId, rename)).toBe(403);
    expect((await get(`/v1/projects/${project}`)).body.name).toBe('search');
  });
});
