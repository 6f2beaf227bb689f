import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { testDatabase } from '../../server/src/adapters/postgres/test-database.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PACKAGE = join(ROOT, 'packages/tallygate-server');

let home: string;
let database: Awaited<ReturnType<typeof testDatabase>>;
/** An installation of the package alone: no library of this workspace is available. */
beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'tallygate-package-'));
  database = await testDatabase();
  const client = new pg.Client(database.url);
  await client.connect();
  await client.query('drop schema public, test_billing cascade; create schema public');
  await client.end();
  execFileSync(process.execPath, ['scripts/server-package.mjs', '--without-site'], { cwd: ROOT });
  execFileSync('npm', ['pack', '--silent', '--pack-destination', home], { cwd: PACKAGE });
  const installed = join(home, 'node_modules/tallygate-server');
  mkdirSync(installed, { recursive: true });
  execFileSync('tar', ['-xzf', join(home, `tallygate-server-${manifest().version}.tgz`), '-C', installed, '--strip-components=1']);
});
afterAll(async () => {
  await database?.drop();
  rmSync(home, { recursive: true, force: true });
});

const manifest = (): { version: string; dependencies?: object } => JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8'));
const program = () => join(home, 'node_modules/tallygate-server/dist/bin/tallygate-server.js');
const environment = () => {
  const { PATH, HOME, TMPDIR } = process.env;
  return { PATH, HOME, TMPDIR, PORT: '0', OPERATIONS_PORT: '0', DATABASE_URL: database.url, DATA_DIR: join(home, 'data') };
};
const run = (...argv: string[]) => runWith({}, ...argv);
const runWith = (env: Record<string, string>, ...argv: string[]) =>
  spawnSync(process.execPath, [program(), ...argv], { cwd: home, env: { ...environment(), ...env }, encoding: 'utf8' });

test('has no dependencies but the optional embedded PostgreSQL', () => {
  expect(manifest().dependencies).toBeUndefined();
});

test('migrates an empty database once, and says its version', () => {
  expect(run('migrate')).toMatchObject({ status: 0, stdout: expect.stringMatching(/^Applied \d+ migrations/) });
  expect(run('migrate')).toMatchObject({ status: 0, stdout: 'The database is up to date.\n' });
  expect(run('--version').stdout).toBe(`${manifest().version}\n`);
  expect(run('start')).toMatchObject({ status: 64 });
});

test('names its own command in messages to the operator', () => {
  expect(run('admin', '--help').stderr).toContain('tallygate-server admin quarantine');
});

test('has a port of its own for metrics and health where no variable says one', async () => {
  const taken = createServer();
  // Or by somebody else already.
  await new Promise<unknown>((resolve) => taken.once('error', resolve).listen(8789, '127.0.0.1', () => resolve(undefined)));
  expect(runWith({ OPERATIONS_PORT: '' }, 'serve').stderr).toContain(
    'Port 8789 on 127.0.0.1 is in use: stop that program, or set OPERATIONS_PORT',
  );
  taken.close();
});

test('serves a request and its documents from the unpacked tarball', async () => {
  const child = spawn(process.execPath, [program()], { cwd: home, env: environment(), stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = text(child.stdout);
  const [greeted, url] = await new Promise<readonly [string, string]>((resolve, reject) => {
    let said = '';
    child.stdout.on('data', (chunk) => {
      said += chunk;
      const [, found] = /listening on (\S+)[\s\S]*Stop with Ctrl-C/.exec(said) ?? [];
      if (found !== undefined) resolve([said, found]);
    });
    child.once('exit', () => reject(new Error(said)));
  });
  const [, operations] = /health checks: (\S+)\/metrics/.exec(greeted) ?? [];
  expect((await fetch(`${operations}/health/ready`)).status).toBe(200);
  expect((await fetch(`${url}/health/ready`)).status).toBe(404);
  const { test_api_key: key } = JSON.parse(readFileSync(join(home, 'data/bootstrap.json'), 'utf8'));
  const answer = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hi.' }] }),
  });
  expect({ status: answer.status, said: await answer.json() }).toMatchObject({ status: 200, said: { object: 'chat.completion' } });
  expect((await fetch(`${url}/openapi.json`)).status).toBe(200);
  expect(await (await fetch(`${url}/llms.txt`)).text()).toContain('guides/running');
  child.kill('SIGTERM');
  await ended;
  expect(child.exitCode ?? (await new Promise((resolve) => child.once('exit', resolve)))).toBe(0);
});
