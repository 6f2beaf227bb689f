import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

/** Written from docs/concepts/receipt-format.md in other languages, by whoever has these on the machine. */
const FOLDER = join(import.meta.dirname, '../verifiers');
const VECTORS = join(import.meta.dirname, '../vectors');
const isThere = (program: string, ...args: readonly string[]): boolean => spawnSync(program, args).status === 0;

function run(program: string, args: readonly string[], language: string): string {
  const env = { ...process.env, PYTHONDONTWRITEBYTECODE: '1', GOTOOLCHAIN: 'local', GOFLAGS: '-mod=mod' };
  const { status, stdout, stderr } = spawnSync(program, [...args, VECTORS], { cwd: join(FOLDER, language), env, encoding: 'utf8' });
  return status === 0 ? stdout : `${stdout}${stderr}`;
}

const ALL = /^(?=[\s\S]*\d\d good)(?=[\s\S]*\d\d\d broken)(?=[\s\S]*\d\d exports)(?=[\s\S]*\d\d invoices)(?:\d+ [a-z]+\n)+$/;

describe.skipIf(!isThere('python3', '-c', 'import sys; sys.exit(sys.version_info < (3, 9))'))('the verifier in Python', () => {
  test('agrees on every vector', () => {
    expect(run('python3', ['run_vectors.py'], 'python').trimStart()).toMatch(ALL);
  });
});

describe.skipIf(!isThere('go', 'version'))('the verifier in Go', () => {
  test('agrees on every vector', () => {
    expect(run('go', ['run', '.'], 'go')).toMatch(ALL);
  });
});
