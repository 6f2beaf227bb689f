import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { boundLog } from './server-log.ts';

test('a log that has grown large is set aside while its writer goes on writing', () => {
  const dir = mkdtempSync(join(tmpdir(), 'tallygate-log-'));
  const path = join(dir, 'postgres.log');
  boundLog(path); // before there is one
  const writer = openSync(path, 'a');
  writeSync(writer, 'small\n');
  boundLog(path);
  expect(readFileSync(path, 'utf8')).toBe('small\n');
  writeSync(writer, Buffer.alloc(8 * 1024 * 1024, 'x'));
  boundLog(path);
  writeSync(writer, 'after\n');
  closeSync(writer);
  expect(readFileSync(path, 'utf8')).toBe('after\n');
  expect(statSync(`${path}.1`).size).toBe(8 * 1024 * 1024 + 6);
  rmSync(dir, { recursive: true });
});
