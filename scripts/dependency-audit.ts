// Asks the package registry whether anything is known against the versions in our lock files. Temporarily accepted ones are listed, with their
// reason, in scripts/accepted-advisories.json. Where the registry cannot be asked, it says so and does not fail: no change is at fault for that.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { advisoriesOf, NotAudited } from './dependency-audit/advisories.ts';
import { type AcceptedAdvisory, judge } from './dependency-audit/judge.ts';
import { lockedVersions, versionsInNpmLock, versionsInPnpmLock } from './dependency-audit/locked-versions.ts';

const NPM_LOCKS = ['docs/site', 'scripts/tools/pnpm', 'scripts/tools/pnpm-and-node'];

const root = dirname(import.meta.dirname);
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const accepted: readonly AcceptedAdvisory[] = JSON.parse(read('scripts/accepted-advisories.json'));
const versions = lockedVersions([
  ...versionsInPnpmLock(read('pnpm-lock.yaml')),
  ...NPM_LOCKS.flatMap((folder) => versionsInNpmLock(read(join(folder, 'package-lock.json')))),
]);
const registry = process.env['npm_config_registry'] || 'https://registry.npmjs.org/';

try {
  const { refused, noted, unused } = judge(await advisoriesOf(versions, registry), accepted, new Date().toISOString().slice(0, 10));
  for (const line of noted) console.error(`note ${line}`);
  for (const line of refused) console.error(`FAIL ${line}`);
  for (const id of unused) console.error(`scripts/accepted-advisories.json can lose ${id}`);
  console.error(`${versions.size} packages audited: ${refused.length} advisories to deal with, ${noted.length} noted`);
  process.exitCode = refused.length > 0 ? 1 : 0;
} catch (error) {
  if (!(error instanceof NotAudited)) throw error;
  console.error(`NOT AUDITED: ${error.message}. Nothing is known of ${versions.size} packages; run it where the registry can be asked.`);
}
