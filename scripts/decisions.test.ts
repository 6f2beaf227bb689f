import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const FOLDER = join(import.meta.dirname, '../decisions');
const STATUS = /^# [^\n]+\n\nStatus: (accepted|superseded)[^\n]*\.\n/;

test.each(readdirSync(FOLDER))('the decision %s says whether it is in force, and what has overtaken it', (file) => {
  const text = readFileSync(join(FOLDER, file), 'utf8');
  const [status = ''] = STATUS.exec(text) ?? [];
  expect(text).toMatch(STATUS);
  if (status.includes('superseded by')) expect(status).toMatch(/\]\([\w-]+\.md\)/);
  const links = [...status.matchAll(/\]\(([\w-]+\.md)\)/g)].map(([, name = '']) => name);
  expect(links.filter((name) => !existsSync(join(FOLDER, name)))).toEqual([]);
});
