import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { testDatabase } from '../../adapters/postgres/test-database.ts';
import { readConfig } from '../config.ts';
import { type RunningServer, startServer } from '../server.ts';

/** The whole service, administered as Terraform does it. */
let server: RunningServer;
let terraform: Record<string, string>;
const endings: (() => unknown)[] = [];

beforeAll(async () => {
  const { url, drop } = await testDatabase();
  const dataDir = mkdtempSync(join(tmpdir(), 'tallygate-external-ids-'));
  endings.push(() => rmSync(dataDir, { recursive: true, force: true }), drop);
  server = await startServer(readConfig({ DATABASE_URL: url, DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'silent' }), () => {});
  endings.push(() => server.close());
  const { admin_email: email, admin_password: password } = server.bootstrap;
  const session = bearer((await ask('/v1/users/login', { email, password }, {})).body.session.token);
  const scopes = ['account:read', 'keys:write', 'projects:write', 'members:read', 'members:write', 'limits:write'];
  terraform = bearer((await ask('/v1/management-keys', { name: 'terraform', scopes }, session)).body.key);
});
afterAll(async () => {
  for (const end of endings.reverse()) await end();
});

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

async function ask(path: string, json?: object, headers: Record<string, string> = terraform, method = json ? 'POST' : 'GET') {
  const init = { method, headers: { ...(json && { 'content-type': 'application/json' }), ...headers } };
  const answer = await fetch(server.url + path, { ...init, ...(json && { body: JSON.stringify(json) }) });
  const text = await answer.text();
  return { status: answer.status, body: text ? JSON.parse(text) : undefined };
}

test('a project is made once under its id, and another one under it is refused', async () => {
  const wanted = { name: 'search', external_id: 'team-search' };
  const { body: made } = await ask('/v1/projects', wanted);
  expect((await ask('/v1/projects', wanted)).body).toEqual(made);
  expect((await ask('/v1/projects', { ...wanted, name: 'ads' })).body.code).toBe('conflict');
  expect((await ask('/v1/projects?external_id=team-search')).body.data).toEqual([made]);
});

test('an API key is made once under its id, without its secret the second time, and anew once it is revoked', async () => {
  const wanted = { name: 'ci', scopes: ['inference'], monthly_cap_usd: '25', external_id: 'ci/search', metadata: { team: 'search' } };
  const { status, body: made } = await ask('/v1/keys', wanted);
  expect([status, made.external_id]).toEqual([201, 'ci/search']);
  const again = await ask('/v1/keys', wanted);
  expect([again.status, again.body]).toEqual([201, { ...made, key: '' }]);
  for (const other of [
    { monthly_cap_usd: '26' },
    { name: 'cd' },
    { livemode: false },
    { metadata: {} },
    { allowed_models: ['gpt-4o-mini'] },
  ])
    expect((await ask('/v1/keys', { ...wanted, ...other })).body.code).toBe('conflict');
  await ask(`/v1/keys/${made.key_id}`, undefined, terraform, 'DELETE');
  const anew = await ask('/v1/keys', wanted);
  expect([anew.status, anew.body.key_id === made.key_id]).toEqual([201, false]);
});

test('of keys that are asked for at once under one id, one is made', async () => {
  const wanted = { name: 'raced', scopes: ['inference'], external_id: 'raced' };
  const answers = await Promise.all(Array.from({ length: 8 }, () => ask('/v1/keys', wanted)));
  expect(answers.filter(({ body }) => body.key !== '')).toHaveLength(1);
  expect(new Set(answers.map(({ body }) => body.key_id)).size).toBe(1);
});

test('a member is invited once under an id, which goes with them and can be changed', async () => {
  const wanted = { email: 'ada@example.com', account_role: 'developer', external_id: 'ada' };
  const { status, body: invited } = await ask('/v1/members/invitations', wanted);
  expect([status, invited.external_id]).toEqual([201, 'ada']);
  expect((await ask('/v1/members/invitations', wanted)).body).toEqual(invited);
  expect((await ask('/v1/members/invitations', { ...wanted, account_role: 'viewer' })).body.code).toBe('conflict');
  const { body } = await ask('/v1/members');
  const owner = body.data[0].user_id;
  const renamed = await ask(`/v1/members/${owner}`, { external_id: 'root' }, terraform, 'PATCH');
  expect(renamed.body).toMatchObject({ user_id: owner, external_id: 'root' });
  expect((await ask('/v1/members?external_id=root')).body.data).toEqual([renamed.body]);
  expect((await ask('/v1/members/invitations', { ...wanted, email: 'x@example.com', external_id: 'root' })).body.code).toBe('conflict');
});

test('a limit keeps its id when it is set again, and no other limit takes it', async () => {
  const wanted = { kind: 'account', period: 'month', cap_usd: '50', external_id: 'all' };
  const { body: made } = await ask('/v1/limits', wanted, terraform, 'PUT');
  const { body: changed } = await ask('/v1/limits', { ...wanted, external_id: undefined, cap_usd: '60' }, terraform, 'PUT');
  expect(changed).toMatchObject({ limit_id: made.limit_id, external_id: 'all', cap_usd: '60' });
  expect((await ask('/v1/limits', { ...wanted, period: 'day' }, terraform, 'PUT')).body.code).toBe('conflict');
  expect((await ask('/v1/limits?external_id=all')).body.data).toEqual([changed]);
});
