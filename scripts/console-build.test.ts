import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildConsole } from './console-build.ts';

const FIRST_LOAD_BYTES = 200_000;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'console-build-'));
  await buildConsole(build, folder);
});
afterAll(() => rmSync(folder, { recursive: true }));

const textOf = (name: string) => readFileSync(join(folder, 'assets', name), 'utf8');
/** What a script imports before it runs. */
const importsOf = (name: string) => [...textOf(name).matchAll(/(?:from|import)"\.\/([\w-]+\.js)"/g)].map(([, file = '']) => file);

test('a first look at the console takes less than 200 kB, compressed', () => {
  const page = readFileSync(join(folder, 'index.html'), 'utf8');
  const named = [...page.matchAll(/\/console\/assets\/([\w.-]+)/g)].map(([, name = '']) => name);
  const overview = readdirSync(join(folder, 'assets')).filter((name) => /^(?:overview|spend-chart)-\w+\.js$/.test(name));
  const loaded = new Set([...named, ...overview]);
  for (const name of loaded) if (name.endsWith('.js')) for (const imported of importsOf(name)) loaded.add(imported);
  const [style, script = '', ...beside] = named;
  expect([style, script]).toEqual([expect.stringMatching(/^main-\w+\.css$/), expect.stringMatching(/^main-\w+\.js$/)]);
  // What the script imports is loaded beside it, not after it.
  expect(beside).toEqual(expect.arrayContaining(importsOf(script)));
  expect(overview).toHaveLength(2);
  const bytes = [...loaded].map((name) => readFileSync(join(folder, 'assets', `${name}.gz`)).length);
  expect(bytes.reduce((sum, one) => sum + one, 0)).toBeLessThan(FIRST_LOAD_BYTES);
});

test('the console brings all that it shows: its styles name no other origin', () => {
  const styles = readdirSync(join(folder, 'assets')).filter((name) => name.endsWith('.css'));
  for (const name of styles) expect(textOf(name)).not.toMatch(/url\(|@import/);
});
