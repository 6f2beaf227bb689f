import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ConfigError } from './config.ts';
import { type DataDir, openDataDir } from './data-dir.ts';
import { masterKeysOf } from './master-keys.ts';

let dataDir: DataDir;
beforeEach(() => {
  dataDir = openDataDir(mkdtempSync(join(tmpdir(), 'tallygate-master-keys-')));
});
afterEach(() => {
  dataDir.release();
  rmSync(dataDir.path, { recursive: true });
});

const mine = { id: 'mine', key: Buffer.alloc(32, 1) };

test('without MASTER_KEYS a key is generated once and stored', () => {
  const [local] = masterKeysOf(dataDir, undefined);
  expect(local?.id).toBe('local');
  expect(masterKeysOf(dataDir, undefined)).toEqual([local]);
});

test('the generated key still decrypts beside the configured ones', () => {
  const [local] = masterKeysOf(dataDir, undefined);
  expect(masterKeysOf(dataDir, [mine])).toEqual([mine, local]);
});

test('none is generated where MASTER_KEYS was there from the beginning', () => {
  expect(masterKeysOf(dataDir, [mine])).toEqual([mine]);
  expect(existsSync(dataDir.file('master.key'))).toBe(false);
});

test('no other key may take the name of the generated one', () => {
  const generated = masterKeysOf(dataDir, undefined);
  expect(() => masterKeysOf(dataDir, [{ ...mine, id: 'local' }])).toThrow(ConfigError);
  expect(masterKeysOf(dataDir, generated)).toEqual(generated);
});
