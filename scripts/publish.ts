// Publishes what is newer here than in the registry: builds it, names the repository that it is built from, which npm compares with the
// provenance, and leaves the rest to changesets. Run by the release workflow; the names are not stored in the tree, which may move.
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { writeSboms } from './sbom.ts';

const root = dirname(import.meta.dirname);
const { GITHUB_SERVER_URL, GITHUB_REPOSITORY } = process.env;
if (!GITHUB_SERVER_URL || !GITHUB_REPOSITORY)
  throw new Error('Packages are published by the release workflow: there is no GITHUB_REPOSITORY here');

// The gateway's package has the docs site.
run('pnpm', ['run', 'do:docs']);
run('pnpm', ['-r', '--if-present', 'run', 'build']);
for (const path of globSync('{*,packages/*}/package.json', { cwd: root, exclude: ['node_modules'] })) {
  const manifest: { private?: boolean } = JSON.parse(readFileSync(join(root, path), 'utf8'));
  if (manifest.private) continue;
  const repository = { type: 'git', url: `git+${GITHUB_SERVER_URL}/${GITHUB_REPOSITORY}.git`, directory: dirname(path) };
  writeFileSync(join(root, path), `${JSON.stringify({ ...manifest, repository }, null, 2)}\n`);
}
writeSboms(['@tallygate/receipts', '@tallygate/sdk', 'tallygate', 'tallygate-server']);
run('changeset', ['publish']);

function run(program: string, args: readonly string[]): void {
  const { status } = spawnSync(program, [...args], { cwd: root, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
