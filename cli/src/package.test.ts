import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';

const execute = promisify(execFile);
const ROOT = fileURLToPath(new URL('../', import.meta.url));

let dist: string;
beforeAll(async () => {
  // Inside the package, so that the built program finds its dependencies.
  dist = await mkdtemp(join(ROOT, 'node_modules/.built-'));
  await execute(join(ROOT, 'node_modules/.bin/tsup'), ['--out-dir', dist], { cwd: ROOT });
}, 60_000);
afterAll(() => rm(dist, { recursive: true, force: true }));

it('runs as built, with nothing of the workspace left to resolve', async () => {
  const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
  expect((await execute(process.execPath, [join(dist, 'main.js'), '--version'])).stdout).toBe(`${version}\n`);
});

it('starts by loading nothing but commander and Node’s own modules: the client and the verifier wait until they are needed', async () => {
  const { code, modules } = await startedWith('main.js');
  expect([...new Set(modules.filter((module) => !isBuiltin(module)))]).toEqual(['commander']);
  // The build writes above each module where it comes from.
  expect(code.match(/^\/\/ .*\/(sdk|receipts)\/src\/.*$/gm)).toBeNull();
});

/** A built file with the pieces that it imports at once, and the modules that these import from elsewhere. */
async function startedWith(file: string): Promise<{ code: string; modules: string[] }> {
  const code = await readFile(join(dist, file), 'utf8');
  // `import "…"`, `import … from "…"`, and the last line of one that is spread over several.
  const modules = [...code.matchAll(/^(?:import|\}) .*?"(.+)";$/gm)].map(([, module = '']) => module);
  const pieces = await Promise.all(modules.filter((module) => module.startsWith('./')).map(startedWith));
  return {
    code: [code, ...pieces.map((piece) => piece.code)].join('\n'),
    modules: [...modules.filter((module) => !module.startsWith('./')), ...pieces.flatMap((piece) => piece.modules)],
  };
}

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
  // Two to three times as much; loading the client, the verifier or ethers at the start would be seven times and more.
  expect(Math.min(...started)).toBeLessThan(6 * Math.min(...bare));
}, 60_000);

it('packs its man page', async () => {
  const { files, man } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
  expect([files, man]).toEqual([expect.arrayContaining(['man']), ['./man/tallygate.1']]);
});
