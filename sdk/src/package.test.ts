import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { completion } from '../testing/fixtures.ts';
import { startStubGateway } from '../testing/stub-gateway.ts';

const execute = promisify(execFile);
const folderOf = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const SDK = folderOf('..');
const RECEIPTS = folderOf('../../packages/receipts');
const MAX_GZIPPED_BYTES = 20_000;

const PROGRAM = `import { BudgetExceededError, Tallygate } from '@tallygate/sdk';
declare const process: { argv: string[] };
const tallygate = new Tallygate({ apiKey: 'tg_test_secret', baseUrl: process.argv[2] });
const answer = await tallygate.chat.completions.create({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hi.' }] });
const text: string | null | undefined = answer.choices[0]?.message.content;
console.log(text, BudgetExceededError.name);
`;
/** The same from CommonJS, and a use of the types that must not compile. */
const COMMON_JS = `import { Tallygate, type Verification } from '@tallygate/sdk';
const tallygate = new Tallygate({ apiKey: 'tg_test_secret' });
const verdict = (found: Verification): string => (found.valid ? found.payload.cost_nano_usd : found.code);
// @ts-expect-error A price is a decimal string.
void (() => tallygate.keys.create({ name: 'production', monthly_cap_usd: 25 }));
tallygate.chat.completions
  .create({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hi.' }] })
  .then((answer) => console.log(answer.choices[0]?.message.content, typeof verdict));
`;
const TSCONFIG = {
  compilerOptions: {
    module: 'nodenext',
    target: 'es2022',
    lib: ['es2022', 'dom'],
    types: [],
    strict: true,
    skipLibCheck: false,
    noEmit: true,
  },
  include: ['*.mts', '*.cts'],
};

let home: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'tallygate-sdk-'));
  await Promise.all([pack(RECEIPTS, 'receipts'), pack(SDK, 'sdk')]);
  const dependencies = { '@tallygate/receipts': 'file:./receipts.tgz', '@tallygate/sdk': 'file:./sdk.tgz' };
  await writeFile(join(home, 'package.json'), JSON.stringify({ private: true, dependencies }));
  // The packed SDK asks for the receipts package by version: here that is the one packed beside it.
  await writeFile(join(home, 'pnpm-workspace.yaml'), 'overrides:\n  "@tallygate/receipts": "file:./receipts.tgz"\n');
  await execute('pnpm', ['install', '--prefer-offline', '--ignore-scripts'], { cwd: home });
  await writeFile(join(home, 'program.mts'), PROGRAM);
  await writeFile(join(home, 'program.cts'), COMMON_JS);
  for (const [index, example] of (await examples()).entries()) await writeFile(join(home, `example-${index}.mts`), example);
  await writeFile(join(home, 'tsconfig.json'), JSON.stringify(TSCONFIG));
}, 180_000);
afterAll(() => rm(home, { recursive: true, force: true }));

/** Builds outside the working tree, so that a build of somebody else's at the same time is not disturbed. */
async function pack(folder: string, name: string): Promise<void> {
  const copy = join(home, `${name}-package`);
  await cp(folder, copy, { recursive: true, filter: (path) => !/\/(node_modules|dist)$/.test(path) });
  await execute(join(folder, 'node_modules/.bin/tsup'), ['--out-dir', join(copy, 'dist')], { cwd: folder });
  const { devDependencies: _, dependencies, ...manifest } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  const installed = await Promise.all(
    Object.keys(dependencies).map(async (dependency) => [dependency, await versionOf(folder, dependency)]),
  );
  await writeFile(join(copy, 'package.json'), JSON.stringify({ ...manifest, dependencies: Object.fromEntries(installed) }));
  await execute('pnpm', ['pack', '--out', join(home, `${name}.tgz`)], { cwd: copy });
}

/** What `workspace:` and `catalog:` stand for: the version that is installed. */
async function versionOf(folder: string, dependency: string): Promise<string> {
  return JSON.parse(await readFile(join(folder, 'node_modules', dependency, 'package.json'), 'utf8')).version;
}

/** The programs of the README: each stands on its own. */
async function examples(): Promise<string[]> {
  const readme = await readFile(join(SDK, 'README.md'), 'utf8');
  return [...readme.matchAll(/```ts\n(.+?)```/gs)].map(([, code = '']) => code);
}

describe('the packed package', () => {
  it('type-checks in a strict project of its own, declarations and the README’s examples included, from ES modules and CommonJS', async () => {
    const tsc = folderOf('../../node_modules/.bin/tsc');
    const { stdout } = await execute(tsc, ['-p', home]).catch((failure: { stdout: string }) => failure);
    expect(stdout).toBe('');
    expect((await examples()).length).toBeGreaterThan(3);
  }, 60_000);

  it('runs from ES modules and from CommonJS', async () => {
    await using gateway = await startStubGateway();
    gateway.script({ json: completion }, { json: completion });
    const modules = await execute('node', ['program.mts', gateway.baseUrl], { cwd: home });
    expect(modules.stdout).toBe('Hello. BudgetExceededError\n');
    await writeFile(join(home, 'plain.cjs'), "console.log(typeof require('@tallygate/sdk').Tallygate);");
    expect((await execute('node', ['plain.cjs'], { cwd: home })).stdout).toBe('function\n');
  }, 60_000);

  it('is small, and brings along no zod, no contract and nothing of Node', async () => {
    const dist = join(home, 'node_modules/@tallygate/sdk/dist');
    const code = await readFile(join(dist, 'index.js'), 'utf8');
    const declarations = await readFile(join(dist, 'index.d.ts'), 'utf8');
    const foreign = /\bfrom ['"](?!@tallygate\/receipts['"])|\brequire\(|\bimport\(|zod|ts-rest|@tallygate\/contract/;
    expect(code).not.toMatch(foreign);
    expect(declarations).not.toMatch(foreign);
    expect(gzipSync(code).length).toBeLessThan(MAX_GZIPPED_BYTES);
  });
});
