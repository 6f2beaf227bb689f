import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';

// Inside the repository, so that `vitest` resolves; the name keeps it out of version control and of every project.
const folder = mkdtempSync(join(import.meta.dirname, '../node_modules/.totals-'));
afterAll(() => rmSync(folder, { recursive: true }));

const IMPORTS = "import { beforeAll, describe, expect, test } from 'vitest';\n";
const vitest = join(import.meta.dirname, '../node_modules/vitest/vitest.mjs');
const reporter = join(import.meta.dirname, 'totals-reporter.ts');
const config = `
import { TotalsReporter } from ${JSON.stringify(reporter)};
export default { test: { include: ['*.test.ts'], passWithNoTests: true, isolate: false, maxWorkers: 1, reporters: ['default', new TotalsReporter()] } };`;

function run(name: string, files: Record<string, string>) {
  const root = mkdtempSync(join(folder, `${name}-`));
  writeFileSync(join(root, 'vitest.config.ts'), config);
  for (const [file, text] of Object.entries(files)) writeFileSync(join(root, file), IMPORTS + text);
  const { stdout, status } = spawnSync(process.execPath, [vitest, 'run', '--root', root], { encoding: 'utf8' });
  return { output: stdout, lastLine: stdout.trimEnd().split('\n').at(-1), failed: status !== 0 };
}

test('says nothing of skipped tests where there are none', () => {
  expect(run('green', { 'a.test.ts': "test('a', () => {});" })).toMatchObject({ lastLine: '1 passed, 0 failed', failed: false });
});

// In one run: each takes a second to start.
test('counts a file that fails to load, a hook that fails and a stray error as failures', () => {
  const files = {
    'passed-2.test.ts': "test('a', () => {}); test('b', () => {});",
    'failed-1.test.ts': "test('a', () => { expect(1).toBe(2); });",
    'skipped-2.test.ts': "test.skip('a', () => {}); test.todo('b');",
    'failed-1-to-load.test.ts': "import './missing.ts'; test('a', () => {});",
    'failed-1-skipped-1-by-a-hook.test.ts': "describe('s', () => { beforeAll(() => { throw new Error('x'); }); test('a', () => {}); });",
    'passed-1-failed-1-stray.test.ts': "test('a', () => { void Promise.reject(new Error('stray')); });",
  };
  expect(run('mixed', files)).toMatchObject({ lastLine: '3 passed, 4 failed, 3 skipped', failed: true });
});

test('counts a test that passed only when it was repeated as failed, and says why', () => {
  const { output, lastLine, failed } = run('repeated', {
    'a.test.ts': "let tries = 0; test('late', { retry: 1 }, () => { tries += 1; expect(tries).toBe(2); });",
  });
  expect({ lastLine, failed }).toEqual({ lastLine: '0 passed, 1 failed', failed: true });
  expect(output).toMatch(/passed at the second try: .*a\.test\.ts > late: expected 1 to be 2/);
});
