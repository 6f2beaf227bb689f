import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';

const root = dirname(import.meta.dirname);
/** Known packages of others: an unregistered name can be taken by anybody, whose code would then run at our users'. */
const OF_OTHERS = ['@ai-sdk/openai-compatible', '@modelcontextprotocol/inspector', 'ai', '@openai/agents', 'openai', 'ws', 'zod'];
/** In texts that people and programs act on. Tests and locks name what they like. */
const TEXTS = /\.(md|ts|mjs|astro|mdx|ya?ml|service|sh|tpl)$|Dockerfile$/;
const COMMAND = /\b(?:npx|npm (?:i|install|exec))((?: --?[\w-]+(?:=\S+)?)*)((?: @?[a-z][\w./@-]*)+)/g;

function ours(): string[] {
  return globSync('{*,packages/*}/package.json', { cwd: root, exclude: ['node_modules'] }).flatMap((path) => {
    const { name, private: isPrivate }: { name: string; private?: boolean } = JSON.parse(readFileSync(join(root, path), 'utf8'));
    return isPrivate ? [] : [name];
  });
}

/** `npx NAME arguments…` names one package, `npm install NAME NAME` several. */
function namedIn(text: string): string[] {
  return [...text.matchAll(COMMAND)].flatMap(([line, , words = '']) => {
    const names = words.trim().split(' ');
    return (line.startsWith('npx') ? names.slice(0, 1) : names).map((name) => name.replace(/(?<=.)@.*$/, '').replace(/\.$/, ''));
  });
}

test('every npm package in install instructions is ours or a known one', () => {
  const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { cwd: root, encoding: 'utf8' }).split('\n');
  const texts = files.filter((file) => TEXTS.test(file) && !/\.test\.ts$|^scripts\/tools\/|^decisions\//.test(file));
  const named = new Set(texts.flatMap((file) => namedIn(readFileSync(join(root, file), 'utf8'))));
  expect(named).toContain('tallygate-server');
  expect([...named].filter((name) => ![...ours(), ...OF_OTHERS].includes(name) && !name.startsWith('../'))).toEqual([]);
});

test('the packages have the names that were decided', () => {
  expect(ours().sort()).toEqual(['@tallygate/receipts', '@tallygate/sdk', 'tallygate', 'tallygate-server']);
});
