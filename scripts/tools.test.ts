import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

/** Not what the lock file names, whatever it is. */
const FILE = Buffer.from('another file');
const SCRIPTS = import.meta.dirname;

const root = mkdtempSync(join(tmpdir(), 'tallygate-tools-'));
const fetched: string[] = [];
/** Has every package that the lock file asks for, and names no sha512 itself. */
const registry = createServer((incoming, res) => {
  const path = decodeURIComponent(incoming.url ?? '');
  if (path.endsWith('.tgz')) {
    fetched.push(path);
    res.end(FILE);
    return;
  }
  const name = path.slice(1);
  const dist = { tarball: `http://${incoming.headers.host}/${name}/-/file.tgz` };
  const version = lockedVersion(name);
  if (version === undefined) {
    res.writeHead(404).end();
    return;
  }
  res.setHeader('content-type', 'application/json');
  res.end(JSON.stringify({ name, 'dist-tags': { latest: version }, versions: { [version]: { name, version, dist } } }));
});
function lockedVersion(name: string): string | undefined {
  const { packages } = JSON.parse(readFileSync(join(SCRIPTS, 'tools', 'pnpm', 'package-lock.json'), 'utf8'));
  return packages[`node_modules/${name}`]?.version;
}

beforeAll(async () => {
  registry.listen(0, '127.0.0.1');
  await once(registry, 'listening');
  mkdirSync(join(root, 'scripts'));
  for (const part of ['run.mjs', 'tools']) cpSync(join(SCRIPTS, part), join(root, 'scripts', part), { recursive: true });
});
afterAll(() => {
  registry.close();
  rmSync(root, { recursive: true, force: true });
});

test('a file of another sha512 than the lock file names is neither installed nor run', async () => {
  const { port } = registry.address() as AddressInfo;
  const env = {
    PATH: process.env['PATH'],
    HOME: root,
    npm_config_registry: `http://127.0.0.1:${port}/`,
    npm_config_cache: join(root, 'cache'),
    npm_config_fetch_retries: '0',
  };
  const child = spawn(process.execPath, [join(root, 'scripts', 'run.mjs'), 'do:test'], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (said += text));
  const [code] = await once(child, 'close');
  expect(fetched).toContain('/pnpm/-/file.tgz');
  expect(said).toContain('EINTEGRITY');
  expect(code).not.toBe(0);
  const left = readdirSync(join(root, '.tools'), { recursive: true }).map(String);
  expect(left.filter((path) => path.includes('node_modules'))).toEqual([]);
});
