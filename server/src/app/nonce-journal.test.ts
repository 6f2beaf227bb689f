import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { GENERATION_MS, NonceMemory } from '../inference/calls/index.ts';
import { openNonceJournal } from './nonce-journal.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tallygate-nonces-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const NOW = Date.UTC(2026, 10, 21);
const dataDir = { file: (name: string) => join(folder, name) };
/** A process that starts on the folder, uses nonces and is killed. */
function process(use: (nonces: NonceMemory) => void): void {
  const journal = openNonceJournal(dataDir);
  use(new NonceMemory(journal));
  journal.close();
}

test('a nonce that was used before a restart is known after it', () => {
  process((nonces) => expect(nonces.isFirst('key a', NOW)).toBe(true));
  process((nonces) => {
    expect(nonces.isFirst('key a', NOW + 1000)).toBe(false);
    expect(nonces.isFirst('key b', NOW + 1000)).toBe(true);
  });
});

test('a nonce is known for one generation at least, over any number of restarts', () => {
  process((nonces) => expect(nonces.isFirst('first', NOW)).toBe(true));
  process((nonces) => expect(nonces.isFirst('last', NOW + GENERATION_MS - 1)).toBe(true));
  process((nonces) => expect(nonces.isFirst('next', NOW + GENERATION_MS)).toBe(true));
  process((nonces) => expect(nonces.isFirst('last', NOW + 2 * GENERATION_MS - 2)).toBe(false));
});

test('a nonce is forgotten after two generations', () => {
  process((nonces) => expect(nonces.isFirst('old', NOW)).toBe(true));
  process((nonces) => expect(nonces.isFirst('old', NOW + 2 * GENERATION_MS)).toBe(true));
});

test('an entry that a killed process has cut off is ignored', () => {
  process((nonces) => expect(nonces.isFirst('whole', NOW)).toBe(true));
  appendFileSync(dataDir.file('nonces'), Buffer.alloc(11));
  process((nonces) => expect(nonces.isFirst('whole', NOW)).toBe(false));
});
