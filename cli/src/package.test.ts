import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';

const execute = promisify(execFile);
const ROOT = fileURLToPath(new URL('../', import.meta.url));

let dist: string;
/** The sources of each file of the build, relative to the package. */
const sources = new Map<string, string[]>();
beforeAll(async () => {
  // Inside the package, so that the built program finds its dependencies.
  dist = await mkdtemp(join(ROOT, 'node_modules/.built-'));
  await execute(join(ROOT, 'node_modules/.bin/tsup'), ['--out-dir', dist, '--metafile'], { cwd: ROOT });
  const { outputs } = JSON.parse(await readFile(join(dist, 'metafile-esm.json'), 'utf8'));
  for (const [file, { inputs }] of Object.entries<{ inputs: object }>(outputs)) sources.set(join(ROOT, file), Object.keys(inputs));
});
afterAll(() => rm(dist, { recursive: true, force: true }));

it('runs as built, with nothing of the workspace left to resolve', async () => {
  const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
  expect((await execute(process.execPath, [join(dist, 'main.js'), '--version'])).stdout).toBe(`${version}\n`);
});

/** Writes the modules that were loaded, a line each, when the process ends. */
const RECORDER = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module';
  const loaded = [];
  registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) });
  process.on('exit', () => process.stderr.write(loaded.join('\\n')));
`)}`;

interface Loaded {
  readonly bytes: number;
  /** The folders of the source that the files come from. */
  readonly folders: ReadonlySet<string>;
  /** Everything that is no file of the build. */
  readonly others: readonly string[];
}

async function loadedBy(...args: string[]): Promise<Loaded> {
  const { stderr } = await execute(process.execPath, ['--import', RECORDER, join(dist, 'main.js'), ...args]);
  const modules = stderr.split('\n');
  const files = modules.filter((module) => module.startsWith('file:')).map((url) => fileURLToPath(url));
  const code = (await Promise.all(files.map((file) => readFile(file, 'utf8')))).join('');
  return {
    bytes: Buffer.byteLength(code),
    folders: new Set(files.flatMap((file) => sources.get(file) ?? []).flatMap((source) => folderOf(source) ?? [])),
    others: modules.filter((module) => !module.startsWith('file:')),
  };
}

/** Of `src/keys/list.ts` the folder `keys`, of another package of the workspace its name; of what is no source of ours, none. */
function folderOf(source: string): string | undefined {
  const found = /^(?:src|\.\.\/(?:packages\/)?([\w-]+)\/src)\/(?:(.+)\/)?[^/]+$/.exec(source);
  return found ? found[1] || found[2] || '' : undefined;
}

it('loads the commands of the noun that is named and of no other, and neither the client nor the verifier before they are needed', async () => {
  const { bytes, folders, others } = await loadedBy('keys', 'list', '--json');
  expect([...folders].toSorted()).toEqual(['', 'generated', 'keys']);
  expect(bytes).toBeLessThan(130_000);
  // Each of these is read from Node's own snapshot; what is not there (streams, child processes, cryptography) takes milliseconds each.
  expect(others.toSorted()).toEqual(['node:events', 'node:fs/promises', 'node:os', 'node:path', 'node:util']);
});

it('prints its version without loading the program', async () => {
  const { bytes, folders, others } = await loadedBy('--version');
  expect([[...folders], others, bytes < 5_000]).toEqual([[''], [], true]);
});

/** Says what the process has computed, microseconds: unlike the time on the wall, that hardly grows with what else the machine does. */
const METER =
  'data:text/javascript,process.on("exit",()=>{const{user,system}=process.cpuUsage();process.stderr.write(String(user+system))})';

it('starts in a small multiple of what Node itself takes', async () => {
  const computed = async (args: readonly string[]) => Number((await execute(process.execPath, ['--import', METER, ...args])).stderr);
  const [started, bare]: [number[], number[]] = [[], []];
  for (let run = 0; run < 4; run += 1) {
    started.push(await computed([join(dist, 'main.js'), '--help']));
    bare.push(await computed(['-e', '0']));
  }
  // Twice as much; loading every command was three times, and the client, the verifier or ethers would be seven times and more.
  expect(Math.min(...started)).toBeLessThan(4 * Math.min(...bare));
});

it('packs its man page', async () => {
  const { files, man } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
  expect([files, man]).toEqual([expect.arrayContaining(['man']), ['./man/tallygate.1']]);
});
