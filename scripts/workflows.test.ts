import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';

const root = dirname(import.meta.dirname);
const workflows = globSync('.github/workflows/*.yml', { cwd: root }).map((path) => readFileSync(join(root, path), 'utf8'));
const manifest: { scripts: Record<string, string> } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

it('pins every action to a commit, with its version in a comment', () => {
  const used = workflows.flatMap((text) => [...text.matchAll(/^\s*(?:- )?uses: (.+)$/gm)].map(([, action]) => action));
  expect(used.length).toBeGreaterThan(5);
  expect(used.filter((action) => !/^[\w-]+\/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(action ?? ''))).toEqual([]);
});

it('grants nothing to a job that does not ask, and an identity to none but the one that publishes', () => {
  expect(workflows.filter((text) => !/^permissions: \{\}$/m.test(text))).toEqual([]);
  const jobs = workflows.flatMap((text) => text.slice(text.search(/^jobs:$/m)).split(/^ {2}(?=[\w-]+:$)/m));
  expect(jobs.filter((job) => job.includes('id-token: write')).map((job) => job.slice(0, job.indexOf(':')))).toEqual(['publish']);
});

it('runs scripts that there are', () => {
  const run = workflows.flatMap((text) => [...text.matchAll(/npm run ([\w:-]+)/g)].map(([, script = '']) => script));
  expect(run).toContain('release:publish');
  expect(run.filter((script) => !(script in manifest.scripts))).toEqual([]);
});
