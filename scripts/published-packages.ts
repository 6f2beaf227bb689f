// Holds what is published, as the registry would have it: packs every public package, has the tarballs looked at by publint and by
// "Are the types wrong?", installs them in a project outside of this workspace, compiles and runs programs there, holds their lists of components, and prints sizes.
import { spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { outsideTool } from './outside-tool.ts';
import { checkConsumer, installConsumer } from './published/consumer.ts';
import { sbomFaults } from './published/sboms.ts';
import { sizeFaults } from './published/sizes.ts';

const PUBLINT = 'publint@0.3.25';
const ARE_THE_TYPES_WRONG = '@arethetypeswrong/cli@0.18.5';
/** What builds on packages that have no CommonJS themselves. */
const MODULES_ALONE = ['ai'];
/** What only resolvers find that know `exports`, as Node and all of today's do. */
const BY_EXPORTS = ['node'];

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly private?: boolean;
  readonly types?: string;
}

const root = dirname(import.meta.dirname);
const faults: string[] = [];

run('pack', process.execPath, [join(root, 'scripts/pack.mjs'), '--without-site']);
const published = publicPackages();
const publint = join(outsideTool(PUBLINT), 'publint');
const attw = join(outsideTool(ARE_THE_TYPES_WRONG), 'attw');
for (const { name, types, tarball } of published) {
  run(`publint ${name}`, publint, ['run', tarball, '--strict']);
  if (types === undefined) continue;
  run(`attw ${name}`, attw, [tarball, '--format', 'ascii', '--exclude-entrypoints', ...MODULES_ALONE, ...BY_EXPORTS]);
  if (name === '@tallygate/receipts') run(`attw ${name}/node`, attw, [tarball, '--profile', 'node16', '--entrypoints', ...BY_EXPORTS]);
  if (name === '@tallygate/sdk') run(`attw ${name}/ai`, attw, [tarball, '--profile', 'esm-only', '--entrypoints', ...MODULES_ALONE]);
}

const home = mkdtempSync(join(tmpdir(), 'tallygate-consumer-'));
try {
  installConsumer(
    home,
    published.map(({ tarball }) => tarball),
  );
  faults.push(...checkConsumer(home, join(root, 'sdk/README.md')));
  faults.push(...sizeFaults(join(home, 'node_modules')));
  for (const { name } of published) faults.push(...sbomFaults(join(home, 'node_modules', name)));
} finally {
  rmSync(home, { recursive: true, force: true });
}

for (const fault of faults) console.error(`FAIL ${fault}`);
console.error(`${published.length} packages, ${faults.length} faults`);
process.exitCode = faults.length > 0 ? 1 : 0;

function publicPackages(): (Manifest & { readonly tarball: string })[] {
  return globSync('{*,packages/*}/package.json', { cwd: root, exclude: ['node_modules'] }).flatMap((path) => {
    const manifest: Manifest = JSON.parse(readFileSync(join(root, path), 'utf8'));
    if (manifest.private) return [];
    const file = `${manifest.name.replace('@', '').replace('/', '-')}-${manifest.version}.tgz`;
    return [{ ...manifest, tarball: join(root, 'dist', file) }];
  });
}

function run(what: string, program: string, args: readonly string[]): void {
  const { status, stdout, stderr } = spawnSync(program, [...args], { encoding: 'utf8', env: { ...process.env, NO_COLOR: '1' } });
  if (status === 0) console.error(`ok   ${what}`);
  else faults.push(`${what}\n${stdout}${stderr}`);
}
