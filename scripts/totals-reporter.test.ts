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
export default { test: { include: ['*.test.ts'], passWithNoTests: true, reporters: ['default', new TotalsReporter()] } };`;

function run(name: string, files: Record<string, string>) {
  const root = mkdtempSync(join(folder, `${name}-`));
  writeFileSync(join(root, 'vitest.config.ts'), config);
  for (const [file, text] of Object.entries(files)) writeFileSync(join(root, file), IMPORTS + text);
  const { stdout, status } = spawnSync(process.execPath, [vitest, 'run', '--root', root], { encoding: 'utf8' });
  return { output: stdout, lastLine: stdout.trimEnd().split('\n').at(-1), failed: status !== 0 };
}

test('ends a run with its totals', () => {
  const files = {
    'a.test.ts': "test('a', () => {}); test('b', () => { expect(1).toBe(2); });",
    'b.test.ts': "test('c', () => {}); test.skip('d', () => {}); test.todo('e');",
  };
  expect(run('mixed', files)).toMatchObject({ lastLine: '2 passed, 1 failed, 2 skipped', failed: true });
});

test('says nothing of skipped tests where there are none', () => {
  expect(run('green', { 'a.test.ts': "test('a', () => {});" })).toMatchObject({ lastLine: '1 passed, 0 failed', failed: false });
});

test('counts a file that fails to load as failed', () => {
  const files = { 'a.test.ts': "import './missing.ts'; test('a', () => {});", 'b.test.ts': "test('b', () => {});" };
  expect(run('load', files)).toMatchObject({ lastLine: '1 passed, 1 failed', failed: true });
});

test('counts a hook that fails as failed', () => {
  const files = { 'a.test.ts': "describe('s', () => { beforeAll(() => { throw new Error('x'); }); test('a', () => {}); });" };
  expect(run('hook', files)).toMatchObject({ lastLine: '0 passed, 1 failed, 1 skipped', failed: true });
});

test('counts an error that no test caught as failed', () => {
  const files = { 'a.test.ts': "test('a', () => { void Promise.reject(new Error('stray')); });" };
  expect(run('stray', files)).toMatchObject({ lastLine: '1 passed, 1 failed', failed: true });
});

test('counts a test that passed only when it was repeated as failed, and says why', () => {
  const { output, lastLine, failed } = run('repeated', {
    'a.test.ts': "let tries = 0; test('late', { retry: 1 }, () => { tries += 1; expect(tries).toBe(2); });",
  });
  expect({ lastLine, failed }).toEqual({ lastLine: '0 passed, 1 failed', failed: true });
  expect(output).toMatch(/passed at the second try: .*a\.test\.ts > late: expected 1 to be 2/);
});
