import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { manText } from '../scripts/generate-man.ts';
import { EXIT } from './exit-codes.ts';

const GROFF = '/usr/bin/groff';
const page = await manText();

it('is the one that is packed', () => {
  expect(readFileSync(new URL('../man/tallygate.1', import.meta.url), 'utf8')).toBe(page);
});

it('has every command that the help has, with its options, and every exit code', () => {
  for (const heading of ['keys rotate <key>', 'login', 'doctor', 'completion <shell>']) expect(page).toContain(`.SS "tallygate ${heading}`);
  expect(page).toContain('.B \\-\\-grace');
  for (const code of Object.values(EXIT)) expect(page).toContain(`.B ${code}\n`);
  expect(page).not.toContain('tallygate complete"');
});

it.skipIf(!existsSync(GROFF))('is set without a complaint', () => {
  const { stdout, stderr, status } = spawnSync(GROFF, ['-man', '-Tutf8', '-ww', '-z'], { input: page, encoding: 'utf8' });
  expect({ stdout, stderr, status }).toEqual({ stdout: '', stderr: '', status: 0 });
});
