import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');
const folder = join(root, 'docs/security');
const pages = readdirSync(folder);
/** The content of code spans: `file › title of a test`, or a file. */
const CITATION = /`([\w@.-]+(?:\/[\w@.-]+)+)(?: › ([^`]+))?`/g;

const citationsOf = (page: string) =>
  [...readFileSync(join(folder, page), 'utf8').matchAll(CITATION)].map(([, file = '', title]) => ({ file, title }));

/** What is wrong with a citation; undefined where nothing is. */
function faultOf({ file, title }: { readonly file: string; readonly title: string | undefined }): string | undefined {
  if (!existsSync(join(root, file))) return `${file} is not there`;
  if (title === undefined || isTitleIn(readFileSync(join(root, file), 'utf8'), title)) return undefined;
  return `${file} has no test “${title}”`;
}

/** As a whole string or as a part of a template, and not as words in a comment. */
const isTitleIn = (source: string, title: string): boolean =>
  source.split('\n').some((line) => line.includes(title) && !/^\s*(\/\/|\*|\/\*)/.test(line));

test.each(pages)('%s cites only files and tests that there are', (page) => {
  expect(citationsOf(page).flatMap((citation) => faultOf(citation) ?? [])).toEqual([]);
});

test('a citation of a test that no longer exists is found', () => {
  expect(faultOf({ file: 'server/src/gone.test.ts', title: 'x' })).toBe('server/src/gone.test.ts is not there');
  expect(faultOf({ file: 'scripts/workflows.test.ts', title: 'has never been' })).toContain('has no test');
});

test('every boundary cites tests, and every requirement of ASVS 5.0.0 up to level 2 has a state', () => {
  const boundaries = pages.filter((page) => !['README.md', 'asvs.md'].includes(page));
  for (const page of boundaries) expect(citationsOf(page).filter(({ title }) => title).length, page).toBeGreaterThan(1);
  const rows = readFileSync(join(folder, 'asvs.md'), 'utf8').match(/^\| V\d.*$/gm) ?? [];
  const states = rows.map((row) => row.split('|')[2]?.trim());
  expect(states.filter((state) => !['met', 'partly', 'open', 'n/a'].includes(state ?? ''))).toEqual([]);
  // 253 requirements, of which those that do not apply for one reason share a row.
  expect(states.filter((state) => state !== 'n/a').length).toBeGreaterThan(150);
});
