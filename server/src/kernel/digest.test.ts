import { hash } from 'node:crypto';
import { expect, test } from 'vitest';
import { sha256Of } from './digest.ts';

test.each([0, 1, 1024 * 1024, 1024 * 1024 + 1, 5_000_000])('is the SHA-256 of %d bytes', async (length) => {
  const bytes = Buffer.alloc(length, 'ab');
  expect(await sha256Of(bytes)).toBe(hash('sha256', bytes, 'hex'));
});
