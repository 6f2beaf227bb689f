// Holds that the changesets can be released: a valid configuration, and no release of a package that is private or not there.
// `changeset status` would also ask for the main branch, which a checkout of a single commit does not have.
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readConfig } from '@changesets/config';
import { readChangesets } from '@changesets/read';

const root = dirname(import.meta.dirname);
const { errors = [] } = await readConfig(root);
const released = publicPackages();
const changesets = await readChangesets(root);
const faults = [
  ...errors,
  ...changesets.flatMap(({ id, releases }) =>
    releases
      .filter(({ name }) => !released.has(name))
      .map(({ name }) => `.changeset/${id}.md releases ${name}, which is no public package`),
  ),
];
for (const fault of faults) console.error(fault);
console.error(`${changesets.length} changesets, ${faults.length} faults`);
process.exitCode = faults.length > 0 ? 1 : 0;

function publicPackages(): Set<string> {
  const names = globSync('{*,packages/*}/package.json', { cwd: root, exclude: ['node_modules'] }).flatMap((path) => {
    const manifest: { name: string; private?: boolean } = JSON.parse(readFileSync(join(root, path), 'utf8'));
    return manifest.private ? [] : [manifest.name];
  });
  return new Set(names);
}
