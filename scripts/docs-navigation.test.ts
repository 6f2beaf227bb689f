import { globSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { expect, test } from 'vitest';

const root = dirname(import.meta.dirname);

test('every guide has its place in the navigation of the docs site, which is not built without it', () => {
  const navigation = readFileSync(join(root, 'docs/site/gather/main.ts'), 'utf8');
  const guides = globSync('docs/guides/*.md', { cwd: root }).map((path) => basename(path, '.md'));
  expect(guides.length).toBeGreaterThan(30);
  expect(guides.filter((name) => !navigation.includes(`'${name}'`))).toEqual([]);
});
