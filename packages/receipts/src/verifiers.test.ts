import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { invoiceVectors } from '../scripts/invoice-vectors.ts';
import { hasGo, hasPython } from '../scripts/other-languages.ts';

/** Written from docs/concepts/receipt-format.md in other languages, run where these are on the machine. */
const FOLDER = join(import.meta.dirname, '../verifiers');
const VECTORS = join(import.meta.dirname, '../vectors');
const ENV = { ...process.env, PYTHONDONTWRITEBYTECODE: '1', GOTOOLCHAIN: 'local', GOFLAGS: '-mod=mod' };

interface Verifier {
  readonly language: 'python' | 'go';
  readonly isThere: boolean;
  readonly onVectors: readonly string[];
  readonly onFiles: readonly string[];
}
const VERIFIERS: readonly Verifier[] = [
  {
    language: 'python',
    isThere: hasPython(),
    onVectors: ['python3', 'run_vectors.py'],
    onFiles: ['python3', 'verify.py'],
  },
  { language: 'go', isThere: hasGo(), onVectors: ['go', 'run', '.'], onFiles: ['go', 'run', '.'] },
];

const ALL =
  /^(?=[\s\S]*\d\d good)(?=[\s\S]*\d\d\d broken)(?=[\s\S]*\d\d exports)(?=[\s\S]*\d\d invoices)(?=[\s\S]*\d promises)(?=[\s\S]*\d\d declarations)(?:\d+ [a-z]+\n)+$/;

describe.each(VERIFIERS)('the verifier in $language', ({ language, isThere: canRun, onVectors, onFiles }) => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'tallygate-verifier-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const run = ([program = '', ...args]: readonly string[], ...files: readonly string[]) => {
    const { status, stdout, stderr } = spawnSync(program, [...args, ...files], { cwd: join(FOLDER, language), env: ENV, encoding: 'utf8' });
    return { isValid: status === 0, said: `${stdout}${stderr}` };
  };

  test.skipIf(!canRun)('agrees on every vector', () => {
    const { isValid, said } = run(onVectors, VECTORS);
    expect([isValid, said.trimStart()]).toEqual([true, expect.stringMatching(ALL)]);
  });

  test.skipIf(!canRun).each([
    ['quota-and-balance', true, /^valid\n$/],
    ['false-total', false, /^invoice_mismatch$/m],
    ['due-not-in-cents', false, /invoice_inconsistent/],
  ])('says of the files of an invoice, %s, whether they are valid: %s', (name, expected, words) => {
    const { invoice, exports = [] } = invoiceVectors[name] ?? {};
    const files = [JSON.stringify(invoice), ...exports.map((lines) => lines.join('\n'))].map((text, at) => {
      const path = join(folder, `${name}-${at}`);
      writeFileSync(path, text);
      return path;
    });
    const { isValid, said } = run(onFiles, join(VECTORS, 'keys.json'), ...files);
    expect([isValid, said]).toEqual([expected, expect.stringMatching(words)]);
  });
});
