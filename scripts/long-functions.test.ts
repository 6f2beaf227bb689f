import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');
const RULE = 'noExcessiveLinesPerFunction';

interface Override {
  readonly includes: readonly string[];
  readonly linter?: { readonly rules?: { readonly complexity?: Readonly<Record<string, unknown>> } };
}

const config = JSON.parse(readFileSync(join(root, 'biome.json'), 'utf8'));
const excepted = (config.overrides as readonly Override[])
  .filter(({ linter }) => linter?.rules?.complexity?.[RULE] === 'off')
  .flatMap(({ includes }) => includes.filter((path) => !path.includes('*')));

test('a file that may have long functions has one: the list in biome.json only becomes shorter', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tallygate-biome-'));
  try {
    const rules = { preset: 'none', complexity: { [RULE]: config.linter.rules.complexity[RULE] } };
    writeFileSync(join(folder, 'biome.json'), JSON.stringify({ linter: { rules } }));
    const biome = join(root, 'node_modules/.bin/biome');
    const args = ['lint', '--reporter=json', '--max-diagnostics=none', `--config-path=${folder}`, ...excepted];
    // It ends with 1, since it finds what it looks for.
    const { stdout } = await promisify(execFile)(biome, args, { cwd: root, maxBuffer: 2 ** 26 }).catch(
      (ended: { stdout: string }) => ended,
    );
    const { diagnostics } = JSON.parse(stdout) as { diagnostics: { category: string; location: { path: string } }[] };
    const long = new Set(diagnostics.filter(({ category }) => category.endsWith(RULE)).map(({ location }) => location.path));
    expect(excepted.filter((path) => !long.has(path))).toEqual([]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
