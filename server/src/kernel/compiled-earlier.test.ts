import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { COMPILED_EARLIER } from './compiled-earlier.ts';

test('V8 knows every option that the gateway sets', () => {
  const known = execFileSync(process.execPath, ['--v8-options'], { encoding: 'utf8' });
  expect(COMPILED_EARLIER.map((option) => option.split('=')[0]).filter((name) => !known.includes(`  ${name} (`))).toEqual([]);
});
