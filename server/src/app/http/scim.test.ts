import { contract } from '@tallygate/contract';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { DirectoryGroups, DirectoryUsers, directoryRoutes } from '../../access/directory/index.ts';
import type { Identity } from '../../access/identity/index.ts';
import { revokeKeysInProject, revokeProjectKeys } from '../../access/keys/index.ts';
import { giveProjects, ProjectMembers, Projects, projectRoutes } from '../../access/projects/index.ts';
import { expectWithinASecond } from '../../kernel/testing/within-a-second.ts';
import { endpointsOf } from './endpoint.ts';
import { createPeerAddress } from './peer-address.ts';
import { scimRoutes } from './scim-api.ts';
import { type Instance, newKey, openTestDatabase, send, signUp, startInstance } from './testing/account-api.ts';
import { openMailbox } from './testing/mailbox.ts';

type Auth = Record<string, string>;

const USER = 'urn:ietf:params:scim:schemas:core:2.0:User';
const ERROR = 'urn:ietf:params:scim:api:messages:2.0:Error';
const clock = { now: Date.now };
let db: Awaited<ReturnType<typeof openTestDatabase>>;
let api: Instance;
let neighbour: Instance;
let owner: Awaited<ReturnType<typeof signUp>>;
let directory: Auth;
/** Whose directory the gateway believes: each test's own account. */
let believed: string;
let people = 0;

beforeAll(async () => {
  db = await openTestDatabase();
  const { pool } = db.database;
  const projects = projectRoutes(
    new Projects({ pool, clock, revokeKeys: revokeProjectKeys }),
    new ProjectMembers({ pool, clock, revokeKeys: revokeKeysInProject }),
  );
  const depsOf = (identity: Identity) => ({ em: db.database.orm.em, clock, identity, giveProjects: giveProjects(revokeKeysInProject) });
  const start = () =>
    startInstance(db.database, db.url, {
      endpoints: endpointsOf(contract.projects, projects),
      endpointsOver: (_keys, identity) => endpointsOf(contract.directory, directoryRoutes(new DirectoryGroups(depsOf(identity)))),
      routesOver: (identity) =>
        scimRoutes({
          users: new DirectoryUsers(depsOf(identity)),
          groups: new DirectoryGroups(depsOf(identity)),
          accountId: async () => believed,
          publicUrl: () => 'https://tallygate.test',
          peerAddress: createPeerAddress(['127.0.0.1']),
        }),
    });
  api = await start();
  neighbour = await start();
});
beforeEach(async () => {
  owner = await signUp(api);
  believed = owner.accountId;
  const { body } = await send(api, '/v1/management-keys', { headers: owner.auth, json: { name: 'directory', scopes: ['scim'] } });
  directory = { authorization: `Bearer ${body.key}` };
});
afterAll(async () => {
  await api?.close();
  await neighbour?.close();
  await db?.close();
});

const ask = (path: string, json?: object, method?: string, auth: Auth = directory) =>
  send(api, `/scim/v2/${path}`, { headers: auth, ...(json && { json }), ...(method !== undefined && { method }) });
const patch = (path: string, ...Operations: object[]) => ask(path, { Operations }, 'PATCH');

function somebody(more: object = {}) {
  people += 1;
  const userName = `person-${people}@directory.example`;
  return {
    schemas: [USER],
    userName,
    externalId: `d-${people}`,
    name: { givenName: 'Ada', familyName: 'Lovelace' },
    active: true,
    ...more,
  };
}

const membersOf = async () =>
  (await send(api, '/v1/members', { headers: owner.auth })).body.data as { user_id: string; email: string; account_role: string }[];
const memberOf = async (email: string) => (await membersOf()).find((member) => member.email === email);

/** A session and a key of a member whom the directory has made: nobody knows a password of theirs. */
async function loginsOf(email: string) {
  const user = await memberOf(email);
  const password = 'seven grey herons at dawn';
  await db.database.pool.query('update users set password_hash = (select password_hash from users where id = $2) where id = $1', [
    user?.user_id,
    owner.userId,
  ]);
  const { body } = await send(api, '/v1/users/login', { json: { email, password } });
  const session = { authorization: `Bearer ${body.session.token}` };
  return { session, key: (await newKey(api, session)).auth };
}

describe('a user of the directory', () => {
  test('becomes a member, is found by name and id, and has the form of RFC 7643', async () => {
    const wanted = somebody();
    const { status, headers, body } = await ask('Users', wanted);
    expect([status, headers.get('content-type')]).toEqual([201, 'application/scim+json; charset=utf-8']);
    expect(body).toMatchObject({ ...wanted, emails: [{ value: wanted.userName, primary: true }], meta: { resourceType: 'User' } });
    expect(headers.get('location')).toBe(`https://tallygate.test/scim/v2/Users/${body.id}`);
    expect(await memberOf(wanted.userName)).toMatchObject({ account_role: 'developer', name: 'Ada Lovelace' });
    for (const filter of [`userName eq "${wanted.userName.toUpperCase()}"`, `externalId eq "${wanted.externalId}"`, `id eq "${body.id}"`])
      expect((await ask(`Users?filter=${encodeURIComponent(filter)}`)).body).toMatchObject({
        totalResults: 1,
        Resources: [{ id: body.id }],
      });
    expect((await ask(`Users?filter=${encodeURIComponent('userName eq "nobody"')}`)).body).toMatchObject({
      totalResults: 0,
      Resources: [],
    });
    expect((await ask('Users', wanted)).body).toMatchObject({ schemas: [ERROR], status: '409', scimType: 'uniqueness' });
  });

  test.each([
    ['is deleted', (id: string) => ask(`Users/${id}`, undefined, 'DELETE')],
    ['is made inactive as Entra does it', (id: string) => patch(`Users/${id}`, { op: 'Replace', path: 'active', value: 'False' })],
    ['is made inactive as Okta does it', (id: string) => patch(`Users/${id}`, { op: 'replace', value: { active: false } })],
  ])('who %s has no session and no key a second later, on every instance', async (_how, takeOut) => {
    await expectWithinASecond(async () => {
      const wanted = somebody();
      const { body } = await ask('Users', wanted);
      const { session, key } = await loginsOf(wanted.userName);
      const isGone = async () => {
        const asked = [session, key].flatMap((headers) => [api, neighbour].map((instance) => send(instance, '/v1/users/me', { headers })));
        return (await Promise.all(asked)).every(({ status }) => status === 401);
      };
      expect(await isGone()).toBe(false);
      expect((await takeOut(body.id)).status).toBeLessThan(300);
      expect(await memberOf(wanted.userName)).toBeUndefined();
      return isGone;
    });
  });

  test('comes back as a member without what they had', async () => {
    const wanted = somebody();
    const { body } = await ask('Users', wanted);
    const before = await memberOf(wanted.userName);
    await patch(`Users/${body.id}`, { op: 'replace', path: 'active', value: false });
    expect((await ask(`Users/${body.id}`)).body.active).toBe(false);
    await patch(`Users/${body.id}`, { op: 'replace', path: 'active', value: true });
    expect((await memberOf(wanted.userName))?.user_id).not.toBe(before?.user_id);
  });

  test('who sets a password by mail is a member as before, and takes nothing over', async () => {
    const wanted = somebody();
    await ask('Users', wanted);
    const mailbox = openMailbox(api, db.database);
    await send(api, '/v1/users/password-reset', { json: { email: wanted.userName } });
    const token = await mailbox.tokenFor(wanted.userName, 'reset-password');
    const json = { token, new_password: 'eight blue kettles at noon' };
    expect((await send(api, '/v1/users/password-reset/confirm', { json })).status).toBe(204);
    expect(await memberOf(wanted.userName)).toMatchObject({ account_role: 'developer' });
    expect(await memberOf(owner.email)).toMatchObject({ account_role: 'owner' });
    expect((await ask('Users')).body.totalResults).toBe(1);
  });

  test('is changed by PUT and PATCH', async () => {
    const wanted = somebody();
    const { body } = await ask('Users', wanted);
    await patch(
      `Users/${body.id}`,
      { op: 'add', path: 'name.familyName', value: 'Byron' },
      { op: 'replace', path: `${USER}:externalId`, value: 'x' },
      { op: 'replace', path: 'emails[type eq "work"].value', value: 'other@directory.example' },
    );
    expect((await ask(`Users/${body.id}`)).body).toMatchObject({ externalId: 'x', name: { familyName: 'Byron' }, active: true });
    const { body: put } = await ask(`Users/${body.id}`, { ...wanted, displayName: 'The Countess' }, 'PUT');
    expect(put).toMatchObject({ displayName: 'The Countess', externalId: wanted.externalId });
    expect((await patch(`Users/${body.id}`, { op: 'remove' })).body).toMatchObject({ status: '400', scimType: 'noTarget' });
    expect((await patch(`Users/${body.id}`, { op: 'replace', path: 'a b', value: 1 })).body.scimType).toBe('invalidPath');
  });

  test('is neither an owner to remove nor somebody of another account', async () => {
    const { body } = await ask('Users', somebody({ userName: owner.email }));
    expect((await ask(`Users/${body.id}`, undefined, 'DELETE')).body).toMatchObject({ schemas: [ERROR], status: '403' });
    const stranger = await signUp(api);
    expect((await ask('Users', somebody({ userName: stranger.email }))).body).toMatchObject({ status: '409', scimType: 'uniqueness' });
    const theirs = await send(api, '/v1/management-keys', { headers: stranger.auth, json: { name: 'x', scopes: ['scim'] } });
    believed = stranger.accountId;
    expect((await ask(`Users/${body.id}`, undefined, 'GET', { authorization: `Bearer ${theirs.body.key}` })).status).toBe(404);
  });

  test('is not made by an account whose directory the operator has not named: nobody proved the address', async () => {
    const stranger = await signUp(api);
    const { userName } = somebody();
    const refused = await ask('Users', somebody({ userName }), 'POST', stranger.auth);
    expect([refused.status, refused.body]).toMatchObject([403, { schemas: [ERROR], status: '403' }]);
    expect((await ask('Users', somebody({ userName }))).status).toBe(201);
  });

  test.each([
    ['of more than a thousand characters', `filter=${'('.repeat(1_001)}`],
    ['that comes twice', 'filter=userName%20eq%20%22a%22&filter=userName%20eq%20%22b%22'],
  ])('is not looked for by a filter %s', async (_, query) => {
    const { status, body } = await ask(`Users?${query}`);
    expect([status, body]).toMatchObject([400, { schemas: [ERROR], status: '400', scimType: 'invalidFilter' }]);
  });

  test('has no null character in any text', async () => {
    const { body } = await ask('Users', somebody());
    const paths = ['userName', 'externalId', 'displayName', 'name.givenName', 'name.formatted', 'emails[type eq "work"].type'];
    const refused = await Promise.all(paths.map((path) => patch(`Users/${body.id}`, { op: 'add', path, value: 'a\0b' })));
    expect(refused.map(({ status, body: { scimType } }) => [status, scimType])).toEqual(paths.map(() => [400, 'invalidValue']));
    expect(await ask('Groups', { displayName: 'a\0b' })).toMatchObject({ status: 400, body: { scimType: 'invalidValue' } });
  });

  test('is listed page by page', async () => {
    for (const wanted of [somebody(), somebody(), somebody()]) await ask('Users', wanted);
    expect((await ask('Users?startIndex=2&count=1')).body).toMatchObject({ totalResults: 3, startIndex: 2, itemsPerPage: 1 });
    expect((await ask('Users?count=0')).body).toMatchObject({ totalResults: 3, Resources: [] });
    expect((await ask('Users?startIndex=-1&count=-1')).body).toMatchObject({ startIndex: 1, itemsPerPage: 0 });
    expect((await ask('Users?count=1e3')).body).toMatchObject({
      status: '400',
      scimType: 'invalidValue',
      detail: 'count must be a whole number.',
    });
    expect((await ask('Users?filter=userName%20sw%20%22a%22')).body).toMatchObject({ status: '400', scimType: 'invalidFilter' });
  });
});

describe('a group of the directory', () => {
  test('keeps every member that is added at the same time as others', async () => {
    const { body: group } = await ask('Groups', { displayName: 'Everybody', members: [] });
    const ids: string[] = [];
    for (let count = 0; count < 8; count++) ids.push((await ask('Users', somebody())).body.id);
    await Promise.all(ids.map((value) => patch(`Groups/${group.id}`, { op: 'add', path: 'members', value: [{ value }] })));
    const { members } = (await ask(`Groups/${group.id}`)).body;
    expect(members.map(({ value }: { value: string }) => value).toSorted()).toEqual(ids.toSorted());
  });

  test('gives its members the role that the account says, and takes it with them', async () => {
    const [ada, bob] = [somebody(), somebody()];
    const ids = [(await ask('Users', ada)).body.id, (await ask('Users', bob)).body.id];
    const { status, body: group } = await ask('Groups', { displayName: 'Finance', externalId: 'g1', members: [{ value: ids[0] }] });
    expect([status, group.members]).toEqual([201, [{ value: ids[0] }]]);
    const { body: groups } = await send(api, '/v1/directory/groups', { headers: owner.auth });
    expect(groups.data).toEqual([{ group_id: group.id, display_name: 'Finance', external_id: 'g1', account_role: null, projects: [] }]);
    const role = { headers: owner.auth, method: 'PATCH', json: { account_role: 'billing' } };
    expect((await send(api, `/v1/directory/groups/${group.id}`, role)).body.account_role).toBe('billing');
    const rolesOf = async () => Promise.all([ada, bob].map(async ({ userName }) => (await memberOf(userName))?.account_role));
    expect(await rolesOf()).toEqual(['billing', 'developer']);
    await patch(`Groups/${group.id}`, { op: 'add', path: 'members', value: [{ value: ids[1] }] });
    expect(await rolesOf()).toEqual(['billing', 'billing']);
    await patch(`Groups/${group.id}`, { op: 'remove', path: `members[value eq "${ids[0]}"]` });
    expect(await rolesOf()).toEqual(['developer', 'billing']);
    expect((await ask(`Groups/${group.id}`, undefined, 'DELETE')).status).toBe(204);
    expect(await rolesOf()).toEqual(['developer', 'developer']);
  });

  test('of three hundred members is saved in as many statements as one of two', async () => {
    const { body: first } = await ask('Users', somebody());
    const { pool } = db.database;
    const copied = async (table: string, id: string, differs: string) => {
      const text = `insert into ${table} select (jsonb_populate_record(null::${table}, to_jsonb(one) || ${differs})).*
        from ${table} one, generate_series(1, 300) n where one.id = $1 returning id`;
      return (await pool.query(text, [id])).rows.map((row) => String(row.id));
    };
    const user = (await pool.query('select user_id from directory_users where id = $1', [first.id])).rows[0].user_id;
    const users = await copied(
      'users',
      user,
      `jsonb_build_object('id', gen_random_uuid(), 'email', n || '@group.example', 'external_id', null)`,
    );
    const differs = `jsonb_build_object('id', gen_random_uuid(), 'user_name', n || '@group.example', 'external_id', null, 'user_id', ($2::uuid[])[n])`;
    const { rows } = await pool.query(
      `insert into directory_users select (jsonb_populate_record(null::directory_users, to_jsonb(one) || ${differs})).*
         from directory_users one, generate_series(1, 300) n where one.id = $1 returning id`,
      [first.id, users],
    );
    const ids: string[] = rows.map(({ id }) => id);
    const { body: group } = await ask('Groups', { displayName: 'All', members: [] });
    const role = { headers: owner.auth, method: 'PATCH', json: { account_role: 'billing' } };
    await send(api, `/v1/directory/groups/${group.id}`, role);
    await pool.query(`create table statements_of (name text);
      create function note_statement() returns trigger language plpgsql as $$ begin insert into statements_of values (tg_table_name); return null; end $$`);
    const noted = ['directory_group_members', 'users', 'audit_log'];
    for (const table of noted)
      await pool.query(
        `create trigger note_statement after insert or update or delete on ${table} for each statement execute function note_statement()`,
      );
    const saved = async (members: string[]) => {
      await pool.query('truncate statements_of');
      const wanted = { displayName: 'All', members: members.map((value) => ({ value })) };
      expect((await ask(`Groups/${group.id}`, wanted, 'PUT')).body.members).toHaveLength(members.length);
      return (await pool.query('select name from statements_of order by name')).rows.map(({ name }) => name);
    };
    try {
      const few = await saved(ids.slice(0, 2));
      expect(few).toEqual(noted.toSorted());
      expect(await saved(ids.slice(2))).toEqual(['audit_log', 'directory_group_members', 'directory_group_members', 'users', 'users']);
      const given = await pool.query('select count(*)::int as many from users where id = any($1) and account_role = $2', [
        users,
        'billing',
      ]);
      expect(given.rows).toEqual([{ many: 298 }]);
    } finally {
      for (const table of noted) await pool.query(`drop trigger note_statement on ${table}`);
    }
  });

  describe('that gives projects', () => {
    const projectNamed = async (name: string): Promise<string> =>
      (await send(api, '/v1/projects', { headers: owner.auth, json: { name } })).body.project_id;
    const give = (groupId: string, projects: object[]) =>
      send(api, `/v1/directory/groups/${groupId}`, { headers: owner.auth, method: 'PATCH', json: { projects } });
    const peopleOf = async (projectId: string) => {
      const { body } = await send(api, `/v1/projects/${projectId}/members`, { headers: owner.auth });
      return body.data.map((one: { email: string; project_role: string; by_directory: boolean }) => [
        one.email,
        one.project_role,
        one.by_directory,
      ]);
    };

    test('makes members of its people, with the most that their groups give', async () => {
      const [ada, bob] = [somebody(), somebody()];
      const ids = [(await ask('Users', ada)).body.id, (await ask('Users', bob)).body.id];
      const projectId = await projectNamed('Search');
      const { body: all } = await ask('Groups', { displayName: 'Search', members: ids.map((value) => ({ value })) });
      const { body: leads } = await ask('Groups', { displayName: 'Leads', members: [{ value: ids[0] }] });
      const given = await give(all.id, [{ project_id: projectId, project_role: 'member' }]);
      expect(given.body).toMatchObject({ account_role: null, projects: [{ project_id: projectId, project_role: 'member' }] });
      await give(leads.id, [{ project_id: projectId, project_role: 'admin' }]);
      const asLead = [ada.userName, 'admin', true];
      expect((await peopleOf(projectId)).toSorted()).toEqual([asLead, [bob.userName, 'member', true]].toSorted());
      await ask(`Groups/${leads.id}`, undefined, 'DELETE');
      expect(await peopleOf(projectId)).toContainEqual([ada.userName, 'member', true]);
      await give(all.id, []);
      expect(await peopleOf(projectId)).toEqual([]);
    });

    test('ends the keys of the project of those who leave it within a second, and no others', async () => {
      await expectWithinASecond(async () => {
        const ada = somebody();
        const { id } = (await ask('Users', ada)).body;
        const projectId = await projectNamed('Search');
        const { body: group } = await ask('Groups', { displayName: `Search ${ada.userName}`, members: [{ value: id }] });
        await give(group.id, [{ project_id: projectId, project_role: 'member' }]);
        const { session, key: own } = await loginsOf(ada.userName);
        const ofProject = (await newKey(api, session, { project_id: projectId })).auth;
        const works = async (headers: Auth) =>
          (await Promise.all([api, neighbour].map((instance) => send(instance, '/v1/users/me', { headers })))).every(
            ({ status }) => status !== 401,
          );
        expect([await works(ofProject), await works(own)]).toEqual([true, true]);
        await patch(`Groups/${group.id}`, { op: 'remove', path: `members[value eq "${id}"]` });
        expect(await peopleOf(projectId)).toEqual([]);
        return async () => {
          const answers = await Promise.all([api, neighbour].map((one) => send(one, '/v1/users/me', { headers: ofProject })));
          expect([await works(own), await works(session)]).toEqual([true, true]);
          return answers.every(({ status }) => status === 401);
        };
      });
    });

    test('gives them to who becomes active again, and decides also about whom people had added', async () => {
      const ada = somebody();
      const { id } = (await ask('Users', ada)).body;
      const projectId = await projectNamed('Search');
      const member = await memberOf(ada.userName);
      const put = { headers: owner.auth, method: 'PUT', json: { project_role: 'admin' } };
      const path = `/v1/projects/${projectId}/members/${member?.user_id}`;
      expect((await send(api, path, put)).body.by_directory).toBe(false);
      const { body: group } = await ask('Groups', { displayName: `Own ${ada.userName}`, members: [{ value: id }] });
      await give(group.id, [{ project_id: projectId, project_role: 'member' }]);
      expect(await peopleOf(projectId)).toEqual([[ada.userName, 'member', true]]);
      expect((await send(api, path, put)).body.code).toBe('conflict');
      expect((await send(api, path, { headers: owner.auth, method: 'DELETE' })).body.code).toBe('conflict');
      await patch(`Users/${id}`, { op: 'replace', path: 'active', value: false });
      expect(await peopleOf(projectId)).toEqual([]);
      await patch(`Users/${id}`, { op: 'replace', path: 'active', value: true });
      expect(await peopleOf(projectId)).toEqual([[ada.userName, 'member', true]]);
    });

    test('gives projects of its own account alone', async () => {
      const { body: group } = await ask('Groups', { displayName: 'Others', members: [] });
      const stranger = await signUp(api);
      const json = { name: 'Theirs' };
      const { body: theirs } = await send(api, '/v1/projects', { headers: stranger.auth, json });
      expect((await give(group.id, [{ project_id: theirs.project_id, project_role: 'member' }])).body.code).toBe('not_found');
    });
  });

  test('without a role leaves its members the role that people have given them', async () => {
    const ada = somebody();
    const { id } = (await ask('Users', ada)).body;
    const member = await memberOf(ada.userName);
    const viewer = { headers: owner.auth, method: 'PATCH', json: { account_role: 'viewer' } };
    expect((await send(api, `/v1/members/${member?.user_id}`, viewer)).status).toBe(200);
    const roleOf = async () => (await memberOf(ada.userName))?.account_role;
    const { body: group } = await ask('Groups', { displayName: 'Staff', members: [{ value: id }] });
    expect(await roleOf()).toBe('viewer');
    await patch(`Groups/${group.id}`, { op: 'remove', path: `members[value eq "${id}"]` });
    expect(await roleOf()).toBe('viewer');
    await patch(`Groups/${group.id}`, { op: 'add', path: 'members', value: [{ value: id }] });
    expect((await ask(`Groups/${group.id}`, undefined, 'DELETE')).status).toBe(204);
    expect(await roleOf()).toBe('viewer');
  });

  test('has members that the directory has, and one name', async () => {
    expect((await ask('Groups', { displayName: 'A', members: [{ value: owner.userId }] })).body).toMatchObject({ status: '400' });
    await ask('Groups', { displayName: 'B' });
    expect((await ask('Groups', { displayName: 'B' })).body).toMatchObject({ status: '409', scimType: 'uniqueness' });
    expect((await ask(`Groups?filter=${encodeURIComponent('displayName eq "B"')}`)).body.totalResults).toBe(1);
  });
});

test('the service describes itself, and takes management keys with the scope scim alone', async () => {
  expect((await ask('ServiceProviderConfig')).body).toMatchObject({ patch: { supported: true }, bulk: { supported: false } });
  expect((await ask('ResourceTypes')).body.Resources.map(({ id }: { id: string }) => id)).toEqual(['User', 'Group']);
  expect((await ask('Schemas')).body.totalResults).toBe(2);
  const { body } = await send(api, '/v1/management-keys', { headers: owner.auth, json: { name: 'x', scopes: ['members:write'] } });
  const refused = await ask('Users', undefined, 'GET', { authorization: `Bearer ${body.key}` });
  expect([refused.status, refused.body]).toMatchObject([403, { schemas: [ERROR], status: '403' }]);
  expect((await ask('Users', undefined, 'GET', (await newKey(api, owner.auth)).auth)).status).toBe(403);
  expect((await send(api, '/v1/projects', { headers: directory })).status).toBe(403);
});
